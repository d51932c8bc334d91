"""What holds for any gold and any hits, by hypothesis."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import codebench
from codebench.evaluation import evaluate_answers
from codebench.grading import compile_gold, reaches
from codebench.measures.formulas import FORMULAS, compute
from codebench.measures.names import parse
from codebench.measures.plain import ranks_of
from codebench.model import MODULE, Answer, Chunk, FileTable, Hit, Query, Related, Suite, Target

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from codebench.evaluation import Evaluation

LINES = 120
NAMES = ("A", "B", "C", "C.d")
PATHS = ("a.py", "b.py", "c.py", "m.py")


def _table(path: str) -> FileTable:
    spans = {
        MODULE: ((1, 10), (81, LINES)),
        "A": ((11, 11),),
        "B": ((12, 40),),
        "C": ((41, 42), (78, 80)),
        "C.d": ((43, 77),),
    }
    chunks = tuple(Chunk(path, name, 1, "x", own, "", "", 1) for name, own in spans.items())
    return FileTable(path, "python", (7,) * LINES, chunks)


TABLES = {path: _table(path) for path in PATHS}

RANKED = [
    f"{family}(rel={rel}){cutoff}"
    for rel in (1, 2, 3)
    for family, cutoff in [
        ("RR", ""), ("RR", "@3"), ("R", "@3"), ("R", "@500tokens"), ("P", "@3"), ("AP", ""),
        ("AP", "@4"), ("Success", "@1"), ("Acc", "@5"),
    ]
]  # fmt: skip
RANKED += ["nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@10", "nDCG(gains={3:5,2:1,1:1})@5", "F1@5"]
JUDGED = ["Bpref(rel=2)", "Bpref(rel=3)", "RBP(rel=2)", "ERR@10", "Judged@5"]
OTHERS = ["Rprec(rel=2)", "Rprec(rel=3)", "Value@5", "Tokens@500"]

# A single order of measures by tokens is not one of rank: a hit upward may cost more before it.
BY_RANK = [name for name in RANKED if "tokens" not in name]

parsed = cache(parse)

hits = st.lists(
    st.builds(
        Hit,
        st.sampled_from((*PATHS, "nowhere.py")),
        st.none() | st.integers(-2, LINES + 5),
        st.none() | st.integers(-2, 2 * LINES),
        st.none() | st.sampled_from(("A", "C", "d", "C.d", "?", MODULE)),
    ),
    max_size=12,
)


@st.composite
def queries(draw: st.DrawFn, grade: int | None = None) -> Query:
    grades = st.integers(1, 3) if grade is None else st.just(grade)
    chosen = draw(
        st.dictionaries(
            st.tuples(st.sampled_from(PATHS[:3]), st.sampled_from((*NAMES, ""))),
            grades,
            min_size=1,
            max_size=6,
        )
    )
    targets = [
        Target(path, f"{path}::{name}" if name else path, own)
        for (path, name), own in chosen.items()
    ]
    related = draw(
        st.lists(
            st.builds(
                Related, st.sampled_from(PATHS), st.sampled_from(PATHS[:3]), st.integers(2, 4)
            ),
            max_size=4,
        )
    )
    zeros = draw(st.lists(st.sampled_from(("m.py", "m.py::A", "c.py::B")), max_size=2))
    order = draw(st.permutations(targets))
    return Query("q", "t", tuple(order), related=tuple(related), not_relevant=("z", *zeros))


def _evaluation(query: Query, found: Sequence[Hit], names: Sequence[str]) -> Evaluation:
    suite = Suite("s", "", "", "", (query,))
    measures = [parsed(name) for name in names]
    return evaluate_answers(suite, TABLES, [Answer("q", "ok", tuple(found))], measures, depth=100)


def _values(query: Query, found: Sequence[Hit], names: Sequence[str]) -> dict[str, float | None]:
    return dict(_evaluation(query, found, names).per_query["q"])


@settings(max_examples=300, deadline=None)
@given(queries(), hits)
def test_every_value_lies_in_its_bounds(query: Query, found: list[Hit]) -> None:
    for name, value in _values(query, found, [*RANKED, *JUDGED, *OTHERS]).items():
        if value is None:
            continue
        top = {"Value@5": 6.0, "Tokens@500": 500.0}.get(name, 1.0)
        assert 0 <= value <= top, name


@settings(max_examples=300, deadline=None)
@given(queries(), hits, st.data())
def test_a_better_hit_upward_never_lowers_a_measure(
    query: Query, found: list[Hit], data: st.DataObject
) -> None:
    if len(found) < 2:
        return
    gold = compile_gold(query, TABLES)
    low = data.draw(st.integers(1, len(found) - 1))
    high = data.draw(st.integers(0, low - 1))
    if not set(reaches(gold, found[low])) >= set(reaches(gold, found[high])):
        return
    swapped = list(found)
    swapped[low], swapped[high] = found[high], found[low]
    before, after = _values(query, found, BY_RANK), _values(query, swapped, BY_RANK)
    for name, value in before.items():
        new = after[name]
        assert value is None or (new is not None and new >= value - 1e-12), name


@settings(max_examples=300, deadline=None)
@given(queries(), hits, hits, st.data())
def test_more_hits_and_repeats_at_the_end_never_lower_a_measure(
    query: Query, found: list[Hit], more: list[Hit], data: st.DataObject
) -> None:
    repeat = [data.draw(st.sampled_from(found))] if found else []
    before = _values(query, found, RANKED)
    for added in (more, repeat):
        after = _values(query, found + added, RANKED)
        for name, value in before.items():
            new = after[name]
            assert value is None or (new is not None and new >= value - 1e-12), name


@settings(max_examples=200, deadline=None)
@given(queries(grade=3))
def test_the_ideal_order_scores_one(query: Query) -> None:
    ideal = [
        Hit(target.path, symbol=target.chunk.partition("::")[2] or None)
        for target in sorted(query.targets, key=lambda own: own.chunk.count("::"), reverse=True)
    ]
    names = ["nDCG", "nDCG(dcg='exp-log2')", "R(rel=3)@50", "AP(rel=3)", "Acc(rel=3)@50"]
    # The first of each file first: the files too are then reached as early as can be.
    first = {hit.path: hit for hit in reversed(ideal)}
    order = [*first.values(), *(hit for hit in ideal if first[hit.path] is not hit)]
    assert set(_values(query, order, names).values()) == {1.0}
    assert _values(query, order, ["RR(rel=3)"]) == {"RR(rel=3)": 1.0}


@settings(max_examples=200, deadline=None)
@given(queries(), hits)
def test_the_order_of_targets_changes_nothing(query: Query, found: list[Hit]) -> None:
    names = [*RANKED, *JUDGED, *OTHERS]
    turned = Query(
        query.id,
        query.text,
        query.targets[::-1],
        related=query.related[::-1],
        not_relevant=query.not_relevant[::-1],
    )
    one, two = _evaluation(query, found, names), _evaluation(turned, found, names)
    assert one.per_query == two.per_query
    assert one.gold == two.gold


judgments = st.dictionaries(
    st.sampled_from([f"q{at}" for at in range(6)]),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 4), min_size=1),
    min_size=1,
)
rankings = st.dictionaries(
    st.sampled_from([f"q{at}" for at in range(6)]), st.lists(st.sampled_from("abcdefghxyz"))
)
PLAIN = ["RR", "AP", "nDCG@5", "nDCG(dcg='exp-log2')", "P@3", "R(rel=2)@3", "ERR", "Bpref", "F1@2"]


@settings(max_examples=300, deadline=None)
@given(judgments, rankings, st.randoms(use_true_random=False))
def test_the_order_of_queries_changes_no_digit(
    qrels: dict[str, dict[str, int]], run: dict[str, list[str]], random: Random
) -> None:
    names = list(qrels)
    random.shuffle(names)
    turned = {name: dict(reversed(qrels[name].items())) for name in names}
    one = codebench.evaluate(qrels, run, PLAIN)
    two = codebench.evaluate(turned, dict(reversed(run.items())), PLAIN)
    assert one.figures == two.figures
    assert one.per_query == two.per_query
    assert one.gold == two.gold


@settings(max_examples=300, deadline=None)
@given(judgments, rankings)
def test_plain_values_lie_between_0_and_1(
    qrels: dict[str, dict[str, int]], run: dict[str, list[str]]
) -> None:
    kept = ({**qrels}, {**run})
    names = [*PLAIN, "Judged@4", "RBP(p=0.5)", "Rprec", "Acc@3", "Success@1", "F(beta=3)@4"]
    evaluation = codebench.evaluate(qrels, run, names)
    for values in evaluation.per_query.values():
        assert all(value is None or 0 <= value <= 1 for value in values.values())
    assert (qrels, run) == kept


@settings(max_examples=200, deadline=None)
@given(judgments, rankings)
def test_documents_in_a_suite_are_plain_judgments(
    qrels: dict[str, dict[str, int]], run: dict[str, list[str]]
) -> None:
    """The two ways to first-reach ranks give the same numbers."""
    own = {query: judged for query, judged in qrels.items() if max(judged.values()) > 0}
    if not own:
        return
    suite = Suite(
        "s", "", "", "",
        tuple(
            Query(
                query,
                "t",
                tuple(Target(d, d, g, document=True) for d, g in judged.items() if g > 0),
                not_relevant=tuple(d for d, g in judged.items() if g <= 0),
            )
            for query, judged in own.items()
        ),
    )  # fmt: skip
    answers = [Answer(query, "ok", tuple(map(Hit, found))) for query, found in run.items()]
    names = [parse(name).bind(1) for name in [*PLAIN, "Judged@4", "Rprec", "RBP", "Value@3"]]
    one = evaluate_answers(suite, {}, answers, names, depth=1000)
    two = codebench.evaluate(own, run, names)
    for query in own:
        assert one.per_query[query] == pytest.approx(two.per_query[query], abs=1e-12)


@pytest.mark.parametrize("family", sorted(FORMULAS))
def test_a_run_without_a_judged_document_is_no_error(family: str) -> None:
    name = {"R": "R@5", "P": "P@5", "F": "F1@5", "Success": "Success@5", "Acc": "Acc@5"}
    name |= {"Judged": "Judged@5", "Value": "Value@5"}
    if family == "Tokens":
        return
    for judged in ({}, {"a": 0}):
        values = compute(parse(name.get(family, family)), ranks_of([judged], [["x"]]))
        assert np.isnan(values).all() or values == [0.0]
