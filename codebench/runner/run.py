"""A suite, its corpus and retrievers -> a run folder."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codebench.errors import AdapterError, NothingMeasured, ResultsError
from codebench.results import TABLES
from codebench.runner import floors
from codebench.runner.events import Answered, RetrieverEnded, RetrieverStarted, RunEnded, RunStarted
from codebench.runner.events import ignore as ignore_events
from codebench.runner.machine import fingerprint
from codebench.runner.plan import RunSettings, order, warmup_texts
from codebench.runner.record import create_run
from codebench.runner.supervise import GaveUp, Turn, describe
from codebench.suite import suite_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codebench.model import Candidate, Corpus, Suite
    from codebench.results import State
    from codebench.runner.events import Events
    from codebench.runner.record import AnswerWriter, RunWriter

NO_RECENCY: Mapping[str, int] = MappingProxyType({})


def run(
    suite: Suite,
    corpus: Corpus,
    candidates: Sequence[Candidate],
    results: Path,
    settings: RunSettings | None = None,
    *,
    events: Events = ignore_events,
    recency: Mapping[str, int] = NO_RECENCY,
    folder: Path | None = None,
) -> Path:
    """Ask every retriever the whole suite, one retriever after the other.

    Every adapter is loaded and made once, in a process of its own, before anything is
    measured. An interrupt (Ctrl-C, SIGTERM, SIGHUP) ends the run early: its folder is sealed
    as incomplete and returned.

    Args:
        suite: what is asked.
        corpus: the corpus that the suite is asked of.
        candidates: who is asked.
        results: the folder of runs.
        settings: how the run is made.
        events: told what happens.
        recency: chunk IDs or paths ranked by their last change before the snapshot, 0 for the
            newest; without it the floor `recent` is left out.
        folder: what a relative adapter file is relative to; the current directory by default.

    Returns:
        the run's folder.

    Raises:
        AdapterError: an adapter cannot be loaded or made; all that cannot are named.
        NothingMeasured: there is no query, or no retriever can run here.
        ResultsError: the folder cannot be written; what was written before stays readable.
    """
    settings = settings or RunSettings()
    folder = folder or Path.cwd()
    if not suite.queries:
        raise NothingMeasured(f"{suite.name}: the suite has no query")
    rows = [floors.candidate(name) for name in floors.available(settings.floors, recency)]
    with _interruptible():
        described, missing = _describe(candidates, rows, folder, settings)
        asked = [*rows, *described]
        writer = create_run(
            results.absolute(),
            suite,
            corpus,
            asked,
            now=datetime.now(UTC),
            identity=_identity(suite, corpus, settings),
        )
        events(RunStarted(writer.path, len(suite.queries), tuple(one.name for one in asked)))
        going = _Going(suite, corpus, settings, recency, folder, writer, events)
        complete = False
        try:
            for candidate in asked:
                going.turn(candidate, missing.get(candidate.name))
            complete = True
        except KeyboardInterrupt:
            pass  # the folder says what was done, and its seal that something is missing
        except BaseException:
            with contextlib.suppress(ResultsError):
                writer.seal(_now(), complete=False)
            raise
        writer.seal(_now(), complete=complete)
        events(RunEnded(writer.path, complete))
    return writer.path


@dataclasses.dataclass(frozen=True, slots=True)
class _Going:
    """A run that is under way."""

    suite: Suite
    corpus: Corpus
    settings: RunSettings
    recency: Mapping[str, int]
    folder: Path
    writer: RunWriter
    events: Events

    def turn(self, candidate: Candidate, missing: str | None) -> None:
        """Ask one retriever everything, and record how it ended."""
        queries = len(self.suite.queries)
        asks = queries if candidate.floor else queries * self.settings.repeats
        self.events(RetrieverStarted(candidate.name, 0 if missing else asks))
        state: State = "complete"
        reason = ""
        with contextlib.closing(self.writer.answers(candidate)) as out:
            try:
                if missing:
                    state, reason = "skipped", missing
                elif candidate.floor:
                    self._floor(candidate, out)
                else:
                    self._measure(candidate, out)
            except GaveUp as problem:
                state, reason = "failed", str(problem)
            except KeyboardInterrupt:
                out.end("stopped", "it was interrupted")
                raise
            out.end(state, reason)
        self.events(RetrieverEnded(candidate.name, state, reason))

    def _floor(self, floor: Candidate, out: AnswerWriter) -> None:
        found = floors.answers(
            floor.name, self.suite.queries, self.corpus, self.settings, self.recency
        )
        for done, answer in enumerate(found, start=1):
            out.answer(answer)
            self.events(Answered(floor.name, answer, done))

    def _measure(self, candidate: Candidate, out: AnswerWriter) -> None:
        turn = Turn(
            candidate,
            self.corpus,
            tables=self.writer.path / TABLES,
            folder=self.folder,
            settings=self.settings,
            writer=out,
            events=self.events,
        )
        warmups = warmup_texts(list(self.corpus.chunks()), self.settings)
        turn.run(order(self.suite.queries, self.settings), warmups)


def _describe(
    candidates: Sequence[Candidate],
    rows: Sequence[Candidate],
    folder: Path,
    settings: RunSettings,
) -> tuple[list[Candidate], dict[str, str]]:
    """Load every adapter once; return the candidates, and why some cannot run here."""
    taken = {row.name for row in rows}
    described: list[Candidate] = []
    missing: dict[str, str] = {}
    problems = []
    for candidate in candidates:
        if candidate.name in taken:
            problems.append(f"{candidate.name}: two rows of the run would have this name")
            continue
        taken.add(candidate.name)
        try:
            known, reason = describe(candidate, folder, settings)
        except AdapterError as error:
            problems.append(str(error))
            continue
        described.append(known)
        if reason:
            missing[known.name] = reason
    if problems:
        raise AdapterError("\n".join(problems))
    if len(missing) == len(described):
        reasons = "; ".join(f"{name}: {reason}" for name, reason in missing.items())
        raise NothingMeasured(f"no retriever can run here ({reasons or 'none was asked for'})")
    return described, missing


def _identity(suite: Suite, corpus: Corpus, settings: RunSettings) -> dict[str, Any]:
    """Return what could change a run, beside its retrievers. No environment is in it."""
    plain = dataclasses.asdict(settings)
    depth = plain.pop("depth")
    return {
        "suite": {
            "name": suite.name,
            "digest": suite_digest(suite),
            "queries": len(suite.queries),
        },
        "corpus": {
            "digest": corpus.digest,
            "files": len(corpus.tables),
            "chunks": sum(len(table.chunks) for table in corpus.tables),
        },
        "depth": depth,
        "settings": {**plain, "floors": list(settings.floors)},
        "codebench": _version(),
        "machine": fingerprint(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  # slow to import

    try:
        return version("codebench-harness")
    except PackageNotFoundError:
        return "not installed"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does; only the main thread may say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: object) -> None:  # noqa: ARG001  # a handler's shape
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    mine = [number for number in numbers if before[number] == signal.SIG_DFL]  # not under nohup
    for number in mine:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, before[number])
