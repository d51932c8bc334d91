"""First-reach ranks of all queries of a run at once, by level, in columns.

Everything that a measure needs is here; hits and gold are not looked at again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

UNREACHED = np.iinfo(np.int32).max
"""Rank of what no hit reached."""


class ReachedLevel(Protocol):
    """One query's units at one level: how many, and where those reached were first reached."""

    @property
    def units(self) -> int:
        """How many units the gold has."""

    @property
    def ranks(self) -> Sequence[int]:
        """First-reach ranks of the units reached, ascending, 1-based."""

    @property
    def bytes_read(self) -> Sequence[int]:
        """Bytes that the hits up to and with each of these ranks make one read."""


class ReachedPlace(Protocol):
    """One judged place: its grade (0 for not relevant), its weight, where it was first shown."""

    @property
    def grade(self) -> int:
        """Its grade."""

    @property
    def weight(self) -> float:
        """What it is worth to `Value`."""

    @property
    def rank(self) -> int | None:
        """Rank of the first hit that shows it."""

    @property
    def bytes_read(self) -> int | None:
        """Bytes that the hits up to and with that rank make one read."""


class Reached(Protocol):
    """One query's hits against its gold."""

    @property
    def levels(self) -> Mapping[int, ReachedLevel]:
        """By level; a level without units may be left out."""

    @property
    def places(self) -> Sequence[ReachedPlace]:
        """Every judged place."""

    @property
    def returned(self) -> int:
        """How many hits there were."""


@dataclass(frozen=True)
class Level:
    """The units of one level, for q queries.

    Attributes:
        units: (q,) how many units each query has.
        ends: (q,) where each query's slice of `ranks` ends; it starts where the last one ends.
        ranks: (e,) int32, first-reach ranks of units reached, ascending within a query.
        bytes_read: (e,) bytes read up to and with that rank; None where unknown.
    """

    units: Ints
    ends: Ints
    ranks: NDArray[np.int32]
    bytes_read: Ints | None = None

    @cached_property
    def starts(self) -> Ints:
        """(q,) where each query's slice of `ranks` starts."""
        return np.concatenate((np.zeros(1, np.int64), self.ends[:-1]))

    @cached_property
    def rows(self) -> Ints:
        """(e,) the query of each element of `ranks`."""
        return np.repeat(np.arange(len(self.units)), self.ends - self.starts)

    @cached_property
    def order(self) -> NDArray[np.int32]:
        """(e,) j: 1, 2, … within each query."""
        places = np.arange(1, len(self.ranks) + 1, dtype=np.int32)
        return places - np.repeat(self.starts.astype(np.int32), self.ends - self.starts)

    @cached_property
    def paid(self) -> NDArray[np.int32]:
        """(e,) cj = max(rj, j): one hit that reaches two units is worth the best two hits."""
        return np.maximum(self.ranks, self.order)

    def count(self, chosen: NDArray[np.bool_]) -> Floats:
        """Return (q,) how many of the elements chosen belong to each query."""
        return np.bincount(self.rows[chosen], minlength=len(self.units)).astype(np.float64)

    def total(
        self, values: NDArray[np.floating[Any]], chosen: NDArray[np.bool_] | None = None
    ) -> Floats:
        """Return (q,) the sums of `values`, added in order within each query.

        `values` holds the chosen elements only. The order of the queries cannot change a
        query's sum.
        """
        rows = self.rows if chosen is None else self.rows[chosen]
        sums = np.bincount(rows, weights=values, minlength=len(self.units))
        return sums.astype(np.float64, copy=False)  # numpy counts an empty sum in integers


@dataclass(frozen=True)
class Places:
    """Every judged place, reached or not, ascending by rank within a query.

    Attributes:
        ends: (q,) where each query's slice ends.
        ranks: (e,) int32, first-shown rank, or UNREACHED.
        grades: (e,) int32; 0 for a place judged not relevant.
        weights: (e,) what each is worth to `Value`.
        bytes_read: (e,) bytes read up to and with that rank; None where unknown.
    """

    ends: Ints
    ranks: NDArray[np.int32]
    grades: NDArray[np.int32]
    weights: Floats
    bytes_read: Ints | None = None

    @cached_property
    def rows(self) -> Ints:
        """(e,) the query of each element."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))


@dataclass(frozen=True)
class Ranks:
    """All that measures read of one run.

    Attributes:
        queries: how many queries.
        levels: by grade, ascending: 1, 2, 3 for a suite; the grades that occur for judgments.
        places: every judged place.
        returned: (q,) how many hits each query had.
        judged: whether places judged not relevant are known.
    """

    queries: int
    levels: Mapping[int, Level]
    places: Places
    returned: Ints
    judged: bool
    _empty: Level = field(init=False, repr=False)

    def __post_init__(self) -> None:
        none = np.zeros(self.queries, np.int64)
        object.__setattr__(self, "_empty", Level(none, none, np.zeros(0, np.int32)))

    def level(self, rel: int) -> Level:
        """Return the units of grade `rel` and above: those of the next level that exists."""
        above = [grade for grade in self.levels if grade >= rel]
        return self.levels[min(above)] if above else self._empty


def concat(parts: Sequence[Ranks]) -> Ranks:
    """Put several runs' queries into one, part after part: a suite of several suites.

    Raises:
        ValueError: there is no part.
    """
    if not parts:
        raise ValueError("no part")
    grades = sorted({grade for part in parts for grade in part.levels})
    places = [part.places for part in parts]
    return Ranks(
        queries=sum(part.queries for part in parts),
        levels={grade: _joined([part.level(grade) for part in parts]) for grade in grades},
        places=Places(
            ends=_shifted([one.ends for one in places], [len(one.ranks) for one in places]),
            ranks=np.concatenate([one.ranks for one in places]),
            grades=np.concatenate([one.grades for one in places]),
            weights=np.concatenate([one.weights for one in places]),
            bytes_read=_bytes([one.bytes_read for one in places]),
        ),
        returned=np.concatenate([part.returned for part in parts]),
        judged=all(part.judged for part in parts),
    )


def _joined(levels: Sequence[Level]) -> Level:
    return Level(
        units=np.concatenate([level.units for level in levels]),
        ends=_shifted([level.ends for level in levels], [len(level.ranks) for level in levels]),
        ranks=np.concatenate([level.ranks for level in levels]),
        bytes_read=_bytes([level.bytes_read for level in levels if len(level.ranks)]),
    )


def _shifted(ends: Sequence[Ints], sizes: Sequence[int]) -> Ints:
    before = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return np.concatenate([own + shift for own, shift in zip(ends, before, strict=True)])


def _bytes(columns: Sequence[Ints | None]) -> Ints | None:
    """Join what is known; where one part does not know its bytes, the whole does not."""
    known = [column for column in columns if column is not None]
    if len(known) < len(columns):
        return None
    return np.concatenate(known) if known else np.zeros(0, np.int64)
