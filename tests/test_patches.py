"""Unified diffs of every shape that git, diff and people make, put onto their files."""

from __future__ import annotations

import difflib
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codebench.gold.patches import FilePatch, Hunk, PatchError, patched, read_patch
from tests.repositories import Repository

if TYPE_CHECKING:
    from pathlib import Path

OLD = "".join(f"line {number}\n" for number in range(1, 31))


def test_a_git_diff_with_every_kind_of_change(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    before: dict[str, str | bytes | None] = {
        "a.py": OLD,
        "gone.py": "x = 1\n",
        "moved.py": OLD.replace("line", "row"),
        "ä name.py": "a\nb\n",
        "image.png": b"\0\1",
        "mode.sh": "echo\n",
    }
    repository.commit("Before", before)
    after: dict[str, str | bytes | None] = {
        "a.py": OLD.replace("line 3\n", "-- three\n++ more\n").replace("line 29\n", ""),
        "gone.py": None,
        "moved.py": None,
        "went.py": OLD.replace("line", "row").replace("row 9\n", "row nine\n"),
        "ä name.py": "a\nB",
        "new.py": "y = 2\n",
        "image.png": b"\0\2",
    }
    (repository.path / "mode.sh").chmod(0o755)
    repository.commit("After", after)
    for options in ([], ["-U0"], ["--no-prefix"], ["-U20"], ["--binary"]):
        text = repository.git("diff", "-M", *options, "HEAD~1", "HEAD")
        found = {one.new_path or one.old_path: one for one in read_patch(text)}
        assert set(found) == {
            *("a.py", "gone.py", "image.png", "mode.sh", "new.py", "went.py", "ä name.py"),
        }
        assert found["went.py"].old_path == "moved.py"
        assert found["new.py"].old_path == ""
        assert found["gone.py"].new_path == ""
        assert found["image.png"].binary
        assert found["mode.sh"].hunks == ()
        for name in ("a.py", "went.py", "ä name.py"):
            old, new = str(before[found[name].old_path]), str(after[name])
            assert patched(old, found[name].hunks).rstrip("\n") == new.rstrip("\n")


@given(
    st.lists(st.sampled_from(["a", "b", "c", "", "- d", "+ e", "@@ f"]), max_size=25),
    st.lists(st.sampled_from(["a", "b", "c", "", "- d", "+ e", "@@ f"]), max_size=25),
    st.integers(0, 4),
)
def test_any_two_texts(old: list[str], new: list[str], context: int) -> None:
    lines = difflib.unified_diff(old, new, "a/f", "b/f", lineterm="", n=context)
    text = "\n".join(lines)
    if not text:
        return
    (found,) = read_patch(text)
    assert patched("\n".join([*old, ""]), found.hunks) == "\n".join([*new, ""])


def test_a_plain_diff_with_times_windows_newlines_and_lost_blanks() -> None:
    text = (
        "Only in a: x\r\n--- a/f.py\t2020-01-01 00:00:00\r\n+++ b/f.py\t2020-01-02\r\n"
        "@@ -1,4 +1,4 @@ def f\r\n a\r\n\r\n-b\r\n+c\r\n d\r\n\\ No newline at end of file\r\n"
    )
    assert read_patch(text) == (
        FilePatch("f.py", "f.py", (Hunk(1, ("a", "", "b", "d"), ("a", "", "c", "d")),)),
    )


def test_a_hunk_that_moved_is_found_nearby() -> None:
    hunk = Hunk(5, ("line 15", "line 16"), ("line 15", "new", "line 16"))
    assert patched(OLD, (hunk,)) == OLD.replace("line 16\n", "new\nline 16\n")
    with pytest.raises(PatchError, match="hunk 1 does not fit"):
        patched(OLD, (Hunk(5, ("line 99",), ("x",)),))
    with pytest.raises(PatchError, match="hunk 2 does not fit"):
        patched(OLD, (Hunk(9, ("line 9",), ("x",)), Hunk(3, ("line 3",), ("y",))))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no diff at all\n",
        "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n",
        "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n*a\n",
        "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n-b\n+c\n",
        f"--- a/f\n+++ b/f\n@@ -1,{10**9} +1,1 @@\n a\n",
        f"--- a/f\n+++ b/f\n@@ -1,1 +{'9' * 5_000} @@\n a\n",
    ],
)
def test_what_is_no_patch(text: str) -> None:
    with pytest.raises(PatchError):
        read_patch(text)


@given(st.text(alphabet='+-@ ab/\n\\"0,1', max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_patch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n" + text)
    except PatchError:
        return
    assert found


def test_git_agrees_on_what_a_patch_does(tmp_path: Path) -> None:
    """The oracle: git apply gives the same file."""
    (tmp_path / "f.txt").write_text(OLD)
    lines = OLD.splitlines(keepends=True)
    new = [*lines[:2], "two and a half\n", *lines[3:20], *lines[22:], "the end\n"]
    text = "".join(difflib.unified_diff(lines, new, "a/f.txt", "b/f.txt"))
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=text, text=True, check=True)
    (found,) = read_patch(text)
    assert patched(OLD, found.hunks) == (tmp_path / "f.txt").read_text()
