"""Texts beside each other in columns of a terminal."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def cells(text: str) -> int:
    """Return how many cells of a terminal a printable text takes."""
    from wcwidth import wcwidth  # noqa: PLC0415  # only what is shown in columns needs it

    return sum(max(0, wcwidth(char)) for char in text)


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Break a text into lines of at most `width` cells, at a space or after a slash if it can.

    Lines after the first begin with `indent`; where it leaves no room for a character, they are
    longer.
    """
    width = max(width, len(indent) + 2)  # some characters take two cells
    lines: list[str] = []
    left = text
    while cells(left) > width:
        at = _fits(left, width)
        soft = max(left.rfind(" ", len(indent), at + 1), left.rfind("/", len(indent), at) + 1)
        cut = soft if soft > max(at // 2, len(indent)) else at
        lines.append(left[:cut].rstrip())
        left = indent + left[cut:].lstrip()
    return [*lines, left]


def _fits(text: str, width: int) -> int:
    """Return how many characters fit; at least two, so that every line takes some."""
    used = 0
    for at, char in enumerate(text):
        used += cells(char)
        if used > width:
            return max(at, 2)
    return len(text)


def beside(columns: Sequence[Sequence[str]], width: int, gap: str = "  ") -> list[str]:
    """Return columns of lines beside each other, each padded to `width` cells."""
    rows = zip_longest(*columns, fillvalue="")
    return [
        gap.join(cell + " " * max(0, width - cells(cell)) for cell in row).rstrip() for row in rows
    ]
