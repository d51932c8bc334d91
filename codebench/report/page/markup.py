"""Markup that can hold no markup of others: every text is escaped where it is put in."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COLOURS = 8
"""Series beyond this many take the colours again with another dash."""


def esc(text: object) -> str:
    """Return foreign text for HTML or SVG, its control and direction characters visible."""
    return html.escape(printable(str(text)), quote=True)


def series_class(series: int, *, floor: bool) -> str:
    """Return the CSS classes of a series."""
    if floor:
        return f"floor d{series % 4 + 1}"
    return f"s{series % COLOURS} d{series // COLOURS % 5}"


def table(
    caption: str,
    headers: Sequence[str],
    rows: Iterable[tuple[str, str, Sequence[str]]],
    *,
    note: str = "",
) -> str:
    """Return a table that can be scrolled sideways.

    Args:
        caption: text.
        headers: texts; the first heads the column of row headers.
        rows: each row's attributes, its header and its cells, all as markup.
        note: text below the caption.
    """
    head = "".join(f'<th scope="col">{esc(one)}</th>' for one in headers)
    body = "".join(
        f'<tr{attributes}><th scope="row">{name}</th>'
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
        for attributes, name, cells in rows
    )
    small = f"<small>{esc(note)}</small>" if note else ""
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{esc(caption)}"><table>'
        f"<caption>{esc(caption)} {small}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def details(summary: str, inside: str) -> str:
    """Return what is folded away until it is asked for; `inside` is markup."""
    return f"<details><summary>{esc(summary)}</summary>{inside}</details>"


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to a length of the drawing, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return where a value stands, never outside of the scale."""
        low, high, own = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, own = math.log10(low), math.log10(high), math.log10(own)
        share = (own - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Return round values on the scale, about six."""
        if self.log:
            return self._decades()
        span = self.high - self.low
        step = 10 ** math.floor(math.log10(span / 4)) if span > 0 else 1.0
        step *= next(one for one in (1, 2, 5, 10) if span / (step * one) <= 6)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(at * step, 10) for at in range(first, last + 1)]

    def _decades(self) -> list[float]:
        found: list[float] = []
        for steps in ((1, 2, 5), (1, 3), (1,)):
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            every = [step * 10.0**power for power in powers for step in steps]
            found = [one for one in every if self.low * 0.999 <= one <= self.high * 1.001]
            if len(found) <= 8:
                break
        return found


def plain(value: float) -> str:
    """Return a tick's label."""
    if value >= 1000:
        return f"{value / 1000:g}k"
    return f"{value:g}"


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    """Return a line."""
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{css}"/>'


def label(x: float, y: float, text: str, css: str = "", anchor: str = "middle") -> str:
    """Return a text of a drawing."""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" class="{css}">{esc(text)}</text>'


def path(points: Sequence[tuple[float, float]], css: str) -> str:
    """Return a line through points."""
    steps = " ".join(f"{x} {y}" for x, y in points)
    return f'<path d="M{steps}" class="{css}"/>'


def mark(series: int, x: float, y: float, css: str, size: float = 5) -> str:
    """Return a point whose shape tells its series too."""
    s = size
    shapes = (
        f"M{x - s} {y}a{s} {s} 0 1 0 {2 * s} 0a{s} {s} 0 1 0 {-2 * s} 0z",
        f"M{x - s} {y - s}h{2 * s}v{2 * s}h{-2 * s}z",
        f"M{x} {y - s - 1}l{s + 1} {2 * s + 1}h{-2 * s - 2}z",
        f"M{x} {y - s - 1}l{s + 1} {s + 1}l{-s - 1} {s + 1}l{-s - 1} {-s - 1}z",
    )
    return f'<path d="{shapes[series % len(shapes)]}" class="{css}"/>'


def drawing(name: str, title: str, words: str, width: int, height: int, inside: str) -> str:
    """Return a drawing with its title and description; `inside` is markup."""
    return (
        f'<svg viewBox="0 0 {width} {height}" role="group" aria-labelledby="{name}-t" '
        f'aria-describedby="{name}-d">'
        f'<title id="{name}-t">{esc(title)}</title><desc id="{name}-d">{esc(words)}</desc>'
        f"{inside}</svg>"
    )
