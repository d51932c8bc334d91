from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

import codebench
from codebench.comparison import Comparison, Difference, compare
from codebench.errors import UsageError
from codebench.measures.names import Measure, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RR = parse("RR(rel=2)@10")
TOKENS = parse("Tokens@32000")


@dataclass(frozen=True)
class Fake:
    """An evaluation made of numbers."""

    table: NDArray[np.float64]
    weights: NDArray[np.float64]
    queries: tuple[str, ...]
    clusters: tuple[str, ...]
    repositories: tuple[str, ...]
    measures: tuple[Measure, ...] = (RR,)
    gold: str = "sha256:g"
    default_rel: int = 2


def fake(values: Sequence[float] | NDArray[np.float64], **others: Any) -> Fake:
    table = np.array(values, np.float64)
    table = table[:, None] if table.ndim == 1 else table
    names = tuple(f"q{at:04}" for at in range(len(table)))
    made = Fake(table, np.ones(len(table)), names, names, ("",) * len(table))
    return replace(made, **others)


def one(before: Fake, after: Fake, **options: Any) -> Difference:
    options.setdefault("measures", before.measures)
    result = compare({"old": before, "new": after}, **options)
    assert len(result.differences) == 1
    return result.differences[0]


def noisy(gain: float, n: int = 100, spread: float = 0.1, seed: int = 1) -> tuple[Fake, Fake]:
    source = np.random.default_rng(seed)
    before = source.uniform(0.3, 0.6, n)
    return fake(before), fake(before + gain + source.normal(0, spread, n))


def test_better_worse_and_undecided() -> None:
    before, after = noisy(0.1)
    found = one(before, after)
    assert found.verdict == "better"
    assert (found.baseline, found.candidate, found.measure) == ("old", "new", RR)
    assert found.delta == pytest.approx((found.candidate_value or 0) - (found.baseline_value or 0))
    assert one(after, before).verdict == "worse"
    assert one(*noisy(0.0)).verdict == "undecided"
    assert found.needed is None


def test_a_single_comparison_has_the_paired_t_interval() -> None:
    before, after = noisy(0.02)
    found = one(before, after)
    theirs = stats.ttest_rel(after.table[:, 0], before.table[:, 0])
    interval = theirs.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.p == found.p_adjusted == pytest.approx(theirs.pvalue, abs=0.01)
    bound = stats.ttest_rel(after.table[:, 0], before.table[:, 0], alternative="greater")
    assert found.gain_bound == pytest.approx(bound.confidence_interval(0.95).low)
    differences = after.table[:, 0] - before.table[:, 0]
    assert found.ratio == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert found.smallest == pytest.approx(2.8016 * differences.std(ddof=1) / 10, rel=1e-4)


def test_a_real_difference_below_the_margin_is_undecided_and_said() -> None:
    found = one(*noisy(0.02, n=400, spread=0.05))
    assert found.p < 0.01
    assert found.verdict == "undecided"
    assert "smaller than the margin" in found.notes[0]
    assert found.needed is None
    assert one(*noisy(0.02, n=400, spread=0.05), margin=0.01).verdict == "better"


def test_undecided_says_how_many_queries_would_decide() -> None:
    found = one(*noisy(0.04, n=20, spread=0.2))
    assert found.verdict == "undecided"
    assert found.needed is not None
    assert found.smallest is not None
    again = (found.smallest / abs(found.delta)) ** 2 * 20
    assert found.needed == pytest.approx(again, abs=1)
    more = one(*noisy(0.04, n=2 * found.needed, spread=0.2))
    assert more.verdict == "better"


def test_fewer_than_six_changed_queries_cannot_decide() -> None:
    before = fake([0.0] * 40)
    found = one(before, fake([1.0] * 5 + [0.0] * 35))
    assert (found.wins, found.ties, found.losses, found.changed) == (5, 35, 0, 5)
    assert found.p == 2 / 2**5
    assert found.verdict == "undecided"
    assert "only 5 changed" in found.notes[0]
    six = one(before, fake([1.0] * 6 + [0.0] * 34))
    assert (six.p, six.verdict, six.notes) == (2 / 2**6, "better", ())


def test_nothing_changed() -> None:
    found = one(fake([0.5] * 9), fake([0.5] * 9))
    assert (found.verdict, found.p, found.delta, found.ties) == ("undecided", 1.0, 0.0, 9)
    assert (found.low, found.high, found.ratio) == (0.0, 0.0, None)
    assert found.notes == ("nothing changed",)


def test_less_is_better_for_tokens_and_the_margin_is_a_share_of_its_cutoff() -> None:
    source = np.random.default_rng(3)
    values = source.uniform(10_000, 20_000, 60)
    before = fake(values, measures=(TOKENS,))
    after = fake(values - 3000 + source.normal(0, 500, 60), measures=(TOKENS,))
    found = one(before, after)
    assert found.delta < 0
    assert found.verdict == "better"
    assert found.margin == pytest.approx(960)
    assert found.wins == 60
    assert found.gain_bound is not None
    assert found.gain_bound > 2500
    assert one(after, before).verdict == "worse"


def test_excluded_queries_are_left_out_of_their_measure() -> None:
    before = fake([0.1, 0.2, np.nan, 0.4])
    found = one(before, fake([0.2, 0.2, np.nan, 0.3]))
    assert (found.n, found.excluded, found.units) == (3, 1, 3)
    assert (found.wins, found.ties, found.losses) == (1, 1, 1)
    nothing = one(fake([np.nan] * 3), fake([np.nan] * 3))
    assert (nothing.n, nothing.baseline_value, nothing.low, nothing.p) == (0, None, None, 1.0)


def test_weights_count() -> None:
    weights = np.array([8.0, 1.0, 1.0])
    found = one(fake([0.0, 0.0, 0.0], weights=weights), fake([0.5, 0.0, 0.0], weights=weights))
    assert found.delta == pytest.approx(0.4)


def test_pairs_and_baselines() -> None:
    runs = {name: fake([0.1 * at] * 8) for at, name in enumerate(("a", "b", "c"))}

    def pairs(result: Comparison) -> list[tuple[str, str]]:
        return [(own.baseline, own.candidate) for own in result.differences]

    assert pairs(compare(runs, measures=[RR])) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs(compare(runs, measures=["RR@10"], baseline="b")) == [("b", "a"), ("b", "c")]


def test_several_comparisons_are_adjusted_together() -> None:
    before, after = noisy(0.035, n=120)
    alone = one(before, after)
    others = {f"other{at}": noisy(0.0, n=120, seed=at + 5)[1] for at in range(6)}
    together = compare({"old": before, "new": after, **others}, baseline="old", measures=[RR])
    same = together.differences[0]
    assert same.p == pytest.approx(alone.p, abs=0.01)
    assert same.p_adjusted > same.p
    assert alone.low is not None
    assert same.low is not None
    assert same.low < alone.low


def test_a_cluster_flips_as_one() -> None:
    before = fake([0.0] * 12, clusters=tuple(f"c{at // 6}" for at in range(12)))
    after = replace(before, table=np.ones((12, 1)))
    result = compare({"old": before, "new": after}, measures=[RR])
    found = result.differences[0]
    assert result.flipping == "cluster"
    assert (found.units, found.changed, found.p) == (2, 2, 0.5)
    assert found.verdict == "undecided"


def test_whole_repositories_flip_where_there_are_enough() -> None:
    source = np.random.default_rng(8)
    names = tuple(f"r{at % 8}" for at in range(160))
    gains = dict(zip(sorted(set(names)), source.normal(0.03, 0.08, 8), strict=True))
    before = fake(source.uniform(0.3, 0.6, 160), repositories=names)
    shift = np.array([gains[name] for name in names])
    after = replace(before, table=before.table + shift[:, None])
    result = compare({"old": before, "new": after}, measures=[RR])
    found = result.differences[0]
    assert result.flipping == "repository"
    assert "beyond these repositories" in result.scope
    assert (found.units, found.changed) == (8, 8)
    means = list(gains.values())
    interval = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    few = replace(before, repositories=tuple(f"r{at % 5}" for at in range(160)))
    alone = compare({"old": few, "new": replace(few, table=after.table)}, measures=[RR])
    assert (alone.flipping, alone.differences[0].units) == ("query", 160)
    assert "these 5 repositories alone" in alone.scope


@pytest.mark.slow
def test_repository_flips_keep_their_level_where_query_flips_do_not() -> None:
    """Queries of one repository are alike: an intra-class correlation of about 0.05."""
    source = np.random.default_rng(12)
    names = tuple(f"r{at % 10}" for at in range(400))
    alarms = {"repository": 0, "query": 0}
    for seed in range(300):
        own = source.normal(0, 0.0229, 10)
        shift = np.array([own[at % 10] for at in range(400)]) + source.normal(0, 0.1, 400)
        before = fake([0.5] * 400, repositories=names)
        for flipping, old in (("repository", before), ("query", fake([0.5] * 400))):
            new = replace(old, table=old.table + shift[:, None])
            runs = {"old": old, "new": new}
            result = compare(runs, measures=[RR], flips=1000, seed=seed)
            assert result.flipping == flipping
            alarms[flipping] += bool(result.differences[0].p <= 0.05)
    assert alarms["repository"] / 300 <= 0.08
    assert alarms["query"] / 300 >= 0.12


def test_what_cannot_be_paired_is_refused() -> None:
    run = fake([0.1, 0.2])
    with pytest.raises(UsageError, match="at least two"):
        compare({"a": run})
    with pytest.raises(UsageError, match="no retriever 'x'; there are a, b"):
        compare({"a": run, "b": run}, baseline="x")
    with pytest.raises(UsageError, match=r"different queries \(1 of one only: q0002\)"):
        compare({"a": run, "b": fake([0.1, 0.2, 0.3])}, measures=[RR])
    with pytest.raises(UsageError, match="different gold"):
        compare({"a": run, "b": replace(run, gold="sha256:h")}, measures=[RR])
    with pytest.raises(UsageError, match=r"not evaluated with AP\(rel=2\); it has RR"):
        compare({"a": run, "b": run}, measures=["AP"])


def test_real_evaluations_are_compared_and_seeded() -> None:
    source = np.random.default_rng(6)
    qrels = {f"q{at}": {f"d{at % 7}": 1 + at % 3} for at in range(60)}
    runs = {
        name: {query: [f"d{number}" for number in source.permutation(7)[:size]] for query in qrels}
        for name, size in (("long", 7), ("short", 1))
    }
    evaluations = {
        name: codebench.evaluate(qrels, run, ["nDCG-exp@10", "R(rel=3)@10"])
        for name, run in runs.items()
    }
    result = compare(evaluations)
    assert [own.verdict for own in result.differences] == ["worse", "worse"]
    assert result == compare(evaluations)
    assert result.flipping == "query"
