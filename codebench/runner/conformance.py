"""Whether an adapter keeps its contract, found out by asking it in a process as a run does."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.corpus.cache import ChunkCache
from codebench.corpus.directory import open_directory
from codebench.corpus.outliner import Outliner
from codebench.corpus.tables import write_tables
from codebench.errors import NothingMeasured
from codebench.home import builtin
from codebench.runner import contract
from codebench.runner.contract import Item, Probe, Record
from codebench.runner.plan import RunSettings
from codebench.runner.process import WorkerDied, WorkerTimeout
from codebench.runner.scratch import copy_corpus, scratch
from codebench.runner.session import CLOSE_SECONDS, Bench, GaveUp, Session
from codebench.runner.supervise import describe
from codebench.runner.watching import Watch, places_of_others
from codebench.suite import read_suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codebench.model import Candidate
    from codebench.runner.watching import Watched

SUITE = "tiny"
CANARY = "canary"
MOST_FALLS = 3
_CLOSED_SECONDS = 0.2
"""For what was told to end and is about to."""

PLANTED = {
    "first_line.py": "def marmalade_quota(zephyr):\n    return zephyr * 3\n",
    "odd names/größe ü.py": "def umlaut_größe(wert):\n    return wert\n",
    "empty.py": "",
    "crlf.go": "package odd\r\n\r\nfunc CarriageReturn() int {\r\n\treturn 1\r\n}\r\n",
}
"""Files beside the suite's own: a definition in the first line, odd names, odd ends of lines."""

PLANTED_QUESTIONS = ("marmalade quota zephyr", "umlaut größe wert", "carriage return")
PLANTED_NAMES = ("marmalade_quota", "CarriageReturn")
"""As they stand there: who matches texts or symbols literally finds them."""


@dataclass(frozen=True, slots=True)
class Conformance:
    """How an adapter did.

    Attributes:
        candidate: who it is, with its version.
        items: what it is held to.
    """

    candidate: Candidate
    items: tuple[Item, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing failed."""
        return all(item.outcome != "failed" for item in self.items)


def check(
    candidate: Candidate,
    folder: Path,
    settings: RunSettings | None = None,
    watched: Sequence[Watched] | None = None,
    questions: int = 24,
) -> Conformance:
    """Hold an adapter to its contract, over the suite `tiny` and hostile questions.

    Args:
        candidate: who is asked.
        folder: what a relative adapter file is relative to.
        settings: limits of time and memory; those of a run by default.
        watched: folders that it must leave alone; the current one, its file's and the home
            folder by default.
        questions: how many of the suite's own are asked.

    Raises:
        AdapterError: it cannot be loaded or made.
        NothingMeasured: it cannot run here.
    """
    settings = settings or RunSettings()
    known, reason, file = describe(candidate, folder, settings)
    if reason:
        raise NothingMeasured(f"{known.name} cannot run here: {reason}")
    watch = Watch(list(places_of_others(Path.cwd(), file) if watched is None else watched))
    with scratch() as place:
        bench = _bench(place, folder, settings)
        asking = _Asking(bench, known, place / CANARY, questions)
        try:
            asking.run()
        except GaveUp as problem:
            return Conformance(known, (Item("starts and indexes", "failed", str(problem)),))
        finally:
            asking.end()
        record = dataclasses.replace(asking.record(), written=watch.news())
    ready = Item("starts and indexes", "passed", f"index in {asking.index_seconds:.2f} s")
    fallen = Item("survives every question", "passed")
    if record.falls:
        fallen = Item(fallen.name, "failed", "; ".join(record.falls))
    return Conformance(known, (ready, fallen, *contract.judge(record)))


def _bench(place: Path, folder: Path, settings: RunSettings) -> Bench:
    """Lay out the corpus of the suite with odd files beside, and what a session needs."""
    source = place / "corpus"
    copy_corpus(builtin("suites") / SUITE / "corpus", source)
    for name, text in PLANTED.items():
        file = source / "planted" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    with Outliner(ChunkCache(place / "chunks.sqlite"), jobs=1) as outliner:
        corpus = open_directory(source, outliner)
    write_tables(corpus.tables, place / "tables")
    return Bench(corpus, place / "tables", folder, settings)


@dataclass
class _Asking:
    """Asks everything of one adapter, in a new process where it fell."""

    bench: Bench
    candidate: Candidate
    canary: Path
    questions: int
    session: Session | None = None
    asked: list[Probe] = field(default_factory=list)
    falls: list[str] = field(default_factory=list)
    index_seconds: float = 0.0
    index_again: str = ""
    closing: str = ""
    left: int = 0
    executed: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    corpus_files: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Ask everything.

        Raises:
            GaveUp: it cannot be started or indexed, or falls again and again.
        """
        queries = read_suite(builtin("suites") / SUITE).queries[: self.questions]
        plain = [*PLANTED_QUESTIONS, *(query.text for query in queries), *PLANTED_NAMES]
        self._start()
        for turn in (0, 1):
            self._all(contract.PLAIN, plain, contract.DEPTH, turn)
        for k in contract.DEPTHS:
            self._all(contract.DEPTHS_ASKED, plain[:5], k)
        self._all(contract.DEEP, plain[:3], contract.DEEPER)
        for group, texts in contract.HOSTILE.items():
            self._all(group, texts, contract.DEPTH)
        self._all(contract.SHELL, _commands(self.canary), contract.DEPTH)
        self._again(plain)
        self._close()

    def record(self) -> Record:
        """Return what was seen."""
        return Record(
            asked=tuple(self.asked),
            tables=self.bench.corpus.by_path,
            index_again=self.index_again,
            closing=self.closing,
            left=self.left,
            executed=tuple(sorted(self.executed)),
            falls=tuple(self.falls),
            corpus_files=tuple(sorted(self.corpus_files)),
        )

    def end(self) -> None:
        """End the process, whatever became of it."""
        session, self.session = self.session, None
        if session is not None:
            session.end()

    def _start(self) -> Session:
        if len(self.falls) > MOST_FALLS:
            raise GaveUp(f"given up after {len(self.falls)} falls: {self.falls[-1]}")
        self.session = session = Session(self.bench, self.candidate)
        self.given = _names(session.root)
        cost = session.index(session.make())
        self.index_seconds = self.index_seconds or cost.seconds
        return session

    def _all(self, group: str, texts: Sequence[str], k: int, turn: int = 0) -> None:
        bench = dataclasses.replace(
            self.bench, settings=dataclasses.replace(self.bench.settings, depth=k)
        )
        for text in texts:
            session = self.session or self._start()
            session.bench = bench
            start = time.perf_counter_ns()
            answer = session.search(text)
            wall = time.perf_counter_ns() - start
            self.asked.append(Probe(group, text, k, turn, answer, wall))
            if session.fallen:
                self.falls.append(f"{text[:40]!a}: {session.fallen}")
                self.end()

    def _again(self, plain: Sequence[str]) -> None:
        """Have it index once more: a second time must not add to the first."""
        session = self.session or self._start()
        session.bench = self.bench
        try:
            session.index(0.0)
        except GaveUp as problem:
            self.index_again = str(problem)
            if session.fallen:
                self.end()
            return
        self._all(contract.PLAIN, plain, contract.DEPTH, turn=2)

    def _close(self) -> None:
        session = self.session or self._start()
        for time_ in ("first", "second"):
            try:
                reply = session.worker.ask({"op": "close"}, CLOSE_SECONDS)
            except (WorkerTimeout, WorkerDied) as error:
                self.closing = f"the {time_} call: {error or 'no end within 10 s'}"
                break
            if "error" in reply:
                self.closing = f"the {time_} call raises {reply['error']}"
                break
        time.sleep(_CLOSED_SECONDS)
        self.executed |= {path.name for path in _canaries(session.worker.folder)}
        self.executed |= {path.name for path in _canaries(self.canary.parent)}
        self.corpus_files = _names(session.root) - self.given
        self.end()
        self.left = session.left


def _commands(canary: Path) -> list[str]:
    """Return questions that leave a file where a shell is given them."""
    return [
        f"$(touch {CANARY}0)",
        f"`touch {canary}1`",
        f"; touch {canary}2 ;",
        f"| touch {canary}3",
        f"x' && touch {canary}4 #",
        f'" ; touch {canary}5 ; "',
        f"session\ntouch {canary}6\n",
        f"--pre=touch {canary}7",
        f"__import__('pathlib').Path('{canary}8').touch()",
        f"'; COPY (SELECT 1) TO PROGRAM 'touch {canary}9'; --",
    ]


def _canaries(folder: Path) -> Iterator[Path]:
    return (path for path in _files(folder) if path.name.startswith(CANARY))


def _names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in _files(folder)}


def _files(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for path in folder.rglob("*"):
            with contextlib.suppress(OSError):
                if not path.is_dir():
                    yield path
