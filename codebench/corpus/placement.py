"""Which bytes and lines each definition covers.

A comment or an attribute directly above a definition belongs to it, and so does what stands
before it on its line (`export const`). A line has one owner: a definition that begins on the
first line of what it is in, or that has no line left of its own, folds into its neighbour.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from codebench.corpus.definitions import PREFIXES, Definition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.corpus.definitions import Reading

_LONGEST_GAP = 1_000
_TAIL = re.compile(rb"[ \t]*[;,]+")
_BLANK = b" \t\r\n\x0b\x0c"


def place(
    definitions: Sequence[Definition],
    reading: Reading,
    lead: re.Pattern[bytes] | None,
    data: bytes,
    starts: Sequence[int],
) -> None:
    """Set what each definition covers, and fold those that have no line of their own.

    Args:
        definitions: what `nest` returned; changed in place.
        reading: where comments and attributes are.
        lead: what may stand before a definition on its line.
        data: the file.
        starts: the byte at which each line starts.
    """
    above = _Above(reading, lead, data, starts)
    top = Definition(0, len(data), "module", (), first=-1)
    for each in definitions:
        if each.kind in PREFIXES:
            continue
        owner = _owner(each) or top
        before = owner.last_child
        each.start = above.reach(each.start, before.end if before is not None else owner.start)
        tail = _TAIL.match(data, each.end)
        if tail:
            each.end = tail.end()
        each.first = bisect_right(starts, each.start) - 1
        each.last = bisect_right(starts, _last_byte(data, each)) - 1
        if each.first <= owner.first:
            each.folded = True
        elif before is not None and each.last <= before.last:
            each.folded = True
            before.end = max(before.end, each.end)
        else:
            each.first = max(each.first, before.last + 1 if before is not None else 0)
            owner.last_child = each


def _owner(each: Definition) -> Definition | None:
    above = each.parent
    while above is not None and not above.is_chunk:
        above = above.parent
    return above


def _last_byte(data: bytes, each: Definition) -> int:
    last = each.end - 1
    while last > each.start and data[last] in _BLANK:
        last -= 1
    return max(last, each.start)


class _Above:
    """Finds what stands directly above or before a definition and belongs to it."""

    def __init__(
        self,
        reading: Reading,
        lead: re.Pattern[bytes] | None,
        data: bytes,
        starts: Sequence[int],
    ) -> None:
        self._spans = sorted([*reading.comments, *reading.attributes])
        self._begins = [start for start, _ in self._spans]
        self._attributes = set(reading.attributes)
        self._lead = lead
        self._data = data
        self._starts = starts

    def reach(self, start: int, floor: int) -> int:
        """Return where a definition that is written from `start` on begins, `floor` at least."""
        while True:
            begin = self._before(self._line(start), start, floor)
            if begin is None:
                return start
            start = begin

    def _before(self, line: int, start: int, floor: int) -> int | None:
        if self._lead is not None and line >= floor:
            found = self._lead.fullmatch(self._data, line, start)
            if found and found.start(1) < start:
                return found.start(1)
        index = bisect_left(self._begins, start) - 1
        if index < 0:
            return None
        begin, end = self._spans[index]
        if begin < floor or end > start or start - end > _LONGEST_GAP:
            return None
        gap = self._data[end:start]
        if gap.strip() or gap.count(b"\n") + self._data.endswith(b"\n", begin, end) > 1:
            return None
        if (begin, end) in self._attributes:
            return begin
        own_line = not self._data[self._line(begin) : begin].strip()
        return begin if own_line else None

    def _line(self, byte: int) -> int:
        return self._starts[bisect_right(self._starts, byte) - 1]
