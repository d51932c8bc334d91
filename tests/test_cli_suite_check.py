"""`codebench suite check` as a person types it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codebench.cli.main import main
from tests.repositories import grown
from tests.suites import Rows, edit, made_suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def checked(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(["suite", "check", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_a_built_in_suite(
    capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None], form: str
) -> None:
    status, out, err = checked(capsys, "tiny", "--format", form)
    assert (status, err) == (0, "")
    golden(f"suite-check.{form}", out)


def test_what_is_wrong_is_told_at_once_and_exits_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made_suite(grown(tmp_path / "shop"), tmp_path / "here/s")

    def change(rows: Rows) -> None:
        rows[1]["targets"][0]["chunk"] = "shop/shelf.py::Shelf.take"
        rows[3]["text"] = "take\x1b[31m"

    edit(tmp_path / "here/s", change)
    status, out, err = checked(capsys, "s")
    assert status == 2
    assert "s: 6 queries; 2 things are wrong" in out
    assert "next:" not in out
    first, second = err.splitlines()
    assert first.startswith(
        "codebench: s/queries.jsonl:2: targets[1]: 'shop/shelf.py::Shelf.take' is in no file of "
        "the corpus; did you mean shop/store.py::Shelf.take?"
    )
    assert second.startswith("codebench: s/queries.jsonl:2: related[1].of: 'shop/")
    status, out, _ = checked(capsys, "s", "--format", "json")
    data = json.loads(out)
    assert status == 2
    assert [fault["line"] for fault in data["faults"]] == [2, 2]
    assert data["ceiling"]["R(rel=3)@10"] == pytest.approx(5 / 6, abs=0.1)


def test_faults_of_reading_leave_nothing_to_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made_suite(grown(tmp_path / "shop"), tmp_path / "here/s")
    (folder / "queries.jsonl").write_text('{"id": "a"}\n{"id": "b", "text": "x", "targts": []}\n')
    status, out, err = checked(capsys, "s")
    assert (status, out) == (2, "s: 0 queries; 4 things are wrong\n")
    assert (
        's/queries.jsonl:2: targts: is not a field here; did you mean "targets" or "tags"?' in err
    )


def test_no_suite(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = checked(capsys, "nowhere")
    assert (status, out) == (2, "")
    assert err == (
        "codebench: nowhere: is no suite; name a folder that holds a suite.yaml, or a built-in "
        "suite (`codebench list suites`)\n"
    )
