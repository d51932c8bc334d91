"""A suite of several suites is run as one, and told apart again."""

from __future__ import annotations

import json
import shutil
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from codebench.cli.main import main
from codebench.errors import ResultsError
from codebench.home import builtin
from codebench.judging.scoring import score_run
from codebench.judging.union import union
from codebench.measures.latency import LoadStep
from codebench.results import Fall
from codebench.results.several import member_runs, read_several
from tests.repositories import grown


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two suites of the built-in one's corpus: its first and its last questions."""
    tiny = builtin("suites") / "tiny"
    folder = tmp_path_factory.mktemp("several") / "pair"
    lines = (tiny / "queries.jsonl").read_text("utf-8").splitlines(keepends=True)
    for name, own in (("first", lines[:10]), ("last", lines[10:])):
        shutil.copytree(tiny, folder / name)
        (folder / name / "queries.jsonl").write_text("".join(own), "utf-8")
    (folder / "suite.yaml").write_text("name: pair\nmembers: [first, last]\n", "utf-8")
    return folder


@dataclass(frozen=True)
class Ran:
    """Two runs of the pair: what the first told as JSON, and the second as a table."""

    data: dict[str, Any]
    table: str

    @property
    def runs(self) -> list[Path]:
        """Their folders, the first before the second."""
        folders = Path(self.data["run"]).parent.glob("*-pair*")
        return sorted(folders, key=lambda path: path != Path(self.data["run"]))


@pytest.fixture(scope="module")
def ran(pair: Path) -> Ran:
    """Run the pair twice, once for all tests; nobody changes the runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODEBENCH_CACHE", str(pair.parent / "cache"))
        told = []
        for form in ("json", "table"):
            with redirect_stdout(StringIO()) as out:
                assert main([*_words(pair, "-o", pair.parent / "results"), "--format", form]) == 0
            told.append(out.getvalue())
    return Ran(json.loads(told[0]), told[1])


def _words(*words: object) -> list[str]:
    return ["run", *map(str, words), "-r", "bm25", "--repeats", "1"]


def read(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*map(str, words), "--format", "json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def measures(data: dict[str, Any]) -> dict[str, Any]:
    return {row["name"]: row["measures"] for row in data["retrievers"]}


def test_the_members_together_give_the_figures_of_the_whole(
    capsys: pytest.CaptureFixture[str], ran: Ran, tiny_run: Path
) -> None:
    together = ran.data
    whole = read(capsys, "score", tiny_run)
    assert measures(together)["bm25"] == measures(whole)["bm25"]
    assert together["suite"]["name"] == "pair"
    assert together["suite"]["queries"] == whole["suite"]["queries"]
    (bm25,) = [row for row in together["retrievers"] if row["name"] == "bm25"]
    cut = {one["value"]: one["queries"] for one in bm25["slices"]["member"]}
    assert cut == {"first": 10, "last": whole["suite"]["queries"] - 10}


def test_it_is_scored_and_compared_again_from_its_folder(
    capsys: pytest.CaptureFixture[str], ran: Ran
) -> None:
    folder, again = ran.runs
    assert measures(read(capsys, "score", folder)) == measures(ran.data)
    compared = read(capsys, "compare", folder, again)
    assert {row["verdict"] for row in compared["differences"]} == {"undecided"}


def test_it_is_listed_told_over_time_and_a_baseline_in_a_folder(
    capsys: pytest.CaptureFixture[str], ran: Ran
) -> None:
    folder, again = map(Path, ran.runs)
    assert main(["list", "runs", "-o", str(folder.parent), "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)["runs"]
    assert {one["run"] for one in listed} >= {str(folder), str(again)}
    (one,) = [one for one in listed if one["run"] == str(folder)]
    assert (one["suite"], one["queries"], one["retrievers"], one["state"]) == (
        "pair",
        24,
        ["bm25"],
        "complete",
    )
    assert not one["problem"]
    told = read(capsys, "history", folder.parent, "-m", "R(rel=3)@10", "--suite", "pair")
    (line,) = told["retrievers"]
    assert [point["verdict"] for point in line["runs"]] == ["", "undecided"]
    judged = read(capsys, "gate", again, "--baseline", folder.parent)
    assert {check["outcome"] for check in judged["checks"]} == {"passed"}


def test_the_table_has_a_row_for_each_member(ran: Ran) -> None:
    assert ran.table.startswith("pair: 24 queries")
    rows = [line.split()[:3] for line in ran.table.splitlines()]
    assert ["first", "10", "bm25"] in rows
    assert ["last", "14", "bm25"] in rows


def test_costs_are_those_of_all_members(ran: Ran) -> None:
    scored = score_run(ran.runs[0], ["nDCG@10"], ["bm25"])
    (first, one), (last, other) = scored.members
    before, after = one.retrievers[0], other.retrievers[0]
    assert before.run.index is not None
    assert after.run.index is not None
    fall = Fall("it crashed")
    skipped = replace(
        before.run,
        state="skipped",
        index=replace(before.run.index, seconds=0.5, built_seconds=60.0),
        falls=(fall,),
        left=1,
        loads=(LoadStep(2, 0, 1.5, (10, 20), failed=1), LoadStep(0, 9, 1, (5,))),
        checked=2,
        changed=("q",),
    )
    failed = replace(
        after.run,
        state="failed",
        reason="it fell",
        falls=(fall,),
        loads=(LoadStep(2, 0, 2.5, (30,), censored=1),),
        checked=3,
    )
    parts = [
        (first, replace(one, retrievers=(replace(before, run=skipped),))),
        (last, replace(other, retrievers=(replace(after, run=failed),))),
    ]
    whole = union(scored.run.path, {"name": "pair"}, parts, whole=True).retrievers[0].run
    assert (whole.state, whole.reason) == ("failed", "last: it fell")
    assert whole.index is not None
    assert whole.index.to_build == 60.0 + after.run.index.seconds
    assert whole.loads == (
        LoadStep(2, 0, 4.0, (10, 20, 30), failed=1, censored=1),
        LoadStep(0, 9, 1, (5,)),
    )
    assert (whole.falls, whole.left) == ((fall, fall), 1)
    assert (whole.checked, whole.changed) == (5, ("first/q",))


def test_a_member_that_was_never_begun_leaves_the_run_incomplete(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, pair: Path, ran: Ran
) -> None:
    folder = tmp_path / "results" / ran.runs[0].name
    shutil.copytree(ran.runs[0], folder)
    manifest = read_several(folder)
    assert manifest is not None
    assert manifest["ended"]
    (folder / "members" / "last").rename(folder / "members" / "gone")
    scored = score_run(folder, ["nDCG@10"])
    assert not scored.run.complete
    assert len(scored.suite.queries) == 10
    resumed = read(capsys, *_words(pair, "-o", tmp_path / "results", "--resume"))
    assert resumed["run"] == str(folder)
    assert resumed["complete"]
    assert resumed["suite"]["queries"] == 24


def test_a_folder_of_several_without_any_run_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(
        '{"format": 1, "kind": "several suites", "name": "x", "members": ["a"], "ended": false}'
    )
    with pytest.raises(ResultsError, match="none of its suites was begun"):
        member_runs(tmp_path)


FOLLOWING = """
from codebench import Hit, Retriever

class Following(Retriever):
    def index(self, corpus):
        self.paths = {table.path for table in corpus.tables}
    def update(self, corpus, changed_paths):
        self.paths = {p for p in self.paths | set(changed_paths) if (corpus.path / p).exists()}
        return True
    def search(self, text, k):
        return [Hit(path) for path in sorted(self.paths)[:k]]
"""


def test_epochs_are_run_and_updates_measured_from_each_snapshot_to_the_next(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    repository = grown(tmp_path / "shop", edits=8)
    suite = tmp_path / "suite"
    assert main(["suite", "build", str(repository.path), "-o", str(suite), "--mode=epochs=2"]) == 0
    (tmp_path / "mine.py").write_text(FOLLOWING)
    capsys.readouterr()
    words = ["run", str(suite), "-r", f"{tmp_path / 'mine.py'}:Following", "-r", "bm25"]
    words += ["--repeats", "1", "--updates", "-o", str(tmp_path / "results")]
    assert main([*words, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    rows = {row["retriever"].rpartition(":")[2]: row for row in data["updates"]}
    assert (rows["Following"]["from"], rows["Following"]["to"]) == ("epoch-1", "epoch-2")
    assert rows["Following"]["update_seconds"] >= 0
    assert (rows["Following"]["different"], rows["Following"]["asked"]) == (0, 8)
    assert rows["Following"]["changed"] == 2
    assert rows["bm25"]["update_seconds"] is None
    assert rows["bm25"]["rebuild_seconds"] > 0
    assert main(["score", data["run"]]) == 0
    assert "epoch-1 to epoch-2" in capsys.readouterr().out


def test_updates_need_several_snapshots(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "tiny", "--updates"]) == 2
    assert "--updates needs a suite of several snapshots" in capsys.readouterr().err
