"""Run folders made by hand: answers, latencies and failures that are known to the last digit."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.corpus.tables import write_tables
from codebench.model import Candidate, Chunk, Corpus, FileTable, Query, Suite, Target
from codebench.results import ANSWERS, FORMAT, MANIFEST, SUITE, TABLES, candidate_row
from codebench.suite import suite_digest, write_suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codebench.results import State

MACHINE = {"cpu": "Made up 3000", "cores": 8}
TAGS = {0: "go", 1: "python", 2: "=cmd()|\u202e"}


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


def judged_suite() -> Suite:
    """Return the made suite with judged documents, which have no files or symbols, as gold."""
    whole = suite()
    own = [
        replace(
            query, targets=(Target(query.targets[0].path, query.targets[0].path, 1, document=True),)
        )
        for query in whole.queries
    ]
    return replace(whole, queries=tuple(own))


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
    settings: Mapping[str, Any] | None = None,
) -> Path:
    """Write a run folder and return it."""
    asked = asked or suite()
    path = results / f"20240501T12{minute:02}00Z-{asked.name}"
    (path / ANSWERS).mkdir(parents=True)
    write_suite(asked, path / SUITE)
    write_tables(corpus().tables, path / TABLES)
    retrievers = []
    for at, (name, row) in enumerate(rows.items()):
        one = Candidate(name, name, tuple(row.options.items()), row.version, row.digest, row.floor)
        retrievers.append({**candidate_row(one), "file": f"{at}.jsonl"})
        lines = [json.dumps(line) + "\n" for line in _rows(row, asked)]
        (path / ANSWERS / f"{at}.jsonl").write_text("".join(lines), encoding="utf-8")
    manifest = {
        "format": FORMAT,
        "suite": {"name": asked.name, "digest": suite_digest(asked), "queries": len(asked.queries)},
        "corpus": {"digest": asked.corpus_digest, "files": 12, "chunks": 24},
        "depth": depth,
        "settings": dict(settings or {}),
        "codebench": "0.1.0",
        "machine": dict(machine),
        "started": f"2024-05-01T12:{minute:02}:00+00:00",
        "ended": "2024-05-01T12:59:00+00:00",
        "complete": complete,
        "retrievers": retrievers,
    }
    (path / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    return path


def _rows(row: Row, asked: Suite) -> Iterator[dict[str, Any]]:
    if not row.floor:
        yield {"kind": "start", "seconds": 0.25}
        costs = {"start_seconds": 0.25, "seconds": 1.5, "cpu_seconds": 1.25}
        yield {"kind": "index", **costs, "peak_rss_bytes": 1 << 20, "bytes": 4096}
    for at, (query, letter) in enumerate(zip(asked.queries, row.found, strict=False)):
        if letter != ".":
            yield {"kind": "answer", "query": query.id, **_answer(query, at, letter, row.ms)}
    yield {"kind": "end", "state": row.state, "reason": row.reason}


def _answer(query: Query, at: int, letter: str, ms: float) -> dict[str, Any]:
    if letter == "x":
        return {"status": "crashed", "error": "killed by \x1b[31m|signal 9"}
    path = query.targets[0].path
    symbol, sibling = [path, 1, 10], [path, 11, 20]
    hits = {"s": [symbol], "l": [sibling, symbol], "f": [sibling]}.get(letter, [])
    latency = {"latency_ns": int((ms + at % 12 / 10) * 1e6)}
    return {"status": "timeout", **latency} if letter == "t" else {"hits": hits, **latency}
