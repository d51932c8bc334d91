"""A query's gold: its units by level, its judged places, and what reaches them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.grading.files import Files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codebench.model import Chunk, FileTable, Query, Target


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
        if not len(self._files):
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
