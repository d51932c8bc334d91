"""docs/gate-in-ci.md works as it is written: its commands, run in a new clone elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from codebench.cli.main import main
from tests import manual
from tests.repositories import Repository

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "docs/gate-in-ci.md"
ADAPTER = """\
from codebench import Hit, Retriever


class MyTool(Retriever):
    def index(self, corpus):
        self.chunks = [(chunk, corpus.text(chunk)) for chunk in corpus.chunks()]

    def search(self, text, k):
        words = text.lower().split()
        ranked = sorted(self.chunks, key=lambda one: -sum(word in one[1] for word in words))
        return [Hit(chunk.path, chunk.start_line, chunk.end_line) for chunk, _ in ranked[:k]]
"""
WORSE = ADAPTER.replace("-sum", "sum")
GATED = "limits:\n  - R(rel=3)@1:>=0.9\n  - failed:0\n"
NAMES = ("parser", "cursor", "buffer", "ledger", "market", "socket")


def build_steps() -> list[dict[str, Any]]:
    """Return the steps of the page's workflow."""
    blocks = [one.text for one in manual.blocks() if one.place.startswith(PAGE)]
    (text,) = [text for text in blocks if ".github/workflows" in text]
    workflow = yaml.safe_load(text)
    steps: list[dict[str, Any]] = workflow["jobs"]["gate"]["steps"]
    return steps


def commands_before(heading: str) -> list[list[str]]:
    """Return the words of the page's commands above a heading, in their order."""
    above = manual.read(PAGE).partition(f"## {heading}")[0]
    return [line.split() for line in re.findall(r"^ +codebench (.*)$", above, re.MULTILINE)]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository that did by hand what the page says, and committed what it names."""
    root = tmp_path_factory.mktemp("original")
    made = Repository(root / "shop")
    body = "".join(f"def {name}(value):\n    return '{name}', value\n\n\n" for name in NAMES)
    made.commit("Begin", {"shop.py": body})
    for name in NAMES:
        body = body.replace(f"'{name}', value", f"'{name}', value + 1")
        made.commit(f"Count the {name} value from one", {"shop.py": body})
    made.write({"mine.py": ADAPTER, "gate.yaml": GATED})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODEBENCH_CACHE", str(root / "cache"))
        patch.chdir(made.path)
        commands = commands_before("GitHub Actions")
        assert [words[0] for words in commands] == ["suite", "suite", "run", "gate"]
        for words in commands:
            assert main(words) == 0, words
    made.commit("Gate the search")
    assert not made.git("ls-files", "results/local")
    # What the build needs must lie in the clone alone.
    made.path.rename(root / "moved")
    return Repository(root / "moved")


def checked_out(original: Repository, place: Path, *depth: str) -> Path:
    """Clone as the checkout action does."""
    original.git("clone", "--quiet", *depth, f"file://{original.path}", str(place))
    return place


def run_steps(folder: Path, tmp_path: Path) -> tuple[int, str, str]:
    """Run the workflow's own lines by bash, as a build does: the first that fails ends it."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "codebench"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m codebench "$@"\n')
    program.chmod(0o755)
    lines = [step["run"] for step in build_steps() if "run" in step]
    assert lines.pop(0) == "pip install codebench-harness"
    summary = tmp_path / "summary.md"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", "\n".join(lines)],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(manual.ROOT),
            "GITHUB_STEP_SUMMARY": str(summary),
            "CODEBENCH_CACHE": str(tmp_path / "cache"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    told = summary.read_text() if summary.exists() else ""
    return done.returncode, done.stdout + done.stderr, told


@pytest.mark.skipif(shutil.which("bash") is None, reason="the build's shell")
def test_the_workflow_passes_and_fails_in_a_clone_elsewhere(
    original: Repository, tmp_path: Path
) -> None:
    checkout = build_steps()[0]
    assert checkout["uses"].startswith("actions/checkout@")
    assert checkout["with"] == {"fetch-depth": 0}
    clone = checked_out(original, tmp_path / "clone")
    code, told, summary = run_steps(clone, tmp_path)
    assert code == 0, told
    assert "gate passed" in summary
    assert (clone / "gate.xml").is_file()
    (clone / "mine.py").write_text(WORSE)
    shutil.rmtree(tmp_path / "bin")
    code, told, summary = run_steps(clone, tmp_path)  # two runs lie in `runs` now
    assert code == 1, told
    assert "gate failed" in summary
    assert "::error" in told


def test_a_shallow_checkout_is_named(
    original: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(checked_out(original, tmp_path / "clone", "--depth=1"))
    assert main(["run", "suites/shop", "-r", "./mine.py:MyTool"]) == 2
    told = capsys.readouterr().err
    assert "this clone is shallow" in told
    assert "`fetch-depth: 0`" in told
    assert main(["suite", "build", ".", "-o", "suites/again"]) == 2
    assert "this clone is shallow" in capsys.readouterr().err
