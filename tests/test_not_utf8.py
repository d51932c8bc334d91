"""Bytes that are not UTF-8, and newlines of Windows: what is not touched is no target."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codebench.cli.main import main
from codebench.suite import read_suite
from tests.repositories import Repository

if TYPE_CHECKING:
    from pathlib import Path

LATIN = (
    b"# coding: latin-1\ndef untouched():\n    return '\xe9t\xe9'\n\n\n"
    b"def edited():\n    return 1\n"
)
WINDOWS = LATIN.replace(b"'\xe9t\xe9'", b'"""one\ntwo"""').replace(b"\n", b"\r\n")
PATCH = "--- a/a.py\n+++ b/a.py\n@@ -6,2 +6,2 @@\n def edited():\n-    return 1\n+    return 2\n"
ASKED = "The number that comes out is wrong"


def targets(words: list[str], folder: Path) -> list[str]:
    assert main(["suite", *words, "-o", str(folder), "--jobs", "1"]) == 0
    suite = read_suite(folder)
    (found,) = (one.targets for one in suite.queries if one.text == ASKED)
    assert main(["suite", "check", str(folder), "--jobs", "1"]) == 0  # its fingerprints are right
    return [one.chunk for one in found]


@pytest.mark.parametrize("content", [LATIN, WINDOWS], ids=["Latin-1", "Windows"])
def test_a_patch_edits_only_what_it_touches(tmp_path: Path, content: bytes) -> None:
    patch = PATCH if content is LATIN else PATCH.replace("6,2", "7,2")
    repository = Repository(tmp_path / "repo")
    commit = repository.commit("First", {"a.py": content})
    lines = tmp_path / "tasks.jsonl"
    row = {"instance_id": "1", "repo": "x/y", "base_commit": commit, "patch": patch}
    lines.write_text(json.dumps({**row, "problem_statement": ASKED}))
    words = ["import", "swe-bench", str(lines), "--repository", str(repository.path)]
    assert targets(words, tmp_path / "s") == ["a.py::edited"]


@pytest.mark.parametrize("content", [LATIN, WINDOWS], ids=["Latin-1", "Windows"])
def test_an_agents_patch_edits_only_what_it_touches(tmp_path: Path, content: bytes) -> None:
    repository = Repository(tmp_path / "repo")
    commit = repository.commit("First", {"a.py": content})
    log = tmp_path / "x.traj"
    task = {"problem_statement": {"text": ASKED}, "env": {"repo": {"base_commit": commit}}}
    steps = [{"action": "ls", "observation": "a.py"}]
    info = {"submission": PATCH}
    log.write_text(json.dumps({"trajectory": steps, "info": info, "replay_config": task}))
    words = ["build", str(repository.path), "--from-log", str(log)]
    assert targets(words, tmp_path / "s") == ["a.py::edited"]
