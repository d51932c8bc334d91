"""`codebench suite carry` as a person types it, and the verb's own words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codebench.cli.main import main
from codebench.cli.suite import ACTIONS
from tests.repositories import Repository, grown
from tests.suites import made_suite

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a repository whose last commit deletes a module; `s` is a suite from before."""
    made = grown(tmp_path / "shop")
    made_suite(made, tmp_path / "here/s")
    made.commit("no clock any more", {"shop/clock.py": None})
    return made


def carried(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(["suite", "carry", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_what_became_of_the_targets(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = carried(capsys, "s", "--to", "main", "-o", "new")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    start = repository.git("rev-parse", "HEAD~7").strip()[:12]
    assert lines[0] == f"new: 3 of 6 queries carried from {start} to {repository.head[:12]}"
    assert lines[4].split() == ["carried", "path", "and", "name", "3", lines[4].split()[-1]]
    assert lines[5].split() == ["lost", "-", "3", "0.000"]
    assert "3 queries left, with no target of the highest grade at that commit" in out
    assert "warning: 3 queries from commits that this snapshot holds" in out
    assert lines[-1] == "next: codebench suite check new"
    assert main(["suite", "check", "new"]) == 0


def test_the_figures_as_json_and_markdown(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = carried(capsys, "s", "--to", "main", "-o", "new", "--format", "json")
    assert status == 0
    data = json.loads(out)
    assert (data["queries_before"], data["queries"], data["past"]) == (6, 3, 3)
    assert data["to"] == repository.head
    assert {row["fate"]: row["targets"] for row in data["targets"]} == {"carried": 3, "lost": 3}
    words = ("s", "--to", "main", "-o", "new", "--force", "--format", "markdown")
    status, out, _ = carried(capsys, *words)
    assert status == 0
    assert "| lost    | -" in out


@pytest.mark.usefixtures("repository")
def test_what_cannot_be_done_is_one_line(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    assert carried(capsys, "s", "--to", "main", "-o", "s")[2] == (
        "codebench: s: holds a suite already; choose another folder, or add --force\n"
    )
    assert "v9 names no commit" in carried(capsys, "s", "--to", "v9", "-o", "new")[2]
    assert "its corpus is a folder" in carried(capsys, "tiny", "--to", "main", "-o", "new")[2]
    assert "is no suite" in carried(capsys, "nowhere", "--to", "main", "-o", "new")[2]
    assert "required: --to" in carried(capsys, "s", "-o", "new")[2]
    assert [path.name for path in here.iterdir()] == ["s"]


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"    {name} " in out for name in ACTIONS)
    assert main(["suite"]) == 2
    assert "ACTION" in capsys.readouterr().err
    assert main(["suite", "bild"]) == 2
    assert "invalid choice: 'bild'" in capsys.readouterr().err
