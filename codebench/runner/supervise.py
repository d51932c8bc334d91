"""One retriever's turn: start it, ask it everything, start it again when it falls."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from codebench.errors import AdapterError
from codebench.reading import plain_line
from codebench.runner.events import Answered, Indexed, LoadMeasured, Restarting
from codebench.runner.process import WorkerDied, WorkerProcess, WorkerTimeout
from codebench.runner.scratch import scratch
from codebench.runner.session import CLOSE_SECONDS, GaveUp, Session, Stopped, make_message

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.model import Candidate, Hit
    from codebench.runner.plan import Plan, RunSettings
    from codebench.runner.record import RowWriter
    from codebench.runner.session import Bench


def describe(
    candidate: Candidate, folder: Path, settings: RunSettings
) -> tuple[Candidate, str | None, str]:
    """Make a candidate's adapter once in a process of its own, and end it.

    Returns:
        the candidate with its version and digest; why it cannot run here, or None; and the file
        that holds its adapter, or nothing.

    Raises:
        AdapterError: it cannot be loaded or made.
    """
    with scratch() as place:
        worker = WorkerProcess(place)
        try:
            reply = worker.ask(make_message(candidate, folder), settings.start_timeout)
            with contextlib.suppress(WorkerTimeout, WorkerDied):
                worker.ask({"op": "close"}, CLOSE_SECONDS)
        except WorkerTimeout:
            limit = f"it was not made within {settings.start_timeout:g} s"
            raise AdapterError(f"{candidate.name}: {limit}{worker.said()}") from None
        except WorkerDied as death:
            raise AdapterError(f"{candidate.name}: its process {death}") from None
        finally:
            worker.kill()
    if "error" in reply:
        who = f"{candidate.file}: {candidate.name}" if candidate.file else candidate.name
        lines = str(reply["error"]).splitlines() or [""]
        raise AdapterError("\n".join(f"{who}: {plain_line(line)}" for line in lines))
    described = dataclasses.replace(
        candidate,
        version=plain_line(reply.get("version", "")),
        digest=plain_line(reply.get("digest", "")),
        beside=tuple(map(str, reply.get("beside", ()))),
    )
    missing = plain_line(reply["missing"]) if "missing" in reply else None
    return described, missing, str(reply.get("file", ""))


class Turn:
    """One retriever's turn.

    Args:
        bench: what it is given.
        candidate: whose turn it is.
        writer: where rows go.
    """

    def __init__(self, bench: Bench, candidate: Candidate, writer: RowWriter) -> None:
        self.bench = bench
        self.candidate = candidate
        self.writer = writer
        self.left = 0
        self._session: Session | None = None
        self._falls = 0
        self._reason = ""

    def run(self, plan: Plan) -> None:
        """Ask everything.

        Raises:
            GaveUp: the index cannot be built, or the process falls again and again.
            Stopped: the run was interrupted.
        """
        self.writer.remember(plan.known)
        sample = {
            answer.query: _places(answer.hits)
            for answer in plan.known
            if answer.query in plan.sample and answer.repeat == 0
        }
        try:
            for done, ask in enumerate(plan.asks, start=len(plan.known) + 1):
                session = self._session or self._start(plan)
                answer = session.search(ask.query.text, ask.query.id, ask.repeat)
                self._after(session)
                self.writer.answer(answer, again=ask.again)
                if ask.query.id in plan.sample and ask.repeat == 0:
                    sample[ask.query.id] = _places(answer.hits)
                self.bench.events(Answered(self.candidate.name, answer, done))
            for concurrency, rate in plan.loads:
                self._load(plan, concurrency, rate)
            if plan.sample:
                self._check(plan, sample)
            self._close()
        finally:
            self._end()

    def interrupt(self) -> None:
        """End what runs now, from another thread."""
        session = self._session
        if session is not None:
            session.interrupt()

    def _load(self, plan: Plan, concurrency: int, rate: float) -> None:
        session = self._session or self._start(plan)
        step = session.load(plan.load_texts, concurrency, rate)
        self.writer.load(step)
        self._after(session)
        self.bench.events(LoadMeasured(self.candidate.name, step))

    def _check(self, plan: Plan, sample: dict[str, list[tuple[object, ...]]]) -> None:
        """Ask a sample again of a new process, and record which hits are others."""
        self._close()
        self._end()
        self.writer.resume()
        for query in sorted(sample):
            session = self._session or self._start(plan)
            answer = session.search(plan.sample[query], query)
            self._after(session)
            self.writer.check(answer, same=_places(answer.hits) == sample[query])

    def _start(self, plan: Plan) -> Session:
        """Return a process that is ready and warm; a fall while warming up starts another."""
        while True:
            session = self._ready()
            for text in plan.warmups:
                answer = session.search(text)
                self.writer.warmup(answer)
                self._after(session)
                if self._session is None:
                    break
            else:
                return session

    def _ready(self) -> Session:
        """Start a process in new folders and build the index."""
        if self._falls > self.bench.settings.max_restarts:
            raise GaveUp(f"given up after {self._falls} falls in a row: {self._reason}")
        if self.bench.stop.is_set():
            raise Stopped
        self._session = session = Session(self.bench, self.candidate)
        try:
            seconds = session.make()
            self.writer.start(seconds)
            cost = session.index(seconds)
        except GaveUp:
            if session.fallen:
                self.writer.fall(session.fallen, session.said, 0)
            raise
        self.writer.index(cost)
        self.bench.events(Indexed(self.candidate.name, cost))
        return session

    def _after(self, session: Session) -> None:
        """End a process that fell; the next question starts another."""
        if not session.fallen:
            self._falls = 0
            return
        self._session = None
        session.end()
        self.writer.fall(session.fallen, session.said, session.left)
        self._falls += 1
        self._reason = session.fallen
        if self._falls <= self.bench.settings.max_restarts:
            self.bench.events(Restarting(self.candidate.name, session.fallen))

    def _close(self) -> None:
        if self._session is not None:
            self._session.close()

    def _end(self) -> None:
        """End the process and remove its folders."""
        session, self._session = self._session, None
        if session is not None:
            session.end()
            self.left += session.left


def _places(hits: tuple[Hit, ...]) -> list[tuple[object, ...]]:
    """Return what hits point at: a score that differs in its last digit is no other answer."""
    return [(hit.path, hit.start_line, hit.end_line, hit.symbol) for hit in hits]
