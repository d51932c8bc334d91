"""Where a history is cut."""

from __future__ import annotations

from codebench.gold.history import Commit
from codebench.gold.window import CANDIDATES, Mainline, candidates


def commit(name: str, *parents: str) -> Commit:
    return Commit(name, parents, 0, "", "", "", ())


def line(length: int) -> list[Commit]:
    return [commit(f"c{n}", *([f"c{n + 1}"] if n + 1 < length else [])) for n in range(length)]


def test_a_merged_branch_joins_where_it_was_merged() -> None:
    history = [
        commit("tip", "merge"),
        commit("merge", "main", "side2"),
        commit("side2", "side1"),
        commit("side1", "base"),
        commit("main", "base"),
        commit("base"),
    ]
    mainline = Mainline(history)
    assert mainline.line == ["tip", "merge", "main", "base"]
    assert mainline.joined == {
        "tip": 0,
        "merge": 1,
        "side2": 1,
        "side1": 1,
        "main": 2,
        "base": 3,
    }


def test_a_parent_beyond_a_shallow_boundary_ends_the_line() -> None:
    assert Mainline([commit("a", "b"), commit("b", "gone")]).line == ["a", "b"]
    assert Mainline([]).line == []


def test_a_short_history_can_be_cut_anywhere_but_at_the_tip() -> None:
    mainline = Mainline(line(4))
    assert candidates(mainline, ["c0", "c1"], 200) == [1, 2, 3]
    assert candidates(Mainline(line(1)), ["c0"], 200) == []


def test_a_long_history_is_cut_where_enough_commits_follow() -> None:
    history = line(5000)
    mainline = Mainline(history)
    kept = [one.id for one in history if int(one.id[1:]) % 2 == 0]
    cuts = candidates(mainline, kept, 200)
    assert len(cuts) <= CANDIDATES
    assert cuts == sorted(set(cuts))
    after = [sum(mainline.joined[one] < cut for one in kept) for cut in cuts]
    assert after[0] == 200
    assert after[-1] >= 2400
    assert after[1] - after[0] < after[-1] - after[-2]


def test_with_fewer_than_wanted_the_whole_history_is_tried() -> None:
    history = line(100)
    cuts = candidates(Mainline(history), [one.id for one in history[:40]], 200)
    assert cuts[0] <= 3
    assert cuts[-1] == 40
