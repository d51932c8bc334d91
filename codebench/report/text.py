"""Small rules of how figures and foreign text are printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

NONE = "-"
"""Stands where there is no figure."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


def printable(text: str) -> str:
    """Return foreign text on one line, its control and direction characters made visible.

    A repository's text must not move the cursor, change colours or turn a line around.
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def number(value: float | None, digits: int = 3) -> str:
    """Return a figure with its digits; a dash where there is none."""
    return NONE if value is None else f"{value:.{digits}f}"


def milliseconds(value: float | None) -> str:
    """Return a latency with three figures that matter."""
    if value is None:
        return NONE
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def size(count: float | None) -> str:
    """Return bytes in the unit that reads best."""
    if count is None:
        return NONE
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("the last unit takes all")


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, markdown: bool) -> str:
    """Return rows as an aligned table, the first column left and the others right."""
    from tabulate import tabulate  # noqa: PLC0415  # formats are imported when they are used

    cells = [[printable(cell) for cell in row] for row in rows]
    if markdown:
        cells = [[cell.replace("|", "\\|") for cell in row] for row in cells]
    return tabulate(
        cells,
        headers=list(headers),
        tablefmt="pipe" if markdown else "simple",
        colalign=["left", *["right"] * (len(headers) - 1)] if rows else None,
        disable_numparse=True,
    )
