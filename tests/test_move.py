"""A suite carried to another snapshot."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from codebench import git, home
from codebench.errors import GitError, NothingMeasured, SuiteError, UsageError
from codebench.gold.check import check
from codebench.gold.move import Moved, carry_suite
from codebench.suite import read_suite, write_suite
from tests.repositories import Repository, grown
from tests.suites import Rows, edit, made_suite

if TYPE_CHECKING:
    from pathlib import Path

STORE = """\
class Shelf:
    def take(self, order, customer):
        limit = self.limit_of(customer) + order.bonus
        return [item for item in self.items if item.rank > limit]

    def put(self, item):
        self.items.append((self.clock.now(), item))
"""
CLOCK = """\
def elapsed(start, finish, pauses):
    return finish - start - sum(pause.length for pause in pauses)


def now():
    return 42
"""


def shop(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "shop")
    repository.commit(
        "first", {"shop/store.py": STORE, "shop/clock.py": CLOCK, "notes.txt": "a b c\n"}
    )
    return repository


def written(repository: Repository, folder: Path, *targets: Any, **fields: Any) -> Path:
    """Write a suite by hand: one query over HEAD, whose digest `check` tells."""
    folder.mkdir()
    row = {"id": "q1", "text": "a question", "targets": [_target(one) for one in targets], **fields}
    (folder / "queries.jsonl").write_text(json.dumps(row) + "\n")
    yaml = f"name: hand\nrepository: {repository.path}\nsnapshot: {repository.head}\n"
    (folder / "suite.yaml").write_text(yaml)
    (fault,) = (one for one in run_check(folder) if one.field == "corpus_digest")
    digest = fault.mend.removeprefix("write ")
    (folder / "suite.yaml").write_text(f"{yaml}corpus_digest: {digest}\n")
    return folder


def _target(one: Any) -> Any:
    return {"chunk": one} if isinstance(one, str) else one


def run_check(folder: Path) -> Any:
    return check(str(folder), lambda *_: None, jobs=1).faults


def carry(folder: Path, to: str, **options: Any) -> Moved:
    new = folder.with_name(f"{folder.name}-new")
    moved = carry_suite(str(folder), to, new, lambda *_: None, jobs=1, **options)
    assert run_check(new) == ()
    assert read_suite(new).queries == moved.suite.queries
    assert read_suite(new).name == new.name
    return moved


def fates(moved: Moved) -> dict[str, tuple[str, str | None, str | None]]:
    rows = [journey.row() for journey in moved.journeys]
    return {row["from"]: (row["fate"], row["rule"], row["to"]) for row in rows}


def test_by_path_and_name_by_rename_and_by_fingerprint(tmp_path: Path) -> None:
    repository = shop(tmp_path)
    folder = written(
        repository, tmp_path / "s", "shop/store.py::Shelf.take", "shop/clock.py::elapsed",
        "shop/clock.py::now", "notes.txt",
    )  # fmt: skip
    clock = CLOCK.replace("def elapsed", "def duration").replace("42", "43")
    repository.commit(
        "rename much",
        {
            "shop/store.py": None,
            "shop/shelves.py": STORE.replace("bonus", "malus"),
            "shop/clock.py": clock,
        },
    )
    moved = carry(folder, "HEAD")
    assert fates(moved) == {
        "notes.txt": ("carried", "path and name", "notes.txt"),
        "shop/clock.py::elapsed": ("carried", "fingerprint", "shop/clock.py::duration"),
        "shop/clock.py::now": ("carried", "path and name", "shop/clock.py::now"),
        "shop/store.py::Shelf.take": ("carried", "rename", "shop/shelves.py::Shelf.take"),
    }
    (query,) = moved.suite.queries
    assert moved.suite.snapshot == repository.head
    assert {target.chunk for target in query.targets} == {row[2] for row in fates(moved).values()}


def test_what_is_lost_or_other_code_by_now_leaves(tmp_path: Path) -> None:
    repository = shop(tmp_path)
    folder = written(
        repository, tmp_path / "s", "shop/store.py::Shelf.take", "shop/clock.py::elapsed",
        "shop/clock.py::now",
    )  # fmt: skip
    other = "def elapsed(): " + " ".join(f"{word};" for word in "abcdefghijklmnopqrstuvw") + "\n"
    repository.commit(
        "delete much",
        {"shop/store.py": None, "shop/clock.py": other + CLOCK[CLOCK.index("\n\ndef now") :]},
    )
    moved = carry(folder, "HEAD")
    assert {name: row[0] for name, row in fates(moved).items()} == {
        "shop/clock.py::elapsed": "drifted",
        "shop/clock.py::now": "carried",
        "shop/store.py::Shelf.take": "lost",
    }
    (query,) = moved.suite.queries
    assert [target.chunk for target in query.targets] == ["shop/clock.py::now"]


def test_a_query_without_its_best_targets_leaves(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop")
    folder = made_suite(repository, tmp_path / "s")
    edit(
        folder,
        lambda rows: rows[0].update(
            targets=[*rows[0]["targets"], {"chunk": "README.md", "grade": 2}]
        ),
    )
    repository.commit("no store any more", {"shop/store.py": None})
    moved = carry(folder, "HEAD")
    assert len(moved.suite.queries) == 3
    assert {target.path for query in moved.suite.queries for target in query.targets} <= {
        "shop/clock.py", "README.md",
    }  # fmt: skip
    assert moved.suite.recipe["carried"] == {"from": moved.old.snapshot, "dropped": 3}
    assert moved.suite.recipe["mode"] == "frozen"


def test_with_no_query_left_nothing_is_written(tmp_path: Path) -> None:
    repository = shop(tmp_path)
    folder = written(repository, tmp_path / "s", "shop/store.py::Shelf.take")
    repository.commit("no store any more", {"shop/store.py": None})
    with pytest.raises(NothingMeasured, match="no query finds its targets"):
        carry(folder, "HEAD")
    assert not (tmp_path / "s-new").exists()


def test_two_targets_do_not_take_one_place(tmp_path: Path) -> None:
    repository = shop(tmp_path)
    old = "def first(a, b):\n    return a.total(b) + b.total(a)\n\n\n"
    repository.commit("two", {"two.py": old + old.replace("first", "second")})
    folder = written(repository, tmp_path / "s", "two.py::first", "two.py::second")
    repository.commit("one", {"two.py": None, "one.py": old})
    moved = carry(folder, "HEAD")
    assert {name: row[0] for name, row in fates(moved).items()} == {
        "two.py::first": "carried",
        "two.py::second": "taken",
    }


def test_whole_files_follow_renames(tmp_path: Path) -> None:
    repository = shop(tmp_path)
    folder = written(repository, tmp_path / "s", "shop/store.py", "shop/clock.py")
    repository.commit(
        "move", {"shop/store.py": None, "lib/shelves.py": STORE, "shop/clock.py": "x = 1\n"}
    )
    moved = carry(folder, "HEAD")
    assert fates(moved) == {
        "shop/clock.py": ("drifted", "path and name", "shop/clock.py"),
        "shop/store.py": ("carried", "rename", "lib/shelves.py"),
    }


def test_what_people_wrote_beside_the_targets_is_followed_and_kept(tmp_path: Path) -> None:
    repository = shop(tmp_path)
    repository.commit("more", {"a.py": "def f():\n    return 1\n", "b.py": "x = 1\n"})
    folder = written(
        repository,
        tmp_path / "s",
        {"chunk": "shop/store.py::Shelf.take", "weight": 2, "grade": 3},
        tags={"topic": "shelves"},
        related=[
            {"path": "shop/clock.py", "of": "shop/store.py", "score": 7, "flags": ["by hand"]},
            {"path": "b.py", "of": "shop/store.py", "score": 1},
        ],
        not_relevant=["a.py::f", "b.py"],
    )
    repository.commit(
        "move",
        {
            "shop/store.py": None,
            "shop/shelves.py": STORE,
            "b.py": None,
            "shop/clock.py": None,
            "shop/time.py": CLOCK,
        },
    )
    (query,) = carry(folder, "HEAD").suite.queries
    assert [(one.path, one.of, one.score, one.flags) for one in query.related] == [
        ("shop/time.py", "shop/shelves.py", 7, ("by hand",))
    ]
    assert query.not_relevant == ("a.py::f",)
    assert query.tags == {"topic": "shelves"}
    assert [(one.weight, one.fingerprint) for one in query.targets] == [(2, "")]


def test_queries_from_history_get_the_relations_and_tags_of_the_new_snapshot(
    tmp_path: Path,
) -> None:
    repository = grown(tmp_path / "shop", edits=8)
    folder = made_suite(
        repository, tmp_path / "s", snapshot=repository.git("rev-parse", "HEAD~6").strip()
    )
    assert {one.path for query in read_suite(folder).queries for one in query.related} == {
        "shop/clock.py", "shop/store.py",
    }  # fmt: skip
    moved = carry(folder, "HEAD~2")
    reached = set(repository.git("rev-list", "HEAD~2").split())
    for query in moved.suite.queries:
        assert query.tags["age"] == ("past" if query.origin in reached else "month")
    assert moved.past == sum(query.origin in reached for query in moved.suite.queries) == 4
    clock = (repository.path / "shop/clock.py").read_text()
    repository.commit("move", {"shop/clock.py": None, "time/shelf.py": clock})
    again = carry_suite(str(folder), "HEAD", tmp_path / "again", lambda *_: None, jobs=1)
    moved_away = [
        query for query in again.suite.queries if query.targets[0].path == "time/shelf.py"
    ]
    assert moved_away
    for query in moved_away:
        assert query.related == ()  # it is imported by nobody and has a folder of its own
        assert query.tags["leak"] == "none"


def test_back_to_an_earlier_snapshot(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop", edits=8)
    folder = made_suite(repository, tmp_path / "s", max_queries=4)
    before = read_suite(folder)
    moved = carry(folder, "HEAD~7")
    assert moved.suite.snapshot == repository.git("rev-parse", "HEAD~7").strip()
    assert moved.past == 0
    assert [query.id for query in moved.suite.queries] == [query.id for query in before.queries]
    assert moved.suite.corpus_digest != before.corpus_digest
    home_again = carry_suite(
        str(tmp_path / "s-new"), before.snapshot, tmp_path / "back", lambda *_: None, jobs=1
    )
    assert home_again.suite.queries == before.queries


def test_what_is_left_of_a_cluster_keeps_its_weight(tmp_path: Path) -> None:
    repository = shop(tmp_path)
    folder = written(repository, tmp_path / "s", "shop/store.py::Shelf.take")

    def change(rows: Rows) -> None:
        first = rows[0] | {"weight": 0.5, "tags": {"cluster": "q1"}}
        rows[:] = [first, first | {"id": "q2", "targets": [{"chunk": "shop/clock.py::now"}]}]

    edit(folder, change)
    repository.commit("no clock any more", {"shop/clock.py": None})
    (query,) = carry(folder, "HEAD").suite.queries
    assert (query.id, query.weight) == ("q1", 1)


def test_a_target_that_dangles_already_is_told_from_one_that_is_lost(tmp_path: Path) -> None:
    repository = shop(tmp_path)
    folder = written(repository, tmp_path / "s", "shop/clock.py::now")
    edit(folder, lambda rows: rows[0]["targets"].append({"chunk": "shop/clock.py::later"}))
    repository.commit("nothing")
    assert fates(carry(folder, "HEAD"))["shop/clock.py::later"] == ("dangling", None, None)


def test_a_pinned_folder_is_carried_into_a_repository(tmp_path: Path) -> None:
    tiny = home.builtin("suites") / "tiny"
    repository = Repository(tmp_path / "shop")
    shutil.copytree(tiny / "corpus", repository.path, dirs_exist_ok=True)
    repository.commit("the shop")
    shutil.copytree(tiny, tmp_path / "s")
    with pytest.raises(SuiteError, match="its corpus is a folder, no commit; add --repository"):
        carry(tmp_path / "s", "HEAD")
    moved = carry(tmp_path / "s", "HEAD", repository=str(repository.path))
    assert {row[:2] for row in fates(moved).values()} == {("carried", "path and name")}
    assert moved.suite.corpus_digest == moved.old.corpus_digest
    assert moved.suite.queries == moved.old.queries


def test_a_repository_that_moved(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop")
    folder = made_suite(repository, tmp_path / "s")
    repository.path.rename(tmp_path / "elsewhere")
    with pytest.raises(SuiteError, match="is not on this machine"):
        carry(folder, "HEAD")
    moved = carry(folder, "HEAD", repository=str(tmp_path / "elsewhere"))
    assert moved.suite.repository == str(tmp_path / "elsewhere")


def test_what_cannot_be_carried(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop")
    several = made_suite(repository, tmp_path / "e", mode="epochs", epochs=2)
    with pytest.raises(UsageError, match=r"holds 2 suites; carry them .* as .*/e/epoch-1"):
        carry(several, "HEAD")
    folder = made_suite(repository, tmp_path / "s")
    with pytest.raises(GitError, match="v9 names no commit"):
        carry(folder, "v9")
    text = (folder / "suite.yaml").read_text()
    (folder / "suite.yaml").write_text(text.replace("digest: sha256:", "digest: sha256:0"))
    with pytest.raises(SuiteError, match="`codebench suite check` says what is wrong"):
        carry(folder, "HEAD")


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    repository = grown(tmp_path / "shop", edits=8)
    folder = made_suite(repository, tmp_path / "s", max_queries=4)
    for place, jobs in (("a", 1), ("b", 2)):
        carry_suite(str(folder), "HEAD~1", tmp_path / place / "new", lambda *_: None, jobs=jobs)
    for name in ("suite.yaml", "queries.jsonl", "carry.jsonl"):
        assert (tmp_path / "a/new" / name).read_bytes() == (tmp_path / "b/new" / name).read_bytes()


def test_renames_between_two_trees(tmp_path: Path) -> None:
    repository = shop(tmp_path)
    old = repository.head
    repository.git("config", "diff.renames", "false")
    repository.git("config", "diff.noprefix", "true")
    odd = "shop/a\tb\n\u00e9.py"
    repository.commit("rename", {"shop/store.py": None, odd: STORE.replace("bonus", "malus")})
    repository.commit("more", {"shop/clock.py": CLOCK.replace("42", "43"), "new.py": "x = 1\n"})
    with git.shadow(git.locate(repository.path), tmp_path / "shadow") as shadow:
        assert shadow.renames(old, repository.head) == {"shop/store.py": odd}
        assert shadow.renames(repository.head, old) == {odd: "shop/store.py"}
        assert shadow.renames(old, old) == {}
        with pytest.raises(GitError, match="cannot be compared"):
            shadow.renames(old, "f" * 40)


def test_a_suite_written_again_is_the_same(tmp_path: Path) -> None:
    folder = made_suite(grown(tmp_path / "shop"), tmp_path / "s")
    write_suite(read_suite(folder), tmp_path / "t")
    for name in ("suite.yaml", "queries.jsonl"):
        assert (folder / name).read_bytes() == (tmp_path / "t" / name).read_bytes()
