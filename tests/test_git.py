"""Git's answers to wrong questions are one line each."""

from __future__ import annotations

import subprocess
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from codebench import git
from codebench.errors import GitError
from codebench.git import commands, shadows
from codebench.gold.history import FORM, parse_log
from tests.repositories import Repository

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_that_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="is not a git repository"):
        git.locate(tmp_path)


def test_an_empty_repository_has_no_head(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "empty")
    with pytest.raises(GitError, match="HEAD names no commit"):
        git.resolve(git.locate(repository.path), "HEAD")


def test_a_revision_that_looks_like_an_option(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    repository.commit("first", {"a.py": "x = 1\n"})
    with pytest.raises(GitError, match="--upload-pack=x names no commit"):
        git.resolve(git.locate(repository.path), "--upload-pack=x")


def test_a_blob_over_the_limit_is_skipped_and_the_next_one_is_read(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    repository.commit("two", {"big.txt": "x" * 5000, "small.txt": "small"})
    big, small = (
        repository.git("rev-parse", f"HEAD:{name}.txt").strip() for name in ("big", "small")
    )
    with git.shadow(git.locate(repository.path), tmp_path / "shadow") as shadow:
        read = list(shadow.blobs([big, small, big, "0" * 39 + "1"], 100))
    assert read == [(big, None), (small, b"small"), (big, None), ("0" * 39 + "1", None)]


def test_git_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is not installed"):
        git.locate(tmp_path)


def test_a_url_is_cloned_and_brought_up_to_date(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    repository.commit("first", {"a.py": "x = 1\n"})
    git.clone(f"file://{repository.path}", tmp_path / "clone")
    second = repository.commit("second", {"a.py": "x = 2\n"})
    git.refresh(tmp_path / "clone")
    assert git.resolve(git.locate(tmp_path / "clone"), "HEAD") == second


def test_a_url_that_cannot_be_cloned(tmp_path: Path) -> None:
    with pytest.raises(GitError, match=r"cannot clone file:///nowhere/at/all: \w+"):
        git.clone("file:///nowhere/at/all", tmp_path / "clone")


def test_a_url_cannot_run_a_program(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    with pytest.raises(GitError):
        git.clone(f"ext::sh -c touch% {marker}", tmp_path / "clone")
    with pytest.raises(GitError):
        git.clone(f"--upload-pack=touch {marker}", tmp_path / "clone")
    assert not marker.exists()


def test_a_tree_of_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(tmp_path / "r")
    repository.commit("four", {f"{name}.py": "x = 1\n" for name in "abcd"})
    located = git.locate(repository.path)
    with git.shadow(located, tmp_path / "shadow") as shadow:
        assert len(list(shadow.tree(repository.head))) == 4
        monkeypatch.setattr(shadows, "MAX_FILES", 3)
        with pytest.raises(GitError, match="holds more than 3 files; choose another"):
            list(shadow.tree(repository.head))


def test_a_child_that_is_silent_between_questions_is_not_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "ANSWER_SECONDS", 0.2)
    repository = Repository(tmp_path / "r")
    repository.commit("one", {"a.py": "x = 1\n"})
    blob = repository.git("rev-parse", "HEAD:a.py").strip()
    with git.shadow(git.locate(repository.path), tmp_path / "shadow") as shadow:
        for pause in (1.5, 0):
            assert dict(shadow.blobs([blob], 100)) == {blob: b"x = 1\n"}
            time.sleep(pause)


def test_more_complaints_than_a_pipe_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "ANSWER_SECONDS", 10)
    repository = Repository(tmp_path / "r")
    broken = [f"{number:040x}" for number in range(1, 1001)]
    (repository.path / ".git/objects/00").mkdir()
    for one in broken:
        (repository.path / ".git/objects/00" / one[2:]).write_bytes(b"\xff" * 30)
    with git.shadow(git.locate(repository.path), tmp_path / "shadow") as shadow:
        assert list(shadow.blobs(broken, 100)) == [(one, None) for one in broken]


@pytest.mark.parametrize(
    "said",
    [
        "b" * 40 + " blob 5\nshort\n",
        "a" * 40 + " nonsense 5\nshort\n",
        "a" * 40 + " blob 4\nshort\n",
        "a" * 40 + " blob 9\nshort\n",
        "a" * 40 + " missing\n",
        "a" * 40 + " blob -1\n",
        "",
    ],
)
def test_an_answer_that_is_not_what_was_asked(said: str) -> None:
    child = subprocess.Popen(["printf", "%s", said], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    running = SimpleNamespace(proc=child, stdout=child.stdout)
    with pytest.raises(GitError, match="it failed"):
        commands.Command(running, "it failed", 10).content("a" * 40)


def test_the_shadow_leaves_nothing_behind(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    repository.commit("first", {"a.py": "x = 1\n"})
    with git.shadow(git.locate(repository.path), tmp_path / "shadow") as shadow:
        list(shadow.blobs(["0" * 40], 10))
    assert not (tmp_path / "shadow").exists()
    mine = subprocess.run(
        ["pgrep", "-f", str(tmp_path / "shadow")], capture_output=True, check=False
    )
    assert mine.stdout == b""


LOG = b"\x01" + b"a" * 40 + b"\0\0" + b"1\0n\0e\0title\n\0\0"
RAW = b":100644 100644 " + b"a" * 40 + b" " + b"b" * 40


@pytest.mark.parametrize(
    "whole", [RAW + b" R100\0a\0b\0" + RAW + b" M\0c\0", LOG + b"\n" + RAW + b" R100\0a\0b\0"]
)
def test_output_that_ends_anywhere_is_one_line(
    whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = b""

    def run(_git: object, _what: object, failure: str) -> commands.Command:
        (tmp_path / "said").write_bytes(said)
        child = subprocess.Popen(
            ["sh", "-c", 'cat "$0"; exit 128', str(tmp_path / "said")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return commands.Command(SimpleNamespace(proc=child, stdout=child.stdout), failure, 10)

    monkeypatch.setattr(shadows, "run", run)
    shadow = shadows.Shadow(tmp_path)
    at = {
        whole.find(mark) + more
        for mark in (b"\0", b" R100", b"\0a", b"\0b", b"\0c")
        for more in (0, 1, 2)
    }
    for end in sorted({*at, len(whole)} - {-1}):
        said = whole[:end]
        with pytest.raises(GitError, match=r"cannot be compared|not be read to its end"):
            shadow.renames("a", "b")
        with pytest.raises(GitError, match="not be read to its end"):
            list(parse_log(shadow.log("a", FORM)))
