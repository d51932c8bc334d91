"""Formulas by hand, over several queries at once, where an oracle has no such measure."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from codebench.errors import UsageError
from codebench.measures.formulas import compute
from codebench.measures.names import parse
from codebench.measures.plain import ranks_of
from codebench.measures.ranks import UNREACHED, Level, Places, Ranks

if TYPE_CHECKING:
    from collections.abc import Sequence


def values(name: str, ranks: Ranks) -> list[float | None]:
    found = compute(parse(name), ranks)
    assert found.shape == (ranks.queries,)
    return [None if np.isnan(value) else float(value) for value in found]


def placed(*queries: Sequence[tuple[int | None, int]], returned: Sequence[int] = ()) -> Ranks:
    """Ranks of queries given as (rank, grade) of each judged place, ascending."""
    places = [place for query in queries for place in query]
    ends = np.cumsum([len(query) for query in queries])
    grades = np.array([grade for _, grade in places], np.int32)
    shown = np.array([rank or UNREACHED for rank, _ in places], np.int32)
    none = np.zeros(len(queries), np.int64)
    return Ranks(
        len(queries),
        {1: Level(none, none, np.zeros(0, np.int32))},
        Places(ends, shown, grades, np.arange(1, len(places) + 1) / 2),
        np.array(returned or none, np.int64),
        judged=True,
    )


def test_err_is_a_cascade_over_the_places_found() -> None:
    ranks = placed(
        [(1, 0), (2, 2), (4, 3), (None, 1)],
        [(1, 1)],
        [(3, 0)],
        [(None, 2)],
        [(1, 3), (1, 1)],  # one hit that shows two is worth the best two hits
        [(1, 1), (2, 1), (3, 3)],
        [],
    )
    first = 3 / 8 / 2 + (1 - 3 / 8) * 7 / 8 / 4
    both = 7 / 8 + (1 - 7 / 8) * (1 / 8) / 2
    third = 1 / 8 + (7 / 8) * (1 / 8) / 2 + (7 / 8) ** 2 * (7 / 8) / 3
    assert values("ERR", ranks) == pytest.approx([first, 1 / 8, None, 0, both, third, None])
    cut = values("ERR@3", ranks)
    assert cut[0] == pytest.approx(3 / 8 / 2)
    assert values("ERR(max_rel=4)", ranks)[1] == pytest.approx(1 / 16)
    assert values("ERR(max_rel=2)", placed([(1, 3), (2, 2)]))[0] == pytest.approx(3 / 4 + 3 / 32)


def test_judged_is_the_share_of_the_first_k_that_show_a_judged_place() -> None:
    ranks = placed(
        [(1, 3), (1, 0), (3, 0), (None, 2)],
        [(1, 0)],
        [(None, 1)],
        [],
        [(1, 1), (2, 0), (2, 0)],
        [],
        returned=[5, 1, 0, 4, 9, 0],
    )
    assert values("Judged@3", ranks) == pytest.approx([2 / 3, 1, 0, None, 2 / 3, None])
    assert values("Judged@2", ranks) == pytest.approx([1 / 2, 1, 0, None, 1, None])
    assert values("Judged@1", ranks) == pytest.approx([1, 1, 0, None, 1, None])


def test_value_sums_weights_within_k() -> None:
    ranks = placed([(1, 3), (3, 0), (4, 2)], [(None, 1)], [], [(2, 1)], [])
    # The weights are 0.5, 1.0, … in the order of the places.
    assert values("Value@3", ranks) == [0.5, 0.0, None, 2.5, None]
    assert values("Value@4", ranks) == [2.0, 0.0, None, 2.5, None]


def test_tokens_are_those_read_until_the_first_target() -> None:
    ranks = placed([(1, 0), (2, 2), (3, 1)], [(None, 1)], [(1, 0)], [(2, 1)], [])
    read = np.array([40, 120, 200, 0, 8, 800])
    ranks = dataclasses.replace(ranks, places=dataclasses.replace(ranks.places, bytes_read=read))
    assert values("Tokens@100", ranks) == [30.0, 100.0, None, 100.0, None]
    assert values("Tokens", ranks) == [30.0, 32_000.0, None, 200.0, None]


def test_bpref_counts_what_stands_before_query_by_query() -> None:
    judgments = [
        {"r1": 2, "r2": 3, "r3": 2, "n1": 0, "n2": 1, "n3": 0},
        {"r1": 2, "n1": 0},
        {"n1": 1},
        {"r1": 2, "r2": 2, "n1": 0},
        {"r1": 3},
    ]
    rankings = [["n1", "r1", "x", "n2", "r2"], ["n1", "r1"], ["n1"], ["r2", "n1", "r1"], ["r1"]]
    expected = [((1 - 1 / 3) + (1 - 2 / 3)) / 3, 0, None, (1 + 0) / 2, 1]
    assert values("Bpref(rel=2)", ranks_of(judgments, rankings)) == pytest.approx(expected)
    # A level that no grade has is the next one.
    assert values("Bpref(rel=4)", ranks_of(judgments, rankings)) == [None] * 5


def test_rbp_is_cut_at_k() -> None:
    ranks = ranks_of([{"a": 1, "b": 1}, {"a": 0}], [["a", "x", "b"], ["a"]])
    assert values("RBP(p=0.5)@2", ranks) == [0.5, None]
    assert values("RBP(p=0.5)", ranks) == [0.5 * (1 + 0.25), None]


def test_f_is_0_where_nothing_is_found() -> None:
    ranks = ranks_of([{"a": 1}, {"a": 1}, {"a": 0}], [["x"], ["x", "a"], ["a"]])
    assert values("F1@2", ranks) == pytest.approx([0, 2 / 3, None])
    assert values("F(beta=2)@2", ranks) == pytest.approx([0, 5 * 0.5 / (4 * 0.5 + 1), None])


def test_a_measure_that_the_gold_does_not_allow_says_what_to_take() -> None:
    ranks = ranks_of([{"a": 1}], [["a"]])
    with pytest.raises(
        UsageError, match=r"^R@9tokens counts tokens, and plain judgments know no s"
    ):
        compute(parse("R@9tokens"), ranks)
    unjudged = Ranks(1, ranks.levels, ranks.places, ranks.returned, judged=False)
    said = "^RBP needs places judged not relevant, and this gold has none; use RR, R, P, AP or nDC"
    with pytest.raises(UsageError, match=said):
        compute(parse("RBP"), unjudged)


def test_gains_may_not_fall_and_large_grades_have_no_exponential() -> None:
    ranks = ranks_of([{"a": 1, "b": 2}], [["b", "a"]])
    assert values("nDCG(gains={1:2,2:2})", ranks) == [1.0]
    with pytest.raises(UsageError, match="the gain of grade 2 falls below a lower grade's"):
        values("nDCG(gains={1:3})", ranks)
    assert values("nDCG-exp", ranks_of([{"a": 1000}], [["a"]])) == [1.0]
    with pytest.raises(UsageError, match=r"nDCG-exp: a grade of 1001 is too large for 2\^g - 1"):
        values("nDCG-exp", ranks_of([{"a": 1001}], [["a"]]))
