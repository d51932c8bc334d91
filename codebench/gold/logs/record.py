"""The one record that every log is read into, whatever its format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["query", "impression", "click", "read", "edit", "end"]
KINDS: tuple[Kind, ...] = ("query", "impression", "click", "read", "edit", "end")

LOG, TRAJECTORY = "log", "trajectory"
"""Sources: what people did, and what an agent did."""

_LINES = re.compile(r"(?P<path>.+?)(?::|#L)(?P<start>\d+)(?:(?:-|:|-L)(?P<end>\d+))?$")
_MAX_NUMBER = 10**8


@dataclass(frozen=True, slots=True)
class Place:
    """What a log names: a file, and lines or a symbol of it where it says which.

    Attributes:
        path: as the log writes it.
        start, end: 1-based, inclusive; None for the file as a whole.
        symbol: qualified name, or empty.
        rank: 1-based place in a list of results; 0 where it was in none.
    """

    path: str
    start: int | None = None
    end: int | None = None
    symbol: str = ""
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """One piece of an edit: a text takes the place of another.

    Attributes:
        old: what was there; None where the whole file was written.
        new: what is there instead.
        line: where `old` began, 1-based, where the log tells it; what is inserted into nothing
            goes before this line.
        every: whether each occurrence was replaced.
        until: the last line that was replaced, where the log tells lines and not their text.
    """

    old: str | None
    new: str
    line: int | None = None
    every: bool = False
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One event of a log.

    Attributes:
        kind: what happened.
        source: `log` for people, `trajectory` for an agent.
        line: in the file that it was read from, 1-based (for a document, its item's number).
        session: the log's own session; empty where it names none.
        user: who; empty where the log does not say.
        time: seconds since the epoch; None where the log does not say.
        repository: as the log names it; empty where it does not.
        root: the folder that relative paths are relative to; empty where unknown.
        commit: the commit that was looked at; empty where the log does not say.
        query: what was asked, of kind `query`.
        query_id: joins results and clicks to their query.
        search: an agent's own search step, not what a person asked.
        results: what was shown, best first.
        place: what was clicked, read or edited.
        dwell: seconds; None where the log does not say.
        ok: False where it failed: an edit that did not apply, a file that is not there.
        retriever: what produced the results; empty where the log does not say.
        shown: bytes that came on screen.
        changes: of kind `edit`.
        created: the edit made the file.
        final: the edit is part of the task's net difference, which the log itself holds.
    """

    kind: Kind
    source: str = LOG
    line: int = 0
    session: str = ""
    user: str = ""
    time: float | None = None
    repository: str = ""
    root: str = ""
    commit: str = ""
    query: str = ""
    query_id: str = ""
    search: bool = False
    results: tuple[Place, ...] = ()
    place: Place | None = None
    dwell: float | None = None
    ok: bool = True
    retriever: str = ""
    shown: int = 0
    changes: tuple[Change, ...] = ()
    created: bool = False
    final: bool = False


_FIELDS = tuple(field for field in Record.__slots__ if field not in {"results", "place", "changes"})


def to_row(record: Record) -> dict[str, Any]:
    """Return a record as plain data, without what equals its default."""
    default = Record("end")
    row = {name: getattr(record, name) for name in _FIELDS}
    row = {name: value for name, value in row.items() if value != getattr(default, name)}
    if record.results:
        row["results"] = [_place_row(one) for one in record.results]
    if record.place is not None:
        row["place"] = _place_row(record.place)
    if record.changes:
        row["changes"] = [
            [one.old, one.new, one.line, one.every, one.until] for one in record.changes
        ]
    return row


def from_row(row: dict[str, Any]) -> Record:
    """Return the record that `to_row` wrote."""
    place = row.pop("place", None)
    results = tuple(Place(*one) for one in row.pop("results", ()))
    changes = tuple(Change(*one) for one in row.pop("changes", ()))
    kind = row.pop("kind", "end")
    made = Place(*place) if place is not None else None
    return Record(kind, results=results, place=made, changes=changes, **row)


def _place_row(place: Place) -> list[Any]:
    return [place.path, place.start, place.end, place.symbol, place.rank]


def place_of(text: str, rank: int = 0) -> Place:
    """Read a place: `path`, `path:10-20`, `path:10:20`, `path#L10-L20` or `path::Symbol`."""
    path, separator, symbol = text.partition("::")
    if separator and path:
        return Place(path, symbol=symbol, rank=rank)
    found = _LINES.fullmatch(text)
    if not found:
        return Place(text, rank=rank)
    start, end = lines_of(found["start"], found["end"])
    return Place(found["path"], start, end, rank=rank)


def lines_of(start: Any, end: Any = None) -> tuple[int | None, int | None]:
    """Return a pair of lines from whatever a log wrote; (None, None) where it is no such pair."""
    first = whole_number(start)
    if first is None:
        return None, None
    last = whole_number(end)
    return first, max(first, last) if last is not None else first


def whole_number(value: Any, least: int = 1) -> int | None:
    """Return the line, count or rank that a log wrote, of `least` or more; None for what is none.

    Digits are not enough: `int` takes no "²", and no text of 5,000 digits.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = int(value)
    except (ValueError, OverflowError):
        return None
    return number if least <= number <= _MAX_NUMBER else None
