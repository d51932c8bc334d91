"""Tables that are wider than the terminal, folded into parts below each other: nothing is lost."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_RULE = re.compile(r"-+(?:  -+)+")
_GAP = 2

Span = tuple[int, int]
"""Where a column begins and ends, in places of the screen."""


def folded(text: str, width: int) -> str:
    """Return a text whose tables are at most `width` places wide, as far as their columns allow.

    The columns of a table that is too wide stand in several parts; each begins with the columns
    that say whose row it is. A line below the first such table says so.
    """
    lines: list[str] = []
    told = False
    for full, group in groupby(text.split("\n"), key=bool):
        block = list(group)
        parts = _parts(block, width) if full else [block]
        if len(parts) > 1 and not told:
            told = True
            parts.append([f"the table is folded to the terminal's {width} columns"])
        lines += [line for part in parts for line in ("", *part)][1:]
    return "\n".join(lines)


def _parts(block: list[str], width: int) -> list[list[str]]:
    """Return a block's lines, or those of each part of the table that it is."""
    if len(block) < 2 or not _RULE.fullmatch(block[1]) or len(block[1]) <= width:
        return [block]
    spans = [found.span() for found in re.finditer("-+", block[1])]
    heads = _heads(block[0], spans, width)
    return [
        [_line(line, [*heads, *own]) for line in block]
        for own in _shared(spans[len(heads) :], width - heads[-1][1])
    ]


def _heads(headers: str, spans: Sequence[Span], width: int) -> Sequence[Span]:
    """Return what every part begins with: the columns on the left, where they leave room."""
    count = next(
        (at for at, span in enumerate(spans) if _cut(headers, span).startswith(" ")), len(spans)
    )
    if not 0 < count < len(spans):
        return spans[:1]
    widest = max(end - start for start, end in spans[count:])
    return spans[: count if spans[count - 1][1] + _GAP + widest <= width else 1]


def _shared(spans: Sequence[Span], room: int) -> list[list[Span]]:
    """Share columns out over parts; one that is wider than the room has a part of its own."""
    parts: list[list[Span]] = []
    left = 0
    for span in spans:
        wide = span[1] - span[0] + _GAP
        if not parts or wide > left:
            parts.append([])
            left = room
        parts[-1].append(span)
        left -= wide
    return parts


def _line(line: str, spans: Sequence[Span]) -> str:
    return (" " * _GAP).join(_cut(line, span) for span in spans).rstrip()


def _cut(line: str, span: Span) -> str:
    """Return what stands at some places of the screen; a wide character takes two of them."""
    if line.isascii():
        return line[slice(*span)].ljust(span[1] - span[0])
    from wcwidth import wcswidth  # noqa: PLC0415  # most lines are plain

    own, before = "", 0
    for at in range(len(line)):
        # Marks take no place of their own: they stay with what they stand on.
        after = max(before, wcswidth(line[: at + 1]))
        if span[0] < after <= span[1] or (after == before == span[0]):
            own += line[at]
        before = after
    return own + " " * (span[1] - span[0] - max(0, wcswidth(own)))
