"""A measure over time, as tables with a small chart, Markdown, JSON or CSV."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from codebench.report.data import figure_data, finite
from codebench.report.text import (
    NONE,
    csv_text,
    digits_of,
    escaped,
    figure_cell,
    json_text,
    lines,
    milliseconds,
    number,
    printable,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.judging.history import History, Point
    from codebench.measures.names import Measure

_WIDTH = 48
_HEADERS = ("time", "run", "version", "codebench")


def history_text(history: History, form: str) -> str:
    """Return a history as `table`, `markdown`, `json` or `csv`."""
    if form == "json":
        return json_text(_data(history))
    if form == "csv":
        return _csv(history)
    markdown = form == "markdown"
    blocks = []
    for name, points in history.lines:
        title = escaped(f"{history.measure.short} of {name}", markdown=markdown)
        rows = [_row(history.measure, point) for point in points]
        headers = [*_HEADERS, history.measure.short, "change", "verdict", "p95 ms", "failed"]
        blocks += [
            f"### {title}" if markdown else title,
            table(headers, rows, markdown=markdown, left=len(_HEADERS)),
            _fenced(_chart(history.measure, points), markdown=markdown),
        ]
    return "\n\n".join([*blocks, lines(_notes(history), markdown=markdown)])


def _row(measure: Measure, point: Point) -> list[str]:
    change = point.difference
    return [
        _time(point),
        point.run.name,
        point.version or NONE,
        point.codebench or NONE,
        figure_cell(point.figure, measure),
        NONE if change is None else f"{change.delta + 0.0:+.{digits_of(measure)}f}",
        point.verdict or NONE,
        milliseconds(None if point.latency.p95 is None else point.latency.p95 / 1e6),
        str(point.failed),
    ]


def _time(point: Point) -> str:
    return point.started[:16].replace("T", " ") or NONE


def _fenced(chart: str, *, markdown: bool) -> str:
    return f"```text\n{chart}\n```" if markdown else chart


def _chart(measure: Measure, points: Sequence[Point]) -> str:
    """Return a line of text a run: its value on a common scale, its interval around it."""
    known = [edge for point in points for edge in _edges(point) if edge is not None]
    if not known:
        return "no value"
    low, high = min(known), max(known)
    if low == high:
        low, high = (0.0, 1.0) if measure.kind.bounded else (low - 0.5, high + 0.5)
    digits = digits_of(measure)
    ends = number(low, digits), number(high, digits)
    rows = [f"{'':16}  {ends[0]:<{_WIDTH // 2}}{ends[1]:>{_WIDTH - _WIDTH // 2}}"]
    for point in points:
        own = [None if edge is None else _place(edge, low, high) for edge in _edges(point)]
        mark = {"better": " better", "worse": " worse", "not comparable": " other suite"}
        told = f"{number(point.figure.value, digits)}{mark.get(point.verdict, '')}"
        rows.append(f"{printable(_time(point)):16}  {_bar(*own)}  {told}")
    return "\n".join(rows)


def _edges(point: Point) -> tuple[float | None, float | None, float | None]:
    figure = point.figure
    if figure.low is None or figure.high is None:
        return figure.value, figure.value, figure.value
    return figure.low, figure.value, figure.high


def _place(value: float, low: float, high: float) -> int:
    return round((value - low) / (high - low) * (_WIDTH - 1))


def _bar(low: int | None, value: int | None, high: int | None) -> str:
    if low is None or value is None or high is None:
        return " " * _WIDTH
    cells = ["─" if low <= at <= high else " " for at in range(_WIDTH)]
    if low < value < high:
        cells[low], cells[high] = "├", "┤"
    cells[value] = "●"
    return "".join(cells)


def _notes(history: History) -> list[str]:
    legend = (
        "change and verdict are against the last run above of the same suite, query by query; "
        "verdicts are adjusted for the number of such pairs of one retriever and suite"
    )
    notes = [legend]
    for name, points in history.lines:
        notes += [
            f"{name}, {point.run.name} is not comparable with the run above: {point.reason}"
            for point in points
            if point.reason
        ]
        notes += [f"{name}, {point.run.name}: incomplete" for point in points if not point.complete]
        notes += [
            f"{name}, {after.run.name}: the adapter's file changed, its version did not"
            for before, after in pairwise(points)
            if before.adapter != after.adapter and before.version == after.version
        ]
    return [*notes, *(f"skipped {reason}" for reason in history.skipped)]


def _data(history: History) -> dict[str, Any]:
    return {
        "measure": str(history.measure),
        "retrievers": [
            {"name": name, "runs": [_point_data(point) for point in points]}
            for name, points in history.lines
        ],
        "skipped": list(history.skipped),
        "notes": _notes(history),
    }


def _point_data(point: Point) -> dict[str, Any]:
    change = point.difference
    return {
        "run": str(point.run),
        "started": point.started,
        "suite": point.suite,
        "version": point.version,
        "adapter": point.adapter,
        "codebench": point.codebench,
        "complete": point.complete,
        "failed": point.failed,
        "figure": figure_data(point.figure),
        "p50_ms": None if point.latency.p50 is None else point.latency.p50 / 1e6,
        "p95_ms": None if point.latency.p95 is None else point.latency.p95 / 1e6,
        "verdict": point.verdict,
        "reason": point.reason,
        "change": None
        if change is None
        else {
            "delta": change.delta,
            "low": finite(change.low),
            "high": finite(change.high),
            "p_adjusted": change.p_adjusted,
            "wins": change.wins,
            "ties": change.ties,
            "losses": change.losses,
        },
    }


def _csv(history: History) -> str:
    headers = ["retriever", "run", "started", "suite", "version", "codebench", "complete"]
    headers += ["measure", "value", "low", "high", "n", "verdict", "delta", "delta_low"]
    headers += ["delta_high", "p_adjusted", "p50_ms", "p95_ms", "failed", "reason"]
    rows = []
    for name, points in history.lines:
        for point in points:
            data = _point_data(point)
            figure, change = data["figure"], data["change"] or {}
            rows.append(
                [
                    *(name, data["run"], data["started"], data["suite"], data["version"]),
                    *(data["codebench"], "yes" if point.complete else "no"),
                    *(str(history.measure), figure["value"], figure["low"], figure["high"]),
                    *(figure["n"], data["verdict"], change.get("delta"), change.get("low")),
                    *(change.get("high"), change.get("p_adjusted")),
                    *(data["p50_ms"], data["p95_ms"], data["failed"], data["reason"]),
                ]
            )
    return csv_text(headers, rows)
