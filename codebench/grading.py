"""Hits against gold: which units each hit reaches, and the ranks at which they are first reached.

This is the only place that knows when a hit shows a symbol. A hit reaches every unit that it
fits; a unit is paid once, at the first hit that reaches it; everything that is measured comes
from these ranks.

A symbol's name is resolved inside its file. `path::`, `~2`, a trailing `()` and a receiver
`(*T).` are understood; `::`, `#` and `/` count as dots. A name means the definitions of that
qualified name; where there is none, those whose qualified name ends in it (`get` or `Cache.get`
for `Store.Cache.get`). Among several, the hit's lines choose: those that the lines show, else
those with most lines in common; lines that touch none of them leave the name unresolved. Without
lines each is shown.
"""

from __future__ import annotations

import os
import posixpath
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codebench.model import Chunk, FileTable, Hit, Query, Target

SCREEN = 40
"""A hit of at most this many lines is narrow: one screen."""

TIMES = 8
"""A hit of at most this many times the symbol's own lines is narrow too."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that is paid once.

    Attributes:
        level: 3, 2 or 1 (a document: each grade up to its own).
        name: the chunk ID, the path, or the document's ID.
        kind: `target`, or `file` for a target's file at level 2, or `neighbourhood` for that
            file with its related modules at level 1.
    """

    level: int
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Place:
    """One place that somebody judged: a target, or (grade 0) one judged not relevant."""

    name: str
    grade: int
    weight: float


@dataclass(frozen=True, slots=True)
class ReachedLevel:
    """One query's units at one level.

    Attributes:
        units: how many the gold has.
        ranks: 1-based first-reach ranks of the units reached, ascending.
        bytes_read: bytes that the hits up to and with each of these ranks make one read.
    """

    units: int
    ranks: tuple[int, ...]
    bytes_read: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReachedPlace:
    """A judged place and the first hit that shows it; None where none does."""

    grade: int
    weight: float
    rank: int | None
    bytes_read: int | None


@dataclass(frozen=True, slots=True)
class Reached:
    """What one query's hits reached: all that scoring needs.

    Attributes:
        levels: by level; a level without units is left out.
        places: every judged place, in the gold's order.
        returned: how many hits there were.
        bytes_read: bytes that all hits together make one read.
    """

    levels: Mapping[int, ReachedLevel]
    places: tuple[ReachedPlace, ...]
    returned: int
    bytes_read: int


class Files:
    """The corpus's files, with what grading looks up in them worked out once a file."""

    def __init__(self, tables: Mapping[str, FileTable]) -> None:
        self._tables = tables
        self._known: dict[str, _File] = {}

    def __len__(self) -> int:
        return len(self._tables)

    def get(self, path: str) -> _File | None:
        """Return what is known of a file, or None for a path that the corpus does not have."""
        if path not in self._known:
            table = self._tables.get(path)
            if table is None:
                return None
            self._known[path] = _File(table)
        return self._known[path]


class _File:
    """One file: sizes of line ranges, chunks by ID and by name."""

    def __init__(self, table: FileTable) -> None:
        self.chunks = table.chunks
        self.lines = len(table.line_bytes)
        self._sums = (0, *accumulate(table.line_bytes))

    @cached_property
    def by_id(self) -> Mapping[str, Chunk]:
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
        if merged and start <= merged[-1][1] + 1:
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
class _Pointed:
    """What a hit points at: chunks by name, or lines, or (neither) the file."""

    named: tuple[Chunk, ...]
    span: Span | None

    def shows(self, chunk: Chunk) -> bool:
        if self.named:
            return any(chunk.id == named.id for named in self.named)
        return self.span is not None and lines_show(chunk, self.span)


def _pointed(file: _File, hit: Hit) -> _Pointed:
    span = _span(file, hit)
    named = file.named(_without_path(hit)) if hit.symbol else ()
    if len(named) > 1 and span is not None:
        shown = [chunk for chunk in named if lines_show(chunk, span)]
        most = max(common_lines(chunk, span) for chunk in named)
        nearest = [chunk for chunk in named if most and common_lines(chunk, span) == most]
        named = tuple(shown or nearest)
    return _Pointed(named, span)


def _without_path(hit: Hit) -> str:
    return (hit.symbol or "").removeprefix(f"{hit.path}::")


def _span(file: _File, hit: Hit) -> Span | None:
    """Return the hit's lines that the file has; None where it names none of them."""
    if hit.start_line is None:
        return None
    start = max(hit.start_line, 1)
    end = min(start if hit.end_line is None else hit.end_line, file.lines)
    return (start, end) if start <= end else None


def _cost(file: _File, pointed: _Pointed) -> int:
    """Bytes that a hit makes one read: its lines, but at least the chunk that it points at."""
    spans = [span for chunk in pointed.named for span in chunk.spans]
    if pointed.span is not None:
        spans.append(pointed.span)
        if not pointed.named:
            chunk = file.pointed_at(pointed.span)
            spans += chunk.spans if chunk else ()
    return file.size(spans) if spans else file.whole()


@dataclass(frozen=True)
class Gold:
    """A query's gold, ready to be reached by hits; made by `compile_gold`.

    Attributes:
        units: every unit, by level from the highest, then by name.
        places: every judged place.
    """

    units: tuple[Unit, ...]
    places: tuple[Place, ...]
    files: Files
    in_file: Mapping[str, tuple[int, ...]]
    shown: Mapping[str, tuple[tuple[Chunk, tuple[int, ...]], ...]]
    judged_file: Mapping[str, tuple[int, ...]]
    judged: Mapping[str, tuple[tuple[Chunk, int], ...]]
    documents: Mapping[str, tuple[tuple[int, ...], int]]


def compile_gold(query: Query, tables: Mapping[str, FileTable] | Files) -> Gold:
    """Work out a query's units and judged places in a corpus.

    `tables` are the corpus's files by path; pass one `Files` for many queries. With no table
    at all (imported judgments without a corpus) documents are known by their ID alone. A target
    that the corpus does not have keeps its unit, and nothing can reach it.
    """
    files = tables if isinstance(tables, Files) else Files(tables)
    targets = _distinct(query.targets)
    units = tuple(sorted(_units(targets), key=lambda unit: (-unit.level, unit.kind, unit.name)))
    zeros = sorted(set(query.not_relevant) - {target.chunk for target in targets})
    places = (
        *(Place(target.chunk, max(target.grade, 0), target.weight) for target in targets),
        *(Place(name, 0, 0.0) for name in zeros),
    )
    builder = _Builder(files, {unit: index for index, unit in enumerate(units)})
    for index, target in enumerate(targets):
        builder.target(target, index)
    for index, name in enumerate(zeros, len(targets)):
        builder.zero(name, index)
    builder.neighbours(query, targets)
    return builder.gold(units, places)


def _distinct(targets: Iterable[Target]) -> tuple[Target, ...]:
    best: dict[str, Target] = {}
    for target in targets:
        known = best.get(target.chunk)
        if known is None or (target.grade, target.weight) > (known.grade, known.weight):
            best[target.chunk] = target
    return tuple(best[name] for name in sorted(best))


def _units(targets: Sequence[Target]) -> set[Unit]:
    units: set[Unit] = set()
    for target in targets:
        if target.grade < 1:
            continue
        if target.document:
            units |= {Unit(level, target.chunk, "target") for level in range(1, target.grade + 1)}
            continue
        units.add(Unit(min(target.grade, 3), target.chunk, "target"))
        if target.grade >= 3:
            units.add(Unit(2, target.path, "file"))
        if target.grade >= 2:
            units.add(Unit(1, target.path, "neighbourhood"))
    return units


class _Builder:
    """Collects, by path, what a hit there can reach."""

    def __init__(self, files: Files, index: Mapping[Unit, int]) -> None:
        self._files = files
        self._index = index
        self._in_file: dict[str, set[int]] = {}
        self._shown: dict[str, list[tuple[Chunk, tuple[int, ...]]]] = {}
        self._judged_file: dict[str, list[int]] = {}
        self._judged: dict[str, list[tuple[Chunk, int]]] = {}
        self._documents: dict[str, tuple[tuple[int, ...], int]] = {}

    def target(self, target: Target, place: int) -> None:
        """Add a target: what shows it, and the units of its file."""
        if target.document:
            own = [
                self._index[Unit(level, target.chunk, "target")]
                for level in range(1, target.grade + 1)
            ]
            self._documents[target.path] = (tuple(own), place)
            return
        for level, kind in ((2, "file"), (1, "neighbourhood")):
            unit = self._index.get(Unit(level, target.path, kind))
            if unit is not None:
                self._in_file.setdefault(target.path, set()).add(unit)
        own_unit = self._index.get(Unit(min(target.grade, 3), target.chunk, "target"))
        self._place(target.path, target.chunk, place, own_unit)

    def zero(self, name: str, place: int) -> None:
        """Add a place judged not relevant: a chunk ID, a path or a document's ID."""
        path = name
        if self._files.get(name) is None and "::" in name:
            path = next((path for path in _prefixes(name) if self._files.get(path)), name)
        if self._files.get(path) is None and not len(self._files):
            self._documents[name] = ((), place)
            return
        self._place(path, name, place, None)

    def _place(self, path: str, name: str, place: int, unit: int | None) -> None:
        if name == path:
            self._judged_file.setdefault(path, []).append(place)
            if unit is not None:
                self._in_file.setdefault(path, set()).add(unit)
            return
        file = self._files.get(path)
        chunk = file.by_id.get(name) if file else None
        if chunk is None:
            return
        self._judged.setdefault(path, []).append((chunk, place))
        if unit is not None:
            self._shown.setdefault(path, []).append((chunk, (unit,)))

    def neighbours(self, query: Query, targets: Iterable[Target]) -> None:
        """Add the related modules: no target file, each to one target file only."""
        own = {target.path for target in targets if not target.document and target.grade > 0}
        best: dict[str, tuple[int, str]] = {}
        for related in query.related:
            if related.path in own or Unit(1, related.of, "neighbourhood") not in self._index:
                continue
            choice = (-related.score, related.of)
            best[related.path] = min(best.get(related.path, choice), choice)
        for path, (_, of) in best.items():
            unit = self._index[Unit(1, of, "neighbourhood")]
            self._in_file.setdefault(path, set()).add(unit)

    def gold(self, units: tuple[Unit, ...], places: tuple[Place, ...]) -> Gold:
        """Return the gold."""
        return Gold(
            units=units,
            places=places,
            files=self._files,
            in_file={path: tuple(sorted(own)) for path, own in self._in_file.items()},
            shown={path: tuple(own) for path, own in self._shown.items()},
            judged_file={path: tuple(own) for path, own in self._judged_file.items()},
            judged={path: tuple(own) for path, own in self._judged.items()},
            documents=self._documents,
        )


def _prefixes(name: str) -> Iterable[str]:
    parts = name.split("::")
    return ("::".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))


@dataclass(frozen=True, slots=True)
class _Touched:
    """What one hit reaches (indices of units and of judged places) and costs in bytes."""

    units: tuple[int, ...] = ()
    places: tuple[int, ...] = ()
    cost: int = 0


def _touch(gold: Gold, hit: Hit) -> _Touched:
    file = gold.files.get(hit.path)
    if file is None and len(gold.files):
        return _Touched()
    document = gold.documents.get(hit.path)
    if file is None:
        return _Touched(document[0], (document[1],)) if document else _Touched()
    pointed = _pointed(file, hit)
    units = set(gold.in_file.get(hit.path, ()))
    places = list(gold.judged_file.get(hit.path, ()))
    if document:
        units.update(document[0])
        places.append(document[1])
    for chunk, own in gold.shown.get(hit.path, ()):
        if pointed.shows(chunk):
            units.update(own)
    places += [place for chunk, place in gold.judged.get(hit.path, ()) if pointed.shows(chunk)]
    return _Touched(tuple(sorted(units)), tuple(places), _cost(file, pointed))


def reaches(gold: Gold, hit: Hit) -> tuple[Unit, ...]:
    """Return every unit that a hit fits, the highest level first; none for an unknown path."""
    return tuple(gold.units[index] for index in _touch(gold, hit).units)


def read_bytes(gold: Gold, hit: Hit) -> int:
    """Return the bytes that a hit makes one read; 0 for a path that the corpus does not have.

    Its lines, but at least the chunk that owns most of them; its symbol's lines; the whole file
    for a path.
    """
    return _touch(gold, hit).cost


def explain(gold: Gold, hit: Hit) -> str:
    """Say in words what a hit reaches, e.g. `shows a.py::f (3), its file (2)`, or `nothing`."""
    words = []
    for unit in reaches(gold, hit):
        if unit.kind == "target":
            words.append(f"shows {unit.name} ({unit.level})")
        elif unit.kind == "file":
            words.append(f"its file ({unit.level})")
        elif unit.name != hit.path:
            words.append(f"related to {unit.name} ({unit.level})")
        elif not words:
            words.append(f"its file ({unit.level})")
    return ", ".join(words) or "nothing"


def reach(gold: Gold, hits: Sequence[Hit]) -> Reached:
    """Return the ranks at which each unit and each judged place is first reached."""
    units: dict[int, tuple[int, int]] = {}
    places: dict[int, tuple[int, int]] = {}
    read = 0
    for rank, hit in enumerate(hits, 1):
        touched = _touch(gold, hit)
        read += touched.cost
        for unit in touched.units:
            units.setdefault(unit, (rank, read))
        for place in touched.places:
            places.setdefault(place, (rank, read))
    levels: dict[int, ReachedLevel] = {}
    for level in sorted({unit.level for unit in gold.units}):
        own = [index for index, unit in enumerate(gold.units) if unit.level == level]
        first = sorted(units[index] for index in own if index in units)
        levels[level] = ReachedLevel(
            len(own), tuple(rank for rank, _ in first), tuple(size for _, size in first)
        )
    nowhere = (None, None)
    return Reached(
        levels=levels,
        places=tuple(
            ReachedPlace(place.grade, place.weight, *places.get(index, nowhere))
            for index, place in enumerate(gold.places)
        ),
        returned=len(hits),
        bytes_read=read,
    )


_DRIVE = re.compile(r"[A-Za-z]:/")


def canonical_path(path: str, root: str | os.PathLike[str]) -> str | None:
    r"""Return a path as the corpus names it: relative to the root, with `/`; None when outside.

    `./a`, `a//b` and `b/../a` are mended, an absolute path under the root is made relative (the
    root may be given through a link), and `\` is a separator on Windows only. A path that leaves
    the root, the root itself and what no file can be named give None. Nothing is looked up but,
    for an absolute path, where the root's links lead.
    """
    if not path or "\0" in path:
        return None
    windows = os.name == "nt"
    name = path.replace("\\", "/") if windows else path
    if posixpath.isabs(name) or (windows and _DRIVE.match(name)):
        inside = _under(name, os.fspath(root)) or _under(name, os.path.realpath(root))
        if inside is None:
            return None
        name = inside
    name = posixpath.normpath(name)
    return None if name in (".", "..") or name.startswith("../") else name


def _under(path: str, root: str) -> str | None:
    base = root.replace("\\", "/") if os.name == "nt" else root
    base = posixpath.normpath(base).rstrip("/") + "/"
    clean = posixpath.normpath(path)
    if clean.startswith("//"):  # POSIX lets two leading slashes mean something else; files do not
        clean = clean[1:]
    return clean.removeprefix(base) if clean.startswith(base) else None
