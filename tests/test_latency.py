"""Latency: percentiles by nearest rank, intervals over whole queries, load, ratios."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np
import pytest

from codebench.measures.latency import (
    SHARES,
    Latency,
    LoadPoint,
    LoadStep,
    Ratio,
    by_query,
    latency_ratio,
    latency_summary,
    load_curve,
    percentile,
    summary_of,
)
from codebench.model import Answer

TIMES = {
    f"q{at:02}": np.random.default_rng(at).integers(1, 10**6, 1 + at % 5).tolist()
    for at in range(20)
}
ALL = sorted(time for times in TIMES.values() for time in times)


def answer(query: str, latency: int | None, status: str = "ok", repeat: int = 0) -> Answer:
    return Answer(query, status, (), latency, repeat)  # type: ignore[arg-type]


ANSWERS = [
    answer(query, latency, repeat=repeat)
    for query, times in TIMES.items()
    for repeat, latency in enumerate(times)
]


def nearest(values: list[int], share: float) -> int:
    """The smallest value that at least this share of the values does not exceed."""
    return next(
        v for v in sorted(values) if sum(w <= v for w in values) * 100 >= share * len(values)
    )


def intervals(resamples: int, seed: int = 0) -> dict[str, tuple[float, float]]:
    """The percentile bootstrap over whole queries, value by value."""
    source = np.random.default_rng(seed)
    names = sorted(TIMES)
    found: dict[str, list[float]] = {"mean": [], **{f"p{share}": [] for share in SHARES}}
    for _ in range(resamples):
        drawn = [time for at in source.integers(0, 20, 20) for time in TIMES[names[at]]]
        found["mean"].append(fmean(drawn))
        for share in SHARES:
            found[f"p{share}"].append(nearest(drawn, share))
    ends = (math.ceil(0.025 * resamples) - 1, math.ceil(0.975 * resamples) - 1)
    return {
        name: (sorted(values)[ends[0]], sorted(values)[ends[1]]) for name, values in found.items()
    }


@pytest.mark.parametrize("share", [1, 10, 50, 67, 90, 95, 99, 100])
def test_percentiles_are_values_that_were_seen(share: int) -> None:
    for size in range(1, 12):
        values = [at * at for at in range(size)]
        found = percentile(values, share)
        assert found == nearest(values, share)
        assert sum(value <= found for value in values) * 100 >= share * size
        assert sum(value < found for value in values) * 100 < share * size


def test_a_summary_counts_and_resamples_whole_queries() -> None:
    others = [answer("d", None, "crashed"), answer("e", 3, "error"), answer("f", None)]
    own = latency_summary([*others, *ANSWERS[::-1]])
    p50, p90, p95, p99 = (nearest(ALL, share) for share in SHARES)
    assert own == Latency(60, own.mean, p50, p90, p95, p99, 0, 3, own.intervals)
    assert own.mean == pytest.approx(fmean(ALL))
    expected = intervals(1000)
    assert list(own.intervals) == list(expected)
    for name, ends in expected.items():
        assert own.intervals[name] == pytest.approx(ends), name
    late = [answer("z", 1000, "timeout"), answer("z", 4, "invalid_output")]
    assert latency_summary(late) == Latency(2, 502.0, 4, 1000, 1000, 1000, 1, 0)


def test_few_resamples_of_very_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    for work, resamples in ((60 * 300, 300), (60, 200)):
        monkeypatch.setattr("codebench.measures.latency._WORK", work)
        own = latency_summary(ANSWERS)
        for name, ends in intervals(resamples).items():
            assert own.intervals[name] == pytest.approx(ends), name


def test_an_interval_needs_two_queries_and_hangs_on_its_seed() -> None:
    nothing = np.zeros(0, np.int64)
    assert summary_of(nothing, nothing, 2, 3) == Latency(0, None, None, None, None, None, 2, 3)
    times = np.array([5, 7, 9], np.int64)
    assert summary_of(times, np.array([4, 4, 4]), 1, 2) == Latency(3, 7.0, 7, 9, 9, 9, 1, 2)
    many = np.arange(60)
    one, two = (summary_of(many * many, many, 0, 0, seed) for seed in (1, 2))
    assert one.intervals != two.intervals
    assert summary_of(many[:2], many[:2], 0, 0).intervals["p50"] == (0.0, 1.0)


def test_a_load_curve_goes_from_closed_to_open_loops() -> None:
    times = tuple(range(1, 101))
    steps = [
        LoadStep(0, 20.0, 2.0, (9, 7, 8, 6), failed=1, censored=1),
        LoadStep(4, 0.0, 0.5, times, failed=20),
        LoadStep(1, 0.0, 0.0, ()),
        LoadStep(0, 5.0, 10.0, (), censored=3),
        LoadStep(0, 1.0, 1.0, times[:90], censored=10),
    ]
    assert load_curve(steps) == (
        LoadPoint(1, 0.0, 0.0, 0, None, None, None, None, 0, 0),
        LoadPoint(4, 0.0, 160.0, 100, 50, 90, 95, 99, 20, 0),
        LoadPoint(0, 1.0, 90.0, 90, 50, 90, None, None, 0, 10),
        LoadPoint(0, 5.0, 0.0, 0, None, None, None, None, 0, 3),
        LoadPoint(0, 20.0, 1.5, 4, 8, None, None, None, 1, 1),
    )


def ratio(
    before: list[float], after: list[float], share: int, seed: int = 0, resamples: int = 2000
) -> Ratio:
    """The ratio of two percentiles and its bootstrap over pairs, value by value."""
    n = len(before)
    at = math.ceil(share * n / 100) - 1
    source = np.random.default_rng(seed)
    ratios = []
    for _ in range(resamples):
        drawn = source.integers(0, n, n).tolist()
        below = sorted(before[one] for one in drawn)[at]
        above = sorted(after[one] for one in drawn)[at]
        ratios.append(above / below if below > 0 else math.inf)
    ratios.sort()
    own = sorted(after)[at] / sorted(before)[at]
    ends = (resamples - resamples // 40 - 1, resamples - resamples // 20 - 1)
    high, upper = (None if math.isinf(ratios[end]) else ratios[end] for end in ends)
    return Ratio(share, own, ratios[resamples // 40], high, n, upper)


@pytest.mark.parametrize("share", [50, 95])
def test_a_ratio_resamples_pairs(share: int) -> None:
    source = np.random.default_rng(8)
    before = source.lognormal(0, 1, 75).tolist()
    after = source.lognormal(0.1, 1, 75).tolist()
    names = [f"q{at:02}" for at in range(75)]
    one = {**dict(zip(names, before, strict=True)), "alone": 7.0}
    two = {**dict(zip(names[::-1], after[::-1], strict=True)), "other": 7.0}
    assert latency_ratio(one, two, share, seed=5) == ratio(before, after, share, 5)
    assert latency_ratio(one, two, share) == ratio(before, after, share)
    few = ratio(before, after, share, resamples=40)
    assert latency_ratio(one, two, share, resamples=40) == few


def test_a_ratio_to_nothing_has_no_bound_above() -> None:
    names = [f"q{at}" for at in range(4)]
    one = dict(zip(names, [0.0, 0.0, 4.0, 4.0], strict=True))
    two = dict.fromkeys(names, 4.0)
    assert latency_ratio(one, two, 50) == Ratio(50, None, None, None, 4)
    found = latency_ratio(one, two, 95)
    assert (found.ratio, found.low, found.high, found.upper) == (1.0, 1.0, None, None)
    assert latency_ratio(one, {}, 50) == Ratio(50, None, None, None, 0)
    assert latency_ratio({"q": 2.0}, {"q": 6.0}, 50) == Ratio(50, 3.0, None, None, 1)
    assert latency_ratio({"q": 2.0, "r": 2.0}, {"q": 6.0, "r": 6.0}, 50).low == 3.0


def test_a_query_takes_its_median_over_timed_repeats() -> None:
    answers = [
        *(answer("b", 9), answer("a", 2, repeat=1), answer("a", 5, "timeout"), answer("a", None)),
        *(answer("a", 1, "error"), answer("c", None, "crashed")),
    ]
    assert list(by_query(answers).items()) == [("a", 3.5), ("b", 9.0)]
