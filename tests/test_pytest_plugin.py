"""The pytest plugin: what a test of a retriever looks like, and how it fails."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from codebench.cli.main import main
from tests.test_layers import HEAVY, loaded_by

pytest_plugins = ("pytester",)

ROOT = Path(__file__).parents[1]
ADAPTER = """
from codebench import Retriever, Hit

class Names(Retriever):
    version = "1"
    def __init__(self, most: int = 50) -> None:
        self.most = most
    def index(self, corpus):
        self.chunks = [c for c in corpus.chunks() if c.kind != "module"]
    def search(self, text, k):
        words = set(text.lower().split())
        def score(chunk):
            name = (chunk.path + " " + chunk.name).lower()
            return -sum(word in name for word in words)
        found = sorted(self.chunks, key=lambda chunk: (score(chunk), chunk.id))
        return [Hit(c.path, c.start_line, c.end_line) for c in found[: min(k, self.most)]]
"""


class Project:
    """A retriever's own project with its tests."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        (pytester.path / "my_tool.py").write_text(ADAPTER)

    def test(self, body: str, *words: str) -> pytest.RunResult:
        self.pytester.makepyfile(test_gate=f"from pathlib import Path\n{body}")
        installed = {point.name for point in entry_points(group="pytest11")}
        plugin = [] if "codebench" in installed else ["-p", "codebench.pytest_plugin"]
        return self.pytester.runpytest_subprocess(*plugin, "-p", "no:cacheprovider", *words)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(pytester, monkeypatch)


def test_limits_kept_and_broken_with_one_run_for_all_tests(project: Project) -> None:
    result = project.test(
        """
import my_tool
def test_own(codebench_gate):
    gate = codebench_gate("tiny", "my_tool.py:Names", limits=["R(rel=1)@10:>=0.1", "failed:0"])
    assert gate.exit_code == 0 and len(gate.checks) == 2
def test_class(codebench_gate, codebench_runs):
    gate = codebench_gate("tiny", my_tool.Names, limits=["failed:0"])
    assert gate.candidate.name == "my_tool.py:Names"
    assert len(codebench_runs._known) == 1
    gate = codebench_gate("tiny", my_tool.Names, options={"most": 1}, limits=["failed:0"])
    assert gate.candidate.name == "my_tool.py:Names:most=1"
    assert len(codebench_runs._known) == 2
def test_broken(codebench_gate):
    codebench_gate("tiny", "my_tool.py:Names:most=1", limits=["R(rel=3)@10:>=0.99", "failed:0"])
"""
    )
    result.assert_outcomes(passed=2, failed=1)
    out = result.stdout.str()
    assert "gate failed: my_tool.py:Names:most=1 of " in out
    assert re.search(r"R\(rel=3\)@10:>=0\.99 +failed", out)
    assert re.search(r"failed:0 +passed", out)
    assert "the run: " in out
    assert "Traceback" not in out
    assert "pytest_plugin.py" not in out


def test_against_a_baseline(project: Project) -> None:
    root = project.pytester.path
    words = ["run", "tiny", "-r", "my_tool.py:Names", "-o", "local", "--repeats", "1"]
    for word in (words, ["gate", "RUN", "--accept"]):
        (found,) = [p.name for p in root.glob("local/2*")] or [""]
        assert main([part.replace("RUN", f"local/{found}") for part in word]) == 0
    (root / "gate.yaml").write_text("limits: [R(rel=3)@10:-0.02, failed:0]\n")
    body = """
def test_gate(codebench_gate):
    codebench_gate("tiny", "my_tool.py:Names", baseline="results/tiny", limits=Path("gate.yaml"))
"""
    project.test(body).assert_outcomes(passed=1)
    tool = root / "my_tool.py"
    tool.write_text(tool.read_text().replace("-sum", "sum"))
    undecided = body.replace("test_gate", "test_wide").replace(
        'Path("gate.yaml")', '["R(rel=3)@10:-0.33"]'
    )
    result = project.test(body + undecided)
    result.assert_outcomes(failed=1, passed=1, warnings=1)
    out = result.stdout.str()
    assert re.search(r"R\(rel=3\)@10:-0\.02 +failed", out)
    assert "lost most at t01: 1.000 -> 0.000, where is an expired session token rejected" in out
    assert "UndecidedWarning: R(rel=3)@10 0.400 -> 0.080" in out


WRONG = {
    '"tiny", "nowhere.py:X", limits=["failed:0"]': "there is no file 'nowhere.py'",
    '"tiny", "my_tool.py:Names", limits=["nDCG@10:3", "what"]': "write how far it may fall",
    '"tiny", "my_tool.py:Names"': "needs a baseline",
    '"tiny", "my_tool.py:Names", baseline="no"': "there is no such baseline",
    '"tine", "my_tool.py:Names", limits=["failed:0"]': "tine",
    '"tiny", "my_tool.py:Names", limits=Path("no.yaml")': "no.yaml",
    '"tiny", "my_tool.py:Names", options={"a": 1}, limits=["failed:0"]': "after a colon",
}


def test_what_is_wrong_is_said_without_a_traceback(project: Project) -> None:
    tests = [
        f"def test_{at}(codebench_gate):\n    codebench_gate({call})\n"
        for at, call in enumerate(WRONG)
    ]
    result = project.test("\n".join(tests))
    result.assert_outcomes(failed=len(WRONG))
    out = result.stdout.str()
    for at, words in enumerate(WRONG.values()):
        told = out.partition(f"_ test_{at} _")[2].partition("_ test_")[0]
        assert "codebench: " in told
        assert words in told
    assert "Traceback" not in out
    assert "another exception" not in out
    assert "pytest_plugin.py" not in out


def test_until_it_is_used_nothing_is_loaded() -> None:
    before = loaded_by("import site; site.main(); import pytest")
    after = loaded_by("import site; site.main(); import codebench.pytest_plugin")
    own = {name for name in after if name.startswith("codebench")}
    assert own == {"codebench", "codebench.pytest_plugin"}
    assert not (after - before) & HEAVY
