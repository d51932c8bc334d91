"""One life of a retriever's process: started, made ready, asked, ended."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.model import Answer, Candidate, Corpus, IndexCost
from codebench.reading import plain_line
from codebench.runner.events import Noted, ignore
from codebench.runner.process import WorkerDied, WorkerProcess, WorkerTimeout
from codebench.runner.scratch import copy_corpus, copy_folder, disk_bytes, scratch
from codebench.runner.validate import InvalidOutput, validate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.measures.latency import LoadStep
    from codebench.runner.events import Events
    from codebench.runner.kept import IndexStore, Kept
    from codebench.runner.plan import RunSettings

CLOSE_SECONDS = 10.0
GRACE_SECONDS = 0.25
"""Between the limit and the kill: a reply that is on its way is later than the search."""

LIMITED = "rate limited"
MOVED = "working directory restored"
_LONGEST_PAUSE = 60.0
"""Between two tries, where a service does not say how long it wants to be left alone."""


class GaveUp(Exception):  # noqa: N818  # it names an outcome
    """The retriever cannot be measured any further; the message says why."""


class Stopped(Exception):  # noqa: N818  # it names an outcome
    """The run was interrupted."""


@dataclass(frozen=True)
class Bench:
    """What every retriever of a run is given.

    Attributes:
        corpus: what is asked of.
        tables: the file that holds its chunk tables.
        folder: what a relative adapter file is relative to.
        settings: how the run is made.
        events: who listens.
        store: kept indexes; None where none are kept.
        stop: set when the run is interrupted.
    """

    corpus: Corpus
    tables: Path
    folder: Path
    settings: RunSettings
    events: Events = ignore
    store: IndexStore | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    @cached_property
    def lengths(self) -> Mapping[str, int]:
        """The number of lines of each file of the corpus."""
        return {table.path: len(table.line_bytes) for table in self.corpus.tables}


def make_message(candidate: Candidate, folder: Path) -> dict[str, Any]:
    """Return the request that makes a candidate's adapter."""
    return {
        "op": "make",
        "reference": candidate.reference,
        "folder": str(Path(candidate.file).parent if candidate.file else folder),
        "options": dict(candidate.options),
    }


class Session:
    """One process of one retriever, in folders of its own.

    Args:
        bench: what it is given.
        candidate: who it is.

    Attributes:
        fallen: why the process had to be ended before its time; empty while it lives.
        said: the end of what it had printed by then.
        left: how many processes it left running, known after its end.
    """

    def __init__(self, bench: Bench, candidate: Candidate) -> None:
        self.bench = bench
        self.candidate = candidate
        self.fallen = ""
        self.said: list[str] = []
        self.left = 0
        self._life = contextlib.ExitStack()
        try:
            self._place = self._life.enter_context(scratch())
            self.root = self._place / "corpus"
            copy_corpus(bench.corpus.path, self.root)
            self._size = disk_bytes(self.root)
            self._root = str(self.root)
            self.worker = WorkerProcess(self._place, bench.settings.memory_limit)
            self._life.callback(self._kill)
        except BaseException:
            self._life.close()
            raise

    def make(self) -> float:
        """Have the adapter made, and return the seconds since the start of its process.

        Raises:
            GaveUp: it cannot be made.
        """
        settings = self.bench.settings
        message = make_message(self.candidate, self.bench.folder)
        made = self.must(message, settings.start_timeout, "starting")
        if "missing" in made:
            raise GaveUp(plain_line(made["missing"]))
        if self.candidate.digest and made.get("digest") != self.candidate.digest:
            raise GaveUp("its file was changed while the run went on")
        return time.perf_counter() - self.worker.started

    def index(self, start_seconds: float) -> IndexCost:
        """Take up a kept index, or build it and keep it.

        Raises:
            GaveUp: it cannot be built.
        """
        store, bench = self.bench.store, self.bench
        if store is None:
            return self.timed({"op": "index"}, start_seconds)[0]
        key = store.key(self.candidate, bench.corpus, bench.tables)
        kept = store.find(key)
        cost = self._taken_up(store, key, kept, start_seconds) if kept else None
        if cost is None:
            cost = self.timed({"op": "index"}, start_seconds)[0]
            self._save(store, key, cost)
        return cost

    def timed(
        self, request: dict[str, Any], start_seconds: float
    ) -> tuple[IndexCost, dict[str, Any]]:
        """Have something done to the index, and return what it took, with the reply.

        Raises:
            GaveUp: it failed.
        """
        corpus = self.bench.corpus
        message = {
            "root": self._root,
            "digest": corpus.digest,
            "tables": str(self.bench.tables),
            **request,
        }
        doing = {"index": "indexing", "restore": "taking up its kept index"}
        before = self.worker.use()
        reply = self.must(
            message, self.bench.settings.index_timeout, doing.get(request["op"], "updating")
        )
        after = self.worker.use()
        written = disk_bytes(self._place) - self._size
        try:
            size = reply["bytes"]
            cost = IndexCost(
                start_seconds=start_seconds,
                seconds=float(reply["seconds"]),
                cpu_seconds=float(reply["cpu_seconds"])
                + max(0.0, after.cpu_seconds - before.cpu_seconds),
                peak_rss_bytes=max(int(reply["peak_rss_bytes"]), after.peak_bytes),
                bytes=int(size) if size is not None else max(0, written) or None,
            )
        except (KeyError, TypeError, ValueError):
            raise GaveUp("indexing, its reply was overwritten") from None
        return cost, reply

    def _taken_up(
        self, store: IndexStore, key: str, kept: Kept, start_seconds: float
    ) -> IndexCost | None:
        """Take up a kept index; one that its adapter cannot take up is dropped, to be built anew.

        Raises:
            GaveUp: its process did not survive it.
        """
        why = "its adapter refused it"
        try:
            cost = self._restored(kept, start_seconds)
        except GaveUp as error:
            cost, why = None, str(error)
        if cost is not None:
            return cost
        store.drop(key)
        if self.fallen:
            raise GaveUp(f"{why}; it was dropped, and the next run builds it")
        self.bench.events(Noted(self.candidate.name, f"its index is built anew: {why}"))
        return None

    def _restored(self, kept: Kept, start_seconds: float) -> IndexCost | None:
        folder = self._place / "kept"
        copy_folder(kept.folder, folder)
        self._size += disk_bytes(folder)
        cost, reply = self.timed({"op": "restore", "kept": str(folder)}, start_seconds)
        if not reply.get("restored"):
            return None
        size = kept.bytes if kept.bytes is not None else cost.bytes
        return IndexCost(
            cost.start_seconds,
            cost.seconds,
            cost.cpu_seconds,
            cost.peak_rss_bytes,
            size,
            built_seconds=kept.seconds,
        )

    def _save(self, store: IndexStore, key: str, cost: IndexCost) -> None:
        """Keep an index where that can be done; a run does not fail for it."""
        folder = self._place / "saved"
        folder.mkdir()
        try:
            reply = self.worker.ask(
                {"op": "save", "kept": str(folder)}, self.bench.settings.index_timeout
            )
            if reply.get("saved"):
                store.put(key, folder, self.candidate, cost)
                return
            why = plain_line(reply.get("error", "")) or "its adapter does not offer it"
        except OSError as error:
            why = f"the cache cannot be written ({error.strerror})"
        except (WorkerTimeout, WorkerDied) as error:
            raise GaveUp(f"saving its index, its process {error or 'hung'}") from None
        self.bench.events(Noted(self.candidate.name, f"its index is not kept: {why}"))

    def must(self, message: dict[str, Any], seconds: float, doing: str) -> dict[str, Any]:
        """Ask what must succeed.

        Raises:
            GaveUp: it does not.
            Stopped: the run was interrupted.
        """
        try:
            reply = self.worker.ask(message, seconds)
        except WorkerTimeout:
            self.fall(f"{doing} took more than {seconds:g} s")
            raise GaveUp(f"{self.fallen}{self.worker.said()}") from None
        except WorkerDied as death:
            self.fall(f"{doing}, its process {death}")
            raise GaveUp(self.fallen) from None
        if "error" in reply:
            raise GaveUp(f"{doing} raised {plain_line(reply['error'])}")
        return reply

    def search(self, text: str, query: str = "", repeat: int = 0) -> Answer:
        """Ask one question. Where the process did not survive it, `fallen` says why.

        Raises:
            Stopped: the run was interrupted.
        """
        settings = self.bench.settings
        limit_ns = int(settings.query_timeout * 1e9)
        message = {"op": "search", "text": text, "k": settings.depth}
        waits: list[float] = []
        while True:
            try:
                reply = self.worker.ask(message, settings.query_timeout + GRACE_SECONDS)
            except WorkerTimeout:
                self.fall(f"no answer within {settings.query_timeout:g} s")
                return Answer(query, "timeout", (), limit_ns, repeat, self.fallen)
            except WorkerDied as death:
                self.fall(f"its process {death}")
                return Answer(query, "crashed", (), None, repeat, self.fallen)
            if "limited" not in reply:
                break
            pause = _pause(reply["limited"], len(waits))
            if sum(waits) + pause > settings.rate_limit_wait:
                error = (
                    f"{LIMITED}: it was waited for {sum(waits):g} s, and wants {pause:g} s more "
                    f"than the {settings.rate_limit_wait:g} s allowed"
                )
                return self._noted(Answer(query, "error", (), None, repeat, error), waits)
            waits.append(pause)
            if self.bench.stop.wait(pause):
                raise Stopped
        return self._noted(self._judged(reply, query, repeat, limit_ns), waits)

    def _judged(self, reply: dict[str, Any], query: str, repeat: int, limit_ns: int) -> Answer:
        latency = reply.get("latency_ns")
        if type(latency) is not int or latency < 0:
            return Answer(query, "invalid_output", (), None, repeat, "its reply was overwritten")
        if latency > limit_ns:
            late = f"no answer within {self.bench.settings.query_timeout:g} s"
            return Answer(query, "timeout", (), limit_ns, repeat, late)
        if "error" in reply:
            return Answer(query, "error", (), latency, repeat, plain_line(reply["error"]))
        if "bad" in reply:
            return Answer(query, "invalid_output", (), latency, repeat, plain_line(reply["bad"]))
        try:
            hits, repairs = validate(
                reply.get("rows"),
                reply.get("count"),
                self.bench.settings.depth,
                self._root,
                self.bench.lengths,
            )
        except InvalidOutput as problem:
            return Answer(query, "invalid_output", (), latency, repeat, str(problem))
        if reply.get("moved"):
            repairs[MOVED] = 1
        server = _nanoseconds(reply.get("server_seconds"))
        return Answer(query, "ok", hits, latency, repeat, "", repairs, server_ns=server)

    def _noted(self, answer: Answer, waits: Sequence[float]) -> Answer:
        if not waits:
            return answer
        return Answer(
            answer.query,
            answer.status,
            answer.hits,
            answer.latency_ns,
            answer.repeat,
            answer.error,
            {**answer.repairs, LIMITED: len(waits)},
            waited_ns=int(sum(waits) * 1e9),
            server_ns=answer.server_ns,
        )

    def load(self, texts: Sequence[str], concurrency: int, rate: float) -> LoadStep:
        """Ask all texts under load; as `search`.

        The step is broken off when nothing comes back within the limit of one search.
        """
        from codebench.measures.latency import LoadStep  # noqa: PLC0415  # few runs ask for it

        settings = self.bench.settings
        message = {
            "op": "load",
            "texts": texts,
            "k": settings.depth,
            "concurrency": concurrency,
            "rate": rate,
        }
        silence = settings.query_timeout + GRACE_SECONDS + (1 / rate if rate else 0)
        latencies: list[int] = []
        failed = 0
        start = time.monotonic()
        try:
            self.worker.send(message, start + silence)
            while True:
                reply = self.worker.receive(time.monotonic() + silence)
                if "done" in reply:
                    seconds = float(reply["done"]) / 1e9
                    break
                if "latency_ns" not in reply:
                    self.fall(f"under load: {plain_line(reply.get('error', 'no latency came'))}")
                    raise GaveUp(self.fallen)
                latencies.append(int(reply["latency_ns"]))
                failed += "error" in reply
        except WorkerTimeout:
            seconds = time.monotonic() - start
            self.fall(f"under load, no answer within {settings.query_timeout:g} s")
        except WorkerDied as death:
            seconds = time.monotonic() - start
            self.fall(f"under load, its process {death}")
        outstanding = len(texts) - len(latencies)
        return LoadStep(concurrency, rate, seconds, tuple(latencies), failed, outstanding)

    def fall(self, reason: str) -> None:
        """Note that the process must be ended before its time.

        Raises:
            Stopped: it died because the run was interrupted.
        """
        if self.bench.stop.is_set():
            raise Stopped
        self.fallen = reason
        self.said = self.worker.tail()

    def close(self) -> None:
        """Let the adapter stop what it started; what it leaves is killed with the process."""
        with contextlib.suppress(WorkerTimeout, WorkerDied):
            self.worker.ask({"op": "close"}, CLOSE_SECONDS)

    def interrupt(self) -> None:
        """End the process from another thread; the one that waits for it finds it dead."""
        self.worker.interrupt()

    def end(self) -> None:
        """End the process and all that it started, and remove its folders."""
        self._life.close()

    def _kill(self) -> None:
        self.left = self.worker.kill()


def _pause(asked: Any, before: int) -> float:
    """Return how long to wait: what the service asked for, else twice as long each time."""
    known = isinstance(asked, int | float) and not isinstance(asked, bool)
    if known and math.isfinite(asked) and asked >= 0:
        return float(asked)
    return min(_LONGEST_PAUSE, 2.0**before)


def _nanoseconds(seconds: Any) -> int | None:
    known = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return int(seconds * 1e9) if known and 0 <= seconds < 1e9 else None
