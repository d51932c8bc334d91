"""`codebench align`: from runs and online figures to correlations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codebench.cli.main import main
from tests.runs import Row, made_run, suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOUND = ["s" * at + "f" * (12 - at) for at in (1, 3, 5, 7, 9, 11)]
ONLINE = [0.1, 0.2, 0.25, 0.3, 0.5, 0.45]


def file_of(folder: Path, lines: list[str]) -> Path:
    file = folder / "runs.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def online(tmp_path: Path) -> Path:
    """Six runs, each better than the one before, and what was seen online."""
    lines = ["run,retriever,accepted,=latency"]
    for at, (found, figure) in enumerate(zip(FOUND, ONLINE, strict=True)):
        run = made_run(tmp_path, {"own": Row(found), "other": Row("-" * 12)}, minute=at)
        lines.append(f"{run.name},own,{figure},{'' if at == 2 else -at}")
    return file_of(tmp_path, lines)


def told(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    capsys.readouterr()
    assert main(["align", *map(str, words)]) == code, capsys.readouterr().err
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def data_of(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    return json.loads(told(capsys, *words, "--format", "json"), parse_constant=pytest.fail)


def test_what_goes_together(online: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_of(capsys, online, "-m", "R(rel=3)@10", "-m", "Tokens@32000")
    rows = {(row["measure"], row["online"]): row for row in data["rows"]}
    own = rows["R(rel=3)@10", "accepted"]
    assert own["kendall"]["value"] == pytest.approx(13 / 15)
    assert own["p"] == pytest.approx(2 * (1 + 5) / 720)
    assert (own["n"], own["verdict"]) == (6, "undecided")  # four rows are tested together
    assert own["p_adjusted"] == pytest.approx(3 * own["p"], rel=0.4)
    lone = data_of(capsys, online, "-m", "R(rel=3)@10")["rows"]
    assert {row["verdict"] for row in lone} == {"aligned", "opposed"}
    assert rows["R(rel=3)@10", "=latency"]["n"] == 5
    assert rows["R(rel=3)@10", "=latency"]["kendall"]["value"] == -1
    # Fewer tokens are better, so they are aligned as well.
    assert rows["Tokens@32000", "accepted"]["kendall"]["value"] > 0
    assert data["points"][1]["measures"]["R(rel=3)@10"] == pytest.approx(3 / 12)


@pytest.mark.parametrize("form", ["table", "markdown", "csv"])
def test_golden_output(
    online: Path,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
    form: str,
) -> None:
    golden(f"align.{form}", told(capsys, online, "-m", "R(rel=3)@10", "--format", form))


def test_too_few_runs_are_said(online: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = online.read_text().split("\n")
    short = file_of(online.parent, lines[:5])
    assert {row["verdict"] for row in data_of(capsys, short)["rows"]} == {"too few"}
    assert "4 runs are too few to tell anything" in told(capsys, short)
    none = file_of(online.parent, lines[:3])
    assert "a correlation needs 3" in told(capsys, none, code=2)


def test_wrong_files_name_every_line(
    online: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = next(path.name for path in sorted(tmp_path.iterdir()) if path.is_dir())
    wrong = file_of(
        tmp_path,
        [
            "run,retriever,accepted",
            f"{run},own,high",
            f"{run},own,1",
            "nowhere,own,1",
            ",own,nan",
            f"{run},own",
        ],
    )
    error = told(capsys, wrong, code=2)
    for words in (
        "runs.csv:2: accepted: '\"high\"' is not a finite number",
        "runs.csv:3: run: is also the run of line 2",
        "runs.csv:4: run: 'nowhere' is no folder",
        "runs.csv:5: run: is empty",
        "runs.csv:5: accepted: ",
        "runs.csv:6: has 2 cells, not 3",
    ):
        assert words in error
    named = file_of(tmp_path, ["run,accepted", f"{run},1"])
    assert "must be named: the run has several; name one: own, other" in told(capsys, named, code=2)
    typo = file_of(tmp_path, ["run,retriever,accepted", f"{run},onw,1"])
    assert 'did you mean "own"?' in told(capsys, typo, code=2)


@pytest.mark.parametrize("head", ["", "runs,x", "run", "run,x,x", "run,,x", "run,retriever"])
def test_wrong_heads(tmp_path: Path, capsys: pytest.CaptureFixture[str], head: str) -> None:
    assert "runs.csv" in told(capsys, file_of(tmp_path, [head, "a,b,c"]), code=2)
    assert "No such file" in told(capsys, tmp_path / "none.csv", code=2)


def test_other_suites_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["run,accepted"]
    for at in range(3):
        asked = suite(10 + (at == 2))
        run = made_run(tmp_path, {"own": Row("s" * 11)}, asked=asked, minute=at)
        lines.append(f"{run.name},{at}")
    assert "queries new: q10" in told(capsys, file_of(tmp_path, lines), code=4)


def test_hostile_columns(online: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = online.read_text().replace("=latency", "\x1b[31m<b>|\u202e")
    online.write_text(text, encoding="utf-8")
    for form in ("table", "markdown", "json", "csv"):
        out = told(capsys, online, "--format", form)
        assert "\x1b" not in out
        assert "\u202e" not in out
    assert "\\<b\\>\\|" in told(capsys, online, "--format", "markdown")
