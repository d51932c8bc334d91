"""From a repository to a suite, end to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codebench.errors import CodebenchError, NothingMeasured, SuiteError, UsageError
from codebench.gold.recipe import Recipe
from codebench.gold.target import Opened, open_target
from codebench.suite import suite_digest, write_suite
from tests.repositories import DAY, EPOCH, Repository, grown

if TYPE_CHECKING:
    from pathlib import Path


def opened(target: object, **recipe: object) -> Opened:
    (one,) = members(target, **recipe)
    return one


def members(target: object, **recipe: object) -> tuple[Opened, ...]:
    return open_target(str(target), Recipe(**recipe), lambda *_: None, jobs=1)  # type: ignore[arg-type]


def gold(one: Opened) -> dict[str, list[str]]:
    return {query.text: [target.chunk for target in query.targets] for query in one.suite.queries}


def test_what_later_commits_edited_is_asked_of_an_earlier_snapshot(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop", edits=6)
    one = opened(repository.path)
    assert one.suite.name == "shop"
    assert one.suite.snapshot == repository.git("rev-parse", "HEAD~6").strip()
    assert set(map(tuple, gold(one).values())) == {
        ("shop/store.py::Shelf.take",),
        ("shop/clock.py::elapsed",),
    }
    assert len(one.suite.queries) == 6
    assert one.suite.funnel == (("commits", 6), ("queries", 6))
    assert {chunk.id for chunk in one.corpus.chunks()} >= {"shop/store.py::Shelf.take"}
    newest = max(one.suite.queries, key=lambda query: query.time)
    assert newest.origin == repository.head
    assert newest.id == repository.head[:12]
    assert newest.time == "2020-09-21T12:26:40+00:00"
    assert newest.tags["language"] == "python"


def test_the_modules_that_the_target_file_imports_are_related(tmp_path: Path) -> None:
    one = opened(grown(tmp_path / "shop").path)
    related = {
        target.path: [(each.path, each.score) for each in query.related]
        for query in one.suite.queries
        for target in query.targets
    }
    assert related == {
        "shop/clock.py": [("shop/store.py", 2)],  # imports it, in one small package
        "shop/store.py": [("shop/clock.py", 2)],
    }


def test_the_newest_snapshot_with_enough_queries_is_taken(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop", edits=8)
    one = opened(repository.path, max_queries=3)
    assert one.suite.snapshot == repository.git("rev-parse", "HEAD~3").strip()
    assert len(one.suite.queries) == 3


def test_a_snapshot_can_be_chosen_and_the_nearest_queries_are_kept(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop", edits=8)
    snapshot = repository.git("rev-parse", "HEAD~6").strip()
    one = opened(repository.path, max_queries=2, snapshot=snapshot)
    assert one.suite.snapshot == snapshot
    assert {query.origin for query in one.suite.queries} == {
        repository.git("rev-parse", f"HEAD~{back}").strip() for back in (5, 4)
    }
    assert one.suite.funnel[-2:] == (("over the number wanted", 4), ("queries", 2))


def test_targets_are_followed_through_a_rename_of_their_file(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop", edits=1)
    old = (repository.path / "shop/store.py").read_text()
    repository.commit(
        "move the store module elsewhere entirely", {"shop/store.py": None, "shop/shelves.py": old}
    )
    new = old.replace("limit = 1", "limit = 100")
    repository.commit("allow generous limits everywhere", {"shop/shelves.py": new})
    one = opened(repository.path, snapshot=repository.git("rev-parse", "HEAD~3").strip())
    assert gold(one)["allow generous limits everywhere"] == ["shop/store.py::Shelf.take"]


def test_new_symbols_are_no_gold_and_targets_that_came_later_are_lost(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop", edits=2)
    snapshot = repository.head
    new = "def fresh():\n    return 1\n"
    repository.commit("introduce freshness checks everywhere", {"shop/fresh.py": new})
    repository.commit(
        "tighten freshness checks everywhere", {"shop/fresh.py": new.replace("1", "2")}
    )
    old = (repository.path / "shop/clock.py").read_text()
    repository.commit("answer differently at noon", {"shop/clock.py": old.replace("42", "43")})
    one = opened(repository.path, snapshot=snapshot)
    assert gold(one) == {"answer differently at noon": ["shop/clock.py::now"]}
    assert dict(one.suite.funnel) == {
        "commits": 3,
        "only new symbols": 1,
        "targets not in the snapshot": 1,
        "queries": 1,
    }


def test_a_child_older_than_its_parent_changes_nothing(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop", edits=3)
    old = (repository.path / "shop/clock.py").read_text()
    repository.commit(
        "answer differently at noon", {"shop/clock.py": old.replace("42", "43")}, time=EPOCH - DAY
    )
    one = opened(repository.path)
    assert len(one.suite.queries) == 4
    assert one.suite.snapshot == repository.git("rev-parse", "HEAD~4").strip()


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop")
    for name, jobs in (("a", 1), ("b", 2)):
        (one,) = open_target(str(repository.path), Recipe(), lambda *_: None, jobs=jobs)
        write_suite(one.suite, tmp_path / name)
    for file in ("suite.yaml", "queries.jsonl"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_the_repository_is_the_same_bytes_before_and_after(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop")
    before = repository.contents()
    opened(repository.path)
    assert repository.contents() == before


def test_a_mined_suite_can_be_opened_again_and_by_url(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop")
    one = opened(repository.path)
    write_suite(one.suite, tmp_path / "suite")
    again = opened(tmp_path / "suite")
    assert suite_digest(again.suite) == suite_digest(one.suite)
    assert again.corpus.digest == one.corpus.digest
    assert again.last_changes == one.last_changes
    cloned = opened(f"file://{repository.path}")
    assert suite_digest(cloned.suite) == suite_digest(one.suite)


def test_the_chunks_changed_last_come_first(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop", edits=4)
    one = opened(repository.path, snapshot=repository.git("rev-parse", "HEAD~1").strip())
    ranked = sorted(one.last_changes, key=one.last_changes.__getitem__)
    assert ranked[:2] == ["shop/store.py::Shelf.take", "shop/clock.py::elapsed"]
    assert "README.md" in ranked


def test_a_changed_corpus_is_refused(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop")
    one = opened(repository.path)
    write_suite(one.suite, tmp_path / "suite")
    text = (tmp_path / "suite/suite.yaml").read_text()
    other = repository.git("rev-parse", "HEAD~2").strip()
    (tmp_path / "suite/suite.yaml").write_text(text.replace(one.suite.snapshot, other))
    with pytest.raises(SuiteError, match="the suite was made for sha256:"):
        opened(tmp_path / "suite")


def test_with_no_query_the_filters_are_named(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "dull")
    repository.commit("first", {"a.py": "x = 1\n"})
    repository.commit("docs: explain everything at length", {"README.md": "x\n"})
    with pytest.raises(NothingMeasured) as caught:
        opened(repository.path)
    message = str(caught.value)
    assert "\n" not in message
    assert "2 commits (root or shallow boundary 1, release, style or docs message 1)" in message
    assert "write questions by hand" in message


@pytest.mark.parametrize("make", ["nowhere", "plain folder", "empty repository"])
def test_what_is_no_target(tmp_path: Path, make: str) -> None:
    folder = tmp_path / "it"
    expected = {
        "nowhere": (UsageError, "no such folder, suite or repository"),
        "plain folder": (CodebenchError, "is not a git repository"),
        "empty repository": (UsageError, "has no commit yet"),
    }
    if make == "plain folder":
        folder.mkdir()
    elif make == "empty repository":
        Repository(folder)
    kind, message = expected[make]
    with pytest.raises(kind, match=message):
        opened(folder)
