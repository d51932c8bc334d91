"""Means over queries: macro, micro and over groups of queries, and recall by K."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from codebench.errors import UsageError
from codebench.measures.formulas import f_of, paid_within, reached_within
from codebench.measures.statistics import Figure, figure, mean, t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codebench.measures.names import Measure
    from codebench.measures.ranks import Ranks

    Floats = NDArray[np.float64]

MICRO = ("P", "R", "F")
"""The families that have a micro mean."""


def macro(measure: Measure, values: Floats, weights: Floats | None = None) -> Figure:
    """Return the (weighted) mean over queries of (q,) values, those that are NaN left out."""
    defined = ~np.isnan(values)
    return figure(
        values[defined],
        None if weights is None else weights[defined],
        excluded=int(np.count_nonzero(~defined)),
        highest=measure.highest,
    )


def over_groups(measure: Measure, values: Floats, weights: Floats, groups: Sequence[str]) -> Figure:
    """Return the plain mean of the groups' weighted means; its n counts groups.

    The interval is over groups (G - 1 degrees of freedom). A group without a value is left out.
    """
    inside: dict[str, list[tuple[float, float]]] = {}
    for value, weight, group in zip(values.tolist(), weights.tolist(), groups, strict=True):
        if not math.isnan(value) and weight > 0:
            inside.setdefault(group, []).append((value, weight))
    means = [mean(*zip(*inside[group], strict=True)) for group in sorted(inside)]
    excluded = int(np.count_nonzero(np.isnan(values)))
    return figure(means, excluded=excluded, highest=measure.highest, proportion=False)


def micro(measure: Measure, ranks: Ranks) -> Figure:
    """Return P, R or F of all queries' units thrown together, every query weighing 1.

    P is units paid within K over K a query; R is units reached over units. The interval takes the
    query as the unit: the ratio's linear approximation (Cochran, 1977), by t.

    Raises:
        UsageError: the measure has no micro mean.
    """
    if measure.name not in MICRO:
        raise UsageError(f"{measure.short} has no micro mean; P, R and F have")
    level = ranks.level(measure.level)
    kept = level.units > 0
    excluded = int(np.count_nonzero(~kept))
    n = int(np.count_nonzero(kept))
    if not n:
        return Figure(None, None, None, 0, excluded)
    paid = level.count(paid_within(level, measure))[kept]
    found = level.count(reached_within(level, measure))[kept]
    units = level.units[kept].astype(np.float64)
    precise, precise_rest = _ratio(paid, np.full(n, float(measure.cutoff or 1)))
    recalled, recalled_rest = _ratio(found, units)
    if measure.name == "P":
        return _linear(precise, precise_rest, excluded)
    if measure.name == "R":
        return _linear(recalled, recalled_rest, excluded)
    beta = measure.number("beta")
    value = float(f_of(np.array([precise]), np.array([recalled]), beta)[0])
    below = (beta**2 * precise + recalled) ** 2
    if below == 0:
        return _linear(value, np.zeros(n), excluded)
    by_precision = (1 + beta**2) * recalled**2 / below
    by_recall = (1 + beta**2) * beta**2 * precise**2 / below
    return _linear(value, by_precision * precise_rest + by_recall * recalled_rest, excluded)


def _ratio(above: Floats, below: Floats) -> tuple[float, Floats]:
    """Return sum(above) / sum(below) and each query's part in its error."""
    total = math.fsum(below.tolist())
    ratio = math.fsum(above.tolist()) / total
    return ratio, (above - ratio * below) * (len(below) / total)


def _linear(value: float, rest: Floats, excluded: int) -> Figure:
    n = len(rest)
    if n < 2:
        return Figure(value, None, None, n, excluded, "", float(n))
    error = math.sqrt(math.fsum((rest**2).tolist()) / (n - 1) / n)
    half = t_quantile(0.975, float(n - 1)) * error
    return Figure(value, max(value - half, 0.0), min(value + half, 1.0), n, excluded, "t", float(n))


def recall_curve(
    ranks: Ranks, rel: int, depth: int, weights: Floats | None = None
) -> tuple[float | None, ...]:
    """Return the mean of R(rel)@K for K = 1, …, depth; None where no query has a unit."""
    level = ranks.level(rel)
    kept = level.units > 0
    if not np.any(kept):
        return (None,) * depth
    own = (np.ones(ranks.queries) if weights is None else weights)[kept]
    whole = math.fsum(own.tolist())
    if not whole:
        return (None,) * depth
    share = np.zeros(ranks.queries)
    share[kept] = own / level.units[kept]
    new: list[list[float]] = [[] for _ in range(depth)]
    near = level.ranks <= depth
    for rank, part in zip(
        level.ranks[near].tolist(), share[level.rows[near]].tolist(), strict=True
    ):
        new[rank - 1].append(part)
    found: list[float] = []
    curve: list[float | None] = []
    for parts in new:
        found = [math.fsum(found + parts)]
        curve.append(min(found[0] / whole, 1.0))
    return tuple(curve)
