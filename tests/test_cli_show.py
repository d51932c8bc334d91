from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codebench.cli.main import main
from codebench.grading import Files, compile_gold, trace
from codebench.model import Chunk, FileTable, Hit, Query, Related, Target
from codebench.report import hits as words
from codebench.report.columns import beside, cells, wrapped
from tests import hostile_texts, runs

if TYPE_CHECKING:
    from pathlib import Path

    Printed = pytest.CaptureFixture[str]

TABLES = {
    path: FileTable(
        path,
        "python",
        (30,) * 30,
        tuple(
            Chunk(path, name, 1, "function", ((start, start + 9),), "", "", 9)
            for name, start in (("a", 1), ("b", 11), ("c", 21))
        ),
    )
    for path in ("x.py", "y.py", "z.py", "w.py")
}


def said(hits: list[Hit], query: Query) -> list[str]:
    steps = trace(compile_gold(query, Files(TABLES)), hits)
    pairs = enumerate(zip(hits, steps, strict=True), 1)
    return [words.reached(step, rank, hit, query) for rank, (hit, step) in pairs]


def test_every_hit_says_what_it_reached() -> None:
    query = Query(
        "q",
        "t",
        (Target("x.py", "x.py::a"), Target("x.py", "x.py::b")),
        related=(
            Related("y.py", "x.py", 1, ("import",)),
            Related("z.py", "x.py", 3, ("package", "co-change")),
            Related("w.py", "x.py", 2),
        ),
        not_relevant=("x.py::c",),
    )
    hits = [
        Hit("w.py", 1, 10),
        Hit("x.py", 21, 30),
        Hit("x.py"),
        Hit("y.py", 1, 3),
        Hit("x.py", 1, 20),
        Hit("x.py", symbol="a"),
        Hit("z.py"),
        Hit("nowhere.py", 1, 3),
    ]
    assert said(hits, query) == [
        "related to x.py (1)",
        "its file (2)",
        "its file (2), already reached at rank 2",
        "related through import (1), already reached at rank 1",
        "shows `a` (3); shows `b` (3)",
        "shows `a` (3), already reached at rank 5",
        "related through package and co-change (1), already reached at rank 1",
        "not in the corpus",
    ]


def test_what_nobody_judged_and_what_somebody_judged_zero() -> None:
    query = Query("q", "t", (Target("x.py", "x.py::a"),), not_relevant=("y.py::b",))
    hits = [Hit("y.py", 1, 10), Hit("y.py", 11, 20)]
    assert said(hits, query) == ["not judged", "judged not relevant (0)"]


def test_columns_break_and_pad_by_cells() -> None:
    assert wrapped("flask/app.py:10-30 Flask.run", 16, "  ") == [
        "flask/app.py:10-",
        "  30 Flask.run",
    ]
    assert wrapped("日本", 1, " " * 6) == ["日本"]
    assert wrapped("日本語日本語", 1, " " * 6) == ["日本語日", " " * 6 + "本", " " * 6 + "語"]
    assert wrapped("日本語日本語", 6) == ["日本語", "日本語"]
    assert wrapped("x" * 9, 4, "  ") == ["xxxx", "  xx", "  xx", "  x"]
    assert beside([["日", "a"], ["b"]], 4) == ["日    b", "a"]
    assert cells("e\u0301") == 1


@pytest.fixture
def run(tmp_path: Path) -> Path:
    rows = {
        "random": runs.Row("-" * 12, floor=True),
        "old": runs.Row("slf-" * 3),
        "new": runs.Row("sslx" * 3),
    }
    return runs.made_run(tmp_path, rows)


def test_rankings_stand_beside_each_other_where_they_fit(
    run: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["show", str(run), "q01"]) == 3  # some of new's answers crashed
    wide = capsys.readouterr().out
    assert "old" in wide
    assert "random" not in wide
    (line,) = [line for line in wide.splitlines() if "1  f01.py:11-20" in line]
    assert "1  f01.py:1-10" in line
    assert "shows `a` (3)" in wide
    assert "shown at rank: old 2, new 1" in wide
    assert "f01.py::a (function, grade 3; lines 1-10)" in wide
    assert "the code is not at hand" in wide
    monkeypatch.setenv("COLUMNS", "60")
    main(["show", str(run), "question 11", "-r", "new", "-r", "random"])
    narrow = capsys.readouterr().out
    assert "crashed: killed by \\u001b[31m|signal 9" in narrow
    assert max(map(len, narrow.splitlines())) <= 72 + 60
    assert main(["show", str(run), "q01", "--floors"]) == 3
    assert "random (floor)" in capsys.readouterr().out


def test_json_and_markdown_hold_the_same(run: Path, capsys: Printed) -> None:
    main(["show", str(run), "q01", "-r", "old", "--format", "json"])
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    (old,) = data["retrievers"]
    assert [hit["reached"] for hit in old["hits"]] == ["its file (2)", "shows `a` (3)"]
    assert [hit["paid"] for hit in old["hits"]] == [True, True]
    assert old["measures"] == {
        "R(rel=3)@10": 1.0,
        "nDCG(dcg='exp-log2')@10": pytest.approx((3 + 4 / 1.584962500721156) / 7),
    }
    assert data["targets"][0]["ranks"] == {"old": 2}
    main(["show", str(run), "q01", "-r", "old", "--format", "markdown"])
    assert "| 2      | f01.py:1-10  | shows \\`a\\` (3) |" in capsys.readouterr().out


def test_the_gold_comes_with_its_code(tiny_run: Path, capsys: Printed) -> None:
    assert main(["show", str(tiny_run), "t01"]) == 0
    out = capsys.readouterr().out
    assert "api/auth.py::check_token (function, grade 3" in out
    assert "def check_token" in out
    assert "not at hand" not in out


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("q0", "'q0' means 10 queries: q00 question 0; q01 question 1"),
        ("question", "means 12 queries"),
        ("nothing like it", "no query has an ID that begins with"),
    ],
)
def test_a_query_that_is_not_one(run: Path, capsys: Printed, query: str, error: str) -> None:
    assert main(["show", str(run), query]) == 2
    assert error in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["q01", "--worst", "3"], ["--worst", "0"]])
def test_one_query_or_one_list(run: Path, words: list[str]) -> None:
    assert main(["show", str(run), *words]) == 2


def test_the_worst_queries_come_first(run: Path, capsys: Printed) -> None:
    assert main(["show", str(run), "--worst", "4", "-r", "old"]) == 0
    out = capsys.readouterr().out
    assert "4 queries worst by nDCG-exp@10, mean of old" in out
    assert [line.split()[0] for line in out.splitlines() if line.startswith("q")] == [
        "query",
        "q03",
        "q07",
        "q11",
        "q02",
    ]
    assert f"next: codebench show {run} q03" in out


def test_a_query_is_followed_by_the_report(
    run: Path, tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run.rename("my run")
    assert main(["show", "my run", "q03", "-r", "old"]) == 0
    assert capsys.readouterr().out.endswith("\n\nnext: codebench report 'my run' -o report.html\n")
    assert main(["show", "my run", "q03", "-r", "old", "--format", "markdown"]) == 0
    assert "next:" not in capsys.readouterr().out
    assert main(["show", "my run", "--worst", "1", "-r", "old"]) == 0
    assert "\nnext: codebench show 'my run' q03\n" in capsys.readouterr().out


def test_what_was_broken_and_fixed_since_another_run(tmp_path: Path, capsys: Printed) -> None:
    before = runs.made_run(tmp_path, {"one": runs.Row("ssssffffllll"), "gone": runs.Row("s" * 12)})
    after = runs.made_run(tmp_path, {"one": runs.Row("ff--ssffslll")}, minute=1)
    main(["show", str(after), "--broken-since", str(before), "--format", "json"])
    broken = json.loads(capsys.readouterr().out)
    assert broken["measure"] == "Success(rel=3)@10"
    assert [one["id"] for one in broken["queries"]] == ["q00", "q01", "q02", "q03"]
    assert broken["queries"][0]["before"] == {"one": 1.0}
    main(["show", str(after), "--fixed-since", str(before)])
    fixed = capsys.readouterr().out
    assert "2 queries fixed since" in fixed
    assert "0.000 -> 1.000" in fixed
    main(["show", str(after), "--fixed-since", str(before), "-m", "RR(rel=3)@10"])
    assert "q08" in capsys.readouterr().out


def test_another_suite_is_no_baseline(run: Path, tmp_path: Path, capsys: Printed) -> None:
    other = runs.made_run(tmp_path, {"old": runs.Row("s" * 5)}, asked=runs.suite(5), minute=2)
    assert main(["show", str(run), "--broken-since", str(other)]) == 4
    stranger = runs.made_run(tmp_path, {"who": runs.Row("s" * 12)}, minute=3)
    assert main(["show", str(run), "--fixed-since", str(stranger)]) == 4
    assert "no retriever in common" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_hostile_text_shows_as_text(tmp_path: Path, capsys: Printed, form: str) -> None:
    run = hostile_texts.hostile_run(tmp_path)
    for asked in (["q00"], ["--worst", "3"]):
        main(["show", str(run), *asked, "--format", form])
        out = capsys.readouterr().out
        assert not any(char in out for char in "\x1b\u202e\u200f\u2028\x07")
        assert "\\u202e" in out
        if form == "markdown":
            # Inside of a fence, which the code cannot end, a text is text.
            outside = "".join(out.split("\n```\n")[::2])
            assert "<script>" not in outside.replace("\\<script\\>", "")
        else:
            assert "<script>" in out
