"""Labels are kept by what they depend on, and made of what a partial clone still tells."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from codebench.corpus.rules import SnapshotRules
from codebench.gold import filters
from codebench.gold.history import FORM, parse_log, read_history
from codebench.gold.recency import last_changes
from codebench.gold.workshop import workshop
from tests.repositories import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from codebench.gold.history import Commit
    from codebench.gold.label import Label
    from codebench.gold.workshop import Source

BODY = "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(30))
EDITED = BODY.replace("return 7\n", "return 77\n")


@contextmanager
def opened(repository: Repository) -> Iterator[Source]:
    with workshop(lambda *_: None, jobs=1) as shop, shop.repository(str(repository.path)) as source:
        yield source


def labelled(repository: Repository, *, renames: bool) -> Label:
    """Label the newest commit, with what earlier labellers left in the cache."""
    with opened(repository) as source:
        log = source.shadow.log(repository.head, FORM, renames=renames)
        (newest, *_) = parse_log(log)
        return _label(source, [newest])


def _label(source: Source, commits: Sequence[Commit]) -> Label:
    source.labeller.label(commits, lambda *_: None)
    return source.labeller.labels[commits[0].id]


def test_a_label_is_of_the_changes_as_they_were_read(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    repository.commit("add", {"old.py": BODY})
    repository.commit("move and edit", {"old.py": None, "new.py": EDITED})
    partial = labelled(repository, renames=False)  # as a clone without blobs tells it
    assert not partial.targets
    whole = labelled(repository, renames=True)
    assert [chunk.id for chunk in whole.targets] == ["old.py::f7"]
    assert labelled(repository, renames=False) == partial


def test_a_merged_pull_request_that_renames_asks_for_no_use_sites(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    use = "def use():\n    return f1() + 2\n"
    repository.commit("add", {"old.py": BODY, "use.py": use})
    repository.git("checkout", "--quiet", "-b", "topic")
    renamed = {"old.py": BODY.replace("f1()", "g1()"), "use.py": use.replace("f1()", "g1()")}
    repository.commit("work in progress", {**renamed})
    repository.git("checkout", "--quiet", "main")
    title = "Merge pull request #7 from ada/topic\n\nRename f1 to g1\n"
    repository.git("merge", "--quiet", "--no-ff", "topic", "-m", title)
    with opened(repository) as source:
        commits = read_history(source.shadow, repository.head, first_parent=True)
        assert _label(source, commits).verdict == filters.MOVED


def test_a_partial_clone_tells_what_changed_last(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    repository.commit("add", {"old.py": BODY})
    repository.commit("move and edit", {"old.py": None, "new.py": EDITED})
    repository.commit("edit", {"new.py": EDITED.replace("return 9\n", "return 99\n")})
    old = repository.git("rev-parse", "HEAD~2:old.py").strip()
    (repository.path / ".git/objects" / old[:2] / old[2:]).unlink()
    with opened(repository) as source:
        corpus = source.corpus(repository.head, SnapshotRules())
        found = last_changes(source.shadow, source.labeller, repository.head, corpus)
    assert found["new.py::f9"] < found["new.py::f7"]
