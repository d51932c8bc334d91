"""`codebench history`: runs in their order, verdicts between neighbours, the chart."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from codebench.cli.main import main
from tests.runs import Row, made_run, suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GOOD = "ssssslssslss"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs of a suite, one of another, and again one of the first; one is broken."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results" / "local"
    floor = {"random": Row("--f-----f---", floor=True)}
    made_run(folder, floor | {"own": Row("ffffffffffff")}, minute=0)
    made_run(folder, floor | {"own": Row(GOOD, version="2"), "new": Row("f" * 12)}, minute=1)
    made_run(folder, {"own": Row("sslssssslsss", digest="sha256:1", version="2")}, minute=2)
    queries = list(suite().queries)
    queries[2] = replace(queries[2], text="another question")
    other = suite(queries=12, name="made")
    other = replace(other, queries=tuple(queries))
    made_run(folder, {"own": Row(GOOD)}, asked=other, minute=3)
    made_run(folder, {"own": Row("sssssss.....")}, complete=False, minute=4)
    broken = folder / "broken"
    broken.mkdir()
    return folder


def told(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    capsys.readouterr()
    assert main(["history", *map(str, words)]) == code, capsys.readouterr().err
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def data_of(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    return json.loads(told(capsys, *words, "--format", "json"), parse_constant=pytest.fail)


def test_verdicts_between_neighbours(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_of(capsys, results, "--measure", "R(rel=3)@10")
    lines = {line["name"]: line["runs"] for line in data["retrievers"]}
    assert list(lines) == ["new", "own"]
    own = lines["own"]
    assert [run["verdict"] for run in own] == [
        "",
        "better",
        "undecided",
        "not comparable",
        "undecided",
    ]
    assert [run["figure"]["value"] for run in own] == pytest.approx([0, 1, 1, 1, 7 / 12])
    assert own[1]["change"]["delta"] == 1.0
    assert (own[1]["change"]["wins"], own[1]["change"]["losses"]) == (12, 0)
    assert own[3]["reason"] == "text of q02"
    assert own[3]["change"] is None
    # Against the last run of its suite, past the one of another.
    assert own[4]["change"]["delta"] == pytest.approx(-5 / 12)
    assert (own[4]["complete"], own[4]["failed"]) == (False, 5)
    assert [run["version"] for run in own] == ["1", "2", "2", "1", "1"]
    assert own[0]["p95_ms"] == pytest.approx(3.1)
    assert len(data["skipped"]) == 1
    assert "broken: " in data["skipped"][0]


def test_the_default_folder_and_measure(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert data_of(capsys)["measure"] == "nDCG(dcg='exp-log2')@10"
    assert results.is_dir()


@pytest.mark.parametrize("form", ["table", "markdown", "csv"])
def test_golden_output(
    results: Path,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
    form: str,
) -> None:
    words = ["results/local", "-m", "nDCG@10", "--format", form]
    golden(f"history.{form}", told(capsys, *words))
    assert results.is_dir()


def test_the_chart_shows_each_value_where_it_belongs(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = told(capsys, results, "-m", "R(rel=3)@10", "-r", "own")
    bars = [line[18:66] for line in out.split("\n") if "●" in line]
    assert len(bars) == 5
    places = [bar.index("●") for bar in bars]
    assert places[0] == 0
    assert places[1] == places[2] == places[3] == 47
    assert places[4] == round(7 / 12 * 47)


def test_who_and_what_is_shown(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_of(capsys, results, "-r", "random")
    assert [line["name"] for line in data["retrievers"]] == ["random"]
    assert "did you mean" in told(capsys, results, "-r", "randon", code=2)
    assert "no run of the suite x" in told(capsys, results, "--suite", "x", code=2)
    assert "no such" in told(capsys, results / "none", code=2).lower()
    empty = results / "empty"
    empty.mkdir()
    assert "no run" in told(capsys, empty, code=2)
    assert "did you mean nDCG" in told(capsys, results, "-m", "nDCF@10", code=2)
    assert "is not a whole number" in told(capsys, results, "--seed", "-1", code=2)
    deep = told(capsys, results, "-m", "nDCG@40", code=2)
    assert "above the depth" in deep


def test_hostile_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "=x|<b>\x1b[31m\u202e"
    for minute in range(2):
        made_run(tmp_path, {name: Row(GOOD, version=f"{name}{minute}")}, minute=minute)
    for form in ("table", "markdown", "json", "csv"):
        out = told(capsys, tmp_path, "--format", form)
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert "\\u001b" in out
    assert "\\<b\\>" in told(capsys, tmp_path, "--format", "markdown")
    rows = list(csv.DictReader(io.StringIO(told(capsys, tmp_path, "--format", "csv"))))
    assert rows[0]["retriever"].startswith("'=x")
