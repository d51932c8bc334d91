"""`codebench list`: retrievers, suites, measures and stored runs."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codebench import listing
from codebench.cli.main import main
from codebench.measures.catalogue import KINDS
from codebench.results import read_run
from tests.runs import Row, made_run

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent

ADAPTER = '''
"""An adapter."""
from codebench import Retriever

class Mine(Retriever):
    """Finds | nothing\\x1b[31m.

    At all.
    """
    version = "=1+1"
    {missing}
    def index(self, corpus): ...
    def search(self, text, k): return []
'''


def told(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert main(["list", *map(str, words)]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def data_of(capsys: pytest.CaptureFixture[str], what: str, *words: object) -> Any:
    return json.loads(told(capsys, what, *words, "--format", "json"))[what]


@pytest.fixture
def adapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the built-in adapters at a folder with odd ones."""
    folder = tmp_path / "adapters"
    folder.mkdir()
    absent = '@classmethod\n    def missing(cls): return "tool is not there; apt install tool"'
    raising = "@classmethod\n    def missing(cls): raise OSError('no')"
    (folder / "fine.py").write_text(ADAPTER.replace("{missing}", ""))
    (folder / "absent.py").write_text(ADAPTER.replace("{missing}", absent))
    (folder / "raising.py").write_text(ADAPTER.replace("{missing}", raising))
    (folder / "broken.py").write_text("import no_such_module")
    (folder / "default.yaml").write_text("retrievers: [fine]")
    for module in ("finding", "references"):
        monkeypatch.setattr(f"codebench.adapter.{module}.builtin", lambda room: tmp_path / room)
    monkeypatch.setattr("codebench.runner.candidates.builtin", lambda room: tmp_path / room)
    return folder


def test_retrievers_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    by_name = {one["retriever"]: one for one in data_of(capsys, "retrievers")}
    assert by_name["bm25"]["runs_here"]
    assert by_name["bm25"]["by_default"]
    assert by_name["bm25"]["what"].startswith("Lucene's BM25")
    assert "bm25" in told(capsys, "retrievers")


def test_one_that_cannot_run_says_why(adapters: Path) -> None:
    by_name = {one.name: one for one in listing.retrievers({"fine"})}
    assert list(by_name)[:4] == ["absent", "broken", "fine", "raising"]
    assert by_name["fine"].default
    assert by_name["fine"].missing == ""
    assert by_name["absent"].missing == "tool is not there; apt install tool"
    assert "No module named 'no_such_module'" in by_name["broken"].missing
    assert by_name["raising"].missing == "missing() raises: OSError: no"


def test_what_an_adapter_says_is_text(adapters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("table", "markdown", "json", "csv"):
        assert "\x1b" not in told(capsys, "retrievers", "--format", form)
    rows = list(csv.DictReader(io.StringIO(told(capsys, "retrievers", "--format", "csv"))))
    (fine,) = (row for row in rows if row["retriever"] == "fine")
    assert (fine["version"], fine["what"]) == ("'=1+1", "Finds | nothing\\u001b[31m.")
    assert "Finds \\| nothing" in told(capsys, "retrievers", "--format", "markdown")


def test_suites(capsys: pytest.CaptureFixture[str]) -> None:
    (tiny,) = (one for one in data_of(capsys, "suites") if one["suite"] == "tiny")
    assert (tiny["queries"], tiny["targets"], tiny["problem"]) == (24, 33, "")
    assert "language" in tiny["tags"]
    assert "tiny" in told(capsys, "suites")


def test_a_suite_that_cannot_be_read_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "suites" / "odd").mkdir(parents=True)
    (tmp_path / "suites" / "odd" / "suite.yaml").write_text("name: [")
    monkeypatch.setattr("codebench.listing.builtin", lambda room: tmp_path / room)
    (odd,) = data_of(capsys, "suites")
    assert odd["queries"] is None
    assert "suite.yaml" in odd["problem"]
    assert "suite.yaml" in told(capsys, "suites")


@pytest.mark.parametrize("form", ["table", "markdown", "json", "csv"])
def test_measures(
    capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None], form: str
) -> None:
    out = told(capsys, "measures", "--format", form)
    golden(f"list-measures.{form}", out)
    assert all(kind.name in out for kind in KINDS)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a results folder with good, cut, failed and broken runs."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results" / "local"
    good = {"random": Row("-" * 12, floor=True), "a": Row("s" * 12)}
    made_run(folder, good, minute=1)
    made_run(folder, {"a": Row("sss.........")}, complete=False, minute=2)
    made_run(folder, {"a": Row("sss.........", state="failed", reason="died")}, minute=3)
    skipped = {"a": Row("s" * 12), "b": Row("", state="skipped", reason="absent")}
    made_run(folder, skipped, minute=4)
    torn = made_run(folder, {"a": Row("s" * 12)}, minute=5)
    answers = torn / "answers" / "0.jsonl"
    answers.write_bytes(answers.read_bytes()[:-3])
    (folder / "a-empty").mkdir()
    (folder / "b-torn").mkdir()
    (folder / "b-torn" / "manifest.json").write_text('{"format": 1,')
    (folder / "c-format").mkdir()
    (folder / "c-format" / "manifest.json").write_text('{"format": 99}')
    return folder


def test_runs_newest_first_and_broken_ones_in_a_row(
    results: Path, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    rows = data_of(capsys, "runs")
    assert [(row["started"][14:16], row["state"]) for row in rows] == [
        ("05", "incomplete"),
        ("04", "complete"),
        ("03", "incomplete"),
        ("02", "incomplete"),
        ("01", "complete"),
        ("", "broken"),
        ("", "broken"),
        ("", "broken"),
    ]
    assert rows[1]["retrievers"] == ["a", "b"]
    assert rows[4]["retrievers"] == ["a"]
    assert "holds no manifest.json" in rows[-1]["problem"]
    golden("list-runs.table", told(capsys, "runs"))


def test_a_run_is_complete_where_reading_it_all_says_so(results: Path) -> None:
    listed = [one for one in listing.runs(results) if not one.problem]
    assert len(listed) == 5
    for one in listed:
        assert one.complete == read_run(one.path).complete, one.path


def test_results_folders(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert data_of(capsys, "runs", "-o", results.parent) == []
    assert len(data_of(capsys, "runs", "-o", results)) == 8
    assert main(["list", "runs", "-o", str(tmp_path / "nowhere")]) == 2
    assert "nowhere: cannot be read" in capsys.readouterr().err


def test_no_run_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(capsys, "runs") == "there are no runs\n"
    assert told(capsys, "runs", "--format", "csv") == "runs\n"


def test_an_encoding_that_lacks_a_character_shows_it_as_an_escape(results: Path) -> None:
    made = next(path for path in results.iterdir() if path.name.endswith("0400Z-made"))
    words = [sys.executable, "-m", "codebench", "score", str(made)]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=ascii_only, capture_output=True, text=True, check=True)
    assert "\\xb1" in done.stdout
    assert done.stdout.isascii()


def test_an_error_is_one_line_that_moves_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "no\x1b[31m\u202esuch"]) == 2
    assert capsys.readouterr().err.startswith("codebench: no\\u001b[31m\\u202esuch: is no run")


def test_a_list_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "things"]) == 2
    assert "invalid choice" in capsys.readouterr().err
