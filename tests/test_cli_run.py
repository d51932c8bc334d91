"""`codebench run` as a person types it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codebench.cli import run as run_verb
from codebench.cli.main import main
from codebench.home import builtin
from codebench.judging.scoring import score_run
from codebench.measures.names import DEFAULT, EXTRA
from tests.repositories import Repository, grown


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


Outcome = tuple[int, str, str]


def codebench(capsys: pytest.CaptureFixture[str], *words: object) -> Outcome:
    status = main([str(word) for word in words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def as_json(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    status, out, _ = codebench(capsys, *words, "--format", "json")
    assert status == 0
    data: dict[str, Any] = json.loads(out, parse_constant=pytest.fail)
    return data


QUICK = ("-r", "bm25", "--repeats", "1")


def test_the_table_of_a_repository(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, here: Path
) -> None:
    repository = grown(tmp_path / "shop")
    status, out, err = codebench(capsys, "run", repository.path, *QUICK)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("shop at ")
    assert "6 queries, 3 files" in lines[0]
    header = lines[2].split()
    assert header[:4] == ["retriever", "RR(rel=2)@10", "R(rel=2)@10", "R(rel=3)@10"]
    names = [line.split()[0] for line in lines[4:] if line][:6]
    assert names == ["bm25", "floors", "random", "path-match", "recent", "right-file"]
    assert "only 6 queries: the intervals are wide" in out
    assert "6 commits after the snapshot" in out
    folder = out.split("results: ")[1].split()[0]
    assert (here / folder / "suite/queries.jsonl").is_file()
    assert f"next: codebench report {folder} -o report.html" in out
    assert (here / "results/local/.gitignore").read_text() == "*\n"


def test_a_run_of_several_is_compared_or_reported_next(
    tiny_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored = score_run(tiny_run, (*DEFAULT, *EXTRA))
    run_verb._print(scored, (), "table", ())
    assert capsys.readouterr().out.splitlines()[-2:] == [
        f"next: codebench compare {tiny_run}",
        f"next: codebench report {tiny_run} -o report.html",
    ]


def test_the_json_has_the_promised_shape(capsys: pytest.CaptureFixture[str]) -> None:
    data = as_json(capsys, "run", "tiny", *QUICK)
    assert set(data) >= {"suite", "run", "machine", "retrievers"}
    assert data["suite"]["name"] == "tiny"
    assert data["suite"]["digest"].startswith("sha256:")
    rows = {row["name"]: row for row in data["retrievers"]}
    bm25 = rows["bm25"]
    assert bm25["floor"] is False
    assert rows["right-file"]["floor"] is True
    assert bm25["answers"] == {
        "ok": data["suite"]["queries"],
        **dict.fromkeys(("timeout", "crashed", "error", "invalid_output"), 0),
    }
    figure = bm25["measures"]["nDCG@10"]
    assert 0 < figure["low"] < figure["value"] < figure["high"] <= 1
    assert set(bm25["latency_ms"]) >= {"p50", "p95", "p99", "first"}
    assert set(bm25["index"]) >= {"seconds", "bytes", "peak_rss_bytes"}


def test_the_same_command_twice_gives_the_same_quality_to_the_last_digit(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    repository = grown(tmp_path / "shop")
    first, second = (as_json(capsys, "run", repository.path, "--repeats", "1") for _ in range(2))
    assert first["suite"] == second["suite"]
    assert [row["measures"] for row in first["retrievers"]] == [
        row["measures"] for row in second["retrievers"]
    ]


def test_measures_and_depth_are_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    data = as_json(capsys, "run", "tiny", *QUICK, "-k", "5", "-m", "nDCG@5", "-m", "MRR@5")
    assert set(data["retrievers"][0]["measures"]) == {"nDCG@5", "RR(rel=2)@5"}
    shallow = as_json(capsys, "run", "tiny", *QUICK, "-k", "5")
    assert list(shallow["retrievers"][0]["measures"]) == [
        "RR(rel=2)@5",
        "R(rel=2)@5",
        "R(rel=3)@5",
        "nDCG@5",
        "nDCG(dcg='exp-log2')@5",
        "Success(rel=3)@1",
        "RR(rel=3)@5",
        "Tokens@32000",
    ]


def test_targets_that_nothing_can_reach_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "suite"
    shutil.copytree(builtin("suites") / "tiny", folder)
    text = (folder / "queries.jsonl").read_text("utf-8")
    first = json.loads(text.partition("\n")[0])["targets"][0]["chunk"]
    (folder / "queries.jsonl").write_text(text.replace(f'"{first}"', f'"{first}x"'), "utf-8")
    status, out, _ = codebench(capsys, "run", folder, *QUICK)
    assert status == 0
    assert f"targets are not in the corpus, and no answer can reach them (first: {first}x)" in out
    assert f"codebench suite check {folder} names them" in out
    assert "not in the corpus" not in codebench(capsys, "run", "tiny", *QUICK)[1]


def test_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = codebench(capsys, "run", "tiny", *QUICK, "--format", "markdown")
    assert status == 0
    assert out.startswith("### tiny: ")
    assert "\n| retriever " in out


def test_an_own_adapter_runs_as_a_built_in_one_does(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    (here / "mine.py").write_text(
        "from codebench import Hit, Retriever\n\n"
        "class Mine(Retriever):\n"
        "    version = '7'\n"
        "    def index(self, corpus):\n"
        "        self.paths = [table.path for table in corpus.tables]\n"
        "    def search(self, text, k):\n"
        "        print('noise')\n"
        "        return [Hit(path) for path in self.paths[:k]]\n"
    )
    data = as_json(capsys, "run", "tiny", "-r", "mine.py:Mine", "--repeats", "1")
    (mine,) = [row for row in data["retrievers"] if not row["floor"]]
    assert (mine["name"], mine["version"]) == ("mine.py:Mine", "7")
    assert mine["measures"]["R(rel=3)@10"]["value"] < mine["measures"]["R(rel=2)@10"]["value"]


def test_failed_answers_are_counted_and_end_with_3(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    (here / "half.py").write_text(
        "from codebench import Hit, Retriever\n\n"
        "class Half(Retriever):\n"
        "    def index(self, corpus): pass\n"
        "    def search(self, text, k):\n"
        "        if len(text) % 2: raise ValueError('odd')\n"
        "        return []\n"
    )
    status, out, _ = codebench(capsys, "run", "tiny", "-r", "half.py:Half", "--repeats", "1")
    assert status == 3
    assert "error (first: ValueError: odd" in out


def test_a_run_that_nobody_answered_ends_with_2_and_is_kept(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    (here / "bad.py").write_text(
        "from codebench import Retriever\n\n"
        "class Bad(Retriever):\n"
        "    def index(self, corpus): raise ValueError('no room')\n"
        "    def search(self, text, k): return []\n"
    )
    status, out, err = codebench(capsys, "run", "tiny", "-r", "bad.py:Bad", "--repeats", "1")
    assert status == 2
    (row,) = [line for line in out.splitlines() if line.startswith("bad.py:Bad  ")]
    assert set(row.split()[1:-1]) == {"-"}
    assert row.endswith("failed")
    assert ["floors"] in [line.split() for line in out.splitlines()]
    assert "±1.00" not in out
    assert "next:" not in out
    why = "indexing raised ValueError: no room"
    assert (out.count(why), err.count(why)) == (1, 0)
    assert "no retriever answered anything; the notes under the table say why" in err
    (run,) = (here / "results" / "local").glob("*-tiny")
    status, out, again = codebench(capsys, "score", run)
    assert (status, out.count("bad.py:Bad failed")) == (2, 1)
    assert again.endswith(err.rpartition("answered anything")[2])
    status, out, err = codebench(capsys, "score", run, "--format", "csv")
    assert (status, why in out, err.count(why)) == (2, False, 1)


def test_who_was_asked_for_by_name_and_cannot_run_ends_a_run_with_3(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    script = here / "find.sh"
    script.write_text("#!/bin/sh\n")
    argv = '["{here}/find.sh", --, "{query}"]'
    entry = f"{{name: find, use: command, options: {{argv: {argv}}}}}"
    (here / "tools.yaml").write_text(f"retrievers: [{entry}]\n")
    words = ("run", "tiny", "-r", "tools.yaml", *QUICK)
    status, out, _ = codebench(capsys, *words)
    assert status == 3
    assert f"find skipped: the program {script} is there but not executable; chmod +x" in out
    assert "next: codebench report results" in out


def adapters(folder: Path) -> None:
    (folder / "broken.py").write_text("import nothing_of_that_name\n")
    (folder / "empty.py").write_text("x = 1\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "nowhere"], "nowhere: no such folder, suite or repository"),
        (["run", "tiny", "-r", "bm52"], "bm25"),
        (["run", "tiny", "-r", "bm25:k2=1"], "k2"),
        (["run", "tiny", "-r", "bm25:k1=much"], "k1"),
        (["run", "tiny", "-r", "gone.py:Mine"], "gone.py"),
        (["run", "tiny", "-r", "broken.py:Mine"], "nothing_of_that_name"),
        (["run", "tiny", "-r", "empty.py:Mine"], "Mine"),
        (["run", "tiny", "-k", "5", "-m", "nDCG@10"], "nDCG@10"),
        (["run", "tiny", "-m", "nDGC@10"], "nDCG"),
        (["run", "tiny", "-o", "file/results"], "file"),
        (["walk", "tiny"], "no verb 'walk'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_ends_with_2(
    capsys: pytest.CaptureFixture[str], here: Path, words: list[str], message: str
) -> None:
    adapters(here)
    (here / "file").write_text("")
    status, out, err = codebench(capsys, *words)
    assert status == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("codebench: ")
    assert message in err


def test_an_empty_repository(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    empty = Repository(tmp_path / "empty")
    status, _, err = codebench(capsys, "run", tmp_path / "empty")
    assert status == 2
    assert err == (
        f"codebench: {tmp_path / 'empty'}: the repository has no commit yet; commit something, "
        "or choose another\n"
    )
    empty.commit("first things", {"a.py": "x = 1\n"})
    assert (
        f"codebench suite build {empty.path} --questions questions.yaml -o suites/NAME"
        in codebench(capsys, "run", empty.path)[2]
    )


def test_only_results_are_created_in_the_repository(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = grown(tmp_path / "shop")
    before = repository.contents()
    monkeypatch.chdir(repository.path)
    status, _, _ = codebench(capsys, "run", ".", *QUICK)
    assert status == 0
    after = repository.contents()
    assert {name: after[name] for name in before} == before
    assert all(name.startswith("results/local/") for name in after.keys() - before.keys())
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)], check=False
    )
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount a file system")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "codebench", "run", "tiny", "-o", str(small / "results")],
            check=False,
            capture_output=True,
            text=True,
        )
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "No space left on device" in done.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m codebench --help | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == ["usage: codebench VERB ...", "0"]
    assert done.stderr == ""


def test_the_console_script_and_the_module_are_the_same_program() -> None:
    outputs = [
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for command in (
            [sys.executable, "-m", "codebench", "--version"],
            [str(Path(sys.executable).parent / "codebench"), "--version"],
        )
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].startswith("codebench 0.")
