"""Run folders made by hand: answers, latencies and failures that are known to the last digit."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.model import (
    Answer,
    Candidate,
    Chunk,
    Corpus,
    FileTable,
    Hit,
    IndexCost,
    Query,
    Suite,
    Target,
)
from codebench.runner.record import create_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codebench.model import Status
    from codebench.results import State

MACHINE = {"cpu": "Made up 3000", "cores": 8}
TAGS = {0: "go", 1: "python", 2: "=cmd()|\u202e"}
SYMBOL, SIBLING, NOTHING = "symbol", "sibling", "nothing"


def corpus(files: int = 12) -> Corpus:
    """Return a corpus of files with two functions of ten lines each."""
    tables = tuple(
        FileTable(
            f"f{at:02}.py",
            "python",
            (30,) * 20,
            tuple(
                Chunk(f"f{at:02}.py", name, 1, "function", ((start, start + 9),), name, name, 300)
                for name, start in (("a", 1), ("b", 11))
            ),
        )
        for at in range(files)
    )
    return Corpus(Path("nowhere"), f"sha256:{files:064}", tables)


def suite(queries: int = 12, **changes: Any) -> Suite:
    """Return a suite whose query i wants `f<i>.py::a`."""
    made = tuple(
        Query(
            id=f"q{at:02}",
            text=f"question {at}",
            targets=(Target(f"f{at:02}.py", f"f{at:02}.py::a"),),
            tags={"language": TAGS[at % 3]},
        )
        for at in range(queries)
    )
    given: dict[str, Any] = {
        "name": "made",
        "repository": "corpus",
        "snapshot": "",
        "corpus_digest": corpus().digest,
        "queries": made,
    }
    return Suite(**(given | changes))


@dataclass(frozen=True)
class Row:
    """How one retriever did.

    Attributes:
        found: by query, a letter each: `s` symbol first, `l` sibling first and symbol second,
            `f` the sibling alone, `-` nothing, `x` crashed, `t` timeout, `.` not asked.
        ms: latency of every answer.
    """

    found: str
    ms: float = 2.0
    version: str = "1"
    floor: bool = False
    state: State = "complete"
    reason: str = ""
    digest: str = "sha256:0"
    options: Mapping[str, Any] = field(default_factory=dict)


def made_run(
    results: Path,
    rows: Mapping[str, Row],
    *,
    asked: Suite | None = None,
    complete: bool = True,
    machine: Mapping[str, Any] = MACHINE,
    minute: int = 0,
    depth: int = 20,
) -> Path:
    """Write a run folder and return it."""
    asked = asked or suite()
    candidates = [
        Candidate(name, name, tuple(row.options.items()), row.version, row.digest, row.floor)
        for name, row in rows.items()
    ]
    writer = create_run(
        results,
        asked,
        corpus(),
        candidates,
        now=datetime(2024, 5, 1, 12, minute, tzinfo=UTC),
        identity={
            "suite": {"name": asked.name, "digest": "sha256:s", "queries": len(asked.queries)},
            "corpus": {"digest": asked.corpus_digest, "files": 12, "chunks": 24},
            "depth": depth,
            "codebench": "0.1.0",
            "machine": dict(machine),
        },
    )
    for one in candidates:
        row = rows[one.name]
        with closing(writer.answers(one)) as out:
            if not row.floor:
                out.start(0.25)
                out.index(IndexCost(0.25, 1.5, 1.25, 1 << 20, 4096))
            for at, letter in enumerate(row.found):
                if letter != ".":
                    out.answer(_answer(f"q{at:02}", at, letter, row.ms))
            out.end(row.state, row.reason)
    writer.seal("2024-05-01T12:59:00+00:00", complete=complete)
    return writer.path


def _answer(query: str, at: int, letter: str, ms: float) -> Answer:
    symbol, sibling = Hit(f"f{at:02}.py", 1, 10), Hit(f"f{at:02}.py", 11, 20)
    hits = {"s": (symbol,), "l": (sibling, symbol), "f": (sibling,)}.get(letter, ())
    statuses: dict[str, Status] = {"x": "crashed", "t": "timeout"}
    status = statuses.get(letter, "ok")
    latency = None if letter == "x" else int((ms + at / 10) * 1e6)
    error = "killed by \x1b[31m|signal 9" if letter == "x" else ""
    return Answer(query, status, hits, latency, error=error)
