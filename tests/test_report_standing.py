"""What a table comes to is said in words, and no more than the figures show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.judging.scoring import leaders, score_run
from codebench.report.standing import standing_notes
from tests.runs import Row, made_run

if TYPE_CHECKING:
    from pathlib import Path

GOOD, POOR = Row("s" * 12), Row("f" * 12)


def said(folder: Path, rows: dict[str, Row], measure: str = "nDCG-exp@10") -> list[str]:
    scored = score_run(made_run(folder, rows), [measure])
    return standing_notes(scored, leaders(scored, scored.measures))


def test_the_best_the_level_and_the_worse_are_named(tmp_path: Path) -> None:
    rows = {"poor": POOR, "good": GOOD, "fair": Row("s" * 11 + "l")}
    (note,) = said(tmp_path, rows)
    assert note == (
        "by nDCG-exp@10, the measure of verdicts: good is best; not shown to be worse: fair; "
        "worse: poor"
    )


def test_another_measure_is_not_called_that_of_verdicts(tmp_path: Path) -> None:
    rows = {"good": GOOD, "poor": POOR}
    assert said(tmp_path, rows, "R(rel=3)@10") == ["by R(rel=3)@10: good is best; worse: poor"]
    rows = {"poor": POOR, "good": GOOD}
    assert said(tmp_path / "2", rows, "Tokens@32000") == [
        "by Tokens@32000: good is best; worse: poor"
    ]


def test_who_stands_below_a_floor_that_reads_no_code_is_told(tmp_path: Path) -> None:
    floors = {
        "path-match": Row("f" * 12, floor=True),
        "recent": Row("l" * 12, floor=True),
        "right-file": Row("s" * 12, floor=True),
    }
    assert said(tmp_path, {**floors, "own": Row("-" * 12), "good": GOOD}) == [
        "by nDCG-exp@10, the measure of verdicts: good is best; worse: own",
        "own scores less than the floor recent, which reads no code (nDCG-exp@10 0.000 and 0.789)",
    ]
    assert said(tmp_path / "2", {**floors, "own": Row("l" * 12)}) == []


def test_failures_are_no_finding_about_a_retriever(tmp_path: Path) -> None:
    floor = {"recent": Row("l" * 12, floor=True)}
    rows = {**floor, "fell": Row("x" * 12), "late": Row("t" * 12)}
    assert said(tmp_path, rows) == []
    some = {**floor, "some": Row("x" * 11 + "-")}
    assert "floor recent" in said(tmp_path / "2", some)[0]


def test_alike_is_told_of_every_query_only(tmp_path: Path) -> None:
    one, other = Row("s-" * 6), Row("-s" * 6)
    notes = said(tmp_path, {"a": one, "b": other, "c": one, "d": one})
    assert notes[1:] == ["a, c and d score the same on every query"]
