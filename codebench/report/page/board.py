"""Scored runs -> who stands on the page, under which name, by which measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from codebench.comparison import compare
from codebench.judging.contest import Contender, labels
from codebench.measures.latency import TIMED
from codebench.measures.names import BESIDE, PRIMARY, Measure, lowered, parse
from codebench.model import STATUSES
from codebench.report.rankings import Questions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from codebench.evaluation import Evaluation
    from codebench.judging.scored import Scored, ScoredRun
    from codebench.model import Suite

FIRST = ("P(rel=2)@1", "P(rel=2)@3", "nDCG@5", "nDCG@10")
COVERAGE = ("R(rel=2)@10", "R(rel=2)@20", "R(rel=3)@10", "R(rel=3)@20")
TOKENS = "Tokens@32000"
VALUE = "Value@10"

_FLIPS = 4000
"""For marks: their verdicts must not take longer than the page."""


def measures_for(depth: int, asked: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return what the page measures of runs of this depth: cutoffs above it become the depth."""
    names = [*map(parse, (*FIRST, *COVERAGE, TOKENS, VALUE)), PRIMARY, BESIDE]
    return tuple(dict.fromkeys([*lowered(names, depth), *asked]))


@dataclass(frozen=True)
class Row:
    """A retriever that answered.

    Attributes:
        label: unique on the page.
        series: its number among the retrievers, or among the floors.
        scored: its figures.
        home: the run that holds it.
    """

    label: str
    series: int
    scored: Scored
    home: ScoredRun

    @property
    def floor(self) -> bool:
        """Whether it is a reference row."""
        return self.scored.floor

    @property
    def evaluation(self) -> Evaluation:
        """Its figures by query; a row has one."""
        if self.scored.evaluation is None:
            raise ValueError(f"{self.label} answered nothing")
        return self.scored.evaluation

    @property
    def p95(self) -> float | None:
        """Milliseconds."""
        value = self.scored.latency.p95
        return None if value is None or self.floor else value / 1e6

    @cached_property
    def times(self) -> NDArray[np.float64]:
        """Ascending milliseconds of every timed call."""
        one = self.scored.run
        if one.columns is None:
            own = [a.latency_ns for a in one.answers if a.status in TIMED and a.latency_ns]
            return np.sort(np.array(own, np.float64)) / 1e6
        timed = np.isin(one.columns.status, [STATUSES.index(status) for status in TIMED])
        kept = one.columns.latency_ns[timed & (one.columns.latency_ns > 0)]
        return np.sort(kept.astype(np.float64)) / 1e6

    @property
    def failed(self) -> int:
        """How many queries have no good answer."""
        return sum(self.evaluation.failures.values())


@dataclass(frozen=True)
class Standing:
    """By one measure: the best, and those that are not shown to be worse, by their labels."""

    best: str
    level: tuple[str, ...]


@dataclass(frozen=True)
class Board:
    """Everything that the page is made of.

    Attributes:
        runs: in their order.
        rows: the retrievers that answered, the floors behind them.
        depth: the least of the runs'.
        asked: measures that were asked for beside the page's own.
    """

    runs: tuple[ScoredRun, ...]
    rows: tuple[Row, ...]
    depth: int
    asked: tuple[Measure, ...] = ()

    @property
    def suite(self) -> Suite:
        """What was asked."""
        return self.runs[0].suite

    @property
    def retrievers(self) -> tuple[Row, ...]:
        """The rows that are no floors."""
        return tuple(row for row in self.rows if not row.floor)

    @property
    def primary(self) -> Measure:
        """The measure of verdicts, bound."""
        return self.bound(PRIMARY)

    @property
    def exact(self) -> Measure:
        """Exact recall, bound."""
        return self.bound(BESIDE)

    def bound(self, measure: Measure | str) -> Measure:
        """Return a measure as the evaluations hold it."""
        own = parse(measure) if isinstance(measure, str) else measure
        return lowered([own], self.depth)[0].bind(self.rows[0].evaluation.default_rel)

    @cached_property
    def weighted(self) -> bool:
        """Whether queries or targets have weights, so that `Value` says something of its own."""
        return any(
            query.weight != 1 or any(target.weight != 1 for target in query.targets)
            for query in self.suite.queries
        )

    def standing(self, measure: Measure, rows: Sequence[Row]) -> Standing | None:
        """Compare the best of some rows with the others; None where nothing has a value."""
        sign = 1 if measure.higher_is_better else -1
        values = {row.label: row.evaluation.figures[str(measure)].value for row in rows}
        known = {label: sign * value for label, value in values.items() if value is not None}
        if not known:
            return None
        best = max(known, key=lambda label: known[label])
        others = [label for label in known if label != best]
        if not others:
            return Standing(best, ())
        own = {row.label: row.evaluation for row in rows if row.label in known}
        pairs = [(best, label) for label in others]
        compared = compare(own, pairs=pairs, measures=[measure], flips=_FLIPS)
        level = (one.candidate for one in compared.differences if one.verdict == "undecided")
        return Standing(best, tuple(level))

    @cached_property
    def contenders(self) -> tuple[Contender, ...]:
        """The retrievers, as a contest takes them."""
        return tuple(
            Contender(
                row.label,
                row.home.run,
                row.scored.run,
                row.home.suite,
                row.home.digest,
                row.evaluation,
            )
            for row in self.retrievers
        )

    def lots(self) -> list[list[Questions]]:
        """Return by suite the queries of each run, with the retrievers of the page."""
        by_run: list[list[Questions]] = []
        for run in self.runs:
            names = {row.scored.name: row.label for row in self.retrievers if row.home is run}
            parts = run.members or (("", run),)
            by_run.append([Questions(part, names, member) for member, part in parts])
        return [list(lots) for lots in zip(*by_run, strict=True)]


def board(runs: Sequence[ScoredRun], asked: Sequence[Measure] = ()) -> Board:
    """Put runs of one suite together. Floors are taken from the first run alone."""
    found = [
        (one, run)
        for at, run in enumerate(runs)
        for one in run.retrievers
        if one.evaluation and (not one.floor or at == 0)
    ]
    found.sort(key=lambda pair: pair[0].floor)
    names = labels([(one.name, _short(run, runs)) for one, run in found])
    count = sum(not one.floor for one, _ in found)
    rows = tuple(
        Row(label, at - count if one.floor else at, one, run)
        for at, (label, (one, run)) in enumerate(zip(names, found, strict=True))
    )
    depth = min(run.run.depth for run in runs)
    own = tuple(one.bind(rows[0].evaluation.default_rel) for one in asked)
    return Board(tuple(runs), rows, depth, own)


def _short(run: ScoredRun, runs: Sequence[ScoredRun]) -> str:
    name = run.run.path.resolve().name
    alike = sum(one.run.path.resolve().name == name for one in runs)
    return name if alike == 1 else str(run.run.path)


def standings(board: Board, measures: Sequence[Measure]) -> Mapping[Measure, Standing]:
    """Return by measure who leads, where there are two retrievers to compare."""
    rows = board.retrievers
    if len(rows) < 2:
        return {}
    found = {measure: board.standing(measure, rows) for measure in measures}
    return {measure: one for measure, one in found.items() if one is not None}
