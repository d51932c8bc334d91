"""One retriever's turn: start it, ask it everything, start it again when it falls."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from codebench.errors import AdapterError
from codebench.model import Answer, Candidate, Corpus, IndexCost
from codebench.reading import plain_line
from codebench.runner.events import Answered, Indexed, Restarting
from codebench.runner.process import WorkerDied, WorkerProcess, WorkerTimeout
from codebench.runner.scratch import copy_corpus, disk_bytes, scratch
from codebench.runner.validate import InvalidOutput, validate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.runner.events import Events
    from codebench.runner.plan import Ask, RunSettings
    from codebench.runner.record import AnswerWriter

_CLOSE_SECONDS = 10.0
_GRACE_SECONDS = 0.25
"""Between the limit and the kill: a reply that is on its way is later than the search."""


class GaveUp(Exception):  # noqa: N818  # it names an outcome
    """The retriever cannot be measured any further; the message says why."""


def make_message(candidate: Candidate, folder: Path) -> dict[str, Any]:
    """Return the request that makes a candidate's adapter."""
    return {
        "op": "make",
        "reference": candidate.reference,
        "folder": str(folder),
        "options": dict(candidate.options),
    }


def describe(
    candidate: Candidate, folder: Path, settings: RunSettings
) -> tuple[Candidate, str | None]:
    """Make a candidate's adapter once in a process of its own, and end it.

    Returns:
        the candidate with its version and digest, and why it cannot run here, or None.

    Raises:
        AdapterError: it cannot be loaded or made.
    """
    with scratch() as place:
        worker = WorkerProcess(place)
        try:
            reply = worker.ask(make_message(candidate, folder), settings.start_timeout)
            _close(worker)
        except WorkerTimeout:
            limit = f"it was not made within {settings.start_timeout:g} s"
            raise AdapterError(f"{candidate.name}: {limit}{worker.said()}") from None
        except WorkerDied as death:
            raise AdapterError(f"{candidate.name}: its process {death}") from None
        finally:
            worker.kill()
    if "error" in reply:
        raise AdapterError(f"{candidate.name}: {plain_line(reply['error'])}")
    described = Candidate(
        candidate.name,
        candidate.reference,
        candidate.options,
        plain_line(reply.get("version", "")),
        plain_line(reply.get("digest", "")),
    )
    return described, plain_line(reply["missing"]) if "missing" in reply else None


def _close(worker: WorkerProcess) -> None:
    """Let the adapter stop what it started; what it leaves is killed with the process."""
    with contextlib.suppress(WorkerTimeout, WorkerDied):
        worker.ask({"op": "close"}, _CLOSE_SECONDS)


class Turn:
    """One retriever's turn.

    Args:
        candidate: whose turn it is.
        corpus: what is asked of.
        tables: the file that holds its chunk tables.
        folder: what a relative adapter file is relative to.
        settings: how the run is made.
        writer: where rows go.
        events: who listens.
    """

    def __init__(
        self,
        candidate: Candidate,
        corpus: Corpus,
        *,
        tables: Path,
        folder: Path,
        settings: RunSettings,
        writer: AnswerWriter,
        events: Events,
    ) -> None:
        self.candidate = candidate
        self.corpus = corpus
        self.tables = tables
        self.folder = folder
        self.settings = settings
        self.writer = writer
        self.events = events
        self.lengths = {table.path: len(table.line_bytes) for table in corpus.tables}
        self._life = contextlib.ExitStack()
        self._worker: WorkerProcess | None = None
        self._root = ""
        self._falls = 0
        self._reason = ""

    def run(self, asks: Sequence[Ask], warmups: Sequence[str]) -> None:
        """Ask everything.

        Raises:
            GaveUp: the index cannot be built, or the process falls again and again.
        """
        try:
            for done, ask in enumerate(asks, start=1):
                worker = self._worker or self._start(warmups)
                text = ask.query.text
                answer = self._search(worker, text, ask.query.id, ask.repeat)
                self.writer.answer(answer)
                self.events(Answered(self.candidate.name, answer, done))
            if self._worker is not None:
                _close(self._worker)
        finally:
            self._end()

    def _start(self, warmups: Sequence[str]) -> WorkerProcess:
        """Return a process that is ready and warm; a fall while warming up starts another."""
        while True:
            worker = self._ready()
            for text in warmups:
                answer = self._search(worker, text, "", 0)
                self.writer.warmup(answer)
                if self._worker is None:
                    break
            else:
                return worker

    def _ready(self) -> WorkerProcess:
        """Start a process in new folders and build the index."""
        if self._falls > self.settings.max_restarts:
            raise GaveUp(f"given up after {self._falls} falls in a row: {self._reason}")
        place = self._life.enter_context(scratch())
        root = place / "corpus"
        copy_corpus(self.corpus.path, root)
        self._root = str(root)
        before = disk_bytes(root)
        worker = WorkerProcess(place)
        self._life.callback(worker.kill)
        settings = self.settings
        made = self._ask(
            worker, make_message(self.candidate, self.folder), settings.start_timeout, "starting"
        )
        if "missing" in made:
            raise GaveUp(plain_line(made["missing"]))
        start_seconds = time.perf_counter() - worker.started
        self.writer.start(start_seconds)
        request = {
            "op": "index",
            "root": str(root),
            "digest": self.corpus.digest,
            "tables": str(self.tables),
        }
        reply = self._ask(worker, request, settings.index_timeout, "indexing")
        cost = self._cost(reply, start_seconds, disk_bytes(place) - before)
        self.writer.index(cost)
        self.events(Indexed(self.candidate.name, cost))
        self._worker = worker
        return worker

    def _ask(
        self, worker: WorkerProcess, message: dict[str, Any], seconds: float, doing: str
    ) -> dict[str, Any]:
        """Ask what must succeed."""
        try:
            reply = worker.ask(message, seconds)
        except WorkerTimeout:
            raise GaveUp(f"{doing} took more than {seconds:g} s{worker.said()}") from None
        except WorkerDied as death:
            raise GaveUp(f"{doing}, its process {death}") from None
        if "error" in reply:
            raise GaveUp(f"{doing} raised {plain_line(reply['error'])}")
        return reply

    def _cost(self, reply: dict[str, Any], start_seconds: float, written: int) -> IndexCost:
        try:
            size = reply["bytes"]
            return IndexCost(
                start_seconds=start_seconds,
                seconds=float(reply["seconds"]),
                cpu_seconds=float(reply["cpu_seconds"]),
                peak_rss_bytes=int(reply["peak_rss_bytes"]),
                bytes=int(size) if size is not None else max(0, written) or None,
            )
        except (KeyError, TypeError, ValueError):
            raise GaveUp("indexing, its reply was overwritten") from None

    def _search(self, worker: WorkerProcess, text: str, query: str, repeat: int) -> Answer:
        """Ask one question; a process that fell is ended, and the next question starts another."""
        depth, limit = self.settings.depth, self.settings.query_timeout
        limit_ns = int(limit * 1e9)
        message = {"op": "search", "text": text, "k": depth}
        try:
            reply = worker.ask(message, limit + _GRACE_SECONDS)
        except WorkerTimeout:
            error = f"no answer within {limit:g} s"
            self._fall(f"{error}{worker.said()}")
            return Answer(query, "timeout", (), limit_ns, repeat, error)
        except WorkerDied as death:
            self._fall(f"its process {death}")
            return Answer(query, "crashed", (), None, repeat, f"its process {death}")
        self._falls = 0
        latency = reply.get("latency_ns")
        if type(latency) is not int or latency < 0:
            return Answer(query, "invalid_output", (), None, repeat, "its reply was overwritten")
        if latency > limit_ns:
            return Answer(query, "timeout", (), limit_ns, repeat, f"no answer within {limit:g} s")
        if "error" in reply:
            return Answer(query, "error", (), latency, repeat, plain_line(reply["error"]))
        if "bad" in reply:
            return Answer(query, "invalid_output", (), latency, repeat, plain_line(reply["bad"]))
        try:
            hits, repairs = validate(
                reply.get("rows"), reply.get("count"), depth, self._root, self.lengths
            )
        except InvalidOutput as problem:
            return Answer(query, "invalid_output", (), latency, repeat, str(problem))
        return Answer(query, "ok", hits, latency, repeat, "", repairs)

    def _fall(self, reason: str) -> None:
        self._end()
        self._falls += 1
        self._reason = reason
        if self._falls <= self.settings.max_restarts:
            self.events(Restarting(self.candidate.name, reason))

    def _end(self) -> None:
        """End the process and remove its folders."""
        self._worker = None
        self._life.close()
