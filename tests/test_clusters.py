"""Queries that ask the same thing weigh as one, and the split follows time."""

from __future__ import annotations

import pytest

from codebench.gold.clusters import FOLLOW_UP_SECONDS, GAP_SECONDS, Member, clusters, time_split


def member(name: str, **fields: object) -> Member:
    given = {
        "text": f"{name} asks for its own thing entirely {name * 3}",
        "diff": f"diff of {name}",
        "author": name,
        "time": ord(name[0]),
        "targets": frozenset({f"a.py::{name}"}),
        **fields,
    }
    return Member(id=name, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        {"text": "A asks for its own thing entirely AAA !"},
        {"diff": "diff of A"},
        {"author": "A", "targets": frozenset({"a.py::A"}), "time": 65 + FOLLOW_UP_SECONDS},
    ],
)
def test_near_duplicates_cherry_picks_and_follow_ups(change: dict[str, object]) -> None:
    assert clusters([member("A"), member("B", **change), member("C")]) == {"A": "A", "B": "A"}


@pytest.mark.parametrize(
    "change",
    [
        {"text": "A asks for another thing entirely BBB"},
        {"author": "A", "targets": frozenset({"a.py::B"})},
        {"targets": frozenset({"a.py::A"})},
        {"author": "A", "targets": frozenset({"a.py::A"}), "time": 66 + FOLLOW_UP_SECONDS},
        {"diff": ""},
    ],
)
def test_what_is_not_the_same_stays_apart(change: dict[str, object]) -> None:
    assert clusters([member("A", diff=""), member("B", **change)]) == {}


def test_a_cluster_is_named_after_its_oldest_query_and_joins_chains() -> None:
    chain = [member("C"), member("B", diff="diff of C"), member("A", author="B", time=60)]
    joined = [chain[0], chain[1], member("A", time=60, author="B", targets=chain[1].targets)]
    assert clusters(joined) == {"A": "A", "B": "A", "C": "A"}


def test_the_split_follows_time_with_a_gap() -> None:
    day = 86_400
    times = {f"q{number}": number * 7 * day for number in range(10)}
    split = time_split(times, {})
    assert list(split.values()) == [*["train"] * 6, "gap", "gap", "gap", "gap"]
    wide = {query: time * 10 for query, time in times.items()}
    assert list(time_split(wide, {}).values()) == [*["train"] * 6, "gap", "dev", "gap", "test"]
    assert 14 * day == GAP_SECONDS


def test_a_clock_that_went_back_does_not_move_a_query() -> None:
    times = {f"q{number}": number * 100 * 86_400 for number in range(10)} | {"q5": 0}
    assert time_split(times, {})["q5"] == "train"
    times["q8"] = 0
    assert time_split(times, {})["q9"] == "test"


def test_a_cluster_across_a_boundary_is_in_no_part() -> None:
    times = {f"q{number}": number * 100 * 86_400 for number in range(10)}
    split = time_split(times, {"q1": "q1", "q9": "q1", "q2": "q2", "q3": "q2"})
    assert (split["q1"], split["q9"]) == ("gap", "gap")
    assert (split["q2"], split["q3"]) == ("train", "train")
