"""The child process: makes one adapter, indexes, and times each search.

Requests come and replies go as JSON lines over two pipes of their own, so that nothing that an
adapter prints can be taken for a reply. The process ends when the requests end.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
from numbers import Real
from pathlib import Path
from time import perf_counter, perf_counter_ns
from typing import TYPE_CHECKING, Any

from codebench.adapter import (
    RateLimited,
    Retriever,
    Unavailable,
    file_digest,
    file_of,
    find,
    load,
    make,
    placed,
    told,
)
from codebench.corpus.tables import read_tables
from codebench.errors import AdapterError
from codebench.model import Corpus
from codebench.runner.raw import is_list, raw_row

if TYPE_CHECKING:
    from collections.abc import Callable

Message = dict[str, Any]


class Worker:
    """One adapter's life: make, index, search …, close.

    Args:
        tell: sends a line ahead of the reply, for requests that take long.
    """

    def __init__(self, tell: Callable[[Message], None]) -> None:
        self.retriever: Retriever | None = None
        self.file = ""
        self.tell = tell
        self.home = os.getcwd()  # noqa: PTH109  # compared after each search: it must be fast

    def make(self, message: Message) -> Message:
        """Load the adapter and make it, unless it says that it cannot run here."""
        reference, folder = message["reference"], Path(message["folder"])
        source = find(reference, folder)
        if source.file is not None:
            sys.path.append(str(source.file.parent))  # last: it must not hide what is installed
        kind = load(reference, folder)
        self.file = file_of(kind)
        reply: Message = {"digest": file_digest(source, kind), "version": str(kind.version)}
        if source.file is not None:
            reply["file"] = str(source.file)
        missing = kind.missing()
        if missing:
            return {**reply, "missing": str(missing)}
        try:
            self.retriever = make(kind, placed(message["options"], folder))
        except Unavailable as reason:
            return {**reply, "missing": str(reason)}
        beside = [str(one) for one in self.retriever.beside()]
        return {**reply, "version": str(self.retriever.version), "beside": beside}

    def index(self, message: Message) -> Message:
        """Read the chunk tables, then time `index`."""
        corpus = _corpus(message)
        retriever = self._made()
        cost = _timed(lambda: retriever.index(corpus))
        self.home = os.getcwd()  # noqa: PTH109  # an adapter may move before it is searched
        return {**cost, "bytes": _size(retriever)}

    def restore(self, message: Message) -> Message:
        """Take up a kept index, timed as `index` is; `restored` is False where it was refused."""
        corpus = _corpus(message)
        retriever = self._made()
        taken: list[bool] = []
        folder = Path(message["kept"])
        cost = _timed(lambda: taken.append(bool(retriever.restore(corpus, folder))))
        self.home = os.getcwd()  # noqa: PTH109
        return {**cost, "bytes": _size(retriever), "restored": taken[0]}

    def save(self, message: Message) -> Message:
        """Have the index written into a folder; `saved` is False where it cannot be kept."""
        return {"saved": bool(self._made().save(Path(message["kept"])))}

    def update(self, message: Message) -> Message:
        """Time bringing the index to another corpus; `updated` is False where not offered."""
        corpus = _corpus(message)
        retriever = self._made()
        done: list[bool] = []
        cost = _timed(lambda: done.append(bool(retriever.update(corpus, message["changed"]))))
        return {**cost, "bytes": _size(retriever), "updated": done[0]}

    def search(self, message: Message) -> Message:
        """Time one search. What it returned is checked by who asked."""
        retriever, text, k = self._made(), message["text"], message["k"]
        search = retriever.search
        retriever.server_seconds = None
        start = perf_counter_ns()
        try:
            found: Any = search(text, k)
        except RateLimited as refusal:
            return {"limited": refusal.seconds, "latency_ns": perf_counter_ns() - start}
        except BaseException as error:  # noqa: BLE001  # whatever it raises costs one answer
            latency = perf_counter_ns() - start
            return self._looked_after({"latency_ns": latency, "error": told(error, self.file)})
        latency = perf_counter_ns() - start
        if not is_list(found):
            what = f"search returned a {type(found).__name__}, not a list of hits"
            return self._looked_after({"latency_ns": latency, "bad": what})
        reply = {
            "latency_ns": latency,
            "count": len(found),
            "rows": [raw_row(item) for item in found[:k]],
        }
        server = retriever.server_seconds
        if isinstance(server, Real):
            reply["server_seconds"] = float(server)
        elif server is not None:
            reply["bad"] = f"server_seconds is a {type(server).__name__}, not seconds"
        return self._looked_after(reply)

    def _looked_after(self, reply: Message) -> Message:
        """Undo a change of directory, so that it costs no later answer, and tell of it."""
        try:
            here = os.getcwd()  # noqa: PTH109
        except OSError:
            here = ""
        if here != self.home:
            reply["moved"] = True
            with contextlib.suppress(OSError):
                os.chdir(self.home)
        return reply

    def load(self, message: Message) -> Message:
        """Ask many texts at once; each search is told when it is over."""
        from codebench.runner.load import Driver, Load  # noqa: PLC0415  # few runs ask for it

        retriever = self._made()
        driver = Driver(retriever.search, concurrent=retriever.concurrent, report=self.tell)
        wanted = Load(message["concurrency"], message["rate"])
        return {"done": driver.drive(message["texts"], message["k"], wanted)}

    def close(self, message: Message) -> Message:  # noqa: ARG002  # one shape for all
        """Let the adapter stop what it started."""
        if self.retriever is not None:
            self.retriever.close()
        return {}

    def _made(self) -> Retriever:
        if self.retriever is None:
            raise AdapterError("the adapter was not made")
        return self.retriever


def _corpus(message: Message) -> Corpus:
    tables = read_tables(Path(message["tables"]))
    return Corpus(Path(message["root"]), message["digest"], tables)


def _size(retriever: Retriever) -> int | None:
    size = retriever.index_bytes()
    return None if size is None else int(size)


def _timed(work: Callable[[], None]) -> Message:
    cpu, start = _cpu_seconds(), perf_counter()
    work()
    seconds, cpu = perf_counter() - start, _cpu_seconds() - cpu
    return {"seconds": seconds, "cpu_seconds": cpu, "peak_rss_bytes": _peak_rss_bytes()}


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

    def tell(message: Message) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(replies, data) :]

    worker = Worker(tell)
    verbs: dict[str, Callable[[Message], Message]] = {
        "make": worker.make,
        "index": worker.index,
        "restore": worker.restore,
        "save": worker.save,
        "update": worker.update,
        "search": worker.search,
        "load": worker.load,
        "close": worker.close,
    }
    with os.fdopen(requests, "rb") as reader:
        for line in reader:
            message = json.loads(line)
            try:
                reply = verbs[message["op"]](message)
            except AdapterError as error:
                reply = {"error": str(error)}
            except BaseException as error:  # noqa: BLE001  # the adapter's, not this process's
                reply = {"error": told(error, worker.file)}
            tell(reply)


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
