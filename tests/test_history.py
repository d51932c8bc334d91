"""History is read whole, in one stream, whatever its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codebench import git
from codebench.errors import GitError
from codebench.gold.history import read_history
from tests.repositories import Repository, grown

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.gold.history import Commit


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def history_of(
    repository: Repository, tmp_path: Path, *, first_parent: bool = False
) -> list[Commit]:
    located = git.locate(repository.path)
    with git.shadow(located, tmp_path / "shadow") as shadow:
        tip = shadow.commit(git.resolve(located, "HEAD"))
        return read_history(shadow, tip, first_parent=first_parent)


def test_every_commit_with_its_changes_newest_first(repository: Repository, tmp_path: Path) -> None:
    first = repository.commit("first", {"a.py": "x = 1\n"})
    second = repository.commit("second", {"b.py": "y = 1\n", "a.py": "x = 2\n"})
    newest, oldest = history_of(repository, tmp_path)
    assert (newest.id, newest.parents) == (second, (first,))
    assert [(change.status, change.path) for change in newest.changes] == [
        ("M", "a.py"),
        ("A", "b.py"),
    ]
    assert (oldest.id, oldest.parents) == (first, ())


def test_a_message_cannot_forge_a_record(repository: Repository, tmp_path: Path) -> None:
    message = "subject\n\n\x01" + "a" * 40 + "\n:100644 100644 0 0 M\n\nmore"
    repository.commit(message, {"a.py": "x = 1\n"})
    (commit,) = history_of(repository, tmp_path)
    assert commit.message.rstrip("\n") == message
    assert [change.path for change in commit.changes] == ["a.py"]


def test_an_empty_message_and_one_that_is_no_utf8(repository: Repository, tmp_path: Path) -> None:
    repository.commit("", {"a.py": "x = 1\n"})
    raw = repository.git("cat-file", "commit", "HEAD").split("\n\n")[0].encode()
    (tmp_path / "raw").write_bytes(raw + b"\n\ncaf\xe9 is closed\n")
    odd = repository.git("hash-object", "-t", "commit", "-w", str(tmp_path / "raw")).strip()
    repository.git("update-ref", "HEAD", odd)
    (commit,) = history_of(repository, tmp_path)
    assert commit.message == "caf\ufffd is closed\n"


def test_paths_with_tabs_newlines_quotes_and_odd_bytes(
    repository: Repository, tmp_path: Path
) -> None:
    names = ["tab\there.py", "line\nbreak.py", 'quo"te.py', "späß.py", "odd\udcff.py"]
    repository.commit("odd names", {name: f"x = {at}\n" for at, name in enumerate(names)})
    (commit,) = history_of(repository, tmp_path)
    assert sorted(change.path for change in commit.changes) == sorted(names)


def test_a_rename_is_found(repository: Repository, tmp_path: Path) -> None:
    body = "".join(f"line{number} = {number}\n" for number in range(30))
    repository.commit("add", {"old.py": body})
    repository.commit("move", {"old.py": None, "new.py": body + "more = 1\n"})
    newest = history_of(repository, tmp_path)[0]
    assert [(one.status, one.old_path, one.path) for one in newest.changes] == [
        ("R", "old.py", "new.py")
    ]


def test_a_merge_has_no_changes_unless_first_parents_are_followed(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit("base", {"a.py": "x = 1\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("side work", {"b.py": "y = 1\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit("main work", {"c.py": "z = 1\n"})
    repository.git("merge", "--quiet", "--no-ff", "-m", "Merge side", "side")
    merge = history_of(repository, tmp_path)[0]
    assert len(merge.parents) == 2
    assert merge.changes == ()
    followed = history_of(repository, tmp_path, first_parent=True)
    assert [commit.message.strip() for commit in followed] == ["Merge side", "main work", "base"]
    assert [change.path for change in followed[0].changes] == ["b.py"]


def test_symlinks_submodules_and_type_changes_are_not_regular(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit("file", {"a.py": "x = 1\n"})
    (repository.path / "a.py").unlink()
    (repository.path / "a.py").symlink_to("/etc/passwd")
    repository.commit("becomes a link")
    gitlink = f"160000,{repository.head},module"
    repository.git("update-index", "--add", "--cacheinfo", gitlink)
    repository.git("commit", "--quiet", "-m", "add a module", GIT_COMMITTER_DATE="1700000000 +0000")
    module, link, _ = history_of(repository, tmp_path)
    assert [(one.status, one.regular) for one in link.changes] == [("T", False)]
    assert [(one.path, one.regular) for one in module.changes] == [("module", False)]


def test_config_of_the_repository_changes_nothing(repository: Repository, tmp_path: Path) -> None:
    grown(repository.path / "inner")
    inner = Repository(repository.path / "inner")
    plain = history_of(inner, tmp_path)
    for name, value in {
        "diff.noprefix": "true",
        "color.ui": "always",
        "diff.orderFile": "/dev/null",
        "log.mailmap": "true",
        "diff.renameLimit": "1",
        "log.showSignature": "true",
        "format.pretty": "oneline",
        "log.date": "relative",
        "core.quotePath": "false",
        "diff.renames": "false",
    }.items():
        inner.git("config", name, value)
    assert history_of(inner, tmp_path) == plain


def test_replace_refs_and_grafts_are_not_followed(repository: Repository, tmp_path: Path) -> None:
    first = repository.commit("first", {"a.py": "x = 1\n"})
    second = repository.commit("second", {"a.py": "x = 2\n"})
    third = repository.commit("third", {"a.py": "x = 3\n"})
    repository.git("replace", third, first)
    (repository.path / ".git/info").mkdir(exist_ok=True)
    (repository.path / ".git/info/grafts").write_text(f"{third} {first}\n")
    assert [commit.id for commit in history_of(repository, tmp_path)] == [third, second, first]


def test_a_shallow_clone_ends_at_its_boundary(repository: Repository, tmp_path: Path) -> None:
    for step in range(4):
        repository.commit(f"step {step}", {"a.py": f"x = {step}\n"})
    repository.git(
        "clone", "--quiet", "--depth=2", f"file://{repository.path}", str(tmp_path / "shallow")
    )
    commits = history_of(Repository(tmp_path / "shallow"), tmp_path)
    assert [commit.message.strip() for commit in commits] == ["step 3", "step 2"]
    assert commits[-1].parents == ()


def test_a_worktree_and_a_clone_with_alternates(repository: Repository, tmp_path: Path) -> None:
    commit = repository.commit("first", {"a.py": "x = 1\n"})
    repository.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    repository.git("clone", "--quiet", "--shared", str(repository.path), str(tmp_path / "shared"))
    for name in ("tree", "shared"):
        located = git.locate(tmp_path / name)
        with git.shadow(located, tmp_path / "shadow") as shadow:
            tip = shadow.commit(git.resolve(located, "HEAD"))
            assert [one.id for one in read_history(shadow, tip)] == [commit]


def test_missing_blobs_do_not_cut_the_history_short(repository: Repository, tmp_path: Path) -> None:
    body = "".join(f"line{number} = {number}\n" for number in range(30))
    repository.commit("add", {"old.py": body})
    blob = repository.git("rev-parse", "HEAD:old.py").strip()
    repository.commit("move", {"old.py": None, "new.py": body + "more = 1\n"})
    repository.commit("last", {"other.py": "x = 1\n"})
    (repository.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    commits = history_of(repository, tmp_path)
    assert [commit.message.strip() for commit in commits] == ["last", "move", "add"]
    assert {change.status for change in commits[1].changes} == {"A", "D"}


def test_a_damaged_history_is_an_error_and_not_a_short_one(
    repository: Repository, tmp_path: Path
) -> None:
    first = repository.commit("first", {"a.py": "x = 1\n"})
    repository.commit("second", {"a.py": "x = 2\n"})
    (repository.path / ".git/objects" / first[:2] / first[2:]).unlink()
    with pytest.raises(GitError, match="history could not be read to its end"):
        history_of(repository, tmp_path)


def test_only_one_branch_is_walked(repository: Repository, tmp_path: Path) -> None:
    repository.commit("base", {"a.py": "x = 1\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("elsewhere", {"a.py": "x = 2\n"})
    repository.git("update-ref", "refs/pull/7/head", repository.head)
    repository.git("checkout", "--quiet", "main")
    assert [one.message.strip() for one in history_of(repository, tmp_path)] == ["base"]


def test_variables_of_a_hook_do_not_lead_astray(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repository(tmp_path / "other")
    other.commit("not this one", {"a.py": "x = 1\n"})
    wanted = repository.commit("this one", {"a.py": "x = 1\n"})
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    assert [one.id for one in history_of(repository, tmp_path)] == [wanted]


@pytest.fixture
def trapped(repository: Repository, tmp_path: Path) -> tuple[Repository, Path]:
    """A repository whose own config runs a program for everything that git lets it."""
    marker = tmp_path / "marker"
    trap = tmp_path / "trap.sh"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\ncat\n')
    trap.chmod(0o755)
    grown(repository.path / "inner")
    inner = Repository(repository.path / "inner")
    inner.commit("attributes", {".gitattributes": "*.py diff=trap filter=trap\n* text=auto\n"})
    for name in (
        "gpg.program",
        "core.fsmonitor",
        "diff.external",
        "diff.trap.textconv",
        "diff.trap.command",
        "filter.trap.smudge",
        "filter.trap.clean",
        "filter.trap.process",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "credential.helper",
        "core.askPass",
        "uploadpack.packObjectsHook",
    ):
        inner.git("config", name, str(trap))
    inner.git("config", "log.showSignature", "true")
    inner.git("config", "extensions.partialClone", "origin")
    inner.git("config", "remote.origin.url", "ssh://nowhere.invalid/x")
    inner.git("config", "remote.origin.promisor", "true")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"):
        (hooks / hook).write_text(trap.read_text())
        (hooks / hook).chmod(0o755)
    inner.git("config", "core.hooksPath", str(hooks))
    marker.unlink(missing_ok=True)
    return inner, marker


def test_a_hostile_repository_runs_nothing(
    trapped: tuple[Repository, Path], tmp_path: Path
) -> None:
    inner, marker = trapped
    inner.git("log", "-1", "-p", "--ext-diff")
    assert marker.exists(), "the trap must work, or this test shows nothing"
    marker.unlink()
    before = inner.contents()
    located = git.locate(inner.path)
    with git.shadow(located, tmp_path / "shadow") as shadow:
        tip = shadow.commit(git.resolve(located, "HEAD"))
        commits = read_history(shadow, tip)
        ids = [change.new_id for commit in commits for change in commit.changes]
        assert all(content is not None for _, content in shadow.blobs(ids, 1 << 20))
        assert list(shadow.tree(tip))
        missing = "1" * 40
        assert dict(shadow.blobs([missing], 1 << 20)) == {missing: None}
    assert not marker.exists()
    assert inner.contents() == before
