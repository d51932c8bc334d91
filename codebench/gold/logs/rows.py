"""Tables of events, one a row: JSON Lines and CSV, with a column map."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codebench.gold.logs.record import (
    LOG,
    TRAJECTORY,
    Place,
    Record,
    lines_of,
    place_of,
    whole_number,
)
from codebench.gold.logs.streams import json_lines, text_lines
from codebench.gold.logs.times import seconds_of
from codebench.gold.logs.ubi import COPIED_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from codebench.gold.logs.columns import ColumnMap
    from codebench.gold.logs.skipped import Skipped

JSONL_ENDINGS = (".jsonl", ".ndjson")
CSV_ENDINGS = (".csv", ".tsv")

_NO = frozenset({"0", "false", "no", "failed", "error"})
_MAX_CELL = 4_000_000
_MAX_ROW_LINES = 50
_SHOWN = 20


class WrongRow(ValueError):  # noqa: N818  # it names a thing
    """A row that is no record; the message says why."""


def read_jsonl(path: Path, columns: ColumnMap, skipped: Skipped) -> Iterator[Record]:
    """Yield the records of a JSON Lines file."""
    for line, data in json_lines(path, skipped):
        row = {name: _inside(data, column) for name, column in columns.columns.items()}
        yield from _record(row, data, columns, path.name, line, skipped)


def read_csv(path: Path, columns: ColumnMap, skipped: Skipped) -> Iterator[Record]:
    """Yield the records of a CSV file whose first line names its columns."""
    csv.field_size_limit(_MAX_CELL)
    head: list[str] | None = None
    delimiter = "\t" if path.suffix == ".tsv" else columns.delimiter
    for line, text in _whole_rows(text_lines(path, skipped)):
        try:
            # No splitlines: a form feed or U+2028 in a cell ends no row.
            cells = next(
                csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
            )
        except (csv.Error, StopIteration) as error:
            skipped.line(path.name, line, f"is not CSV ({error})")
            continue
        if head is None:
            head = [cell.strip() for cell in cells]
            continue
        if len(cells) != len(head):
            skipped.line(path.name, line, f"has {len(cells)} cells, the first line {len(head)}")
            continue
        named = dict(zip(head, cells, strict=True))
        row = {name: named.get(column) or None for name, column in columns.columns.items()}
        yield from _record(row, named, columns, path.name, line, skipped)


def _whole_rows(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Join the lines of a row whose cell holds newlines; a quote without an end is a bad line."""
    waiting: deque[tuple[int, str]] = deque()
    while True:
        first = waiting.popleft() if waiting else next(lines, None)
        if first is None:
            return
        taken = [first]
        quotes = first[1].count('"')
        while quotes % 2 and len(taken) < _MAX_ROW_LINES:
            more = waiting.popleft() if waiting else next(lines, None)
            if more is None:
                break
            taken.append(more)
            quotes += more[1].count('"')
        if quotes % 2:
            waiting.extendleft(reversed(taken[1:]))
            yield first
        else:
            yield first[0], "".join(text for _, text in taken)


def _record(
    row: Mapping[str, Any],
    raw: Mapping[str, Any],
    columns: ColumnMap,
    file: str,
    line: int,
    skipped: Skipped,
) -> Iterator[Record]:
    row = {
        name: columns.constants.get(name) if value is None else value for name, value in row.items()
    }
    said = row["kind"]
    kind = columns.kinds.get(str(said))
    if kind is None:
        if said is None:
            skipped.line(file, line, _kindless(raw, columns))
        else:
            skipped.ignore(said)
        return
    try:
        record = replace(_common(row), kind=kind, line=line)
        if kind == "query":
            record = _query(record, row, columns)
        elif kind != "end":
            record = _act(record, row, columns)
    except WrongRow as error:
        skipped.line(file, line, str(error))
        return
    if said == "copy" and record.dwell is None:
        record = replace(record, dwell=COPIED_SECONDS)
    yield record


def _kindless(raw: Mapping[str, Any], columns: ColumnMap) -> str:
    """Say where the kind was looked for, and what a map could name."""
    there = ", ".join(list(raw)[:_SHOWN]) or "none"
    return (
        f"has no kind: nothing in its column {columns.columns['kind']!r}; its columns: {there} "
        "(say in --columns which is kind, or write kind as a constant)"
    )


def _common(row: Mapping[str, Any]) -> Record:
    time = seconds_of(row["time"])
    if time is None and row["time"] is not None:
        raise WrongRow("its time is no moment: write ISO 8601, or seconds since 1970")
    source = _text(row, "source") or LOG
    if source not in {LOG, TRAJECTORY}:
        raise WrongRow(f"its source is neither {LOG} nor {TRAJECTORY}")
    ok = row["ok"]
    return Record(
        "end",
        source=source,
        session=_text(row, "session"),
        user=_text(row, "user"),
        time=time,
        repository=_text(row, "repository"),
        commit=_text(row, "commit"),
        query_id=_text(row, "query_id"),
        ok=ok is None or str(ok).strip().lower() not in _NO,
        retriever=_text(row, "retriever"),
    )


def _query(record: Record, row: Mapping[str, Any], columns: ColumnMap) -> Record:
    text = _text(row, "query")
    if not text.strip():
        raise WrongRow("its query is empty")
    return replace(record, query=text.strip(), results=tuple(_results(row["results"], columns)))


def _act(record: Record, row: Mapping[str, Any], columns: ColumnMap) -> Record:
    place = _place(row)
    dwell = row["dwell"]
    try:
        seconds = None if dwell is None else float(dwell) * columns.dwell_unit
    except (TypeError, ValueError, OverflowError):
        raise WrongRow("its dwell is not a number") from None
    if seconds is not None and not 0 <= seconds < math.inf:
        raise WrongRow("its dwell is below 0, or without an end")
    return replace(record, place=place, dwell=seconds)


def _results(value: Any, columns: ColumnMap) -> Iterator[Place]:
    if isinstance(value, str):
        try:
            lists = value.lstrip().startswith("[")
            value = json.loads(value) if lists else value.split(columns.separator)
        except (ValueError, RecursionError):
            raise WrongRow("its results are no list") from None
    texts = value if value is not None else []
    if not isinstance(texts, list):
        raise WrongRow("its results are no list")
    for rank, one in enumerate(texts, 1):
        if isinstance(one, dict):
            yield _place(one, rank)
        elif isinstance(one, str) and one.strip():
            yield place_of(one.strip(), rank)


def _place(row: Mapping[str, Any], rank: int = 0) -> Place:
    path = row.get("path")
    if not isinstance(path, str) or not path.strip():
        raise WrongRow("its path is missing")
    lines = row.get("lines")
    if isinstance(lines, str):
        first, _, last = lines.replace(":", "-").partition("-")
        lines = [first, last or first]
    place = place_of(path.strip(), whole_number(row.get("rank"), 0) or rank)
    if isinstance(lines, list | tuple) and len(lines) == 2:
        start, end = lines_of(*lines)
        place = replace(place, start=start, end=end)
    symbol = row.get("symbol")
    return replace(place, symbol=symbol) if isinstance(symbol, str) and symbol else place


def _inside(data: Mapping[str, Any], column: str) -> Any:
    """Return a value by its name, or by the dotted way to it."""
    if column in data:
        return data[column]
    value: Any = data
    for part in column.split("."):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
