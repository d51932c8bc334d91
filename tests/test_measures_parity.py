"""Plain judgments against trec_eval's own code (pytrec_eval-terrier) and ir_measures."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import ir_measures
import pytest
import pytrec_eval
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import codebench

if TYPE_CHECKING:
    from collections.abc import Iterator

TOLERANCE = 1e-9

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

DOCUMENTS = [f"d{number}" for number in range(14)] + ["é", "Z"]
TREC = {
    "RR": "recip_rank",
    "AP": "map",
    "AP@3": "map_cut_3",
    "nDCG": "ndcg",
    "nDCG@3": "ndcg_cut_3",
    "nDCG@10": "ndcg_cut_10",
    "P@1": "P_1",
    "P@5": "P_5",
    "R@3": "recall_3",
    "R@10": "recall_10",
    "Success@1": "success_1",
    "Success@5": "success_5",
    "Rprec": "Rprec",
    "Bpref": "bpref",
}
TREC_NAMES = {
    "recip_rank", "map", "ndcg", "Rprec", "bpref", "map_cut.3", "ndcg_cut.3,10", "P.1,5",
    "recall.3,10", "success.1,5",
}  # fmt: skip


@st.composite
def worlds(draw: st.DrawFn, grades: int = 3) -> tuple[Qrels, Run]:
    """One to three queries; scores descend in the order given, so that no tie is left."""
    queries = [f"q{number}" for number in range(draw(st.integers(1, 3)))]
    judged = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, grades), min_size=1)
    qrels = {query: draw(judged) for query in queries}
    run = {}
    for query in queries:
        listed = draw(st.lists(st.sampled_from(DOCUMENTS), unique=True))
        if listed:
            run[query] = {name: float(100 - place) for place, name in enumerate(listed)}
    return qrels, run


SLOW = settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def large_worlds(grades: int = 3) -> Iterator[tuple[Qrels, Run]]:
    """4,000 queries in a few worlds: what a call costs is paid once for many."""
    source = random.Random(8)  # noqa: S311
    for _ in range(20):
        qrels, run = {}, {}
        for query in (f"q{number}" for number in range(200)):
            judged = source.sample(DOCUMENTS, source.randint(1, len(DOCUMENTS)))
            qrels[query] = {name: source.randint(0, grades) for name in judged}
            listed = source.sample(DOCUMENTS, source.randint(0, len(DOCUMENTS)))
            if listed:
                run[query] = {name: float(100 - place) for place, name in enumerate(listed)}
        yield qrels, run


def _agree(found: dict[str, dict[str, float]], evaluation: Any, names: dict[str, str]) -> None:
    for query, values in found.items():
        for ours, theirs in names.items():
            own = evaluation.per_query[query][ours]
            assert abs(own - values[theirs]) <= TOLERANCE, (query, ours, own, values[theirs])


def _as_trec_eval(world: tuple[Qrels, Run], rel: int) -> None:
    qrels, run = world
    oracle = pytrec_eval.RelevanceEvaluator(qrels, TREC_NAMES, relevance_level=rel)
    found = oracle.evaluate(run)
    names = {name: name if "nDCG" in name else _at(name, rel) for name in TREC}
    evaluation = codebench.evaluate(qrels, run, list(names.values()), empty_gold="zero")
    _agree(found, evaluation, {names[own]: TREC[own] for own in TREC})


@SLOW
@given(worlds(), st.integers(1, 3))
def test_trec_eval(world: tuple[Qrels, Run], rel: int) -> None:
    _as_trec_eval(world, rel)


@pytest.mark.slow
@pytest.mark.parametrize("rel", [1, 2, 3])
def test_trec_eval_on_many_queries(rel: int) -> None:
    for world in large_worlds():
        _as_trec_eval(world, rel)


def _at(name: str, rel: int) -> str:
    family, _, cutoff = name.partition("@")
    return f"{family}(rel={rel})" + (f"@{cutoff}" if cutoff else "") if rel > 1 else name


def _as_trec_eval_with_ties(qrels: Qrels, tied: Run) -> None:
    found = pytrec_eval.RelevanceEvaluator(qrels, TREC_NAMES).evaluate(tied)
    evaluation = codebench.evaluate(qrels, tied, list(TREC), ties="trec", empty_gold="zero")
    _agree(found, evaluation, TREC)


@SLOW
@given(worlds(), st.permutations(range(1, 17)), st.data())
def test_trec_eval_with_ties(
    world: tuple[Qrels, Run], scores: list[int], data: st.DataObject
) -> None:
    qrels, run = world
    few = data.draw(st.integers(1, 4))
    tied = {
        query: {name: float(scores[at] % few) for at, name in enumerate(own)}
        for query, own in run.items()
    }
    _as_trec_eval_with_ties(qrels, tied)


@pytest.mark.slow
def test_trec_eval_with_ties_on_many_queries() -> None:
    source = random.Random(9)  # noqa: S311
    for qrels, run in large_worlds():
        tied = {
            query: {name: float(source.randrange(1 + number % 4)) for name in own}
            for number, (query, own) in enumerate(run.items())
        }
        _as_trec_eval_with_ties(qrels, tied)


IR = [
    "RR", "RR@10", "RR(rel=2)@3", "AP(rel=2)@100", "nDCG@5", "P(rel=3)@5", "R(rel=2)@10",
    "Success(rel=2)@5", "Rprec(rel=2)", "Bpref(rel=2)", "Judged@10",
    "nDCG(dcg='exp-log2')@10", "nDCG(gains={3:7,2:3,1:1})@5", "nDCG(gains={3:9})@5",
]  # fmt: skip


# Its exponential form runs a Perl script that reads numbered topics only; the same gains do not.
THEIRS = {"nDCG(dcg='exp-log2')@10": "nDCG(gains={3:7,2:3,1:1})@10"}


def _as_ir_measures(world: tuple[Qrels, Run]) -> None:
    qrels, run = world
    evaluation = codebench.evaluate(qrels, run, IR, empty_gold="zero")
    # Maps of gains are asked for one by one: together, its nDCG@K takes the map of another.
    mapped = [name for name in IR if "gains" in THEIRS.get(name, name)]
    for group in ([name for name in IR if name not in mapped], *([name] for name in mapped)):
        named = {ir_measures.parse_measure(THEIRS.get(name, name)): name for name in group}
        found = list(ir_measures.iter_calc(list(named), qrels, run))
        assert len(found) >= len(run) * len(group)
        for metric in found:
            own = evaluation.per_query[metric.query_id][named[metric.measure]]
            assert own is not None
            assert abs(own - metric.value) <= TOLERANCE, (metric, own)


@SLOW
@given(worlds())
def test_ir_measures(world: tuple[Qrels, Run]) -> None:
    _as_ir_measures(world)


@pytest.mark.slow
def test_ir_measures_on_many_queries() -> None:
    for world in large_worlds():
        _as_ir_measures(world)


def _as_rank_biased_precision(world: tuple[Qrels, Run]) -> None:
    qrels, run = world
    ours = codebench.evaluate(qrels, run, ["RBP(p=0.9)", "AP"], empty_gold="zero")
    relevant = {query for query, judged in qrels.items() if any(judged.values())}
    for query in set(run) & relevant:
        judged = qrels[query]
        hits = [at for at, name in enumerate(run[query]) if judged.get(name)]
        assert ours.per_query[query]["RBP(p=0.9)"] == pytest.approx(
            sum(0.1 * 0.9**at for at in hits), abs=TOLERANCE
        )
    theirs = ir_measures.calc_aggregate([ir_measures.AP], qrels, run)[ir_measures.AP]
    assert ours.values["AP"] == pytest.approx(theirs, abs=TOLERANCE)


@SLOW
@given(worlds(grades=1))
def test_rank_biased_precision_and_means_over_queries(world: tuple[Qrels, Run]) -> None:
    _as_rank_biased_precision(world)


@pytest.mark.slow
def test_rank_biased_precision_and_means_over_many_queries() -> None:
    for world in large_worlds(grades=1):
        _as_rank_biased_precision(world)
