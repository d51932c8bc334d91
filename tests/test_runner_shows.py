"""What a run must show: failures cost what they spoiled, in every output."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codebench.results import read_run
from tests.misbehaving import ADAPTERS, Lab
from tests.test_runner_resume import PERFECT, write_perfect

DIES = (
    PERFECT
    + """
class Dies(Perfect):
    def search(self, text, k):
        import os
        if text == sorted(self.gold)[7]: os._exit(9)
        return super().search(text, k)
"""
)


def codebench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codebench", *words],
        capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip


@pytest.fixture(scope="module")
def done(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run the perfect retriever beside one that dies of one query."""
    folder = tmp_path_factory.mktemp("half")
    write_perfect(folder, DIES)
    names = [f"{folder}/perfect.py:{name}" for name in ("Perfect", "Dies")]
    words = [word for name in names for word in ("-r", name)]
    ran = codebench("run", "tiny", *words, "-o", str(folder / "out"), "--repeats", "1")
    return ran, next((folder / "out").glob("*-tiny"))


def scored(path: Path, *more: str) -> dict[str, dict[str, Any]]:
    told = codebench("score", str(path), "--format", "json", *more)
    assert told.returncode in {0, 3}, told.stderr
    data = json.loads(told.stdout)
    return {one["name"].rpartition(":")[2]: one for one in data["retrievers"]}


def test_a_crash_costs_one_answer_and_the_report_is_there(
    done: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    ran, path = done
    assert ran.returncode == 3
    assert "Perfect" in ran.stdout
    found = scored(path)
    assert found["Dies"]["answers"] == {
        "ok": 23, "timeout": 0, "crashed": 1, "error": 0, "invalid_output": 0,
    }  # fmt: skip
    assert found["Perfect"]["answers"]["ok"] == 24
    assert found["Dies"]["restarts"] <= 1
    assert re.search(
        r"perfect\.py:Dies: 1 crashed \(first: its process ended with status 9", ran.stdout
    )
    dies = read_run(path).retrievers[-1]
    assert [fall.reason for fall in dies.falls] == ["its process ended with status 9"]


HALVES = """
class Perfect(Healthy):
    def search(self, text, k): return [Hit("a.py", 1, 2, "f")]

class Half(Perfect):
    def search(self, text, k):
        if int(text) % 2: raise RuntimeError("not today")
        return super().search(text, k)
"""

NAMES = (
    "RR(rel=2)@5 RR(rel=3)@5 R(rel=2)@5 R(rel=3)@5 P(rel=3)@5 F1(rel=3)@5 AP(rel=2)@5 nDCG@5 "
    "nDCG(dcg='exp-log2')@5 Success(rel=3)@1 Acc(rel=2)@5 Rprec(rel=3) R(rel=3)@4000tokens Value@5"
).split()


def test_half_of_a_perfect_retriever_is_half_in_every_output(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    (tmp_path / "small.py").write_text(ADAPTERS + HALVES)
    path = lab.run("Perfect Half", [str(number) for number in range(40)]).path
    words = [word for name in NAMES for word in ("-m", name)]
    found = scored(path, *words)
    perfect, half = found["Perfect"]["measures"], found["Half"]["measures"]
    assert len(perfect) == len(NAMES)
    for name, figure in perfect.items():
        assert half[name]["n"] == figure["n"] == 40
        assert half[name]["value"] == pytest.approx(figure["value"] / 2, abs=1e-12), name
    assert perfect["nDCG@5"]["value"] == 1
    assert found["Half"]["answers"]["error"] == 20
    for form in ("table", "markdown", "csv"):
        told = codebench("score", str(path), "-m", "RR(rel=2)@5", "--format", form)
        assert told.returncode == 3, told.stderr
        row = next(line for line in told.stdout.splitlines() if "small.py:Half" in line)
        assert re.search(r"\b0\.50*\b", row), row
    page = codebench("compare", str(path), "-m", "RR(rel=2)@5", "--format", "json")
    assert '"n": 40' in page.stdout
