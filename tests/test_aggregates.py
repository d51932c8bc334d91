"""Means over queries, whole figures: value, interval, counts."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

import codebench
from codebench.errors import UsageError
from codebench.evaluation import aggregate
from codebench.measures.aggregates import macro, micro, over_groups, recall_curve
from codebench.measures.names import parse
from codebench.measures.ranks import Level, Places, Ranks
from codebench.measures.statistics import Figure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NOTHING = {"none": {"x": 0}, "never": {"y": 0}}
QRELS = {f"q{at}": {f"d{rank}": 1 for rank in range(1 + at % 4)} for at in range(12)} | NOTHING
RUN = {f"q{at}": [f"d{(at + shift) * 5 % 7}" for shift in range(4)] for at in range(12)}


def micro_of(
    name: str, qrels: dict[str, dict[str, int]], run: dict[str, list[str]] | None = None
) -> Figure:
    evaluation = codebench.evaluate(qrels, RUN if run is None else run, [name])
    return aggregate(evaluation, "micro").figures[name]


def ranks(units: list[int], ends: list[int], reached: list[int], read: list[int]) -> Ranks:
    level = Level(np.array(units), np.array(ends), np.array(reached, np.int32), np.array(read))
    none = np.zeros(len(units), np.int64)
    places = Places(none, np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), none[:0])
    return Ranks(len(units), {1: level}, places, none, judged=False)


def linearised(statistic: Callable[[Floats], float], n: int) -> float:
    """The standard error by the infinitesimal jackknife: what each query's weight moves."""
    step = 1e-6
    moved = []
    for at in range(n):
        more, less = np.ones(n), np.ones(n)
        more[at] += step
        less[at] -= step
        moved.append(n * (statistic(more) - statistic(less)) / (2 * step))
    return math.sqrt(sum(own * own for own in moved) / (n - 1) / n)


@pytest.mark.parametrize(
    ("name", "beta"), [("P@3", 0.0), ("R@3", math.inf), ("F1@3", 1.0), ("F(beta=3)@3", 3.0)]
)
def test_a_micro_figure_is_a_ratio_with_the_query_as_its_unit(name: str, beta: float) -> None:
    found = np.array([sum(d in QRELS[q] for d in run[:3]) for q, run in RUN.items()], float)
    units = np.array([len(QRELS[q]) for q in RUN], float)

    def statistic(weights: Floats) -> float:
        precise = float(weights @ found / (3 * weights.sum()))
        recalled = float(weights @ found / (weights @ units))
        if math.isinf(beta):
            return recalled
        return (1 + beta**2) * precise * recalled / (beta**2 * precise + recalled)

    own = micro_of(name, QRELS)
    value = statistic(np.ones(12))
    half = stats.t.ppf(0.975, 11) * linearised(statistic, 12)
    assert 0 < value - half < value + half < 1
    assert astuple(own) == pytest.approx((value, value - half, value + half, 12, 2, "t", 12.0))


def test_micro_intervals_end_at_0_and_1() -> None:
    few = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    low, high = (
        micro_of("R@1", few, {"q1": ["a"]}),
        micro_of("R@1", few, {"q1": ["a"], "q2": ["b"]}),
    )
    assert [low.value, low.low] == pytest.approx([1 / 3, 0.0])
    assert [high.value, high.high] == pytest.approx([2 / 3, 1.0])


@pytest.mark.parametrize("name", ["P@2", "R@2", "F1@2"])
def test_micro_figures_of_nothing_of_one_and_of_none_found(name: str) -> None:
    assert micro_of(name, NOTHING) == Figure(None, None, None, 0, 2)
    one = {**NOTHING, "q": {"a": 1, "b": 1}}
    assert micro_of(name, one, {"q": ["a", "x"]}) == Figure(0.5, None, None, 1, 2, "", 1.0)
    two = {**one, "r": {"c": 1}}
    assert micro_of(name, two, {}) == Figure(0.0, 0.0, 0.0, 2, 2, "t", 2.0)


def test_micro_recall_by_tokens_counts_what_was_read() -> None:
    own = ranks([1, 2, 0], [1, 2, 2], [1, 1], [40, 44])
    assert micro(parse("R@10tokens"), own).value == pytest.approx(1 / 3)
    assert micro(parse("R@11tokens"), own).value == pytest.approx(2 / 3)
    with pytest.raises(UsageError, match="AP has no micro mean; P, R and F have"):
        micro(parse("AP"), own)


def test_an_interval_ends_at_the_highest_value_that_there_can_be() -> None:
    values = np.array([1.0, 8.0, np.nan])
    half = stats.t.ppf(0.975, 1) * 3.5
    for name, high in (("Value@5", 4.5 + half), ("Tokens@9", 9.0), ("Tokens", 4.5 + half)):
        for own in (
            macro(parse(name), values),
            over_groups(parse(name), values, np.ones(3), ["a", "b", "c"]),
        ):
            assert astuple(own) == pytest.approx((4.5, 0.0, high, 2, 1, "t", 2.0))


def test_a_mean_over_groups_takes_the_group_as_its_unit() -> None:
    values = np.array([1.0, 0.0, 1.0, np.nan, 1.0, 0.3])
    weights = np.array([3.0, 1.0, 1.0, 1.0, 0.0, 2.0])
    own = over_groups(parse("RR"), values, weights, ["a", "a", "b", "b", "none", "c"])
    means = [0.75, 1.0, 0.3]
    theirs = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    low, high = max(theirs.low, 0), min(theirs.high, 1)
    assert astuple(own) == pytest.approx((sum(means) / 3, low, high, 3, 1, "t", 3.0))
    # Means of groups are no proportion, though every one of them be 0 or 1.
    assert over_groups(parse("RR"), np.array([1.0, 0.0]), np.ones(2), "ab").method == "t"


def test_recall_by_k_weighs_queries_and_leaves_out_those_without_a_unit() -> None:
    own = ranks([2, 1, 0], [2, 3, 3], [1, 3, 2], [0, 0, 0])
    assert recall_curve(own, 1, 4) == pytest.approx((1 / 4, 3 / 4, 1.0, 1.0))
    assert recall_curve(own, 1, 2) == pytest.approx((1 / 4, 3 / 4))
    weights = np.array([3.0, 1.0, 9.0])
    assert recall_curve(own, 1, 3, weights) == pytest.approx((3 / 8, 5 / 8, 1.0))
    assert recall_curve(own, 2, 2) == (None, None)
    assert recall_curve(own, 1, 2, np.array([0.0, 0.0, 1.0])) == (None, None)
