"""Correlations agree with scipy, and say when they cannot tell."""

from __future__ import annotations

import itertools
import math
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from codebench.measures.correlation import (
    kendall,
    kendall_p,
    pearson,
    smallest_told,
    spearman,
)

if TYPE_CHECKING:
    from collections.abc import Callable

OURS = {"kendall": kendall, "spearman": spearman, "pearson": pearson}


def pairs(n: int, seed: int, *, ties: bool) -> tuple[list[float], list[float]]:
    source = random.Random(seed)  # noqa: S311  # not for secrets
    first = [float(source.randint(0, n // 2)) if ties else source.random() for _ in range(n)]
    return first, [value + source.gauss(0, 0.5) for value in first]


def theirs(name: str, first: list[float], second: list[float]) -> float:
    function = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}
    return float(function[name](first, second).statistic)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [3, 5, 8, 20, 60])
def test_coefficients_equal_scipys(name: str, ties: bool, n: int) -> None:
    for seed in range(10):
        first, second = pairs(n, seed, ties=ties)
        if ties:
            second = [round(value) for value in second]
        ours = OURS[name](first, second)
        if len(set(first)) == 1 or len(set(second)) == 1:
            assert ours.value is None
            continue
        assert ours.value == pytest.approx(theirs(name, first, second), abs=1e-12)
        assert ours.n == n


@pytest.mark.parametrize("n", [3, 6, 9, 25])
def test_p_without_ties_is_scipys_exact_one(n: int) -> None:
    for seed in range(10):
        first, second = pairs(n, seed, ties=False)
        expected = stats.kendalltau(first, second, method="exact").pvalue
        assert kendall_p(first, second) == pytest.approx(min(expected, 1.0), rel=1e-9)


@pytest.mark.parametrize("n", [8, 15, 40])
@pytest.mark.parametrize("both", [False, True])
def test_p_with_ties_is_scipys_approximation(n: int, *, both: bool) -> None:
    for seed in range(10):
        first, second = pairs(n, seed, ties=True)
        if both:
            second = [round(value / 3) for value in second]
        expected = stats.kendalltau(first, second, method="asymptotic").pvalue
        assert kendall_p(first, second) == pytest.approx(expected, rel=1e-9)


def test_few_pairs_with_ties_try_every_order() -> None:
    assert kendall_p([1, 1, 2, 3], [1, 2, 3, 4]) == pytest.approx(4 / 24)
    first, second = [1, 1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 7, 5, 6]
    taus = [abs(kendall(first, order).value or 0) for order in itertools.permutations(second)]
    seen = abs(kendall(first, second).value or 0) - 1e-12
    assert kendall_p(first, second) == pytest.approx(sum(tau >= seen for tau in taus) / 5040)
    assert kendall_p([1, 1, 1], [1, 2, 3]) == 1.0
    assert kendall_p([1.0], [1.0]) == kendall_p([], []) == kendall_p([1, 2], [2, 1]) == 1.0


def test_pearsons_interval_is_scipys() -> None:
    first, second = pairs(20, 1, ties=False)
    expected = stats.pearsonr(first, second).confidence_interval(0.95)
    ours = pearson(first, second)
    assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "fewest", "variance"),
    [
        ("pearson", 4, lambda _, n: 1 / (n - 3)),
        ("spearman", 4, lambda r, n: (1 + r * r / 2) / (n - 3)),
        ("kendall", 5, lambda _, n: 0.437 / (n - 4)),
    ],
)
def test_intervals_are_those_of_fishers_z(
    name: str, fewest: int, variance: Callable[[float, int], float]
) -> None:
    first, second = [2.0, 1.0, 5.0, 4.0, 3.0, 7.0, 6.0], [1.0, 2.0, 3.0, 5.0, 4.0, 6.0, 7.0]
    for n in range(2, 8):
        found = OURS[name](first[:n], second[:n])
        assert found.value is not None
        if n < fewest:
            assert (found.low, found.high) == (None, None)
            continue
        half = stats.norm.ppf(0.975) * math.sqrt(variance(found.value, n))
        ends = [math.tanh(math.atanh(found.value) + side * half) for side in (-1, 1)]
        assert [found.low, found.high] == pytest.approx(ends, rel=1e-9)


def test_intervals_cover() -> None:
    """Over normal pairs of known correlation each 95 % interval holds the truth about as often."""
    source = random.Random(0)  # noqa: S311
    rho, n, rounds = 0.6, 15, 400
    truth = {
        "pearson": rho,
        "spearman": 6 / math.pi * math.asin(rho / 2),
        "kendall": 2 / math.pi * math.asin(rho),
    }
    held = dict.fromkeys(OURS, 0)
    for _ in range(rounds):
        first = [source.gauss(0, 1) for _ in range(n)]
        second = [rho * x + math.sqrt(1 - rho * rho) * source.gauss(0, 1) for x in first]
        for name, function in OURS.items():
            found = function(first, second)
            assert found.low is not None
            assert found.high is not None
            held[name] += found.low <= truth[name] <= found.high
    for name, count in held.items():
        assert 0.92 <= count / rounds <= 0.98, name


def test_what_has_no_correlation_or_no_interval() -> None:
    assert pearson([1, 1, 1], [1, 2, 3]).value is None
    assert kendall([1, 2, 3], [5, 5, 5]).value is None
    assert spearman([1.0], [2.0]).value is None
    assert kendall([], []).value is None
    perfect = kendall([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6])
    assert (perfect.value, perfect.low) == (1.0, None)
    # Without a cut these are 1.0000000000000002 and its opposite.
    assert pearson([3, 5, 6], [7, 11, 13]).value == 1.0
    assert pearson([9, 1, 9], [-26, -2, -26]).value == -1.0
    few = pearson([1, 2, 4], [1, 3, 2])
    assert few.value is not None
    assert few.low is None


def test_how_much_can_be_told() -> None:
    assert smallest_told(4) is None
    values = [smallest_told(n) or 0 for n in range(5, 100)]
    assert values == sorted(values, reverse=True)
    assert 0 < values[-1] < 0.15


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=2, max_size=12))
@settings(max_examples=100, deadline=None)
def test_bounds_and_symmetry(points: list[tuple[int, int]]) -> None:
    first = [float(x) for x, _ in points]
    second = [float(y) for _, y in points]
    assert 0 <= kendall_p(first, second) <= 1 + 1e-12
    for function in OURS.values():
        own, other = function(first, second), function(second, first)
        assert own.value == other.value or own.value == pytest.approx(other.value)
        if own.value is not None:
            assert -1 <= own.value <= 1
            turned = function(first, [-y for y in second])
            assert turned.value == pytest.approx(-own.value)
        if own.low is not None and own.high is not None and own.value is not None:
            assert -1 <= own.low <= own.value <= own.high <= 1
