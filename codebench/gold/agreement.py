"""How far two labellers agree: weighted kappa, exact and within one grade, and where they do not.

Weighted kappa with quadratic weights is Cohen's (Psychological Bulletin 70, 1968): 1 minus the
ratio of observed to chance disagreement, a disagreement of d grades counting d squared.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.errors import Fault, InputError, NothingMeasured
from codebench.gold.questions import read_questions
from codebench.gold.target import suite_folder
from codebench.reading import Faults
from codebench.suite import members_of, read_suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Places = Mapping[str, int]

HIGHEST = 3


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A place that two labellers grade differently; None where one says nothing of it."""

    query: str
    place: str
    first: int | None
    second: int | None

    @property
    def distance(self) -> int:
        """How many grades lie between, silence being 0."""
        return abs((self.first or 0) - (self.second or 0))


@dataclass(frozen=True, slots=True)
class Figures:
    """Agreement over some places.

    Attributes:
        places: how many.
        kappa: quadratic weighted kappa; None where there is no place, or both give one and the
            same grade to all.
        exact, within_one: shares of places; None where there is none.
        table: table[i][j] counts places that the first grades i and the second j.
    """

    places: int
    kappa: float | None
    exact: float | None
    within_one: float | None
    table: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """What two labellers say.

    Attributes:
        queries: that both answer.
        only_first, only_second: queries that one answers alone.
        both: over places that both judge.
        named: over places that either judges; saying nothing counts as 0.
        disagreements: widest first, then by query and place.
    """

    queries: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    both: Figures
    named: Figures
    disagreements: tuple[Disagreement, ...]


def agreement(first: str, second: str) -> Agreement:
    """Compare two labellings: question files, or suites.

    Raises:
        InputError: a file is wrong.
        SuiteError: a name is neither a file nor a suite.
        NothingMeasured: they share no query.
    """
    return compare(grades_of(first), grades_of(second), f"{first} and {second}")


def grades_of(named: str) -> dict[str, dict[str, int]]:
    """Return the grade of each judged place by query.

    Raises:
        InputError: the file, or the suite, is wrong.
    """
    folder = suite_folder(named)
    if folder is not None:
        return {
            query.id: dict.fromkeys(query.not_relevant, 0)
            | {target.chunk: target.grade for target in query.targets}
            for _, place in members_of(folder)
            for query in read_suite(place).queries
        }
    faults = Faults(named)
    questions = read_questions(Path(named), faults)
    faults.check()
    return {
        one.id: {judged.name: judged.grade for judged in (*one.not_relevant, *one.targets)}
        for one in questions
    }


def compare(first: Mapping[str, Places], second: Mapping[str, Places], names: str) -> Agreement:
    """Compare grades by query and place.

    A place that one gives without its path is that of the other with this symbol, where the other
    has one such place.

    Raises:
        NothingMeasured: no query is in both.
        InputError: one of them judges a place twice.
    """
    shared = sorted(first.keys() & second.keys())
    if not shared:
        raise NothingMeasured(f"{names}: no question has the same id in both")
    judged = [
        (query, place, own.get(place), other.get(place))
        for query in shared
        for own, other in [_matched(first[query], second[query])]
        for place in sorted(own.keys() | other.keys())
    ]
    differing = [Disagreement(*row) for row in judged if row[2] != row[3] and (row[2] or row[3])]
    return Agreement(
        queries=len(shared),
        only_first=tuple(sorted(first.keys() - second.keys())),
        only_second=tuple(sorted(second.keys() - first.keys())),
        both=figures([(a, b) for _, _, a, b in judged if a is not None and b is not None]),
        named=figures([(a or 0, b or 0) for _, _, a, b in judged]),
        disagreements=tuple(
            sorted(differing, key=lambda one: (-one.distance, one.query, one.place))
        ),
    )


def figures(pairs: Sequence[tuple[int, int]]) -> Figures:
    """Return the agreement over pairs of grades."""
    size = max([HIGHEST, *(max(pair) for pair in pairs)]) + 1
    table = [[0] * size for _ in range(size)]
    for first, second in pairs:
        table[first][second] += 1
    rows = tuple(tuple(row) for row in table)
    if not pairs:
        return Figures(0, None, None, None, rows)
    count = len(pairs)
    return Figures(
        places=count,
        kappa=weighted_kappa(rows),
        exact=sum(first == second for first, second in pairs) / count,
        within_one=sum(abs(first - second) <= 1 for first, second in pairs) / count,
        table=rows,
    )


def weighted_kappa(table: Sequence[Sequence[int]]) -> float | None:
    """Return quadratic weighted kappa of a square table of counts; None where chance leaves none.

    1 - sum(w * observed) / sum(w * expected), with w = (i - j)^2 and the expected count of a cell
    the product of its margins over the total.
    """
    rows = [sum(row) for row in table]
    columns = [sum(row[at] for row in table) for at in range(len(table))]
    total = sum(rows)
    cells = [(i, j) for i in range(len(table)) for j in range(len(table))]
    observed = sum((i - j) ** 2 * table[i][j] for i, j in cells)
    expected = sum((i - j) ** 2 * rows[i] * columns[j] for i, j in cells)
    return 1 - observed * total / expected if expected else None


def _matched(first: Places, second: Places) -> tuple[Places, Places]:
    """Give places without a path the path that the other labeller wrote."""
    return _with_paths(first, second), _with_paths(second, first)


def _with_paths(own: Places, other: Places) -> Places:
    """Give places their paths.

    Raises:
        InputError: one of them is judged without its path and, otherwise, with it.
    """
    found: dict[str, int] = {}
    for place, grade in own.items():
        twins = [one for one in other if one.endswith(f"::{place}")] if place not in other else []
        whole = twins[0] if len(twins) == 1 else place
        if found.setdefault(whole, grade) != grade or own.get(whole, grade) != grade:
            mend = "keep one, or give both the same grade"
            fault = Fault(f"is judged twice, as {place!r} too", value=whole, mend=mend)
            raise InputError([fault])
    return found
