"""Intervals and sample sizes: how far a mean can be trusted.

Sums are taken in whole numbers, so no figure depends on the order of the queries, to the last
digit. Quantiles of Student's t come from the incomplete beta function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = Sequence[float] | Floats

FEW = 30
"""Below this many queries an interval is flagged."""

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with its 95 % interval.

    Attributes:
        value: the mean; None where no query is left.
        low, high: the interval; None where fewer than two queries allow none.
        n: how many queries it is over.
        excluded: how many queries were left out because they have no unit at the level.
        method: `wilson`, `t`, or empty without an interval.
        effective: the number of equally weighted queries worth as much (Kish, 1965):
            (sum of weights)^2 / sum of squared weights.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    excluded: int = 0
    method: Literal["wilson", "t", ""] = ""
    effective: float = 0.0

    @property
    def few(self) -> bool:
        """Whether fewer than 30 queries stand behind it, so that the interval is a rough one."""
        return self.n < FEW


_BITS = 31
_BLOCK = 16_384


def exact_sum(values: Numbers) -> float:
    """Return the sum of finite numbers, the same to the last digit in any order.

    Each is cut to 62 bits below the largest and added as a whole number.
    """
    own = np.asarray(values, np.float64)
    largest = max(float(own.max(initial=0.0)), -float(own.min(initial=0.0)))
    if largest == 0:
        return 0.0
    shift = min(_BITS - math.frexp(largest)[1], 1000)
    high = low = 0
    for start in range(0, len(own), _BLOCK):  # small blocks stay in the processor's cache
        scaled = own[start : start + _BLOCK] * 2.0**shift
        whole = scaled.astype(np.int64)
        scaled -= whole
        scaled *= 2.0**_BITS
        high += int(whole.sum())
        low += int(scaled.astype(np.int64).sum())
    return math.ldexp((high << _BITS) + low, -shift - _BITS)


def mean(values: Numbers, weights: Numbers) -> float:
    """Return the weighted mean, the same to the last digit whatever the order.

    Raises:
        ZeroDivisionError: there is no value, or the weights sum to 0.
    """
    own = np.asarray(weights, np.float64)
    return exact_sum(np.asarray(values, np.float64) * own) / exact_sum(own)


def figure(
    values: Numbers,
    weights: Numbers | None = None,
    *,
    excluded: int = 0,
    highest: float = 1.0,
    proportion: bool = True,
    alpha: float = 0.05,
) -> Figure:
    """Return the mean of some queries' values with its interval.

    Wilson's interval (1927) where every value is 0 or 1, as is the `highest` value that there can
    be, and `proportion`; else the t interval, cut to [0, highest]. With weights both take the
    effective number of queries in place of n. Queries of weight 0 are not counted.
    """
    own = np.asarray(values, np.float64)
    shares = np.ones_like(own) if weights is None else np.asarray(weights, np.float64)
    own, shares = own[shares > 0], shares[shares > 0]
    n = len(own)
    if not n:
        return Figure(None, None, None, 0, excluded)
    centre = mean(own, shares)
    effective = effective_size(shares)
    if highest == 1 and proportion and bool(np.all((own == 0) | (own == 1))):
        low, high = wilson(centre, effective, alpha)
        return Figure(centre, low, high, n, excluded, "wilson", effective)
    error = standard_error(own, shares)
    if error is None:
        return Figure(centre, None, None, n, excluded, "", effective)
    half = t_quantile(1 - alpha / 2, effective - 1) * error
    low, high = max(centre - half, 0.0), min(centre + half, highest)
    return Figure(centre, low, high, n, excluded, "t", effective)


def effective_size(weights: Numbers) -> float:
    """Return (sum w)^2 / sum w^2: the size of an equally weighted sample worth as much."""
    own = np.asarray(weights, np.float64)
    own = own / own.max()
    return min(exact_sum(own) ** 2 / exact_sum(own * own), float(len(own)))


def standard_error(values: Numbers, weights: Numbers) -> float | None:
    """Return the standard error of the weighted mean; None where one query carries it all.

    The weighted variance times m / (m - 1), over m, with m the effective size. With equal
    weights it is the usual sd / sqrt(n).
    """
    effective = effective_size(weights)
    if effective <= 1 + 1e-9:
        return None
    own = np.asarray(values, np.float64)
    variance = mean((own - mean(own, weights)) ** 2, weights)
    return math.sqrt(variance / (effective - 1))


def wilson(share: float, n: float, alpha: float = 0.05) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion seen over n (JASA 1927)."""
    z = _NORMAL.inv_cdf(1 - alpha / 2)
    below = 1 + z * z / n
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if share <= 0 else max((middle - half) / below, 0.0)
    return low, 1.0 if share >= 1 else min((middle + half) / below, 1.0)


def smallest_effect(error: float, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest difference that a test of this standard error sees with this power.

    (z(1 - alpha/2) + z(power)) times the standard error: 2.802 sd / sqrt(n) by default.
    """
    return (_NORMAL.inv_cdf(1 - alpha / 2) + _NORMAL.inv_cdf(power)) * error


def queries_needed(error: float, n: int, effect: float, alpha: float = 0.05) -> int:
    """Return how many queries like these n would make `effect` the smallest seen (power 0.8)."""
    if effect <= 0:
        raise ValueError("an effect must be above 0")
    return max(2, math.ceil(n * (smallest_effect(error, alpha) / effect) ** 2))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p values adjusted for their number by Holm's steps (1979), in their own order."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for step, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - step)))
        adjusted[index] = highest
    return tuple(adjusted)


@lru_cache(maxsize=512)
def t_quantile(share: float, freedom: float) -> float:
    """Return the quantile of Student's t; freedom need not be whole.

    Raises:
        ValueError: share is not between 0 and 1, or freedom is not above 0.
    """
    if not 0 < share < 1 or freedom <= 0:
        raise ValueError(f"no t quantile for share {share} and freedom {freedom}")
    if share < 0.5:
        return -t_quantile(1 - share, freedom)
    tail = 2 * (1 - share)
    low, high = 0.0, 1.0
    while _two_tails(high, freedom) > tail and high < 1e300:
        low, high = high, high * 2
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if _two_tails(middle, freedom) > tail:
            low = middle
        else:
            high = middle


def _two_tails(t: float, freedom: float) -> float:
    """Return P(|T| > t)."""
    return _incomplete_beta(freedom / 2, 0.5, freedom, t * t)


def _incomplete_beta(a: float, b: float, over: float, square: float) -> float:
    """Return the regularised incomplete beta function at x = over / (over + square).

    By its continued fraction (Abramowitz and Stegun 26.5.8) on the side where it converges fast.
    x and 1 - x are both taken from the ratio, so that neither loses digits.
    """
    x, rest = over / (over + square), square / (over + square)
    if rest <= 0.0:
        return 1.0
    if x <= 0.0:
        return 0.0
    log = a * math.log(x) + b * math.log(rest) + math.lgamma(a + b)
    front = math.exp(log - math.lgamma(a) - math.lgamma(b))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction of the incomplete beta function by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / _away(1 - (a + b) * x / (a + 1), tiny)
    total = d
    for step in range(1, 10_000):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            d = 1.0 / _away(1 + term * d, tiny)
            c = _away(1 + term / c, tiny)
            total *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return total


def _away(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
