"""Plain judgments and rankings: what is read of them, and what is refused in which words."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from codebench.errors import InputError, UsageError
from codebench.measures.plain import check_grades, from_columns, rankings_of, ranks_of, trec_order
from codebench.measures.ranks import UNREACHED, Level, Ranks, concat


def levels(ranks: Ranks) -> dict[int, tuple[list[int], list[int], list[int]]]:
    return {
        grade: (level.units.tolist(), level.ends.tolist(), level.ranks.tolist())
        for grade, level in ranks.levels.items()
    }


def test_a_document_is_credited_where_it_is_returned_first() -> None:
    ranks = ranks_of(
        [{"a": 2, "b": 1, "c": 0, "d": -3, "e": 2}, {"a": 1}, {}],
        [["x", "c", "b", "b", "a", "c"], [], ["a"]],
    )
    assert levels(ranks) == {1: ([3, 1, 0], [2, 2, 2], [3, 5]), 2: ([2, 0, 0], [1, 1, 1], [5])}
    assert (ranks.queries, ranks.judged, ranks.returned.tolist()) == (3, True, [6, 0, 1])
    places = ranks.places
    assert places.ends.tolist() == [5, 6, 6]
    assert places.ranks.tolist() == [2, 3, 5, UNREACHED, UNREACHED, UNREACHED]
    assert places.grades.tolist() == [0, 1, 2, 2, 0, 1]
    assert places.weights.tolist() == [1.0] * 6
    assert places.bytes_read is None


def test_columns_may_come_in_any_order_and_queries_may_have_no_judgment() -> None:
    one = from_columns(
        np.array([2, 0, 0]),
        np.array([4, UNREACHED, 2], np.int32),
        np.array([1, 2, 1], np.int32),
        np.array([5, 3, 0, 1]),
    )
    assert one.queries == 4
    assert levels(one) == {
        1: ([2, 0, 1, 0], [1, 1, 2, 2], [2, 4]),
        2: ([1, 0, 0, 0], [0, 0, 0, 0], []),
    }
    assert one.places.ends.tolist() == [2, 2, 3, 3]


@pytest.mark.parametrize("grade", [-1000, 0, 1000, np.int64(-1000), np.int64(1000), True])
def test_grades_that_are_whole_numbers_in_range(grade: Any) -> None:
    check_grades({"q": {"a": grade}, "none": {}})


@pytest.mark.parametrize(
    ("grade", "value"),
    [(-1001, "-1001"), (1001, "1001"), (np.int64(1001), "1001"), (1.0, "1.0"), ("1", "1")],
)
def test_other_grades_are_named_one_by_one(grade: Any, value: str) -> None:
    with pytest.raises(InputError) as caught:
        check_grades({"q": {"a": 1, "b": grade}, "r": {"c": 2}, "s": {"d": grade}})
    problem = f"'{value}' is not a whole number from -1000 to 1000"
    assert str(caught.value).splitlines() == [f"qrels: q b: {problem}", f"qrels: s d: {problem}"]


def test_a_ranking_is_a_list_or_a_map_of_scores_in_its_own_order() -> None:
    run: Any = {
        "list": ["b", "a"],
        "map": {"b": 1.0, "a": 2.0},
        "falls": {"a": 2, "b": 2, "c": 1},
        "large": {"a": 1e308, "b": 1e308},
        "extra": ["a"],
    }
    names = ["map", "falls", "large", "list", "missing"]
    rankings, rising = rankings_of(names, run, "given")
    assert [list(own) for own in rankings] == [
        ["b", "a"],
        ["a", "b", "c"],
        ["a", "b"],
        ["b", "a"],
        [],
    ]
    assert rising == 1
    sorted_, rising = rankings_of(["falls", "map", "missing"], run, "trec")
    assert [list(own) for own in sorted_] == [["b", "a", "c"], ["a", "b"], []]
    assert rising == 0
    with pytest.raises(UsageError, match=r"^run: query list has no scores, and ties='trec' sorts"):
        rankings_of(names, run, "trec")


def test_rankings_of_other_shapes_are_named_at_once() -> None:
    run: Any = {
        "a": {"d": 1.0, "e": math.inf, "f": "high", "g": None, "h": 10**400},
        "b": "text" * 30,
        "c": b"bytes",
        "d": 7,
        "e": ["fine"],
        "f": {"d": -math.inf, "e": math.inf},
    }
    with pytest.raises(InputError) as caught:
        rankings_of(sorted(run), run, "given")
    assert str(caught.value).splitlines() == [
        "run: a e: 'inf' is not a finite score",
        "run: a f: 'high' is not a finite score",
        "run: a g: 'None' is not a finite score",
        f"run: a h: '{10**400}' is not a finite score",
        f"run: b: {'text' * 20!r} is neither a list of documents nor a map",
        "run: c: \"b'bytes'\" is neither a list of documents nor a map",
        "run: d: '7' is neither a list of documents nor a map",
        "run: f d: '-inf' is not a finite score",
        "run: f e: 'inf' is not a finite score",
    ]


def test_trec_breaks_ties_by_the_bytes_of_the_id() -> None:
    scores = {"a": 1.0, "Z": 1.0, "é": 1.0, "\udc80": 1.0, "top": 2.0}
    assert trec_order(scores) == ["top", "é", "\udc80", "a", "Z"]


def test_several_runs_are_put_one_after_another() -> None:
    first = ranks_of([{"a": 1, "b": 0}, {"a": 2}], [["b", "a"], []])
    second = ranks_of([{"a": 2, "b": 1}], [["a", "b"]])
    both = concat([first, second])
    assert (both.queries, both.judged, both.returned.tolist()) == (3, True, [2, 0, 2])
    # A level that the second has not is that of the next grade.
    assert levels(both) == {1: ([1, 1, 2], [1, 1, 3], [2, 1, 2]), 2: ([0, 1, 1], [0, 0, 1], [1])}
    assert both.places.ends.tolist() == [2, 3, 5]
    assert both.places.ranks.tolist() == [1, 2, UNREACHED, 1, 2]
    assert both.places.grades.tolist() == [0, 1, 2, 2, 1]
    assert both.places.weights.tolist() == [1.0] * 5
    assert both.places.bytes_read is None
    with pytest.raises(ValueError, match=r"^no part$"):
        concat([])


def test_bytes_are_known_where_every_part_knows_them() -> None:
    none = ranks_of([{"a": 0}], [["a"]])
    known = Ranks(
        1,
        {1: Level(np.array([1]), np.array([1]), np.array([1], np.int32), np.array([70]))},
        none.places,
        none.returned,
        judged=False,
    )
    assert concat([known, known]).levels[1].bytes_read is not None
    # A part without a unit of the level has no bytes to know.
    joined = concat([none, known, none]).levels[1].bytes_read
    assert joined is not None
    assert joined.tolist() == [70]
    read = dataclasses.replace(known.places, bytes_read=np.array([5]))
    placed = dataclasses.replace(known, places=read)
    both = concat([placed, placed]).places.bytes_read
    assert both is not None
    assert both.tolist() == [5, 5]
    assert concat([placed, known]).places.bytes_read is None
    missed = ranks_of([{"a": 1}], [[]])
    none_reached = concat([missed, missed]).levels[1].bytes_read
    assert none_reached is not None
    assert none_reached.tolist() == []
    unknown = ranks_of([{"a": 1}], [["a"]])
    assert concat([known, unknown]).levels[1].bytes_read is None
    assert not concat([known, none]).judged
