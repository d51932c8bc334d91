"""The page's drawings: quality against latency, recall by K and by tokens."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from codebench.evaluation import recall_curve
from codebench.measures import aggregates
from codebench.measures.formulas import compute
from codebench.measures.names import Measure
from codebench.report.page import markup as mk
from codebench.report.text import milliseconds, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codebench.report.page.board import Board, Row

WIDTH, HEIGHT = 520, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 26, 44
_TOKENS = (250, 500, 1000, 2000, 4000, 8000, 16000, 32000)
LEVELS = {3: "exact symbols", 2: "right files"}


def frame(x: mk.Scale, y: mk.Scale, x_title: str, y_title: str) -> str:
    """Return the axes with their ticks and titles."""
    parts = []
    for tick in x.ticks():
        at = x.at(tick)
        parts += [mk.line(at, y.end, at, y.start, "grid")]
        parts += [mk.label(at, y.start + 16, mk.plain(tick), "tick")]
    for tick in y.ticks():
        at = y.at(tick)
        parts += [mk.line(x.start, at, x.end, at, "grid")]
        parts += [mk.label(x.start - 6, at + 4, mk.plain(tick), "tick", "end")]
    middle = (x.start + x.end) / 2
    parts.append(mk.label(middle, y.start + 36, x_title, "axis"))
    parts.append(mk.label(4, y.end - 14, y_title, "axis", "start"))
    return "".join(parts)


def scales(x_low: float, x_high: float, y_high: float = 1.0) -> tuple[mk.Scale, mk.Scale]:
    """Return a logarithmic x and a linear y from 0 in the usual frame."""
    x = mk.Scale(x_low, x_high, _LEFT, WIDTH - _RIGHT, log=True)
    return x, mk.Scale(0.0, y_high, HEIGHT - _BOTTOM, _TOP + 8)


def pareto(board: Board, budget: float) -> str:
    """Draw quality against p95, with the front that no other retriever beats in both."""
    points = [(row.p95, _value(board, row), row) for row in board.retrievers]
    known = [(ms, value, row) for ms, value, row in points if ms and value is not None]
    if not known:
        return ""
    times = [*(ms for ms, _, _ in known), budget]
    tops = [row.evaluation.figures[str(board.primary)].high or value for _, value, row in known]
    x, y = scales(min(times) / 2, max(times) * 6, min(1.0, max(0.1, *tops) * 1.1))
    front = _front(known)
    steps = [(x.at(ms), y.at(value)) for ms, value, _ in front]
    stairs = [
        corner
        for (x1, y1), (x2, y2) in pairwise(steps)
        for corner in ((x1, y1), (x2, y1), (x2, y2))
    ]
    parts = [frame(x, y, "p95 latency, ms (logarithmic)", board.primary.short)]
    if steps:
        end = (x.end, steps[-1][1])
        parts.append(mk.path([*(stairs or steps), end], "front"))
    at = x.at(budget)
    parts.append(
        f'<g id="budget-line" data-low="{x.low}" data-high="{x.high}" data-start="{x.start}" '
        f'data-end="{x.end}" transform="translate({at} 0)">'
        + mk.line(0, y.end, 0, y.start, "budget")
        + mk.label(4, y.start - 6, "budget", "axis", "start")
        + "</g>"
    )
    parts += _points(board, known, x, y, (at - 3, y.end, at + 3, y.start))
    best = ", ".join(row.label for _, _, row in front)
    words = f"A point a retriever, whiskers its 95 % interval. On the Pareto front: {best}."
    return mk.drawing("pareto", "Quality against latency", words, WIDTH, HEIGHT, "".join(parts))


def _value(board: Board, row: Row) -> float | None:
    return row.evaluation.figures[str(board.primary)].value


def _front(points: Sequence[tuple[float, float, Row]]) -> list[tuple[float, float, Row]]:
    front: list[tuple[float, float, Row]] = []
    for point in sorted(points, key=lambda one: (one[0], -one[1])):
        if not front or point[1] > front[-1][1]:
            front.append(point)
    return front


def _points(
    board: Board,
    known: Sequence[tuple[float, float, Row]],
    x: mk.Scale,
    y: mk.Scale,
    line: _Box,
) -> list[str]:
    parts = []
    spots = [(x.at(ms), y.at(value)) for ms, value, _ in known]
    room = (x.start, y.end - 8, x.end, y.start)
    taken = [line, *((at - 8, up - 8, at + 8, up + 8) for at, up in spots)]
    for ms, value, row in sorted(known, key=lambda one: -one[1]):
        css = mk.series_class(row.series, floor=False)
        figure = row.evaluation.figures[str(board.primary)]
        at, up = x.at(ms), y.at(value)
        words = f"{row.label}: {board.primary.short} {number(value)}, p95 {milliseconds(ms)} ms"
        whisker = ""
        if figure.low is not None and figure.high is not None:
            whisker = mk.line(at, y.at(figure.low), at, y.at(figure.high), f"whisker {css}")
        parts.append(
            f'<a href="#r{row.series}" class="point" data-series="{row.series}" '
            f'aria-label="{mk.esc(words)}"><title>{mk.esc(words)}</title>{whisker}'
            + mk.mark(row.series, at, up, f"mark {css}", 6)
            + _beside(row.label, at, up, room, taken)
            + "</a>"
        )
    return parts


_Box = tuple[float, float, float, float]


def _beside(text: str, x: float, y: float, room: _Box, taken: list[_Box]) -> str:
    """Return a point's name where it lies on nothing: right, left, and then step by step off."""
    name = text if len(text) <= 26 else text[:25] + "…"
    wide = 7.5 * len(name)
    places = [
        (x + 11 if right else x - 11, y + 4 + off, right)
        for off in (0, -14, 14, -28, 28, -42, 42, -56, 56)
        for right in (True, False)
    ]
    best = places[0]
    for at, up, right in places:
        box = (at if right else at - wide, up - 11, at + wide if right else at, up + 3)
        inside = room[0] <= box[0] and box[2] <= room[2] and room[1] <= box[1] and box[3] <= room[3]
        if inside and not any(_overlap(box, other) for other in taken):
            best = (at, up, right)
            taken.append(box)
            break
    return mk.label(best[0], best[1], name, "halo", "start" if best[2] else "end")


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def recall_by_k(board: Board, level: int) -> str:
    """Draw recall at a level by K."""
    depth = board.depth
    curves = [
        (row, [(k, v) for k, v in enumerate(recall_curve(row.evaluation, level, depth), 1)])
        for row in board.rows
    ]
    title = f"Recall by K: {LEVELS[level]}"
    name = f"R(rel={level})@K"
    return _curves(f"k{level}", title, "K, hits read (logarithmic)", name, curves, plain_k)


def plain_k(value: float) -> str:
    """Return a number of hits."""
    return f"K={value:g}"


def recall_by_tokens(board: Board, level: int) -> str:
    """Draw recall at a level by the tokens that one has to read."""
    curves = [(row, [(n, _at_tokens(row, level, n)) for n in _TOKENS]) for row in board.rows]
    title = f"Recall by tokens: {LEVELS[level]}"
    name = f"R(rel={level})@N tokens"
    return _curves(f"t{level}", title, "tokens read (logarithmic)", name, curves, plain_tokens)


def plain_tokens(value: float) -> str:
    """Return a number of tokens."""
    return f"{value:,.0f}"


def _at_tokens(row: Row, level: int, tokens: int) -> float | None:
    measure = Measure("R", tokens, tokens=True, rel=level)
    evaluation = row.evaluation
    if evaluation.ranks.places.bytes_read is None:
        return None
    values = compute(measure, evaluation.ranks)
    return aggregates.macro(measure, values, evaluation.weights).value


def _curves(
    name: str,
    title: str,
    x_title: str,
    y_title: str,
    curves: Sequence[tuple[Row, Sequence[tuple[int, float | None]]]],
    heading: Callable[[float], str],
) -> str:
    """Return a drawing of lines, and their figures as a table that is folded away."""
    drawn = [
        (row, [(k, value) for k, value in points if value is not None]) for row, points in curves
    ]
    drawn = [(row, points) for row, points in drawn if points]
    if not drawn:
        return ""
    last = max(k for _, points in drawn for k, _ in points)
    first = min(k for _, points in drawn for k, _ in points)
    x, y = scales(first, max(last, first + 1))
    parts = [frame(x, y, x_title, y_title)]
    for row, points in sorted(drawn, key=lambda one: not one[0].floor):
        css = mk.series_class(row.series, floor=row.floor)
        places = [(x.at(k), y.at(value)) for k, value in points]
        parts.append(mk.path(places, f"line {css}"))
        if not row.floor:
            every = max(1, len(places) // 6)
            offset = row.series % every
            parts += [mk.mark(row.series, *at, f"mark {css}", 3.5) for at in places[offset::every]]
    ladder = [k for k, _ in drawn[0][1] if k in {1, 2, 3, 5, 10, 20, 50, 100, *_TOKENS, last}]
    rows = [
        ("", mk.esc(row.label), [number(dict(points).get(k)) for k in ladder])
        for row, points in drawn
    ]
    figures = mk.table(title, ["retriever", *map(heading, ladder)], rows)
    ends = "; ".join(f"{row.label} {number(points[-1][1])}" for row, points in drawn)
    words = f"A line a retriever, floors in grey. At the right end: {ends}."
    svg = mk.drawing(name, title, words, WIDTH, HEIGHT, "".join(parts))
    return svg + mk.details("Figures", figures)


def legend(board: Board, *, floors: bool) -> str:
    """Return what the lines and points of the drawings stand for."""
    parts = []
    for row in board.rows:
        if row.floor and not floors:
            continue
        css = mk.series_class(row.series, floor=row.floor)
        shape = "" if row.floor else mk.mark(row.series, 14, 7, f"mark {css}", 4)
        floor = " (floor)" if row.floor else ""
        parts.append(
            '<li><svg viewBox="0 0 28 14" class="key" aria-hidden="true">'
            f"{mk.line(0, 7, 28, 7, f'line {css}')}{shape}</svg>"
            f"<bdi>{mk.esc(row.label)}</bdi>{floor}</li>"
        )
    return f'<ul class="legend" aria-label="Legend">{"".join(parts)}</ul>'
