"""Sweeps: lists become candidates, named readably; the best is chosen on dev, told on test."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from codebench.adapter import parse_reference
from codebench.cli.main import main
from codebench.errors import AdapterError, InputError
from codebench.home import builtin
from codebench.judging.scoring import score_run
from codebench.judging.sweeps import sweeps_of
from codebench.results import read_run
from codebench.runner.candidates import candidates, read_retrievers
from codebench.runner.sweep import written

if TYPE_CHECKING:
    from pathlib import Path

MINE = """
from __future__ import annotations
from codebench import Hit, Retriever

class Mine(Retriever):
    version = "1"
    def __init__(self, top: int = 1, name: str = "", deep: bool = False, paths: list[str] = (),
                 **rest) -> None:
        self.top = top
    def index(self, corpus):
        self.chunks = sorted(corpus.chunks(), key=lambda chunk: chunk.id)
    def search(self, text, k):
        return [Hit(c.path, c.start_line, c.end_line, c.name) for c in self.chunks[self.top:]][:k]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def names(folder: Path, *texts: str) -> list[str]:
    return [one.name for one in candidates(texts, folder)]


def test_lists_in_references_are_values(folder: Path) -> None:
    assert parse_reference("x:a=[1,2.5,true,'1',b c],d=3") == (
        "x",
        {"a": [1, 2.5, True, "1", "b c"], "d": 3},
    )
    assert parse_reference("x:a=[]")[1] == {"a": []}
    assert parse_reference("x:a='[1,2]'")[1] == {"a": "[1,2]"}
    assert parse_reference("x:u=http://[::1]:8/a")[1] == {"u": "http://[::1]:8/a"}


def test_a_sweep_on_the_command_line_is_a_candidate_a_value(folder: Path) -> None:
    found = candidates(["bm25:k1=[0.9,1.2,1.5]"], folder)
    assert [one.name for one in found] == ["bm25:k1=0.9", "bm25:k1=1.2", "bm25:k1=1.5"]
    assert [dict(one.options) for one in found] == [{"k1": 0.9}, {"k1": 1.2}, {"k1": 1.5}]
    assert {one.sweep for one in found} == {"bm25 over k1"}
    assert names(folder, "bm25:k1=[1,2],b=0.5") == ["bm25:b=0.5,k1=1", "bm25:b=0.5,k1=2"]
    assert names(folder, "bm25:k1=[1,2],b=[0,1]") == [
        "bm25:b=0,k1=1", "bm25:b=0,k1=2", "bm25:b=1,k1=1", "bm25:b=1,k1=2",
    ]  # fmt: skip
    assert names(folder, "bm25:k1=1,b=0.5", "bm25") == ["bm25:k1=1,b=0.5", "bm25"]
    assert candidates(["bm25"], folder)[0].sweep == ""


def test_values_are_written_as_the_command_line_takes_them(folder: Path) -> None:
    values = [1, 0.5, True, "a", "1", "true", "a,b", "it's", ""]
    for value in values:
        assert parse_reference(f"x:v={written(value)}")[1] == {"v": value}
    assert names(folder, "mine.py:Mine:name=['1',x],deep=[true,false]")[1] == (
        "mine.py:Mine:deep=true,name=x"
    )


def test_a_sweep_in_a_retrievers_file(folder: Path) -> None:
    file = folder / "mine.yaml"
    file.write_text(
        "retrievers:\n"
        "  - bm25:k1=[1,2]\n"
        "  - {use: bm25, options: {b: [0, 0.5], k1: 3}}\n"
        "  - {name: heavy, use: 'mine.py:Mine', options: {top: [1, 2], paths: [a, b]}}\n"
        "  - mine.py:Mine:top=[7,8]\n"
    )
    found = read_retrievers(file)
    assert [one.name for one in found] == [
        "bm25:k1=1", "bm25:k1=2", "bm25:k1=3,b=0", "bm25:k1=3,b=0.5", "heavy:top=1", "heavy:top=2",
        "mine.py:Mine:top=7", "mine.py:Mine:top=8",
    ]  # fmt: skip
    assert dict(found[4].options) == {"top": 1, "paths": ["a", "b"]}  # the parameter takes lists
    assert found[4].reference == f"{folder}/mine.py:Mine"
    assert names(folder, "mine.yaml:heavy") == ["heavy:top=1", "heavy:top=2"]
    assert names(folder, "mine.yaml:heavy:top=2") == ["heavy:top=2"]


def test_lists_that_cannot_be_swept_are_refused(folder: Path) -> None:
    with pytest.raises(AdapterError, match="bm25: the list of 'k1' is empty"):
        candidates(["bm25:k1=[]"], folder)
    with pytest.raises(AdapterError, match="225 points, more than 200"):
        candidates([f"bm25:k1={list(range(15))},b={list(range(15))}".replace(" ", "")], folder)
    with pytest.raises(AdapterError, match="k1=1: this retriever is asked for twice"):
        candidates(["bm25:k1=[1,1]"], folder)
    (folder / "bad.yaml").write_text("retrievers:\n  - {use: bm25, options: {k1: []}}\n")
    with pytest.raises(InputError, match=r"retrievers\[1\]: .*the list of 'k1' is empty"):
        read_retrievers(folder / "bad.yaml")


def split_suite(folder: Path) -> Path:
    """Write the suite tiny with a split: t01 and on to dev, the last ones to test."""
    suite = folder / "split"
    shutil.copytree(builtin("suites") / "tiny", suite)
    rows = [json.loads(line) for line in (suite / "queries.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        row["tags"]["split"] = "train" if number < 4 else "dev" if number < 14 else "test"
    (suite / "queries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return suite


def test_the_best_is_chosen_on_dev_and_told_on_test(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    words = ["-r", "mine.py:Mine:top=[0,20,40]", "--repeats", "1", "-o", str(folder / "results")]
    assert main(["run", str(split_suite(folder)), *words]) == 0
    shown = capsys.readouterr().out
    (run,) = (path for path in (folder / "results").iterdir() if path.is_dir())
    swept = [one.candidate for one in read_run(run).retrievers if one.candidate.sweep]
    assert [one.sweep for one in swept] == ["mine.py:Mine over top"] * 3
    (sweep,) = sweeps_of(score_run(run, ["RR@5"]))  # the primary measure, whatever was asked for
    assert sweep.measure.short == "nDCG-exp@10"
    own = {
        one.name: one.evaluation
        for one in score_run(run, [sweep.measure]).retrievers
        if one.evaluation and not one.floor
    }

    def mean(name: str, part: slice) -> float:
        values, weights = own[name].column(sweep.measure)[part], own[name].weights[part]
        return float((values * weights).sum() / weights.sum())

    for point in sweep.points:
        assert point.chosen.value == pytest.approx(mean(point.name, slice(4, 14)))
        assert point.told is not None
        assert point.told.value == pytest.approx(mean(point.name, slice(14, 24)))
    best = max(own, key=lambda name: mean(name, slice(4, 14)))
    assert sweep.best == best
    assert f"* {best}: chosen on dev (10 queries); report its" in shown
    assert "on test (10 queries)" in shown
    assert main(["score", str(run), "--format", "json"]) == 0
    (data,) = json.loads(capsys.readouterr().out)["sweeps"]
    assert (data["best"], data["chosen_on"], data["reported_on"]) == (best, "dev", "test")
    assert [point["options"] for point in data["points"]] == [{"top": n} for n in (0, 20, 40)]
    assert main(["score", str(run), "--format", "markdown"]) == 0
    assert "#### sweep of mine.py:Mine over top" in capsys.readouterr().out


def test_without_a_split_all_queries_choose_and_the_table_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    words = ["-r", "mine.py:Mine:top=[0,20]", "--repeats", "1", "-o", str(folder / "results")]
    assert main(["run", "tiny", *words, "-k", "5", "-m", "RR@5"]) == 0
    shown = capsys.readouterr().out
    assert "sweep of mine.py:Mine over top: RR(rel=2)@5" in shown  # too shallow for the primary
    assert "the suite has no split into dev and test" in shown
    assert "the best of 2 looks better here than it is" in shown
    assert "chosen on only 24 queries" in shown


def test_a_run_names_the_arms_of_a_fusion_beside_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    words = ["-r", "bm25", "-r", "hybrid:first=bm25,second=fts5", "--repeats", "1"]
    assert main(["run", "tiny", *words, "-o", str(folder / "results"), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["retrievers"]
    assert [one["name"] for one in rows if not one["floor"]] == [
        "bm25", "hybrid:first=bm25,second=fts5", "fts5",
    ]  # fmt: skip
    (folder / "beside.py").write_text(MINE + "    def beside(self): return ['no-such-retriever']\n")
    assert main(["run", "tiny", "-r", "beside.py:Mine", "-o", str(folder / "results")]) == 2
    assert "beside.py:Mine: 'no-such-retriever' is no retriever" in capsys.readouterr().err
