"""The child process: makes one adapter, indexes, and times each search.

Requests come and replies go as JSON lines over two pipes of their own, so that nothing that an
adapter prints can be taken for a reply. The process ends when the requests end.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from time import perf_counter, perf_counter_ns
from typing import TYPE_CHECKING, Any

from codebench.adapter import Retriever, file_digest, find, load, make, one_line
from codebench.corpus.tables import read_tables
from codebench.errors import AdapterError
from codebench.model import Corpus
from codebench.runner.raw import is_list, raw_row

if TYPE_CHECKING:
    from collections.abc import Callable

Message = dict[str, Any]


class Worker:
    """One adapter's life: make, index, search …, close."""

    def __init__(self) -> None:
        self.retriever: Retriever | None = None

    def make(self, message: Message) -> Message:
        """Load the adapter and make it, unless it says that it cannot run here."""
        reference, folder = message["reference"], Path(message["folder"])
        source = find(reference, folder)
        if source.file is not None:
            sys.path.append(str(source.file.parent))  # last: it must not hide what is installed
        kind = load(reference, folder)
        reply: Message = {"digest": file_digest(source, kind), "version": str(kind.version)}
        missing = kind.missing()
        if missing:
            return {**reply, "missing": str(missing)}
        self.retriever = make(kind, message["options"])
        return {**reply, "version": str(self.retriever.version)}

    def index(self, message: Message) -> Message:
        """Read the chunk tables, then time `index`."""
        tables = read_tables(Path(message["tables"]))
        corpus = Corpus(Path(message["root"]), message["digest"], tables)
        retriever = self._made()
        cpu, start = _cpu_seconds(), perf_counter()
        retriever.index(corpus)
        seconds, cpu = perf_counter() - start, _cpu_seconds() - cpu
        size = retriever.index_bytes()
        return {
            "seconds": seconds,
            "cpu_seconds": cpu,
            "peak_rss_bytes": _peak_rss_bytes(),
            "bytes": None if size is None else int(size),
        }

    def search(self, message: Message) -> Message:
        """Time one search. What it returned is checked by who asked."""
        search, text, k = self._made().search, message["text"], message["k"]
        start = perf_counter_ns()
        try:
            found: Any = search(text, k)
        except BaseException as error:  # noqa: BLE001  # whatever it raises costs one answer
            latency = perf_counter_ns() - start
            return {"latency_ns": latency, "error": one_line(error)}
        latency = perf_counter_ns() - start
        if not is_list(found):
            kind = type(found).__name__
            return {"latency_ns": latency, "bad": f"search returned a {kind}, not a list of hits"}
        return {
            "latency_ns": latency,
            "count": len(found),
            "rows": [raw_row(item) for item in found[:k]],
        }

    def close(self, message: Message) -> Message:  # noqa: ARG002  # one shape for all
        """Let the adapter stop what it started."""
        if self.retriever is not None:
            self.retriever.close()
        return {}

    def _made(self) -> Retriever:
        if self.retriever is None:
            raise AdapterError("the adapter was not made")
        return self.retriever


def _cpu_seconds() -> float:
    """User and system time of this process and of its children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _peak_rss_bytes() -> int:
    """Largest resident memory of this process, or of one of its children that has ended.

    On Linux a new program's `ru_maxrss` begins at its parent's, so the kernel's own mark of
    this process is read where there is one.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        own = next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) * 1024
    except (OSError, StopIteration):
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return max(own, children)


def serve(requests: int, replies: int) -> None:
    """Answer requests until there are no more.

    Args:
        requests: the pipe to read from.
        replies: the pipe to write to.
    """
    for pipe in (requests, replies):
        os.set_inheritable(pipe, False)  # programs that the adapter starts must not hold them
    sys.dont_write_bytecode = True  # nothing is left beside a user's adapter
    worker = Worker()
    verbs: dict[str, Callable[[Message], Message]] = {
        "make": worker.make,
        "index": worker.index,
        "search": worker.search,
        "close": worker.close,
    }
    with os.fdopen(requests, "rb") as reader, os.fdopen(replies, "wb", buffering=0) as writer:
        for line in reader:
            message = json.loads(line)
            try:
                reply = verbs[message["op"]](message)
            except AdapterError as error:
                reply = {"error": str(error)}
            except BaseException as error:  # noqa: BLE001  # the adapter's, not this process's
                reply = {"error": one_line(error)}
            data = memoryview(json.dumps(reply).encode() + b"\n")
            while data:
                data = data[writer.write(data) :]


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
