"""Columns of first-reach ranks: made in any order, written, read back, and refused when broken."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from codebench.grading.reaching import Reached, ReachedLevel, ReachedPlace
from codebench.measures.columns import (
    Asked,
    Columns,
    RanksBuilder,
    read_asked,
    read_columns,
    write_asked,
    write_columns,
)
from codebench.measures.ranks import UNREACHED, Ranks
from codebench.model import STATUSES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

REACHED = (
    Reached(
        {1: ReachedLevel(1, (2,), (70,)), 3: ReachedLevel(2, (2, 5), (70, 2**40))},
        (
            ReachedPlace(0, 0.0, None, None),
            ReachedPlace(3, 1.5, 5, 2**40),
            ReachedPlace(2, 1.0, 2, 70),
            ReachedPlace(3, 2.0, 2, 70),
        ),
        returned=6,
        bytes_read=2**41,
    ),
    Reached({2: ReachedLevel(4, (), ())}, (ReachedPlace(2, 1.0, None, None),), 3, 9),
    Reached({1: ReachedLevel(2, (1,), (8,))}, (ReachedPlace(1, 0.5, 1, 8),), 1, 8),
)


def built(order: Sequence[int], queries: int = 3) -> Ranks:
    builder = RanksBuilder(queries)
    for at in order:
        builder.add(at, REACHED[at])
    return builder.ranks(judged=True)


def same(one: Any, other: Any) -> bool:
    """Whether two structures of arrays are alike to the last digit, their types too."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(own, other[key]) for key, own in one.items())
    return type(one) is type(other) and bool(one == other)


def test_ranks_are_kept_by_query_and_level() -> None:
    ranks = built([0, 1, 2])
    assert (ranks.queries, ranks.judged, ranks.returned.tolist()) == (3, True, [6, 3, 1])
    told = {
        grade: (level.units.tolist(), level.ends.tolist(), level.ranks.tolist(), level.bytes_read)
        for grade, level in ranks.levels.items()
    }
    read = {grade: level[3].tolist() for grade, level in told.items() if level[3] is not None}
    assert {grade: level[:3] for grade, level in told.items()} == {
        1: ([1, 0, 2], [1, 1, 2], [2, 1]),
        2: ([0, 4, 0], [0, 0, 0], []),
        3: ([2, 0, 0], [2, 2, 2], [2, 5]),
    }
    assert list(told) == [1, 2, 3]
    assert read == {1: [70, 8], 2: [], 3: [70, 2**40]}
    places = ranks.places
    assert places.bytes_read is not None
    assert places.ends.tolist() == [4, 5, 6]
    # By rank, the better grade first, then the lighter; what was not reached last.
    assert places.ranks.tolist() == [2, 2, 5, UNREACHED, UNREACHED, 1]
    assert places.grades.tolist() == [3, 2, 3, 0, 2, 1]
    assert places.weights.tolist() == [2.0, 1.0, 1.5, 0.0, 1.0, 0.5]
    assert places.bytes_read.tolist() == [70, 70, 2**40, 0, 0, 8]
    assert not RanksBuilder(1).ranks(judged=False).judged


def test_queries_may_come_in_any_order() -> None:
    for order in ([2, 1, 0], [1, 0, 2], [1, 2, 0]):
        assert same(built(order), built([0, 1, 2]))


def test_a_query_that_never_came_has_no_unit_and_no_hit() -> None:
    ranks = built([2])
    assert ranks.returned.tolist() == [0, 0, 1]
    assert ranks.level(1).units.tolist() == [0, 0, 2]
    assert ranks.places.ends.tolist() == [0, 0, 1]


def columns(**changes: Any) -> Columns:
    made = Columns(
        query=np.array([2, 0, 1, 0], np.int32),
        repeat=np.array([0, 0, 0, 1], np.int32),
        status=np.array([0, 1, 2, 0], np.uint8),
        latency_ns=np.array([5, 2**40, -1, 6], np.int64),
        ranks=built([0, 1, 2]),
        about={
            "rows": [{"kind": "index"}],
            "first_ns": 5,
            "first_error": "é",
            "waited_ns": 7,
            "tally": {"other": 1},
        },
    )
    return dataclasses.replace(made, **changes)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    bare = built([0, 1, 2])
    bare = dataclasses.replace(
        bare,
        judged=False,
        places=dataclasses.replace(bare.places, bytes_read=None),
        levels={
            grade: dataclasses.replace(level, bytes_read=None)
            for grade, level in bare.levels.items()
        },
    )
    for made in (columns(), columns(ranks=bare)):
        write_columns(file, "key", made)
        read = read_columns(file, "key", 3)
        assert read is not None
        assert same(read, made)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_columns_of_other_files_or_another_format_count_as_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.npz"
    assert read_columns(file, "key", 3) is None
    write_columns(file, "key", columns())
    assert read_columns(file, "another", 3) is None
    assert read_columns(file, "key", 2) is None
    assert read_columns(file, "key", 4) is None
    monkeypatch.setattr("codebench.measures.columns.FORMAT", 2)
    assert read_columns(file, "key", 3) is None


ARRAYS = [
    *("query", "repeat", "status", "latency_ns", "ranks.returned"),
    *("ranks.places.ends", "ranks.places.ranks", "ranks.places.grades", "ranks.places.weights"),
    *("ranks.places.bytes_read", "ranks.levels.3.units", "ranks.levels.3.ends"),
    *("ranks.levels.3.ranks", "ranks.levels.3.bytes_read"),
]


def changed(one: Any, path: str, array: Any) -> Any:
    """Return a structure with one of its arrays put for another."""
    name, _, rest = path.partition(".")
    if isinstance(one, dict):
        own = one[int(name)]
        return {**one, int(name): changed(own, rest, array)}
    own = getattr(one, name)
    if isinstance(own, dict):
        return dataclasses.replace(one, **{name: changed(own, rest, array)})
    return dataclasses.replace(one, **{name: changed(own, rest, array) if rest else array(own)})


@pytest.mark.parametrize("name", ARRAYS)
def test_columns_whose_lengths_do_not_agree_count_as_not_there(tmp_path: Path, name: str) -> None:
    def longer(array: Any) -> Any:
        return np.append(array, array[-1:])

    def shorter(array: Any) -> Any:
        return array[:-1]

    for array in (longer, shorter):
        write_columns(tmp_path / "a", "key", changed(columns(), name, array))
        assert read_columns(tmp_path / "a", "key", 3) is None


def test_what_is_not_known_of_a_run_counts_as_nothing(tmp_path: Path) -> None:
    last = np.array([len(STATUSES) - 1] * 4, np.uint8)
    write_columns(tmp_path / "a", "key", columns(about={"rows": [], "first_ns": None}, status=last))
    found = read_columns(tmp_path / "a", "key", 3)
    assert found is not None
    nothing = {"first_error": "", "waited_ns": 0, "tally": None}
    assert found.about == {"rows": [], "first_ns": None, **nothing}


class Attack:
    """What unpickles as the making of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)


def test_no_code_runs_when_columns_are_read(tmp_path: Path) -> None:
    attack = np.array([Attack(tmp_path / "made")], object)
    head = b'{"format": 1, "key": "key", "about": {}, "levels": [], "judged": false}'
    np.savez(tmp_path / "a.npz", head=np.frombuffer(head, np.uint8), query=attack)
    assert read_columns(tmp_path / "a.npz", "key", 3) is None
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("query", [2, 0, 3, 0]),  # the queries are 0, 1, 2
        ("ranks.places.ends", [5, 4, 6]),  # they never fall
        ("ranks.places.ends", [4, 5, 7]),
        ("ranks.levels.3.ends", [2, 1, 2]),
        ("ranks.levels.3.ranks", [0, 5]),  # ranks begin with 1
        ("ranks.places.ranks", [0, 2, 5, 9, 9, 1]),
        ("latency_ns", [5, 6, -2, 6]),
        ("status", [0, 1, len(STATUSES), 0]),
        ("ranks.places.ends", [-1, 5, 6]),
    ],
)
def test_columns_that_point_elsewhere_count_as_not_there(
    tmp_path: Path, name: str, values: list[int]
) -> None:
    def other(array: Any) -> Any:
        return np.array(values, array.dtype)

    write_columns(tmp_path / "a", "key", changed(columns(), name, other))
    assert read_columns(tmp_path / "a", "key", 3) is None


def test_columns_of_no_query_and_of_no_answer(tmp_path: Path) -> None:
    none = columns(
        query=np.zeros(0, np.int32),
        repeat=np.zeros(0, np.int32),
        status=np.zeros(0, np.uint8),
        latency_ns=np.zeros(0, np.int64),
    )
    write_columns(tmp_path / "a", "key", none)
    found = read_columns(tmp_path / "a", "key", 3)
    assert found is not None
    assert same(found, none)
    empty = dataclasses.replace(none, ranks=built([], 0))
    write_columns(tmp_path / "a", "key", empty)
    found = read_columns(tmp_path / "a", "key", 0)
    assert found is not None
    assert same(found, empty)


def test_what_a_suite_asks_is_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "a"
    one = Asked(("a", "b"), np.array([1.0, 2.5]), ("a", "a"), ("r", "s"), "gold", "suite", 1)
    none = dataclasses.replace(one, repositories=("", ""), rel=2)
    for asked in (one, none):
        write_asked(file, "key", asked)
        found = read_asked(file, "key")
        assert found is not None
        assert same(found, asked)
    assert read_asked(file, "another") is None
    for broken in (
        dataclasses.replace(one, weights=np.ones(3)),
        dataclasses.replace(one, repositories=("r",)),
    ):
        write_asked(file, "key", broken)
        assert read_asked(file, "key") is None
