from __future__ import annotations

import math
from dataclasses import astuple
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from codebench.measures.latency import by_query, latency_ratio, latency_summary
from codebench.measures.resampling import Flipped, sign_flips
from codebench.measures.statistics import (
    Figure,
    effective_size,
    exact_sum,
    figure,
    holm,
    mean,
    queries_needed,
    smallest_effect,
    standard_error,
    t_quantile,
    wilson,
)
from codebench.model import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.mark.parametrize("freedom", [1, 1.5, 2, 5, 29, 99.5, 1000, 1e6])
@pytest.mark.parametrize("share", [0.025, 0.3, 0.6, 0.95, 0.975, 0.9999])
def test_t_quantiles_are_scipys(share: float, freedom: float) -> None:
    t_quantile.cache_clear()  # one that is remembered from another test proves nothing
    assert t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-8)


def sign_flip(differences: Sequence[float], *, seed: int = 0) -> Flipped:
    """Test the mean of paired differences, each its own unit of weight 1."""
    sums = np.array(differences, np.float64)[:, None]
    return sign_flips(sums, np.ones_like(sums), seed=seed)[0]


def test_t_quantiles_need_a_share_and_freedom() -> None:
    for share, freedom in ((0.0, 5.0), (1.0, 5.0), (0.5, 0.0)):
        with pytest.raises(ValueError, match="no t quantile"):
            t_quantile(share, freedom)
    assert t_quantile(0.5, 3.0) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (3, 7), (45, 50), (10, 10)])
def test_wilson_is_scipys(hits: int, n: int) -> None:
    theirs = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson(hits / n, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_ends_where_proportions_end() -> None:
    for n in range(1, 60):
        assert wilson(0.0, n)[0] == 0.0
        assert wilson(1.0, n)[1] == 1.0


def test_the_t_interval_is_scipys() -> None:
    values = [0.1, 0.5, 0.25, 0.9, 0.3, 0.7]
    own = figure(values)
    theirs = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (own.method, own.n, own.few, own.effective) == ("t", 6, True, 6.0)
    assert own.value == pytest.approx(np.mean(values))
    assert (own.low, own.high) == pytest.approx((theirs.low, theirs.high))


def test_values_of_0_and_1_take_wilsons_interval() -> None:
    own = figure([1.0] * 40)
    assert (own.method, own.few, own.high) == ("wilson", False, 1.0)
    assert own.low == pytest.approx(wilson(1.0, 40)[0])
    assert own.low is not None
    assert own.low < 0.95


def test_an_interval_is_cut_to_where_the_values_lie() -> None:
    assert figure([0.9, 1.0, 0.5]).high == 1.0
    unbounded = figure([900.0, 1000.0, 500.0], highest=math.inf)
    assert unbounded.high is not None
    assert unbounded.high > 1000
    assert figure([3.0, 0.0, 0.0], highest=math.inf).low == 0.0
    assert figure([900.0, 1000.0, 500.0], highest=1000.0).high == 1000.0


def test_figures_of_nothing_and_of_one() -> None:
    assert (figure([]).value, figure([]).n) == (None, 0)
    one = figure([0.4])
    assert (one.value, one.low, one.high, one.method) == (0.4, None, None, "")
    assert figure([0.4, 0.6], [0.0, 0.0]).value is None


def test_weights_are_worth_their_effective_number() -> None:
    assert effective_size([2.0, 2.0, 2.0]) == pytest.approx(3)
    assert effective_size([1.0, 1e-9]) == pytest.approx(1)
    # A query of weight 3 beside others weighs as three queries' share of the mean.
    assert mean([1.0, 0.0], [3.0, 1.0]) == 0.75
    values, weights = [0.2, 0.4, 0.9, 0.3], [1.0, 1.0, 1.0, 1.0]
    assert standard_error(values, weights) == pytest.approx(stats.sem(values))
    assert standard_error([0.2, 0.9], [1.0, 0.0]) is None
    halved = figure(values, [0.5] * 4)
    assert halved == figure(values)


def test_a_weighted_figure_is_that_of_its_effective_number() -> None:
    values, weights = [0.4, 0.6, 0.5, 0.55, 0.7], [1.0, 3.0, 0.5, 2.0, 0.0]
    own = figure(values, weights, excluded=4, alpha=0.1)
    whole = sum(weights)
    centre = sum(v * w for v, w in zip(values, weights, strict=True)) / whole
    m = whole**2 / sum(w * w for w in weights)
    spread = sum(w * (v - centre) ** 2 for v, w in zip(values, weights, strict=True)) / whole
    half = stats.t.ppf(0.95, m - 1) * math.sqrt(spread / (m - 1))
    assert 0 < centre - half < centre + half < 1
    assert astuple(own) == pytest.approx((centre, centre - half, centre + half, 4, 4, "t", m))
    shares = figure([1, 0, 1, 1], [1.0, 3.0, 0.5, 2.0], excluded=1, alpha=0.1)
    low, high = wilson(3.5 / 6.5, m, 0.1)
    assert astuple(shares) == pytest.approx((3.5 / 6.5, low, high, 4, 1, "wilson", m))
    assert figure([0, 0, 0]).method == figure([0, 1, 0]).method == "wilson"
    assert figure([0, 1, 0], highest=2.0).method == figure([0, 0.5, 1]).method == "t"
    assert figure([0.4, 0.6]).low is not None
    assert figure([0.4, 0.9], [0.0, 2.0], excluded=3) == Figure(0.9, None, None, 1, 3, "", 1.0)
    assert figure([], excluded=2) == Figure(None, None, None, 0, 2)
    assert figure([0.5]).excluded == 0


def test_exact_sums_are_those_of_a_slow_adder() -> None:
    source = np.random.default_rng(1)
    for values in (
        source.normal(0, 1, 40_000),  # more than a block
        -source.random(50),
        source.random(30) * 1e-280,
        source.random(30) * 1e12,
        np.array([3, 4, 5]),
        np.array([0.1, -0.1]),
    ):
        assert exact_sum(values) == pytest.approx(math.fsum(values.tolist()), rel=1e-15, abs=0)
        assert exact_sum(values) == exact_sum(values[::-1])
    assert exact_sum([]) == exact_sum([0.0, 0.0]) == 0.0
    # What a double loses beside a large number is kept.
    assert exact_sum([2.0**40, 2.0**-20, -(2.0**40)]) == 2.0**-20


def test_the_mean_is_the_same_in_any_order() -> None:
    source = np.random.default_rng(3)
    values, weights = source.random(1000).tolist(), source.random(1000).tolist()
    turned = figure(values[::-1], weights[::-1])
    assert turned == figure(values, weights)


@pytest.mark.slow
def test_intervals_cover_as_they_say() -> None:
    source = np.random.default_rng(5)
    covered = 0
    middle = sum(1 / rank for rank in range(1, 11)) / 10
    for _ in range(1000):
        own = figure((1 / source.integers(1, 11, 60)).tolist())
        assert own.low is not None
        assert own.high is not None
        covered += own.low <= middle <= own.high
    assert 0.92 <= covered / 1000 <= 0.97


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.9, 0.8]) == (1.0, 1.0)
    assert holm([]) == ()


def test_smallest_effect_and_queries_needed() -> None:
    error = 0.128 / math.sqrt(300)
    assert smallest_effect(error) == pytest.approx(2.8016 * error, rel=1e-4)
    assert queries_needed(error, 300, smallest_effect(error) * 0.9999) == 301
    assert queries_needed(error, 300, smallest_effect(error) / 2) in (1200, 1201)
    assert queries_needed(error, 300, 1e9) == 2
    ratio = smallest_effect(error, 0.01) / smallest_effect(error)
    assert queries_needed(error, 300, smallest_effect(error), 0.01) == math.ceil(300 * ratio**2)
    with pytest.raises(ValueError, match=r"^an effect must be above 0$"):
        queries_needed(error, 300, 0)


def test_sign_flips_are_scipys_permutation_test() -> None:
    source = np.random.default_rng(11)
    for size in (5, 8, 11):
        sample = source.normal(0.4, 1, size)
        theirs = stats.permutation_test(
            (sample,),
            lambda x, axis: np.mean(x, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
        )
        assert sign_flip(sample.tolist()).p == pytest.approx(theirs.pvalue)


def test_zeros_never_change_an_exact_p() -> None:
    few = sign_flip([0.5, 0.5, 0.25, -0.125])
    many = sign_flip([0.5, 0.5, 0.25, -0.125, *[0.0] * 200])
    assert few.p == many.p == 4 / 16
    assert (many.units, many.changed, many.exact) == (204, 4, True)


def test_nothing_changed_is_no_difference() -> None:
    own = sign_flip([0.0] * 20)
    assert (own.delta, own.p, own.error, own.changed) == (0.0, 1.0, 0.0, 0)


def test_alike_differences_are_exact_whatever_the_rounding() -> None:
    for size in (6, 7, 10, 13):
        own = sign_flip([0.1] * size)
        assert own.p == 2 / 2**size


def test_random_flips_are_seeded_and_near_the_t_test() -> None:
    sample = np.random.default_rng(2).normal(0.2, 1, 120).tolist()
    one, two = sign_flip(sample, seed=1), sign_flip(sample, seed=1)
    assert one == two
    assert not one.exact
    assert one.p != sign_flip(sample, seed=2).p
    assert one.p == pytest.approx(stats.ttest_1samp(sample, 0).pvalue, abs=0.01)
    certain = sign_flip([1.0 + at / 100 for at in range(60)])
    assert certain.p == certain.p_adjusted == 1 / 10_001


def test_maxt_adjusts_for_the_family() -> None:
    source = np.random.default_rng(4)
    differences = source.normal(0, 1, (80, 5))
    differences[:, 0] += 0.4
    tests = sign_flips(differences, np.ones_like(differences))
    assert all(own.p_adjusted >= own.p for own in tests)
    assert all(own.p_adjusted <= 5 * own.p + 0.02 for own in tests)
    assert len({own.quantile for own in tests}) == 1
    assert 2.3 < tests[0].quantile < 2.9
    # Five times the same comparison is one comparison.
    alike = sign_flips(np.repeat(differences[:, :1], 5, axis=1), np.ones_like(differences))
    assert alike[0].p_adjusted == pytest.approx(alike[0].p)


def test_units_of_different_weight() -> None:
    sums = np.array([[2.0], [-1.0], [0.5], [0.0], [1.5]])
    weights = np.array([[4.0], [2.0], [1.0], [3.0], [0.0]])
    sums[4] = 0
    own = sign_flips(sums, weights)[0]
    assert own.delta == pytest.approx(1.5 / 10)
    rest = sums[:4, 0] - own.delta * weights[:4, 0]
    assert own.error == pytest.approx(math.sqrt((rest**2).sum() * 4 / 3) / 10)
    assert (own.units, own.changed) == (4, 3)


GAINS = (1.0, 0.5, 2 / 3, 1 / 3, 0.369, 0.25, 0.1, 0.631)


@pytest.mark.slow
@pytest.mark.parametrize(("share", "n"), [(0.06, 100), (0.31, 30)])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("comparisons", [1, 4])
def test_false_alarms_stay_at_their_level(
    share: float, n: int, comparisons: int, *, binary: bool
) -> None:
    """Two equal systems that differ on few queries: at most 5 %, but for chance (2 sigma)."""
    source = np.random.default_rng(20)
    gains = (1.0,) if binary else GAINS
    worlds = 1000
    alarms = 0
    for seed in range(worlds):
        changed = source.random((n, comparisons)) < share
        size = source.choice(gains, (n, comparisons)) * source.choice((-1, 1), (n, comparisons))
        sums = np.where(changed, size, 0.0)
        tests = sign_flips(sums, np.ones_like(sums), flips=1000, seed=seed)
        alarms += bool(min(own.p_adjusted for own in tests) <= 0.05)
    assert alarms / worlds <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / worlds)


def _answer(query: str, milliseconds: int | None, status: str = "ok", repeat: int = 0) -> Answer:
    latency = None if milliseconds is None else milliseconds * 1_000_000
    return Answer(query, status, (), latency, repeat)  # type: ignore[arg-type]


def test_latency_counts_timeouts_at_their_limit_and_leaves_out_crashes() -> None:
    answers = [_answer(f"q{at}", at) for at in range(1, 100)]
    answers += [_answer("slow", 30_000, "timeout"), _answer("x", None, "crashed")]
    answers += [_answer("y", 1, "error")]
    own = latency_summary(answers)
    assert (own.n, own.censored, own.untimed) == (100, 1, 2)
    assert (own.p50, own.p90, own.p95, own.p99) == (50e6, 90e6, 95e6, 99e6)
    assert own.mean == pytest.approx((99 * 100 / 2 + 30_000) / 100 * 1e6)
    assert latency_summary([]).p50 is None


def test_latency_ratios_are_paired_by_query() -> None:
    before = by_query([_answer(f"q{at}", 10 + at) for at in range(40)])
    after = by_query([_answer(f"q{at}", 2 * (10 + at), repeat=at % 2) for at in range(50)])
    own = latency_ratio(before, after, 95)
    assert (own.ratio, own.n) == (2.0, 40)
    assert (own.low, own.high) == (2.0, 2.0)
    assert latency_ratio({}, after, 50).ratio is None
    assert latency_ratio({"q": 1.0}, {"q": 3.0}, 50).low is None
    noisy = {query: value * (1 + (at % 3) / 10) for at, (query, value) in enumerate(after.items())}
    found = latency_ratio(before, noisy, 50)
    assert found == latency_ratio(before, noisy, 50)
    assert found.low is not None
    assert found.high is not None
    assert found.ratio is not None
    assert found.low <= found.ratio <= found.high


def test_a_query_repeated_has_its_median() -> None:
    times = [_answer("q", 3), _answer("q", 100, repeat=1), _answer("q", 5, repeat=2)]
    assert by_query(times) == {"q": 5e6}
