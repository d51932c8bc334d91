"""Correlation of two figures over a few systems: Kendall, Spearman, Pearson, with intervals.

Pairs in which one value does not vary have no correlation. Intervals are on Fisher's z scale,
with the standard errors that simulations found to fit each coefficient; they take the pairs as
independent.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, combinations, permutations, repeat
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FEWEST = 5
"""With fewer pairs no order reaches p = 0.05: of four, the best has 2 / 4! = 0.083."""

_ALL_ORDERS = 7
_NORMAL = NormalDist()
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient over n pairs.

    Attributes:
        value: -1 to 1; None where fewer than two pairs, or a value that does not vary, allow none.
        low, high: its 95 % interval; None where the pairs are too few, or the agreement is perfect,
            as the z scale ends there.
        n: how many pairs.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int


def pearson(first: Sequence[float], second: Sequence[float]) -> Correlation:
    """Return Pearson's r; its z has the standard error 1 / sqrt(n - 3) (Fisher, 1921)."""
    return _with_interval(_pearson(first, second), len(first), _fisher)


def spearman(first: Sequence[float], second: Sequence[float]) -> Correlation:
    """Return Spearman's rho, ties at their mean rank.

    Its z has the standard error sqrt((1 + rho^2 / 2) / (n - 3)) (Bonett and Wright, 2000).
    """
    return _with_interval(_pearson(_ranks(first), _ranks(second)), len(first), _bonett)


def kendall(first: Sequence[float], second: Sequence[float]) -> Correlation:
    """Return Kendall's tau-b.

    Its z has the standard error sqrt(0.437 / (n - 4)) (Fieller, Hartley and Pearson, 1957).
    """
    return _with_interval(_tau(first, second), len(first), _fieller)


def kendall_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p value that the two orders have nothing to do with each other.

    Exact without ties, and with ties for at most seven pairs (every order is tried); else by the
    normal approximation with its variance corrected for ties (Kendall, 1970). 1 where a value
    does not vary.
    """
    n = len(first)
    seen = _score(first, second)
    ties = [[count for count in Counter(one).values() if count > 1] for one in (first, second)]
    if any(count == n for own in ties for count in own):
        return 1.0
    if not any(ties):
        return _exact(n, abs(seen))
    if n <= _ALL_ORDERS:
        scores = [abs(_score(first, order)) for order in permutations(second)]
        return sum(score >= abs(seen) for score in scores) / len(scores)
    return 2 * _NORMAL.cdf(-abs(seen) / math.sqrt(_variance(n, *ties)))


def smallest_told(n: int) -> float | None:
    """Return the smallest |tau| whose interval over n pairs excludes 0; None where none does."""
    if n < FEWEST:
        return None
    return math.tanh(_NORMAL.inv_cdf(0.975) * _fieller(0.0, n))


def _pearson(first: Sequence[float], second: Sequence[float]) -> float | None:
    if len(first) < 2:
        return None
    means = fmean(first), fmean(second)
    away = [value - means[0] for value in first], [value - means[1] for value in second]
    sizes = [math.sqrt(math.fsum(value * value for value in own)) for own in away]
    if any(
        size <= _ROUNDING * max(map(abs, own))
        for size, own in zip(sizes, (first, second), strict=True)
    ):
        return None
    product = math.fsum(
        (one / sizes[0]) * (other / sizes[1]) for one, other in zip(*away, strict=True)
    )
    return max(-1.0, min(1.0, product))


def _ranks(values: Sequence[float]) -> list[float]:
    """Return each value's rank, counted from 0: a correlation reads only how they differ."""
    order = sorted(values)
    places: dict[float, list[int]] = {}
    for place, value in enumerate(order):
        places.setdefault(value, []).append(place)
    return [fmean(places[value]) for value in values]


def _score(first: Sequence[float], second: Sequence[float]) -> int:
    """Return concordant less discordant pairs."""
    return sum(
        _sign(first[i] - first[j]) * _sign(second[i] - second[j])
        for i, j in combinations(range(len(first)), 2)
    )


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    n = len(first)
    pairs = n * (n - 1) // 2
    untied = [
        pairs - sum(count * (count - 1) // 2 for count in Counter(one).values())
        for one in (first, second)
    ]
    if not all(untied):
        return None
    return _score(first, second) / math.sqrt(untied[0] * untied[1])


def _exact(n: int, score: int) -> float:
    """Return P(|S| >= score) over all orders of n, by counting them by their inversions."""
    pairs = n * (n - 1) // 2
    far = sum(count for at, count in enumerate(_orders(n)) if abs(pairs - 2 * at) >= score)
    return far / math.factorial(n)


@lru_cache(maxsize=64)
def _orders(n: int) -> tuple[int, ...]:
    """Return how many orders of n have 0, 1, … inversions (the Mahonian numbers)."""
    counts = [1]
    for size in range(2, n + 1):
        # Each is the sum of the `size` before and at it: a difference of running sums.
        upto = [0, *accumulate(chain(counts, repeat(0, size - 1)))]
        counts = [upto[at + 1] - upto[max(0, at + 1 - size)] for at in range(len(upto) - 1)]
    return tuple(counts)


def _variance(n: int, first: Sequence[int], second: Sequence[int]) -> float:
    """Return the variance of concordant less discordant pairs under no association, with ties."""

    def total(ties: Sequence[int], term: Callable[[int], int]) -> int:
        return sum(term(count) for count in ties)

    own = n * (n - 1) * (2 * n + 5)
    for ties in (first, second):
        own -= total(ties, lambda t: t * (t - 1) * (2 * t + 5))
    pairs = [total(ties, lambda t: t * (t - 1)) for ties in (first, second)]
    triples = [total(ties, lambda t: t * (t - 1) * (t - 2)) for ties in (first, second)]
    third = triples[0] * triples[1] / (9 * n * (n - 1) * (n - 2))
    return own / 18 + pairs[0] * pairs[1] / (2 * n * (n - 1)) + third


def _fisher(value: float, n: int) -> float:  # noqa: ARG001  # one shape for the three
    return 1 / math.sqrt(n - 3) if n > 3 else math.inf


def _bonett(value: float, n: int) -> float:
    return math.sqrt((1 + value * value / 2) / (n - 3)) if n > 3 else math.inf


def _fieller(value: float, n: int) -> float:  # noqa: ARG001  # as above
    return math.sqrt(0.437 / (n - 4)) if n > 4 else math.inf


def _with_interval(
    value: float | None, n: int, error_of: Callable[[float, int], float]
) -> Correlation:
    if value is None or abs(value) >= 1 - _ROUNDING:
        return Correlation(value, None, None, n)
    error = error_of(value, n)
    if math.isinf(error):
        return Correlation(value, None, None, n)
    middle, half = math.atanh(value), _NORMAL.inv_cdf(0.975) * error
    return Correlation(value, math.tanh(middle - half), math.tanh(middle + half), n)
