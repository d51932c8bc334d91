"""`codebench bisect`: a real adapter's history, walked without touching it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codebench.cli.main import main
from codebench.git import locate, place_in, walk
from codebench.results import MANIFEST
from tests.repositories import Repository

if TYPE_CHECKING:
    from pathlib import Path

ADAPTER = """
from codebench import Hit, Retriever

STEP = {step}

class Names(Retriever):
    version = "{step}"

    def index(self, corpus):
        self.chunks = [chunk for chunk in corpus.chunks() if chunk.kind != "module"]

    def search(self, text, k):
        words = set(text.lower().split())
        def score(chunk):
            name = (chunk.path + " " + chunk.name).lower()
            return {sign}sum(word in name for word in words)
        found = sorted(self.chunks, key=lambda chunk: (score(chunk), chunk.id))[:k]
        return [Hit(c.path, c.start_line, c.end_line) for c in found]
"""
BROKEN_AT = 3
UNLOADABLE = 1
QUERY = "t01"


def adapter(step: int) -> str:
    if step == UNLOADABLE:
        return "import no_such_module\n"
    return ADAPTER.format(step=step, sign="-" if step < BROKEN_AT else "")


class Project:
    """An adapter's repository with a run at its first and at its last commit."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.repository = Repository(folder / "tool")
        self.commits = []
        self.runs = []
        # A folder that would shadow codebench, were the current directory on the path.
        shadow: dict[str, str | bytes | None] = {"codebench/__init__.py": "raise SystemExit(7)\n"}
        for step in range(6):
            files = {"lib/mine.py": adapter(step), **(shadow if step == 0 else {})}
            self.commits.append(self.repository.commit(f"step {step} | <b>", files))
            if step in {0, 5}:
                patch.chdir(self.repository.path)
                self.runs.append(self._run())
        self.before = self.repository.contents()

    def _run(self) -> Path:
        results = self.folder / "results"
        known = set(results.glob("2*"))
        words = "run tiny -r lib/mine.py:Names --repeats 1 -o".split()
        assert main([*words, str(results)]) == 0
        (run,) = set(results.glob("2*")) - known
        return run.rename(self.folder / f"run{len(self.runs)}")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("bisect")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODEBENCH_CACHE", str(folder / "cache"))
        return Project(folder, patch)


def told(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    capsys.readouterr()
    assert main(["bisect", *map(str, words)]) == code, capsys.readouterr().err
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def ends(project: Project) -> list[object]:
    good, bad = project.runs
    return ["--good", good, "--bad", bad]


def test_the_first_bad_commit_is_found(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.repository.path)
    data: Any = json.loads(
        told(capsys, QUERY, *ends(project), "-m", "RR(rel=1)@10", "--format", "json"),
        parse_constant=pytest.fail,
    )
    assert data["first_bad"] == project.commits[BROKEN_AT]
    (found,) = data["found"]
    assert (found["subject"], found["files"]) == (f"step {BROKEN_AT} | <b>", ["lib/mine.py"])
    assert data["commits"] == 5
    outcomes = {step["commit"]: step["outcome"] for step in data["steps"]}
    assert outcomes[project.commits[0]] == "good"
    assert outcomes[project.commits[5]] == "bad"
    assert outcomes[project.commits[BROKEN_AT]] == "bad"
    assert outcomes[project.commits[BROKEN_AT - 1]] == "good"
    assert len(outcomes) == len(data["steps"]) <= 6
    assert project.repository.contents() == project.before
    assert project.repository.git("status", "--porcelain") == ""


def test_commits_that_cannot_be_judged_are_skipped_and_named(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a good and a bad commit lies one that does not load: either may be to blame."""
    monkeypatch.chdir(project.repository.path)
    branch = Repository(project.folder / "other")
    commits = [
        branch.commit(f"other {step}", {"lib/mine.py": adapter(step)})
        for step in (0, UNLOADABLE, 5)
    ]
    words = [*ends(project), "-m", "R(rel=3)@10", "--adapter", branch.path / "lib/mine.py:Names"]
    words += ["--good-commit", commits[0], "--bad-commit", commits[2]]
    out = told(capsys, QUERY, *words, "--format", "markdown")
    assert "the first bad commit is one of 2" in out
    assert f"perhaps: {commits[1]}" in out
    assert f"perhaps: {commits[2]}" in out
    assert "no\\_such\\_module" in out
    assert "skipped" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([QUERY], "did not get worse by R(rel=2)@1"),
        (["t0x"], "has no query 't0x'"),
        ([QUERY, "-r", "other"], "holds no retriever 'other'"),
        ([QUERY, "--adapter", "none.py:X"], "there is no file 'none.py'"),
        ([QUERY, "--good-commit", "deadbeef"], "deadbeef names no commit"),
    ],
)
def test_what_cannot_be_bisected(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(project.repository.path)
    good, bad = project.runs
    same = [] if "did not" not in message else ["-m", "R(rel=2)@1"]
    order = [bad, good] if same else [good, bad]
    given = [*words, "--good", order[0], "--bad", order[1], *same]
    assert message in told(capsys, *given, code=2)


def test_ends_that_are_no_ends(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.repository.path)
    base = [QUERY, *ends(project), "-m", "R(rel=3)@10"]
    first, last = project.commits[0], project.commits[-1]
    assert "no commit lies between" in told(capsys, *base, "--good-commit", last, code=2)
    turned = ["--good-commit", last, "--bad-commit", first]
    assert "does not lie before" in told(capsys, *base, *turned, code=2)
    wrong = ["--bad-commit", project.commits[2]]
    assert f"at {project.commits[2][:12]} the query is not bad" in told(
        capsys, *base, *wrong, code=2
    )
    monkeypatch.chdir(project.folder)
    assert "name it as --adapter" in told(capsys, *base, code=2)


def test_a_run_that_does_not_say_its_commit(
    project: Project,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import shutil

    monkeypatch.chdir(project.repository.path)
    good, bad = project.runs
    copy = tmp_path / "copy"
    shutil.copytree(good, copy)
    manifest = json.loads((copy / MANIFEST).read_text())
    for row in manifest["retrievers"]:
        row.pop("checkout", None)
    (copy / MANIFEST).write_text(json.dumps(manifest))
    words = [QUERY, "--good", copy, "--bad", bad, "-m", "R(rel=3)@10"]
    assert "does not say at which commit" in told(capsys, *words, code=2)


def test_a_step_that_breaks_blames_no_commit(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from codebench.bisecting import bisection

    monkeypatch.chdir(project.repository.path)
    boot = bisection._BOOT.replace(
        "status = main(Path(sys.argv[1]))", "raise RuntimeError('out of luck')"
    )
    monkeypatch.setattr(bisection, "_BOOT", boot)
    error = told(capsys, QUERY, *ends(project), "-m", "R(rel=3)@10", code=2)
    assert "the bisection ended early: RuntimeError('out of luck')" in error
    monkeypatch.setattr(bisection, "_BOOT", "raise SystemExit(1)")
    error = told(capsys, QUERY, *ends(project), "-m", "R(rel=3)@10", code=2)
    assert "was not judged" in error


def test_a_walk_leaves_nothing(project: Project, tmp_path: Path) -> None:
    file = project.repository.path / "lib" / "mine.py"
    assert place_in(file) == "lib/mine.py"
    folder = tmp_path / "walk"
    with walk(locate(file.parent), folder) as own:
        own.check_out(project.commits[0])
        assert (folder / "lib" / "mine.py").read_text() == adapter(0)
        assert own.between(project.commits[3], project.commits[5]) == (
            project.commits[5],
            project.commits[4],
        )
        assert own.is_before(project.commits[0], project.commits[5])
        assert not own.is_before(project.commits[5], project.commits[0])
        assert own.line(project.commits[0]).files == ("codebench/__init__.py", "lib/mine.py")
    assert not folder.exists()
    assert project.repository.contents() == project.before
