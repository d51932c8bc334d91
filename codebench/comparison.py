"""Two retrievers' evaluations, paired by query: is a difference a difference?

A candidate is *better* or *worse* when the test and the interval, both adjusted for the number
of comparisons, agree and the difference is at least the margin; otherwise it is *undecided*.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from codebench.errors import UsageError
from codebench.measures.names import BESIDE, PRIMARY, Measure, parse
from codebench.measures.resampling import FLIPS, Flipped, sign_flips
from codebench.measures.statistics import mean, queries_needed, smallest_effect, t_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Verdict = Literal["better", "worse", "undecided"]
Flipping = Literal["query", "cluster", "repository"]

MARGIN = 0.03
ALPHA = 0.05
FEWEST_CHANGED = 6
"""With fewer changed units no two-sided p reaches 0.05: 2 / 2^5 is 0.0625."""

_ROUNDING = 1e-12


class Scored(Protocol):
    """What a comparison reads of an evaluation."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, bound to their levels."""

    @property
    def queries(self) -> tuple[str, ...]:
        """The query IDs, sorted."""

    @property
    def table(self) -> Floats:
        """(queries, measures) values, NaN where a query is left out."""

    @property
    def weights(self) -> Floats:
        """(queries,) weights."""

    @property
    def clusters(self) -> tuple[str, ...]:
        """(queries,) the cluster of each."""

    @property
    def repositories(self) -> tuple[str, ...]:
        """(queries,) the repository of each; empty where there is one only."""

    @property
    def gold(self) -> str:
        """Digest of the queries and their gold."""

    @property
    def default_rel(self) -> int:
        """The level that a name without `rel` means."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure of one pair: the candidate's value minus the baseline's.

    Attributes:
        baseline, candidate: the retrievers.
        measure: what is compared.
        verdict: of the candidate, in the sense in which the measure is good.
        baseline_value, candidate_value: weighted means over the paired queries.
        delta: candidate minus baseline.
        low, high: the 95 % interval of delta, simultaneous over the comparisons; None where the
            queries cannot bound it.
        p: the sign-flip test's two-sided p value of this comparison alone.
        p_adjusted: adjusted for the number of comparisons (maxT).
        margin: the smallest difference that counts.
        ratio: delta over the standard deviation of the queries' differences; None at sd 0.
        wins, ties, losses: queries at which the candidate is better, alike, worse.
        n: paired queries that have a value.
        excluded: queries without a unit at the measure's level.
        units: how many units could flip; changed: how many of them differ.
        gain_bound: one-sided 95 % lower bound of the gain (delta, or -delta where less is
            better), not adjusted: a gate with the limit -d passes when it is above -d.
        smallest: the smallest difference that these queries could have seen with power 0.8.
        needed: about how many queries like these would decide; None where that is no remedy.
        notes: what limits the verdict.
    """

    baseline: str
    candidate: str
    measure: Measure
    verdict: Verdict
    baseline_value: float | None
    candidate_value: float | None
    delta: float
    low: float | None
    high: float | None
    p: float
    p_adjusted: float
    margin: float
    ratio: float | None
    wins: int
    ties: int
    losses: int
    n: int
    excluded: int
    units: int
    changed: int
    gain_bound: float | None
    smallest: float | None
    needed: int | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pairing:
    """One comparison that is wanted.

    Attributes:
        baseline, candidate: the evaluations' names.
        measure: what is compared.
        margin: the smallest difference that counts, in the measure's own unit.
    """

    baseline: str
    candidate: str
    measure: Measure
    margin: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every pair and measure that was asked for, tested as one family.

    Attributes:
        differences: pair by pair, the measures in their order.
        flipping: what flips as one.
        scope: how far the claim goes, in words.
        flips, seed, alpha: of the test.
    """

    differences: tuple[Difference, ...]
    flipping: Flipping
    scope: str
    flips: int
    seed: int
    alpha: float = ALPHA


def compare(
    evaluations: Mapping[str, Scored],
    *,
    baseline: str | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    measures: Sequence[Measure | str] = (PRIMARY, BESIDE),
    margin: float = MARGIN,
    flips: int = FLIPS,
    seed: int = 0,
) -> Comparison:
    """Compare retrievers by query: each with the baseline, or all pairs without one.

    Args:
        evaluations: by retriever's name; in a pair the earlier one is the baseline.
        baseline: the retriever that the others are compared with.
        pairs: in place of a baseline, the (baseline, candidate) pairs themselves.
        measures: the primary one first; all are tested together.
        margin: the smallest difference that counts, as a share of the measure's scale (1, or the
            cutoff of `Tokens`).
        flips: random sign patterns where there are too many to try all.
        seed: of those.

    Raises:
        UsageError: fewer than two evaluations, an unknown baseline, a measure that one of them
            does not hold, or evaluations of different queries or gold.
    """
    pairs = _pairs(evaluations, baseline) if pairs is None else pairs
    first = next(iter(evaluations.values()))
    chosen = tuple(dict.fromkeys(_bound(measure, first.default_rel) for measure in measures))
    asked = [
        Pairing(old, new, measure, margin * measure.scale)
        for old, new in pairs
        for measure in chosen
    ]
    return compare_each(evaluations, asked, flips=flips, seed=seed)


def compare_each(
    evaluations: Mapping[str, Scored],
    asked: Sequence[Pairing],
    *,
    flips: int = FLIPS,
    seed: int = 0,
) -> Comparison:
    """Make the comparisons that are asked for, tested together as one family; as `compare`.

    A query whose value is NaN in one of a pair is left out of that comparison, so that a slice of
    the queries is an evaluation of them all with the others' values NaN.
    """
    _check_alike(evaluations)
    first = next(iter(evaluations.values()))
    columns = [
        _Paired(
            one.baseline,
            one.candidate,
            one.measure,
            evaluations[one.baseline],
            evaluations[one.candidate],
        )
        for one in asked
    ]
    flipping, units = _units(first, len(columns))
    flipped = sign_flips(*_by_unit(columns, units), flips=flips, seed=seed, alpha=ALPHA)
    return Comparison(
        differences=tuple(
            _difference(column, test, one.margin, alone=len(columns) == 1)
            for column, test, one in zip(columns, flipped, asked, strict=True)
        ),
        flipping=flipping,
        scope=_scope(first, flipping),
        flips=flips,
        seed=seed,
    )


def _bound(measure: Measure | str, default_rel: int) -> Measure:
    return (measure if isinstance(measure, Measure) else parse(measure)).bind(default_rel)


def _pairs(evaluations: Mapping[str, Scored], baseline: str | None) -> list[tuple[str, str]]:
    if len(evaluations) < 2:
        raise UsageError("a comparison needs at least two retrievers")
    if baseline is None:
        return list(combinations(evaluations, 2))
    if baseline not in evaluations:
        raise UsageError(f"there is no retriever {baseline!r}; there are {', '.join(evaluations)}")
    return [(baseline, name) for name in evaluations if name != baseline]


def _check_alike(evaluations: Mapping[str, Scored]) -> None:
    (name, first), *others = evaluations.items()
    for other, evaluation in others:
        lone = sorted(set(first.queries) ^ set(evaluation.queries))
        if lone:
            some = ", ".join(lone[:3]) + (", …" if len(lone) > 3 else "")
            raise UsageError(
                f"{name} and {other} answer different queries ({len(lone)} of one only: {some}); "
                "compare runs of the same suite"
            )
        if evaluation.gold != first.gold:
            raise UsageError(
                f"{name} and {other} have different gold; compare runs of the same suite"
            )


class _Paired:
    """One measure of one pair: the queries' values, weights and differences."""

    def __init__(self, old: str, new: str, measure: Measure, before: Scored, after: Scored) -> None:
        self.baseline, self.candidate, self.measure = old, new, measure
        self.before = _column(old, before, measure)
        self.after = _column(new, after, measure)
        self.kept = ~np.isnan(self.before) & ~np.isnan(self.after)
        self.weights = np.where(self.kept, before.weights, 0.0)
        differences = np.where(self.kept, self.after - self.before, 0.0)
        self.differences = np.where(np.abs(differences) <= _ROUNDING, 0.0, differences)

    def mean(self, values: Floats) -> float | None:
        own = self.kept & (self.weights > 0)
        return mean(values[own], self.weights[own]) if own.any() else None

    def deviation(self) -> float:
        """Standard deviation of the differences, weighted."""
        own = self.kept & (self.weights > 0)
        count = int(np.count_nonzero(own))
        centre = self.mean(self.differences)
        if count < 2 or centre is None:
            return 0.0
        variance = self.mean((self.differences - centre) ** 2) or 0.0
        return math.sqrt(variance * count / (count - 1))


def _column(name: str, evaluation: Scored, measure: Measure) -> Floats:
    if measure not in evaluation.measures:
        held = ", ".join(map(str, evaluation.measures))
        raise UsageError(f"{name} was not evaluated with {measure}; it has {held}")
    column: Floats = evaluation.table[:, evaluation.measures.index(measure)]
    return column


def _units(evaluation: Scored, comparisons: int) -> tuple[Flipping, tuple[str, ...]]:
    """Choose what flips as one: repositories where there are enough, else clusters, else queries.

    log2(40 · comparisons) repositories are enough for p to reach 0.05 after adjustment.
    """
    repositories = set(evaluation.repositories) - {""}
    if len(repositories) >= math.log2(40 * comparisons):
        return "repository", evaluation.repositories
    if max(Counter(evaluation.clusters).values(), default=0) > 1:
        return "cluster", evaluation.clusters
    return "query", evaluation.queries


def _by_unit(columns: Sequence[_Paired], units: Sequence[str]) -> tuple[Floats, Floats]:
    """Return (units, comparisons) sums of weight x difference, and of weights."""
    names, rows = np.unique(np.array(units), return_inverse=True)
    sums = [
        np.bincount(rows, column.weights * column.differences, minlength=len(names))
        for column in columns
    ]
    weights = [np.bincount(rows, column.weights, minlength=len(names)) for column in columns]
    return np.column_stack(sums), np.column_stack(weights)


def _scope(evaluation: Scored, flipping: Flipping) -> str:
    repositories = set(evaluation.repositories) - {""}
    if flipping == "repository":
        return (
            f"whole repositories were flipped ({len(repositories)}): the claim goes beyond these "
            "repositories, to others like them"
        )
    if len(repositories) > 1:
        return f"the claim holds for these {len(repositories)} repositories alone"
    return "the claim holds for this repository alone"


def _difference(column: _Paired, test: Flipped, margin: float, *, alone: bool) -> Difference:
    measure = column.measure
    sign = 1 if measure.higher_is_better else -1
    low, high = _interval(test, measure, alone=alone)
    apart = low is not None and high is not None and (low > 0 or high < 0)
    found = apart and test.p_adjusted <= ALPHA
    verdict: Verdict = "undecided"
    if found and abs(test.delta) >= margin:
        verdict = "better" if sign * test.delta > 0 else "worse"
    kept = int(np.count_nonzero(column.kept))
    gains = sign * column.differences[column.kept]
    deviation = column.deviation()
    bound = None
    if test.error is not None:
        bound = sign * test.delta - t_quantile(1 - ALPHA, float(test.units - 1)) * test.error
    return Difference(
        baseline=column.baseline,
        candidate=column.candidate,
        measure=measure,
        verdict=verdict,
        baseline_value=column.mean(column.before),
        candidate_value=column.mean(column.after),
        delta=test.delta,
        low=low,
        high=high,
        p=test.p,
        p_adjusted=test.p_adjusted,
        margin=margin,
        ratio=test.delta / deviation if deviation > 0 else None,
        wins=int(np.count_nonzero(gains > 0)),
        ties=int(np.count_nonzero(gains == 0)),
        losses=int(np.count_nonzero(gains < 0)),
        n=kept,
        excluded=len(column.kept) - kept,
        units=test.units,
        changed=test.changed,
        gain_bound=bound,
        smallest=None if test.error is None else smallest_effect(test.error),
        needed=None if found else _needed(test, kept, margin),
        notes=_notes(test, verdict, found=found),
    )


def _interval(test: Flipped, measure: Measure, *, alone: bool) -> tuple[float | None, float | None]:
    """Return the paired t interval of a single comparison, else the simultaneous one."""
    if test.error is None:
        return None, None
    times = t_quantile(1 - ALPHA / 2, float(test.units - 1)) if alone else test.quantile
    half = times * test.error if test.error > 0 else 0.0
    low, high = test.delta - half, test.delta + half
    if measure.kind.bounded:
        return max(low, -1.0), min(high, 1.0)
    return (low, high) if math.isfinite(half) else (None, None)


def _needed(test: Flipped, n: int, margin: float) -> int | None:
    effect = max(abs(test.delta), margin)
    if not test.error or effect <= 0:
        return None
    count = queries_needed(test.error, n, effect)
    return count if count > n else None


def _notes(test: Flipped, verdict: Verdict, *, found: bool) -> tuple[str, ...]:
    notes = []
    if 0 < test.changed < FEWEST_CHANGED:
        notes.append(
            f"only {test.changed} changed: with fewer than {FEWEST_CHANGED} no p reaches {ALPHA}"
        )
    if not test.changed:
        notes.append("nothing changed")
    if found and verdict == "undecided":
        notes.append("there is a difference, and it is smaller than the margin")
    return tuple(notes)
