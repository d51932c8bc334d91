"""Sign-flip tests of paired differences, one or several at once.

Under the null hypothesis a pair's difference is as likely to have either sign: flipping signs
gives the distribution of the studentised mean. That assumes differences symmetric about 0 when
nothing changed, as they are when two equal systems swap their names. What is flipped as one is a
*unit*: a query, a cluster of duplicates, or a repository.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FLIPS = 10_000
EXACT = 13
"""With at most this many changed units every pattern of signs is tried."""

_BLOCK = 4_000_000
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Flipped:
    """One comparison's sign-flip test.

    Attributes:
        delta: the weighted mean difference.
        error: its standard error over units; None with fewer than two units.
        p: two-sided p value of this comparison alone.
        p_adjusted: by maxT over the family (Westfall and Young, 1993); `p` in a family of one.
        quantile: what the error is multiplied with for the simultaneous interval; infinite where
            the family has too few changed units to bound anything.
        units: how many units have a value.
        changed: how many units differ at all.
        exact: whether `p` comes from every pattern of signs.
    """

    delta: float
    error: float | None
    p: float
    p_adjusted: float
    quantile: float
    units: int
    changed: int
    exact: bool


def sign_flips(
    sums: Floats, weights: Floats, *, flips: int = FLIPS, seed: int = 0, alpha: float = 0.05
) -> tuple[Flipped, ...]:
    """Test k weighted mean differences over u units with the same signs (maxT).

    Args:
        sums: (u, k) sums of weight x difference within each unit.
        weights: (u, k) sums of weights within each unit; 0 where a unit has no value.
        flips: random patterns of signs, where there are too many to try every one. The p value
            is (b + 1) / (flips + 1).
        seed: of the random patterns.
        alpha: 1 - alpha is the simultaneous interval's level.
    """
    family = _Family(sums, weights)
    joint = _Tails(family, flips, seed)
    highest = family.t_of(joint.highest(alpha))
    results = []
    for index in range(sums.shape[1]):
        own = family.changed[:, index]
        few = not joint.exact and np.count_nonzero(own) <= EXACT
        only = family.only(index) if few else family
        alone, at = (_Tails(only, flips, seed), 0) if few else (joint, index)
        results.append(
            Flipped(
                delta=float(family.delta[index]),
                error=float(family.error[index]) if family.units[index] > 1 else None,
                p=alone.p(at, only.seen[at]),
                p_adjusted=joint.p_adjusted(family.seen[index]),
                quantile=highest,
                units=int(family.units[index]),
                changed=int(np.count_nonzero(own)),
                exact=alone.exact,
            )
        )
    return tuple(results)


class _Family:
    """k comparisons over the same units: means, errors and studentised means under any signs.

    A studentised mean t is held as t^2 / (t^2 + g), g the most degrees of freedom of the family:
    it grows with |t|, lies in [0, 1] and keeps its digits where the error vanishes.
    """

    def __init__(self, sums: Floats, weights: Floats) -> None:
        self._sums = sums
        self._weights = weights
        self.changed = sums != 0
        self.units = np.count_nonzero(weights > 0, axis=0)
        self._freedom = max(int(self.units.max(initial=0)) - 1, 1)
        self._whole = np.maximum(weights.sum(axis=0), np.finfo(np.float64).tiny)
        self._scale = np.maximum(self.units - 1, 1) / np.maximum(self.units, 1)
        self._squares = (sums**2).sum(axis=0)
        self._weight_squares = (weights**2).sum(axis=0)
        moving = self.changed.any(axis=1)
        self._moving = sums[moving]
        self._cross = self._moving * weights[moving]
        self.delta = np.array([math.fsum(column) for column in sums.T]) / self._whole
        rest = ((sums - self.delta * weights) ** 2).sum(axis=0)
        self.error = np.sqrt(rest / self._scale) / self._whole
        self.seen = self.under(np.ones((1, self.moving)))[0]

    def only(self, index: int) -> _Family:
        return _Family(self._sums[:, [index]], self._weights[:, [index]])

    @property
    def moving(self) -> int:
        """How many units change in any comparison: only their signs matter."""
        return len(self._moving)

    def under(self, signs: Floats) -> Floats:
        """Return (b, k) statistics under (b, m) signs of the moving units."""
        delta = signs @ self._moving / self._whole
        squared = delta**2
        rest = self._squares - 2 * delta * (signs @ self._cross) + squared * self._weight_squares
        above = squared * self._whole**2 * self._scale
        below = above + self._freedom * np.maximum(rest, 0)
        share: Floats = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
        return share

    def t_of(self, statistic: float) -> float:
        """Return the |t| of a statistic; infinite where the error is no more than rounding."""
        if statistic >= 1 - _ROUNDING:
            return math.inf
        return math.sqrt(self._freedom * statistic / (1 - statistic))


class _Tails:
    """The distribution of each comparison's statistic, and of the largest, under flipped signs."""

    def __init__(self, family: _Family, flips: int, seed: int) -> None:
        self.exact = family.moving <= EXACT
        patterns = _every(family.moving) if self.exact else _random(family.moving, flips, seed)
        self._each = np.concatenate([family.under(signs) for signs in patterns])
        self._largest = np.sort(self._each.max(axis=1))

    def p(self, index: int, seen: float) -> float:
        """Return how often one comparison's statistic is at least this one."""
        return self._share(int(np.count_nonzero(self._each[:, index] >= seen * (1 - _ROUNDING))))

    def p_adjusted(self, seen: float) -> float:
        """Return how often the family's largest is at least this one."""
        return self._share(int(np.count_nonzero(self._largest >= seen * (1 - _ROUNDING))))

    def _share(self, above: int) -> float:
        known = 0 if self.exact else 1  # the signs as seen are one pattern, tried or not
        return (above + known) / (len(self._largest) + known)

    def highest(self, alpha: float) -> float:
        """Return the quantile that at most a share alpha lies above."""
        size = len(self._largest) + (0 if self.exact else 1)
        at = math.ceil((1 - alpha) * size - _ROUNDING) - 1
        return float(self._largest[min(max(at, 0), len(self._largest) - 1)])


def _every(units: int) -> Iterator[Floats]:
    patterns = np.arange(2**units)[:, None] >> np.arange(units)
    yield np.where(patterns & 1, -1.0, 1.0)


def _random(units: int, flips: int, seed: int) -> Iterator[Floats]:
    source = np.random.default_rng(seed)
    block = max(1, _BLOCK // units)
    for start in range(0, flips, block):
        rows = min(block, flips - start)
        bits = np.frombuffer(source.bytes((rows * units + 7) // 8), np.uint8)
        signs = np.unpackbits(bits, count=rows * units).reshape(rows, units)
        yield np.where(signs, -1.0, 1.0)
