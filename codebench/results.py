"""Run folders <-> Run.

    manifest.json          what was asked of whom, where and when; written first, sealed last
    suite/                 the suite folder that was asked
    chunks.jsonl.gz        the corpus's chunk tables
    answers/NAME.jsonl     a retriever's rows, in the order in which they happened

Rows are flushed one by one, so a run that was killed at any moment can be read: a torn last
line is dropped, and a manifest that was not sealed says that the run is incomplete.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from codebench.errors import ResultsError
from codebench.model import STATUSES, Answer, Candidate, Hit, IndexCost
from codebench.reading import Faults, Fields, parse_json, shown
from codebench.wire import hit_from

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FORMAT = 1
MANIFEST = "manifest.json"
SUITE = "suite"
TABLES = "chunks.jsonl.gz"
ANSWERS = "answers"

State = Literal["complete", "skipped", "failed", "stopped"]
"""How a retriever ended: all was asked; it cannot run here; it was given up; or cut off."""

_GOOD_ENDS = {"complete", "skipped"}
_MAX = 2**63
_TAIL = 65536
"""Bytes at the end of an answers file that surely hold its last row, where that is an end."""


@dataclass(frozen=True, slots=True)
class RetrieverRun:
    """What one retriever did in a run.

    Attributes:
        candidate: who it is.
        answers: in the order in which they were asked; repeat 0 is the one that is scored.
        index: what it took to be ready; None where it never was.
        first_ns: latency of the very first search after the index was built.
        restarts: how many times its process was started again.
        state: how it ended; `stopped` where the run was cut off.
        reason: one line, empty for `complete`.
    """

    candidate: Candidate
    answers: tuple[Answer, ...]
    index: IndexCost | None
    first_ns: int | None
    restarts: int
    state: State
    reason: str

    @property
    def complete(self) -> bool:
        """True where every query was asked, whatever came back."""
        return self.state == "complete"


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder, read.

    Attributes:
        path: the folder.
        manifest: `manifest.json` as it is.
        retrievers: in the order in which they were asked for, floors first.
        depth: how many hits each answer could hold.
        complete: True where nothing was cut off and every retriever that can run here
            answered to the end.
    """

    path: Path
    manifest: Mapping[str, Any]
    retrievers: tuple[RetrieverRun, ...]
    depth: int
    complete: bool

    @property
    def suite_folder(self) -> Path:
        """The suite that was asked."""
        return self.path / SUITE

    @property
    def tables_file(self) -> Path:
        """The chunk tables of the corpus."""
        return self.path / TABLES


def candidate_row(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as JSON."""
    return {
        "name": candidate.name,
        "reference": candidate.reference,
        "options": dict(candidate.options),
        "version": candidate.version,
        "digest": candidate.digest,
        "floor": candidate.floor,
    }


def read_run(path: Path) -> Run:
    """Read a run folder, complete or not.

    Raises:
        ResultsError: the folder is no run, or of another format.
        InputError: a file in it is damaged beyond a torn last line; every fault is listed.
    """
    if not (path / MANIFEST).is_file():
        raise ResultsError(f"{path}: is no run; it holds no {MANIFEST}")
    faults = Faults(path / MANIFEST)
    manifest = _read_manifest(path / MANIFEST, faults)
    fields = Fields(manifest, faults)
    if manifest.get("format") != FORMAT:
        raise ResultsError(
            f"{path / MANIFEST}: is of format {shown(manifest.get('format'))}, not {FORMAT}; "
            "read it with the codebench that wrote it"
        )
    depth = fields.integer("depth", low=1, high=_MAX)
    sealed = fields.flag("complete")
    retrievers = []
    for inner in fields.objects("retrievers"):
        candidate, file = _candidate(inner)
        if not faults.found:
            retrievers.append(_read_answers(path / ANSWERS / file, candidate, faults))
    faults.check()
    done = all(one.state in _GOOD_ENDS for one in retrievers)
    return Run(path, manifest, tuple(retrievers), depth, sealed and done)


def read_ends(path: Path) -> tuple[dict[str, Any], bool]:
    """Return a run folder's manifest, and whether the run is complete, without its answers.

    Raises:
        ResultsError: the folder is no run, or of another format.
        InputError: the manifest, or a retriever's last row, is damaged.
    """
    if not (path / MANIFEST).is_file():
        raise ResultsError(f"{path}: is no run; it holds no {MANIFEST}")
    faults = Faults(path / MANIFEST)
    manifest = _read_manifest(path / MANIFEST, faults)
    fields = Fields(manifest, faults)
    complete = fields.flag("complete")
    ends = [_candidate(inner)[1] for inner in fields.objects("retrievers")]
    faults.check()
    return manifest, complete and all(_ended(path / ANSWERS / file) for file in ends)


def _ended(path: Path) -> bool:
    """Tell from its last row whether a retriever ended as it should."""
    rows = _Rows()
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            lines = file.read(_TAIL).split(b"\n")
    except OSError:
        return False
    faults = Faults(path)
    try:
        row = parse_json(lines[-2].decode("utf-8")) if len(lines) > 1 else None
    except ValueError:
        return False
    if not isinstance(row, dict) or row.get("kind") != "end":
        return False
    _end(Fields(row, faults), rows)
    return rows.state in _GOOD_ENDS


def _read_manifest(path: Path, faults: Faults) -> dict[str, Any]:
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        faults.add(error.strerror or str(error))
    except ValueError as error:
        faults.add(str(error))
    else:
        if isinstance(data, dict):
            return data
        faults.add("is not an object")
    faults.check()
    raise AssertionError  # check() has raised


def _candidate(fields: Fields) -> tuple[Candidate, str]:
    file = fields.text("file", empty=False)
    if "/" in file or "\\" in file:
        fields.fault("file", "is not a name in the folder answers", file)
    candidate = Candidate(
        name=fields.text("name", empty=False),
        reference=fields.text("reference"),
        options=tuple(sorted(fields.mapping("options").items())),
        version=fields.text("version"),
        digest=fields.text("digest"),
        floor=fields.flag("floor"),
    )
    fields.finish()
    return candidate, file


@dataclass(slots=True)
class _Rows:
    """A retriever's rows while they are read."""

    answers: list[Answer] = field(default_factory=list)
    scored: dict[str, tuple[Hit, ...]] = field(default_factory=dict)
    hits: dict[str, Hit] = field(default_factory=dict)
    index: IndexCost | None = None
    first_ns: int | None = None
    starts: int = 0
    state: State = "stopped"
    reason: str = "it did not end"


def _read_answers(path: Path, candidate: Candidate, faults: Faults) -> RetrieverRun:
    rows = _Rows()
    own = Faults(path)
    try:
        data = path.read_bytes() if path.exists() else b""
    except OSError as error:
        own.add(error.strerror or str(error))
        data = b""
    if not data:
        rows.reason = "it was not asked"
    lines = data.split(b"\n")
    lines.pop()  # what follows the last newline is torn
    for number, line in enumerate(lines, start=1):
        try:
            row = parse_json(line.decode("utf-8"))
        except ValueError as error:
            own.add(str(error), line=number)
            continue
        if not isinstance(row, dict):
            own.add("is not an object", line=number)
            continue
        fields = Fields(row, own, line=number)
        _READERS.get(fields.text("kind"), _unknown)(fields, rows)
        fields.finish()
    faults.found += own.found
    return RetrieverRun(
        candidate,
        tuple(rows.answers),
        rows.index,
        rows.first_ns,
        max(0, rows.starts - 1),
        rows.state,
        rows.reason,
    )


def _unknown(fields: Fields, rows: _Rows) -> None:  # noqa: ARG001  # one shape for all readers
    fields.fault("kind", "is not a kind of row", shown(fields.data.get("kind")))
    fields.known |= set(fields.data)


def _start(fields: Fields, rows: _Rows) -> None:
    rows.starts += 1
    fields.number("seconds")


def _index(fields: Fields, rows: _Rows) -> None:
    size = fields.take("bytes", None)
    cost = IndexCost(
        start_seconds=fields.number("start_seconds"),
        seconds=fields.number("seconds"),
        cpu_seconds=fields.number("cpu_seconds"),
        peak_rss_bytes=fields.integer("peak_rss_bytes", low=0, high=_MAX),
        bytes=None if size is None else fields.integer("bytes", low=0, high=_MAX),
    )
    rows.index = rows.index or cost


def _warmup(fields: Fields, rows: _Rows) -> None:
    fields.text("status")
    latency = _latency(fields)
    if rows.first_ns is None and not rows.answers:
        rows.first_ns = latency


def _latency(fields: Fields) -> int | None:
    if fields.take("latency_ns", None) is None:
        return None
    return fields.integer("latency_ns", low=0, high=_MAX)


def _answer(fields: Fields, rows: _Rows) -> None:
    query = fields.text("query", empty=False)
    repeat = fields.integer("repeat", 0, low=0, high=_MAX)
    status = fields.text("status", "ok")
    if status not in STATUSES:
        fields.fault("status", "is not a status", status, "one of " + ", ".join(STATUSES))
        return
    hits = _hits(fields, rows)
    if fields.flag("same", default=False):
        hits = rows.scored.get(query, ())
    if repeat == 0:
        if query in rows.scored:
            fields.fault("query", "is answered twice", query)
        rows.scored[query] = hits
    answer = Answer(
        query=query,
        status=status,
        hits=hits,
        latency_ns=_latency(fields),
        repeat=repeat,
        error=fields.text("error", ""),
        repairs=dict(fields.mapping("repairs", {})),
    )
    if rows.first_ns is None and not rows.answers:
        rows.first_ns = answer.latency_ns
    rows.answers.append(answer)


def _hits(fields: Fields, rows: _Rows) -> tuple[Hit, ...]:
    """Read hits; equal ones share one object, as repeated places are most of a big run."""
    hits = []
    for number, row in enumerate(fields.items("hits", ()), start=1):
        key = repr(row)
        hit = rows.hits.get(key)
        if hit is None:
            if not _is_hit(row):
                fields.fault(f"hits[{number}]", "is not a hit", shown(row))
                continue
            hit = rows.hits[key] = hit_from(row)
        hits.append(hit)
    return tuple(hits)


def _is_hit(row: Any) -> bool:
    if not isinstance(row, list) or len(row) not in {1, 3, 5}:
        return False
    path, start, end, symbol, score = [*row, None, None, None, None][:5]
    return (
        isinstance(path, str)
        and all(line is None or (type(line) is int and line > 0) for line in (start, end))
        and (symbol is None or isinstance(symbol, str))
        and (score is None or type(score) in {int, float})
    )


def _end(fields: Fields, rows: _Rows) -> None:
    state = fields.text("state")
    if state not in get_args(State):
        fields.fault("state", "is not how a retriever ends", state)
        return
    rows.state = state  # type: ignore[assignment]  # it was just checked
    rows.reason = fields.text("reason", "")


_READERS = {
    "start": _start,
    "index": _index,
    "warmup": _warmup,
    "answer": _answer,
    "end": _end,
}
