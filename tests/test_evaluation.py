from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import codebench
from codebench.errors import InputError, NothingMeasured, UsageError
from codebench.evaluation import aggregate, evaluate_answers, recall_curve, slices, tied_at
from codebench.measures.names import DEFAULT, EXTRA
from codebench.model import MODULE, Answer, Chunk, FileTable, Hit, Query, Suite, Target


def _table(path: str) -> FileTable:
    chunks = (
        Chunk(path, MODULE, 1, "module", ((1, 4),), "", "", 1),
        Chunk(path, "f", 1, "function", ((5, 10),), "", "", 1),
    )
    return FileTable(path, "python", (40,) * 10, chunks)


TABLES = {path: _table(path) for path in ("a.py", "b.py", "c.py")}
SHOWN = Hit("a.py", symbol="f")


def _query(name: str, grade: int = 3, weight: float = 1.0, **tags: str) -> Query:
    target = Target("a.py", "a.py::f", grade)
    return Query(name, "text", (target,), weight=weight, tags=tags)


def _suite(*queries: Query) -> Suite:
    return Suite("small", "", "", "", queries)


def _one(hits: list[Hit], names: list[str], status: str = "ok") -> dict[str, float | None]:
    answers = [Answer("q", status, tuple(hits))]  # type: ignore[arg-type]
    evaluation = evaluate_answers(_suite(_query("q")), TABLES, answers, names, depth=50)
    return dict(evaluation.values)


# The seeds of the field: see docs/measures.md.


def test_the_mean_of_three_reciprocal_ranks() -> None:
    qrels = {"q1": {"b": 3, "c": 1}, "q2": {"a": 3}, "q3": {"c": 3}}
    run = dict.fromkeys(qrels, ("a", "b", "c"))
    evaluation = codebench.evaluate(qrels, run, ["RR(rel=2)"])
    assert evaluation.values["MRR(rel=2)"] == pytest.approx(0.611, abs=5e-4)
    assert evaluation.values["RR(rel=2)"] == pytest.approx((1 / 2 + 1 + 1 / 3) / 3)


@pytest.mark.parametrize(
    ("grades", "name", "expected"),
    [([3, 0, 1, 2], "nDCG", 0.916), ([1, 2, 0, 2, 1], "nDCG@5", 0.691)],
)
def test_the_ideal_is_the_golds(grades: list[int], name: str, expected: float) -> None:
    judged = {f"d{at}": grade for at, grade in enumerate(grades)}
    extra = {"missed": 2} if name == "nDCG@5" else {}  # the gold of the second is {2, 2, 2, 1, 1}
    evaluation = codebench.evaluate({"q": judged | extra}, {"q": list(judged)}, [name])
    assert evaluation.values[name] == pytest.approx(expected, abs=5e-4)


def test_two_hits_of_five_with_ten_relevant() -> None:
    qrels = {"q": {f"r{at}": 1 for at in range(10)}}
    run = {"q": ["r0", "x", "r1", "y", "z"]}
    found = codebench.evaluate(qrels, run, ["P@5", "R@5", "F1@5"]).values
    assert found == {"P@5": 0.4, "R@5": 0.2, "F1@5": pytest.approx(0.267, abs=5e-4)}


def test_the_right_symbol_is_worth_more_than_ten_siblings() -> None:
    names = ["nDCG@10", "nDCG(dcg='exp-log2')@10", "R(rel=3)@10", "R(rel=2)@10"]
    siblings = [Hit("a.py", 1, 4)] * 10
    assert _one([SHOWN], names) == dict.fromkeys(names, 1.0)
    found = list(_one(siblings, names).values())
    assert found == [pytest.approx(2 / 3), pytest.approx(3 / 7), 0.0, 1.0]


def test_one_hit_that_shows_two_symbols_is_worth_the_best_two_hits() -> None:
    targets = (Target("a.py", "a.py::f"), Target("a.py", f"a.py::{MODULE}"))
    suite = _suite(Query("q", "t", targets))
    answers = [Answer("q", "ok", (Hit("a.py", 1, 10),))]
    names = ["P(rel=3)@1", "P(rel=3)@2", "R(rel=3)@1", "nDCG@1", "nDCG@2", "AP(rel=3)@1"]
    values = evaluate_answers(suite, TABLES, answers, names, depth=5).values
    assert list(values.values()) == [1.0, 1.0, 1.0, 1.0, 1.0, 0.5]


# Plain judgments.


def test_arguments_are_never_changed() -> None:
    qrels = MappingProxyType({"q": MappingProxyType({"a": 1})})
    run = MappingProxyType({"q": ("a", "a", "b")})
    assert codebench.evaluate(qrels, run, ("RR", "P@2")).values == {"RR": 1.0, "P@2": 0.5}


def test_grades_may_be_numpys() -> None:
    qrels: Any = {"q": {"a": np.int64(2), "b": np.int8(0)}}
    one = codebench.evaluate(qrels, {"q": ["a"]}, ["nDCG", "R(rel=2)@1"])
    two = codebench.evaluate({"q": {"b": 0, "a": 2}}, {"q": ["a"]}, ["nDCG", "R(rel=2)@1"])
    assert (one.values, one.gold) == (two.values, two.gold)


def test_a_mapping_is_ranked_in_its_own_order_unless_ties_are_asked_for() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"x": 0.1, "a": 0.9}}
    given = codebench.evaluate(qrels, run, ["RR"])
    assert given.values["RR"] == 0.5
    assert "scores that rise" in given.notes[0]
    assert codebench.evaluate(qrels, run, ["RR"], ties="trec").values["RR"] == 1.0


def test_unanswered_strange_and_empty_queries() -> None:
    qrels = {"q": {"a": 1}, "r": {"a": 1}, "s": {"a": 0}, "n": {"a": -2}}
    run = {"q": ["a"], "strange": ["a"], "s": ["a"]}
    evaluation = codebench.evaluate(qrels, run, ["RR"])
    assert evaluation.values["RR"] == 0.5
    assert evaluation.figures["RR"].excluded == 2
    assert evaluation.per_query["s"]["RR"] is None
    assert evaluation.failures == {"unanswered": 2}
    assert len(evaluation.notes) == 2
    zero = codebench.evaluate(qrels, run, ["RR"], empty_gold="zero")
    assert zero.values["RR"] == 0.25


def test_names_find_their_figures_in_any_spelling() -> None:
    evaluation = codebench.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["MRR@10", "nDCG-exp@10"])
    assert list(evaluation.values) == ["RR@10", "nDCG(dcg='exp-log2')@10"]
    assert evaluation.values["MRR@10"] == evaluation.per_query["q"]["RR(rel=1)@10"] == 1.0
    with pytest.raises(KeyError):
        evaluation.values["AP"]
    with pytest.raises(UsageError, match="AP was not evaluated; there are RR@10"):
        evaluation.column("AP")


@pytest.mark.parametrize(
    ("qrels", "run", "words"),
    [
        ({"q": {"a": 1.5}}, {}, "qrels: q a: '1.5' is not a whole number"),
        ({"q": {"a": 10**9}}, {}, "is not a whole number"),
        ({"q": {"a": 1}}, {"q": {"a": math.nan}}, "run: q a: 'nan' is not a finite score"),
        ({"q": {"a": 1}}, {"q": {"a": "high"}}, "is not a finite score"),
        ({"q": {"a": 1}}, {"q": "abc"}, "neither a list of documents nor a map"),
        ({"q": {"a": 1}}, {"q": 7}, "neither a list of documents nor a map"),
    ],
)
def test_bad_values_are_named(qrels: Any, run: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        codebench.evaluate(qrels, run, ["RR"])


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        codebench.evaluate(
            {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": math.inf}, "r": {"b": math.nan}}, ["RR"]
        )
    assert len(caught.value.faults) == 2


def test_calls_that_make_no_sense() -> None:
    qrels: dict[str, dict[str, int]] = {"q": {"a": 1}}
    with pytest.raises(NothingMeasured):
        codebench.evaluate({}, {}, ["RR"])
    with pytest.raises(UsageError, match="no scores"):
        codebench.evaluate(qrels, {"q": ["a"]}, ["RR"], ties="trec")
    with pytest.raises(UsageError, match="counts tokens"):
        codebench.evaluate(qrels, {}, ["Tokens@100"])
    with pytest.raises(UsageError, match="falls below"):
        codebench.evaluate({"q": {"a": 1, "b": 2}}, {}, ["nDCG(gains={1:5})@3"])
    with pytest.raises(UsageError, match="ties is"):
        codebench.evaluate(qrels, {}, ["RR"], ties="first")  # type: ignore[arg-type]


# A suite.


def test_a_failed_or_unanswered_query_scores_the_worst_and_stays() -> None:
    suite = _suite(*(_query(name) for name in ("ok", "late", "none")))
    answers = [Answer("ok", "ok", (SHOWN,)), Answer("late", "timeout", (SHOWN,))]
    measures = (*DEFAULT, *EXTRA)
    evaluation = evaluate_answers(suite, TABLES, answers, measures, depth=50)
    for name, figure in evaluation.figures.items():
        assert figure.n == 3
        best, worst = (60, 32_000) if name.startswith("Tokens") else (1, 0)
        assert figure.value == pytest.approx((best + 2 * worst) / 3), name
    assert evaluation.failures == {"timeout": 1, "unanswered": 1}
    assert evaluation.queries == ("late", "none", "ok")


def test_repeats_strange_answers_and_hits_below_the_depth_do_not_score() -> None:
    answers = [
        Answer("q", "ok", (Hit("b.py"), SHOWN), repeat=1),
        Answer("q", "ok", (Hit("b.py"), Hit("c.py"), SHOWN)),
        Answer("q", "ok", (SHOWN,)),
        Answer("?", "ok", (SHOWN,)),
    ]
    evaluation = evaluate_answers(_suite(_query("q")), TABLES, answers, ["RR(rel=3)"], depth=3)
    assert evaluation.values["RR(rel=3)"] == pytest.approx(1 / 3)
    assert len(evaluation.notes) == 2
    cut = evaluate_answers(_suite(_query("q")), TABLES, answers, ["RR(rel=3)"], depth=2)
    assert cut.values["RR(rel=3)"] == 0.0


def test_a_query_without_a_unit_at_the_level_is_left_out_and_counted() -> None:
    suite = _suite(_query("q"), _query("click", grade=2))
    evaluation = evaluate_answers(suite, TABLES, [], ["R(rel=3)@5", "R@5"], depth=5)
    figures = evaluation.figures
    assert (figures["R(rel=3)@5"].n, figures["R(rel=3)@5"].excluded) == (1, 1)
    assert (figures["R(rel=2)@5"].n, figures["R(rel=2)@5"].excluded) == (2, 0)


def test_a_cutoff_above_the_depth_and_an_empty_suite_are_refused() -> None:
    with pytest.raises(UsageError, match="above the depth 5"):
        evaluate_answers(_suite(_query("q")), TABLES, [], ["R@10"], depth=5)
    with pytest.raises(NothingMeasured):
        evaluate_answers(_suite(), TABLES, [], ["R@5"], depth=5)


@pytest.mark.parametrize("name", ["Judged@5", "Bpref", "RBP", "ERR@5"])
def test_measures_of_judged_places_are_refused_without_judged_zeros(name: str) -> None:
    with pytest.raises(UsageError, match="needs places judged not relevant"):
        evaluate_answers(_suite(_query("q")), TABLES, [], [name], depth=5)
    query = Query("q", "t", (Target("a.py", "a.py::f"),), not_relevant=("b.py",))
    answers = [Answer("q", "ok", (Hit("b.py"), SHOWN))]
    evaluation = evaluate_answers(_suite(query), TABLES, answers, [name], depth=5)
    expected = {"Judged@5": 1.0, "Bpref": 0.0, "RBP": 0.2 * 0.8, "ERR@5": 7 / 8 / 2}[name]
    assert evaluation.values[name] == pytest.approx(expected)


def test_value_sums_the_targets_weights() -> None:
    targets = (Target("a.py", "a.py::f", weight=2.5), Target("b.py", "b.py", 2, weight=0.5))
    suite = _suite(Query("q", "t", targets))
    answers = [Answer("q", "ok", (Hit("b.py"), SHOWN))]
    values = evaluate_answers(suite, TABLES, answers, ["Value@1", "Value@2"], depth=5).values
    assert values == {"Value@1": 0.5, "Value@2": 3.0}


def test_tokens_read_until_the_target() -> None:
    # The module's four lines are 40 tokens, a file 100, the function 60.
    names = ["Tokens@32000", "Tokens@150", "R(rel=3)@199tokens", "R(rel=3)@200tokens"]
    found = _one([Hit("b.py"), Hit("a.py", 1, 2), SHOWN], names)
    assert list(found.values()) == [200.0, 150.0, 0.0, 1.0]
    missed = _one([Hit("a.py")], [*names, "Success(rel=3)@900tokens"])
    assert list(missed.values()) == [32_000.0, 150.0, 0.0, 0.0, 0.0]


# Aggregates.


def _weighted() -> Any:
    suite = _suite(
        _query("q1", weight=3.0, repository="one", leak="none"),
        _query("q2", repository="one", leak="name"),
        _query("q3", repository="two"),
    )
    answers = [Answer("q1", "ok", (SHOWN,)), Answer("q3", "ok", (Hit("c.py"), SHOWN))]
    names = ["RR(rel=3)@10", "P(rel=3)@2", "R(rel=3)@2", "F(beta=2,rel=3)@2"]
    return suite, evaluate_answers(suite, TABLES, answers, names, depth=10)


def test_means_say_how_they_were_taken() -> None:
    _, evaluation = _weighted()
    means = {
        how: aggregate(evaluation, how) for how in ("macro", "unweighted", "micro", "repositories")
    }
    name = "RR(rel=3)@10"
    assert means["macro"].figures[name].value == pytest.approx((3 + 0 + 0.5) / 5)
    assert means["unweighted"].figures[name].value == pytest.approx((1 + 0 + 0.5) / 3)
    assert means["repositories"].figures[name].value == pytest.approx((3 / 4 + 0.5) / 2)
    assert means["repositories"].figures[name].n == 2
    assert name not in means["micro"].figures
    micro = {own: figure.value for own, figure in means["micro"].figures.items()}
    precise, recalled = 2 / 6, 2 / 3
    assert micro["P(rel=3)@2"] == pytest.approx(precise)
    assert micro["R(rel=3)@2"] == pytest.approx(recalled)
    both = 5 * precise * recalled / (4 * precise + recalled)
    assert micro["F(beta=2,rel=3)@2"] == pytest.approx(both)
    assert "weighted" in means["macro"].words
    assert len({own.words for own in means.values()}) == 4
    assert evaluation.figures == means["macro"].figures


def test_micro_recall_weighs_units_not_queries() -> None:
    qrels = {"q1": {"a": 1}, "q2": {f"r{at}": 1 for at in range(9)}}
    evaluation = codebench.evaluate(qrels, {"q1": ["a"], "q2": ["r0"]}, ["R@5", "RR"])
    figure = aggregate(evaluation, "micro").figures["R@5"]
    assert figure.value == pytest.approx(2 / 10)
    assert figure.low is not None
    assert figure.high is not None
    assert figure.low <= 0.2 <= figure.high
    with pytest.raises(UsageError, match="only P, R and F"):
        aggregate(codebench.evaluate(qrels, {}, ["RR"]), "micro")
    with pytest.raises(UsageError, match="no tag `repository`"):
        aggregate(evaluation, "repositories")


def test_the_interval_of_a_micro_f_is_near_the_jackknifes() -> None:
    source = np.random.default_rng(9)
    qrels = {f"q{at}": {f"d{rank}": 1 for rank in range(1 + at % 5)} for at in range(80)}
    run = {query: [f"d{rank}" for rank in source.permutation(12)] for query in qrels}

    def micro(left_out: str = "") -> Any:
        kept = {query: judged for query, judged in qrels.items() if query != left_out}
        evaluation = codebench.evaluate(kept, run, ["F(beta=3)@4"])
        return aggregate(evaluation, "micro").figures["F(beta=3)@4"]

    whole = micro()
    left = np.array([micro(query).value for query in qrels])
    error = math.sqrt(79 / 80 * ((left - left.mean()) ** 2).sum())
    assert (whole.high - whole.low) / 2 == pytest.approx(1.99 * error, rel=0.05)


def test_slices_by_a_tag() -> None:
    suite, evaluation = _weighted()
    cut = {own.value: own for own in slices(evaluation, suite, "leak")}
    assert list(cut) == ["", "name", "none"]
    assert [own.n for own in cut.values()] == [1, 1, 1]
    assert cut["none"].figures["RR(rel=3)@10"].value == 1.0
    with pytest.raises(
        UsageError, match="no query has the tag 'tongue'; there are leak, repository"
    ):
        slices(evaluation, suite, "tongue")


def test_recall_by_k_rises_and_agrees_with_recall() -> None:
    suite, evaluation = _weighted()
    curve = recall_curve(evaluation, 3, 10)
    assert list(curve[:2]) == [pytest.approx(3 / 5), pytest.approx(4 / 5)]
    assert curve[1] == pytest.approx(evaluation.values["R(rel=3)@2"])
    assert list(curve) == sorted(value for value in curve if value is not None)
    assert len(curve) == 10
    assert recall_curve(evaluation, 7, 2) == (None, None)
    assert suite.name == "small"


def test_a_run_of_many_queries_is_one_table() -> None:
    qrels = {f"q{at:04}": {"a": 1} for at in range(500)}
    evaluation = codebench.evaluate(qrels, dict.fromkeys(qrels, ("x", "a")), ["RR", "AP"])
    assert evaluation.table.shape == (500, 2)
    assert np.all(evaluation.column("RR") == 0.5)
    assert not evaluation.figures["RR"].few


def test_the_gold_digest_follows_the_gold_and_not_the_text() -> None:
    def digest(query: Query) -> str:
        return evaluate_answers(_suite(query), TABLES, [], ["R@5"], depth=5).gold

    query = _query("q")
    assert digest(query) == digest(Query("q", "other words", query.targets, tags={"a": "b"}))
    assert digest(query) != digest(_query("q", grade=2))
    assert digest(query) != digest(_query("q", weight=2.0))


def test_answers_tied_at_the_cut_are_counted() -> None:
    def answer(*scores: float | None, repeat: int = 0) -> Answer:
        return Answer("q", "ok", tuple(Hit("a.py", score=own) for own in scores), repeat=repeat)

    answers = [answer(3, 2, 2), answer(2, 2), answer(None, None, None), answer(2, 2, 2, repeat=1)]
    assert [tied_at(answers, k) for k in (1, 2, 3)] == [1, 1, 0]
