"""What a hit points at inside a file, and what it makes one read.

This is the only place that knows when a hit shows a symbol.

A symbol's name is resolved inside its file. `path::`, `~2`, a trailing `()` and a receiver
`(*T).` are understood; `::`, `#` and `/` count as dots. A name means the definitions of that
qualified name; where there is none, those whose qualified name ends in it (`get` or `Cache.get`
for `Store.Cache.get`). Among several, the hit's lines choose: those that the lines show, else
those with most lines in common; lines that touch none of them leave the name unresolved. Without
lines each is shown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codebench.model import Chunk, FileTable, Hit

SCREEN = 40
"""A hit of at most this many lines is narrow: one screen."""

MOST_LOOKED = 1000
"""Places of one file that are remembered at once."""

TIMES = 8
"""A hit of at most this many times the symbol's own lines is narrow too."""

Span = tuple[int, int]


class Files:
    """The corpus's files, with what grading looks up in them worked out once a file."""

    def __init__(self, tables: Mapping[str, FileTable]) -> None:
        self._tables = tables
        self._known: dict[str, File] = {}

    def __len__(self) -> int:
        return len(self._tables)

    def get(self, path: str) -> File | None:
        """Return what is known of a file, or None for a path that the corpus does not have."""
        if path not in self._known:
            table = self._tables.get(path)
            if table is None:
                return None
            self._known[path] = File(table)
        return self._known[path]


class File:
    """One file: sizes of line ranges, chunks by ID and by name."""

    def __init__(self, table: FileTable) -> None:
        self.chunks = table.chunks
        self.lines = len(table.line_bytes)
        self.looked: dict[tuple[int | None, int | None, str | None], tuple[Pointed, int]] = {}
        self._sums = (0, *accumulate(table.line_bytes))

    @cached_property
    def by_id(self) -> Mapping[str, Chunk]:
        """Chunks by their IDs."""
        return {chunk.id: chunk for chunk in self.chunks}

    @cached_property
    def _owned(self) -> Sequence[tuple[int, int, Chunk]]:
        return sorted(
            ((start, end, chunk) for chunk in self.chunks for start, end in chunk.spans),
            key=lambda owned: owned[:2],
        )

    @cached_property
    def _starts(self) -> Sequence[int]:
        return [start for start, _, _ in self._owned]

    def size(self, spans: Iterable[Span]) -> int:
        """Bytes of the lines of some spans, a line counted once."""
        return sum(
            self._sums[min(end, self.lines)] - self._sums[start - 1]
            for start, end in _merged(spans)
            if start <= self.lines
        )

    def whole(self) -> int:
        """Bytes of the file."""
        return self._sums[-1]

    def pointed_at(self, span: Span) -> Chunk | None:
        """The chunk that owns most of the lines of a span; the first among equals."""
        shares: dict[str, int] = {}
        at = max(bisect_right(self._starts, span[0]) - 1, 0)
        while at < len(self._owned) and self._owned[at][0] <= span[1]:
            start, end, chunk = self._owned[at]
            common = min(end, span[1]) - max(start, span[0]) + 1
            if common > 0:
                shares[chunk.id] = shares.get(chunk.id, 0) + common
            at += 1
        return self.by_id[max(shares, key=shares.__getitem__)] if shares else None

    def named(self, symbol: str) -> tuple[Chunk, ...]:
        """The chunks that a symbol's name means; see the module's text."""
        name, ordinal = symbol.strip(), None
        repeat = _ORDINAL.search(name)
        if repeat:
            name, ordinal = name[: repeat.start()], int(repeat.group(1))
        for spelling in dict.fromkeys((name, _dotted(name))):
            found = [chunk for chunk in self.chunks if spelling and chunk.name == spelling]
            found = found or [chunk for chunk in self.chunks if _ends(chunk.name, spelling)]
            if found:
                return tuple(chunk for chunk in found if ordinal in (None, chunk.ordinal))
        return ()


_ORDINAL = re.compile(r"~([1-9][0-9]{0,5})\Z")
_CALL = re.compile(r"\([^()]*\)\Z")
_RECEIVER = re.compile(r"\A\(\*?(\w+)\)(?=\.)")
_SEPARATOR = re.compile(r"::|#|/")


def _dotted(name: str) -> str:
    bare = _RECEIVER.sub(r"\1", _CALL.sub("", name))
    return _SEPARATOR.sub(".", bare).strip(".")


def _ends(qualified: str, name: str) -> bool:
    return bool(name) and qualified.endswith(f".{name}")


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def common_lines(chunk: Chunk, span: Span) -> int:
    """How many of a chunk's own lines lie in a range of lines."""
    start, end = span
    return sum(max(0, min(end, last) - max(start, first) + 1) for first, last in chunk.spans)


def lines_show(chunk: Chunk, span: Span) -> bool:
    """Whether a range of lines shows a chunk: it overlaps it enough, and is narrow enough.

    Enough: at least half of the chunk's own lines lie in the range, or more than half of the
    range's lines are the chunk's own. Narrow: at most 40 lines, or at most 8 times the chunk's
    own lines.
    """
    length = span[1] - span[0] + 1
    own = chunk.line_count
    common = common_lines(chunk, span)
    overlaps = common > 0 and (2 * common >= own or 2 * common > length)
    return overlaps and (length <= SCREEN or length <= TIMES * own)


@dataclass(frozen=True, slots=True)
class Pointed:
    """What a hit points at: chunks by name, or lines, or (neither) the file."""

    named: tuple[Chunk, ...]
    span: Span | None

    def shows(self, chunk: Chunk) -> bool:
        """Whether it shows a chunk of the file: by name where one resolved, else by lines."""
        if self.named:
            return any(chunk.id == named.id for named in self.named)
        return self.span is not None and lines_show(chunk, self.span)


def pointed_by(file: File, hit: Hit) -> Pointed:
    """Work out what a hit points at in its file."""
    span = _span(file, hit)
    named = file.named(hit.symbol.removeprefix(f"{hit.path}::")) if hit.symbol else ()
    if len(named) > 1 and span is not None:
        shown = [chunk for chunk in named if lines_show(chunk, span)]
        most = max(common_lines(chunk, span) for chunk in named)
        nearest = [chunk for chunk in named if most and common_lines(chunk, span) == most]
        named = tuple(shown or nearest)
    return Pointed(named, span)


def look(file: File, hit: Hit) -> tuple[Pointed, int]:
    """Return what a hit points at, and the bytes that it makes one read.

    Many queries find the same places, so that what was worked out is remembered, up to a limit.
    """
    key = (hit.start_line, hit.end_line, hit.symbol)
    known = file.looked.get(key)
    if known is None:
        if len(file.looked) >= MOST_LOOKED:
            file.looked.clear()
        pointed = pointed_by(file, hit)
        known = file.looked[key] = (pointed, cost(file, pointed))
    return known


def _span(file: File, hit: Hit) -> Span | None:
    """Return the hit's lines that the file has; None where it names none of them."""
    if hit.start_line is None:
        return None
    start = max(hit.start_line, 1)
    end = min(start if hit.end_line is None else hit.end_line, file.lines)
    return (start, end) if start <= end else None


def cost(file: File, pointed: Pointed) -> int:
    """Bytes that a hit makes one read: its lines, but at least the chunk that it points at."""
    spans = [span for chunk in pointed.named for span in chunk.spans]
    if pointed.span is not None:
        spans.append(pointed.span)
        if not pointed.named:
            chunk = file.pointed_at(pointed.span)
            spans += chunk.spans if chunk else ()
    return file.size(spans) if spans else file.whole()
