"""Hits against gold: which units each hit reaches, and where each is first reached.

A hit reaches every unit that it fits; a unit is paid once, at the first hit that reaches it;
everything that is measured comes from these ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.grading.files import look

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.grading.gold import Gold, Place, Unit
    from codebench.model import Hit


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


@dataclass(frozen=True, slots=True)
class Step:
    """One hit of a ranking against the gold.

    Attributes:
        units: every unit that it fits, the highest level first, each with the rank at which the
            ranking first reached it: its own rank where this hit is the one that is paid.
        zeros: the places judged not relevant that it shows.
        known: whether the corpus has its path.
    """

    units: tuple[tuple[Unit, int], ...]
    zeros: tuple[Place, ...]
    known: bool


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
    pointed, read = look(file, hit)
    rooms = (gold.in_file, gold.shown, gold.judged_file, gold.judged)
    if document is None and not any(hit.path in room for room in rooms):
        return _Touched(cost=read)
    units = set(gold.in_file.get(hit.path, ()))
    places = list(gold.judged_file.get(hit.path, ()))
    if document:
        units.update(document[0])
        places.append(document[1])
    for chunk, own in gold.shown.get(hit.path, ()):
        if pointed.shows(chunk):
            units.update(own)
    places += [place for chunk, place in gold.judged.get(hit.path, ()) if pointed.shows(chunk)]
    return _Touched(tuple(sorted(units)), tuple(places), read)


def reaches(gold: Gold, hit: Hit) -> tuple[Unit, ...]:
    """Return every unit that a hit fits, the highest level first; none for an unknown path."""
    return tuple(gold.units[index] for index in _touch(gold, hit).units)


def read_bytes(gold: Gold, hit: Hit) -> int:
    """Return the bytes that a hit makes one read; 0 for a path that the corpus does not have.

    Its lines, but at least the chunk that owns most of them; its symbol's lines; the whole file
    for a path.
    """
    return _touch(gold, hit).cost


def trace(gold: Gold, hits: Sequence[Hit]) -> tuple[Step, ...]:
    """Return hit by hit what a ranking reaches, and where it was reached first."""
    first: dict[int, int] = {}
    steps = []
    for rank, hit in enumerate(hits, 1):
        touched = _touch(gold, hit)
        units = tuple((gold.units[at], first.setdefault(at, rank)) for at in touched.units)
        judged = (gold.places[at] for at in touched.places)
        known = gold.files.get(hit.path) is not None or hit.path in gold.documents
        steps.append(Step(units, tuple(place for place in judged if not place.grade), known))
    return tuple(steps)


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
