"""Sign-flip tests against a slow one that takes pattern by pattern and comparison by comparison."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from codebench.measures.resampling import EXACT, Flipped, sign_flips

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def t_of(sums: Sequence[float], weights: Sequence[float]) -> tuple[float, float, float]:
    """The weighted mean, its standard error over units, and the studentised mean."""
    units = sum(weight > 0 for weight in weights)
    whole = math.fsum(weights)
    delta = math.fsum(sums) / whole
    rest = math.fsum((one - delta * own) ** 2 for one, own in zip(sums, weights, strict=True))
    error = math.sqrt(rest * units / max(units - 1, 1)) / whole
    if error < 1e-12:
        return delta, error, math.inf if abs(delta) > 1e-12 else 0.0
    return delta, error, abs(delta) / error


def flipped(
    sums: Floats, weights: Floats, patterns: list[list[float]], alpha: float, *, exact: bool
) -> list[tuple[float, float, float, float, float]]:
    """Delta, error, p, p adjusted and quantile of each comparison."""
    columns = list(zip(sums.T.tolist(), weights.T.tolist(), strict=True))
    seen = [t_of(*column) for column in columns]
    table = [
        [
            t_of([sign * one for sign, one in zip(signs, own, strict=True)], weight)[2]
            for own, weight in columns
        ]
        for signs in patterns
    ]
    known = 0 if exact else 1
    largest = sorted(max(row) for row in table)
    size = len(patterns) + known
    quantile = largest[min(math.ceil((1 - alpha) * size - 1e-9), len(largest)) - 1]

    def share(values: Sequence[float], least: float) -> float:
        return (sum(value >= least * (1 - 1e-9) for value in values) + known) / size

    return [
        (delta, error, share([row[at] for row in table], t), share(largest, t), quantile)
        for at, (delta, error, t) in enumerate(seen)
    ]


def every(units: int) -> list[list[float]]:
    return [list(signs) for signs in itertools.product((1.0, -1.0), repeat=units)]


def drawn(units: int, flips: int, seed: int, block: int) -> Iterator[list[float]]:
    """The seeded signs: a bit each, the first of a byte first, a block of patterns at a time."""
    source = np.random.default_rng(seed)
    for start in range(0, flips, block):
        rows = min(block, flips - start)
        data = source.bytes(-(-rows * units // 8))
        bits = [byte >> place & 1 for byte in data for place in range(7, -1, -1)]
        for row in range(rows):
            yield [-1.0 if bit else 1.0 for bit in bits[row * units : (row + 1) * units]]


def told(found: Sequence[Flipped]) -> list[tuple[float, float | None, float, float, float]]:
    return [(own.delta, own.error, own.p, own.p_adjusted, own.quantile) for own in found]


def alone(*differences: float) -> Flipped:
    sums = np.array(differences)[:, None]
    return sign_flips(sums, np.ones_like(sums))[0]


@pytest.mark.parametrize("alpha", [0.05, 0.18, 0.3])
def test_a_small_family_tries_every_pattern(alpha: float) -> None:
    source = np.random.default_rng(3)
    sums = source.normal(0.6, 1, (8, 3))
    weights = source.uniform(0.5, 3, (8, 3))
    weights[7, 2] = sums[7, 2] = 0.0  # a unit that the third has no value of
    sums[2, 0] = 0.0
    expected = flipped(sums, weights, every(8), alpha, exact=True)
    found = sign_flips(sums, weights, alpha=alpha)
    for own, theirs in zip(told(found), expected, strict=True):
        assert own == pytest.approx(theirs, rel=1e-9)
    assert [(own.units, own.changed, own.exact) for own in found] == [
        *((8, 7, True), (8, 8, True), (7, 7, True))
    ]
    if alpha == 0.05:
        assert sign_flips(sums, weights) == found


@pytest.mark.parametrize(
    ("units", "flips", "block"), [(15, 203, 4_000_000), (15, 203, 15 * 19), (15, 203, 15 * 16)]
)
def test_a_large_family_draws_its_patterns_block_by_block(
    units: int, flips: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codebench.measures.resampling._BLOCK", block)
    source = np.random.default_rng(5)
    sums, weights = source.normal(0.5, 1, (units, 2)), source.uniform(1, 2, (units, 2))
    for seed in (0, 7):
        patterns = list(drawn(units, flips, seed, block // units))
        assert len(patterns) == flips
        expected = flipped(sums, weights, patterns, 0.05, exact=False)
        found = sign_flips(sums, weights, flips=flips, seed=seed)
        for own, theirs in zip(told(found), expected, strict=True):
            assert own == pytest.approx(theirs, rel=1e-9)
        assert not any(own.exact for own in found)
    assert found != sign_flips(sums, weights, flips=flips)
    monkeypatch.setattr("codebench.measures.resampling._BLOCK", 1)  # one pattern at a time
    one = flipped(sums, weights, list(drawn(units, flips, 0, 1)), 0.05, exact=False)
    for own, theirs in zip(told(sign_flips(sums, weights, flips=flips)), one, strict=True):
        assert own == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("flips", [10, 199])  # a quantile that none reaches, and one that one is
def test_the_quantile_of_few_patterns(flips: int) -> None:
    sums = np.random.default_rng(1).normal(0, 1, (20, 1))
    patterns = list(drawn(20, flips, 3, flips))
    (theirs,) = flipped(sums, np.ones((20, 1)), patterns, 0.05, exact=False)
    (found,) = sign_flips(sums, np.ones((20, 1)), flips=flips, seed=3)
    assert told([found])[0] == pytest.approx(theirs)


def test_a_comparison_with_few_changes_is_exact_in_a_large_family() -> None:
    source = np.random.default_rng(6)
    sums = np.zeros((30, 3))
    sums[:, 0] = source.normal(0.3, 1, 30)
    sums[:EXACT, 1] = source.normal(0.6, 1, EXACT)
    sums[: EXACT + 1, 2] = source.normal(0.6, 1, EXACT + 1)
    found = sign_flips(sums, np.ones_like(sums), flips=500, seed=4)
    assert [own.exact for own in found] == [False, True, False]
    assert found[1].p == alone(*sums[:, 1].tolist()).p
    assert [own.changed for own in found] == [30, EXACT, EXACT + 1]
    patterns = list(drawn(30, 500, 4, 500))
    theirs = flipped(sums[:, [0, 2]], np.ones((30, 2)), patterns, 0.05, exact=False)
    assert [found[0].p, found[2].p] == pytest.approx([p for _, _, p, _, _ in theirs])
    # What is adjusted comes from the patterns of the whole family, 500 of them and the one seen.
    for own in found:
        assert own.p_adjusted * 501 == pytest.approx(round(own.p_adjusted * 501))


def test_the_defaults_are_ten_thousand_patterns_of_seed_0_at_95_percent() -> None:
    sums = np.random.default_rng(2).normal(0.2, 1, (40, 1))
    (own,) = sign_flips(sums, np.ones_like(sums))
    assert own == sign_flips(sums, np.ones_like(sums), flips=10_000, seed=0, alpha=0.05)[0]
    assert own.p == own.p_adjusted
    assert own.quantile > sign_flips(sums, np.ones_like(sums), alpha=0.2)[0].quantile


def test_an_error_needs_two_units() -> None:
    one, two = alone(0.5), alone(0.5, 0.1)
    assert (one.delta, one.error, one.p, one.units, one.exact) == (0.5, None, 1.0, 1, True)
    assert [two.error, two.p] == pytest.approx([0.2, 0.5])
    # Of two units no pattern but the one seen and its mirror: nothing bounds the difference.
    assert alone(0.5, 0.5).quantile == math.inf
    nothing = alone(0.0, 0.0)
    assert (nothing.p, nothing.p_adjusted, nothing.quantile) == (1.0, 1.0, 0.0)
