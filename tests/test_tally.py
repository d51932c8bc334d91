"""What is odd about answers of which none failed, counted and told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codebench.cli.main import main
from codebench.judging.scored import Scored
from codebench.measures.latency import latency_summary
from codebench.model import Answer, Candidate, Hit
from codebench.report.oddities import oddity_notes
from codebench.results import RetrieverRun
from codebench.results.tally import UNKNOWN, Tally, meant_path, of_row, tally_of
from codebench.runner.validate import CLIPPED, CUT

HERE, THERE = Hit("a.py", 1, 2), Hit("gone/a.py")


def test_good_answers_are_counted_by_what_is_odd_about_them() -> None:
    answers = [
        Answer("q1", "ok", (HERE, THERE), repairs={UNKNOWN: 1}),
        Answer("q2", "ok", (Hit("a.py", 1, 2, score=0.5), THERE), repairs={UNKNOWN: 1, CUT: 7}),
        Answer("q3", "ok", (THERE,), repairs={UNKNOWN: 1}),
        Answer("q4", "ok"),
        Answer("q5", "error", error="no", repairs={CUT: 1}),
        Answer("q1", "ok", (THERE,), repeat=1, repairs={UNKNOWN: 1}),
        Answer("q6", "ok", (HERE,), repairs={CUT: "many", UNKNOWN: -1}),  # type: ignore[dict-item]
    ]
    tally = tally_of(answers, ["a.py"])
    assert tally == Tally(
        good=5,
        empty=1,
        alike=2,
        astray=1,
        stray="gone/a.py",
        meant="a.py",
        hits={CUT: 7, UNKNOWN: 3},
        answers={CUT: 1, UNKNOWN: 3},
    )
    assert of_row(json.loads(json.dumps(tally.row()))) == tally
    assert tally_of([], ()) == Tally()


@pytest.mark.parametrize(
    "row",
    [
        None,
        [],
        {"other": 1},
        {"good": "x"},
        {"good": True},
        {"empty": -1},
        {"stray": 3},
        {"meant": 3},
        {"hits": []},
        {"hits": {CUT: "x"}, "answers": {CUT: 1}},
        {"hits": {CUT: 1}},
        {"good": 10**400, "answers": {CUT: 1}},
    ],
)
def test_what_is_no_tally_is_none(row: Any) -> None:
    assert of_row(row) is None


CORPUS = ("billing/Invoice.java", "README.md", "a/x.py", "b/x.py", "a/b/y.py")


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("src/billing/Invoice.java", "billing/Invoice.java"),
        ("billing\\Invoice.java", "billing/Invoice.java"),
        ("C:\\shop\\billing\\Invoice.java", "billing/Invoice.java"),
        ("Invoice.java", "billing/Invoice.java"),
        ("b/y.py", "a/b/y.py"),
        ("shop/README.md", "README.md"),
        ("x.py", ""),
        ("c/x.py", ""),
        ("c/y.py", ""),
        ("", ""),
    ],
)
def test_which_file_a_wrong_path_meant(path: str, meant: str) -> None:
    assert meant_path(path, CORPUS) == meant


@pytest.mark.parametrize(
    ("tally", "note"),
    [
        (Tally(good=1, empty=1), "its only answer is empty"),
        (Tally(good=2, empty=2), "its answers to all 2 queries are empty"),
        (
            Tally(good=1, astray=1, stray="x", hits={UNKNOWN: 1}, answers={UNKNOWN: 1}),
            "1 of 1 answer names only files that are not in the corpus (first: x)",
        ),
        (
            Tally(good=2, stray="x", meant="a/x", hits={UNKNOWN: 1}, answers={UNKNOWN: 1}),
            "1 hit in 1 of 2 answers is in no file of the corpus (first: x is a/x in the corpus)",
        ),
        (
            Tally(good=2, hits={CLIPPED: 1}, answers={CLIPPED: 1}),
            "1 hit with lines beyond its file was clipped, in 1 of 2 answers",
        ),
        (
            Tally(good=1, hits={CUT: 2}, answers={CUT: 1}),
            "2 hits beyond the depth were cut off, in 1 of 1 answer",
        ),
    ],
)
def test_what_is_odd_is_told_in_the_singular_too(tally: Tally, note: str) -> None:
    run = RetrieverRun(Candidate("own", "own"), (), None, None, 0, "complete", "")
    one = Scored("own", False, run, None, latency_summary(()), tally)
    assert oddity_notes(one) == [f"own: {note}"]


ADAPTERS = """
from codebench import Hit, Retriever

class Lost(Retriever):
    def index(self, corpus): self.paths = sorted(table.path for table in corpus.tables)
    def search(self, text, k): return [Hit("src\\x1b/" + path) for path in self.paths]

class Mute(Lost):
    def search(self, text, k): return []

class Same(Lost):
    def search(self, text, k): return [Hit(self.paths[-1], 1, 10**6), Hit("x")]
"""


def test_silent_faults_are_told_under_the_table_and_in_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd.py").write_text(ADAPTERS)
    kinds = [word for kind in ("Lost", "Mute", "Same") for word in ("-r", f"odd.py:{kind}")]
    assert main(["run", "tiny", "--repeats", "1", "-k", "10", *kinds]) == 0
    out = capsys.readouterr().out
    astray = "answers name only files that are not in the corpus"
    assert {line for line in out.splitlines() if line.startswith("odd.py:") and ": " in line} >= {
        "odd.py:Lost: the same hits for all 24 queries",
        f"odd.py:Lost: 24 of 24 {astray} (first: src /README.md is README.md in the corpus)",
        "odd.py:Lost: 120 hits beyond the depth were cut off, in 24 of 24 answers",
        "odd.py:Mute: its answers to all 24 queries are empty",
        "odd.py:Same: the same hits for all 24 queries",
        "odd.py:Same: 24 hits in 24 of 24 answers are in no file of the corpus (first: x)",
        "odd.py:Same: 24 hits with lines beyond their file were clipped, in 24 of 24 answers",
    }
    (run,) = Path("results/local").glob("*-tiny")
    told = []
    for _ in ("from the columns", "from the answers"):
        assert main(["score", str(run), "--format", "json"]) == 0
        told.append(json.loads(capsys.readouterr().out)["retrievers"])
        for file in (run / "columns").glob("*"):
            file.unlink()
    assert told[0] == told[1]
    lost, mute = (next(one for one in told[0] if one["name"] == f"odd.py:{kind}") for kind in
                  ("Lost", "Mute"))  # fmt: skip
    assert lost["astray"] == mute["empty"] == 24
    assert lost["repairs"] == {
        "cut to depth": {"times": 120, "answers": 24},
        UNKNOWN: {"times": 240, "answers": 24},
    }
    assert "empty" not in lost
