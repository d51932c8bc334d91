"""The page's drawings with a row for each: latencies, and differences with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codebench.report.page import markup as mk
from codebench.report.text import milliseconds

if TYPE_CHECKING:
    from codebench.comparison import Comparison, Difference
    from codebench.report.page.board import Board, Row

WIDTH = 520
_LEFT, _RIGHT, _ROW = 12, 14, 46
_SHARES = (1, 25, 50, 75, 95, 99)


def latencies(board: Board, budget: float) -> str:
    """Draw every retriever's latencies: the middle half as a box, 98 % as a line, p95 as a mark."""
    rows = [row for row in board.retrievers if len(row.times)]
    if not rows:
        return ""
    ends = [float(row.times[at]) for row in rows for at in (0, -1)]
    low, high = min(*ends, budget), max(*ends, budget)
    height = _ROW * len(rows) + 52
    x = mk.Scale(low * 0.8, high * 1.25, _LEFT, WIDTH - _RIGHT, log=True)
    bottom = height - 40
    parts = [_axis(x, bottom, "latency of a search, ms (logarithmic)")]
    parts.append(mk.line(x.at(budget), 4, x.at(budget), bottom, "budget"))
    words = []
    for at, row in enumerate(rows):
        parts.append(_box(row, x, 6 + at * _ROW))
        p50, p95 = (float(np.percentile(row.times, q, method="inverted_cdf")) for q in (50, 95))
        words.append(f"{row.label} p50 {milliseconds(p50)} ms, p95 {milliseconds(p95)} ms")
    title = "Latency distributions"
    text = f"{'; '.join(words)}. The dashed line is the budget of {budget:g} ms."
    return mk.drawing("latency", title, text, WIDTH, height, "".join(parts))


def _box(row: Row, x: mk.Scale, top: float) -> str:
    css = mk.series_class(row.series, floor=False)
    found = np.percentile(row.times, _SHARES, method="inverted_cdf")
    p1, p25, p50, p75, p95, p99 = (x.at(float(value)) for value in found)
    middle = top + 30
    width = round(max(p75 - p25, 1.0), 1)
    named = ", ".join(
        f"p{q} {milliseconds(float(value))} ms" for q, value in zip(_SHARES, found, strict=True)
    )
    return (
        f"<g><title>{mk.esc(row.label)}: {named}</title>"
        + mk.label(_LEFT, top + 12, _fit(row.label), "halo", "start")
        + mk.line(p1, middle, p99, middle, f"whisker {css}")
        + f'<rect x="{p25}" y="{top + 21}" width="{width}" height="18" class="box {css}"/>'
        + mk.line(p50, top + 19, p50, top + 41, f"median {css}")
        + mk.mark(row.series, p95, middle, f"mark {css}", 4)
        + "</g>"
    )


def differences(comparison: Comparison, margin: float) -> str:
    """Draw each difference of the comparison with its interval, and the margin around zero."""
    shown = [one for one in comparison.differences if one.measure.scale == 1]
    if not shown:
        return ""
    ends = [end for one in shown for end in (one.low, one.high, one.delta) if end is not None]
    reach = max([abs(end) for end in ends] + [2 * margin]) * 1.08
    x = mk.Scale(-reach, reach, _LEFT, WIDTH - _RIGHT)
    height = _ROW * len(shown) + 52
    bottom = height - 40
    left, right = x.at(-margin), x.at(margin)
    parts = [
        _band(left, right, bottom),
        _axis(x, bottom, "Δ, candidate minus baseline"),
        mk.line(x.at(0), 4, x.at(0), bottom, "zero"),
    ]
    parts += [_difference(one, x, 6 + at * _ROW) for at, one in enumerate(shown)]
    words = "; ".join(
        f"{one.candidate} against {one.baseline} by {one.measure.short}: {one.delta:+.3f}, "
        f"{one.verdict}"
        for one in shown
    )
    title = "Paired differences with 95 % intervals"
    return mk.drawing("differences", title, words, WIDTH, height, "".join(parts))


def _band(left: float, right: float, bottom: float) -> str:
    width = round(right - left, 1)
    return f'<rect x="{left}" y="4" width="{width}" height="{bottom - 4}" class="margin"/>'


def _difference(one: Difference, x: mk.Scale, top: float) -> str:
    middle = top + 30
    names = f"{one.candidate} - {one.baseline}, {one.measure.short}"
    said = f"{one.delta:+.3f} {one.verdict}"
    parts = [
        mk.label(_LEFT, top + 12, _fit(names, 48), "halo", "start"),
        mk.label(WIDTH - _RIGHT, top + 12, said, f"halo said {one.verdict}", "end"),
    ]
    css = f"verdict {one.verdict}"
    if one.low is not None and one.high is not None:
        parts.append(mk.line(x.at(one.low), middle, x.at(one.high), middle, f"whisker {css}"))
    parts.append(mk.mark(0, x.at(one.delta), middle, f"mark {css}", 4.5))
    return "".join(parts)


def _axis(x: mk.Scale, bottom: float, title: str) -> str:
    parts = []
    for tick in x.ticks():
        parts.append(mk.line(x.at(tick), 4, x.at(tick), bottom, "grid"))
        parts.append(mk.label(x.at(tick), bottom + 16, mk.plain(tick), "tick"))
    parts.append(mk.label((x.start + x.end) / 2, bottom + 36, title, "axis"))
    return "".join(parts)


def _fit(text: str, longest: int = 56) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
