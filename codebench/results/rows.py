"""A retriever's rows -> what it did."""

from __future__ import annotations

import contextlib
import stat
import zlib
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from codebench.measures.latency import LoadStep
from codebench.model import STATUSES, Answer, Candidate, Hit, IndexCost
from codebench.reading import Faults, Fields, open_file, parse_json, shown, unpacked
from codebench.results.layout import PACKED
from codebench.results.retriever import Fall, RetrieverRun, State
from codebench.wire import hit_from

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codebench.measures.columns import Columns

_MAX = 2**53
_LEAST = 1e-9
MAX_LINE_BYTES = 100_000_000
"""A longer row is none: one of load, the longest, holds a latency in some ten bytes."""

_TAIL = 65536
"""Bytes at the end of an answers file that surely hold its last row, where that is an end."""


@dataclass(slots=True)
class Rows:
    """A retriever's rows while they are read."""

    answers: list[Answer] = field(default_factory=list)
    scored: dict[str, tuple[Hit, ...]] = field(default_factory=dict)
    hits: dict[str, Hit] = field(default_factory=dict)
    index: IndexCost | None = None
    first_ns: int | None = None
    places: dict[tuple[str, int], int] = field(default_factory=dict)
    fresh: bool = True
    restarts: int = 0
    state: State = "stopped"
    reason: str = "it did not end"
    falls: list[Fall] = field(default_factory=list)
    left: int = 0
    loads: dict[tuple[int, float], LoadStep] = field(default_factory=dict)
    checks: dict[str, bool] = field(default_factory=dict)
    beside: bool = False
    machines: set[str] = field(default_factory=set)

    def retriever(
        self,
        candidate: Candidate,
        answers: tuple[Answer, ...],
        columns: Columns | None = None,
    ) -> RetrieverRun:
        """Return what was read."""
        return RetrieverRun(
            candidate=candidate,
            answers=answers,
            index=self.index,
            first_ns=self.first_ns,
            restarts=self.restarts,
            state=self.state,
            reason=self.reason,
            falls=tuple(self.falls),
            left=self.left,
            loads=tuple(self.loads.values()),
            checked=len(self.checks),
            changed=tuple(sorted(query for query, same in self.checks.items() if not same)),
            beside=self.beside,
            machines=tuple(sorted(self.machines)),
            columns=columns,
        )


def read_answers(path: Path, candidate: Candidate, faults: Faults) -> RetrieverRun:
    """Read an answers file; what is wrong in it goes to `faults`."""
    rows = Rows()
    own = Faults(path)
    if _is_empty(path):
        rows.reason = "it was not asked"
    else:
        for number, row in read_rows(path, own):
            take(row, rows, own, number)
    faults.found += own.found
    return rows.retriever(candidate, tuple(rows.answers))


def _is_empty(path: Path) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False  # reading it says why
    return stat.S_ISREG(found.st_mode) and not found.st_size


def read_rows(path: Path, faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of an answers file, packed or not, numbered from 1; a torn end is dropped."""
    try:
        with contextlib.ExitStack() as opened:
            file = opened.enter_context(open_file(path))
            if path.suffix == PACKED:
                file = opened.enter_context(unpacked(file))
            lines = iter(partial(file.readline, MAX_LINE_BYTES), b"")
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    if len(line) == MAX_LINE_BYTES:
                        faults.add(f"is longer than {MAX_LINE_BYTES} bytes", line=number)
                    return
                try:
                    row = parse_json(line.decode("utf-8"))
                except ValueError as error:
                    faults.add(str(error), line=number)
                    continue
                if isinstance(row, dict):
                    yield number, row
                else:
                    faults.add("is not an object", line=number)
    except (OSError, EOFError, zlib.error) as error:
        faults.add(getattr(error, "strerror", None) or str(error))


def last_state(path: Path) -> State:
    """Tell from the last row of a plain answers file how its retriever ended."""
    try:
        with open_file(path) as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            lines = file.read(_TAIL).split(b"\n")
        row = parse_json(lines[-2].decode("utf-8")) if len(lines) > 1 else None
    except (OSError, ValueError):
        return "stopped"
    found = row.get("state") if isinstance(row, dict) and row.get("kind") == "end" else None
    return next((state for state in get_args(State) if state == found), "stopped")


def take(row: Any, rows: Rows, faults: Faults, number: int) -> None:
    """Take a row in, whatever its kind."""
    fields = Fields(row if isinstance(row, dict) else {}, faults, line=number)
    _READERS.get(fields.text("kind"), _unknown)(fields, rows)
    fields.finish()


def _unknown(fields: Fields, rows: Rows) -> None:  # noqa: ARG001  # one shape for all readers
    fields.fault("kind", "is not a kind of row", shown(fields.data.get("kind")))
    fields.known |= set(fields.data)


def _seconds(fields: Fields, name: str) -> float:
    return _bounded(fields, name, fields.number(name))


def _bounded(fields: Fields, name: str, number: float) -> float:
    """Return a number of a size that can have been measured: what is divided by it is finite."""
    if number and not _LEAST <= number <= _MAX:
        fields.fault(name, "is no time or rate", shown(number))
    return number


def _start(fields: Fields, rows: Rows) -> None:
    rows.restarts += not rows.fresh
    rows.fresh = False
    _seconds(fields, "seconds")


def _resume(fields: Fields, rows: Rows) -> None:  # noqa: ARG001  # one shape for all readers
    """The run goes on after it was cut off, or begins a check: the next start is no restart."""
    rows.fresh = True
    rows.state, rows.reason = "stopped", "it did not end"


def _fall(fields: Fields, rows: Rows) -> None:
    left = fields.integer("left", 0, low=0, high=_MAX)
    rows.falls.append(Fall(fields.text("reason"), fields.texts("said", ()), left))


def _context(fields: Fields, rows: Rows) -> None:
    """Where and beside whom the rows that follow were taken."""
    rows.beside = fields.flag("beside", default=False) or rows.beside
    machine = fields.text("machine", "")
    rows.machines |= {machine} if machine else set()


def _check(fields: Fields, rows: Rows) -> None:
    rows.checks[fields.text("query", empty=False)] = fields.flag("same")
    _hits(fields, rows)


def _load(fields: Fields, rows: Rows) -> None:
    step = LoadStep(
        concurrency=fields.integer("concurrency", 0, low=0, high=_MAX),
        rate=_bounded(fields, "rate", fields.number("rate", 0.0)),
        seconds=_seconds(fields, "seconds"),
        latencies_ns=tuple(
            ns for ns in fields.items("latencies_ns") if type(ns) is int and 0 <= ns < _MAX
        ),
        failed=fields.integer("failed", 0, low=0, high=_MAX),
        censored=fields.integer("censored", 0, low=0, high=_MAX),
    )
    rows.loads[step.concurrency, step.rate] = step


def _index(fields: Fields, rows: Rows) -> None:
    size = fields.take("bytes", None)
    built = fields.take("built_seconds", None)
    cost = IndexCost(
        start_seconds=_seconds(fields, "start_seconds"),
        seconds=_seconds(fields, "seconds"),
        cpu_seconds=_seconds(fields, "cpu_seconds"),
        peak_rss_bytes=fields.integer("peak_rss_bytes", low=0, high=_MAX),
        bytes=None if size is None else fields.integer("bytes", low=0, high=_MAX),
        built_seconds=None if built is None else _seconds(fields, "built_seconds"),
    )
    rows.index = rows.index or cost


def _warmup(fields: Fields, rows: Rows) -> None:
    fields.text("status")
    latency = _latency(fields)
    if rows.first_ns is None and not rows.answers:
        rows.first_ns = latency


def _latency(fields: Fields, name: str = "latency_ns") -> int | None:
    if fields.take(name, None) is None:
        return None
    return fields.integer(name, low=0, high=_MAX)


def _answer(fields: Fields, rows: Rows) -> None:
    query = fields.text("query", empty=False)
    repeat = fields.integer("repeat", 0, low=0, high=_MAX)
    status = fields.text("status", "ok")
    if status not in STATUSES:
        fields.fault("status", "is not a status", status, "one of " + ", ".join(STATUSES))
        return
    hits = _hits(fields, rows)
    if fields.flag("same", default=False):
        hits = rows.scored.get(query, ())
    again = fields.flag("again", default=False)
    if repeat == 0:
        if query in rows.scored and not again:
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
        waited_ns=fields.integer("waited_ns", 0, low=0, high=_MAX),
        server_ns=_latency(fields, "server_ns"),
    )
    if rows.first_ns is None and not rows.answers:
        rows.first_ns = answer.latency_ns
    if again:
        _replace(rows, answer)
    else:
        if rows.places:
            rows.places[query, repeat] = len(rows.answers)
        rows.answers.append(answer)


def _replace(rows: Rows, answer: Answer) -> None:
    """Put the answer of a question that was asked again where its first one was."""
    if not rows.places:
        rows.places = {(one.query, one.repeat): at for at, one in enumerate(rows.answers)}
    at = rows.places.get((answer.query, answer.repeat))
    if at is None:
        rows.places[answer.query, answer.repeat] = len(rows.answers)
        rows.answers.append(answer)
    else:
        rows.answers[at] = answer


def _hits(fields: Fields, rows: Rows) -> tuple[Hit, ...]:
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


def _end(fields: Fields, rows: Rows) -> None:
    state = fields.text("state")
    if state not in get_args(State):
        fields.fault("state", "is not how a retriever ends", state)
        return
    rows.state = state  # type: ignore[assignment]  # it was just checked
    rows.reason = fields.text("reason", "")
    rows.left += fields.integer("left", 0, low=0, high=_MAX)


_READERS = {
    "resume": _resume,
    "context": _context,
    "start": _start,
    "fall": _fall,
    "index": _index,
    "warmup": _warmup,
    "answer": _answer,
    "load": _load,
    "check": _check,
    "end": _end,
}
