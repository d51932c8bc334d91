"""Retrievers described in YAML alone, measured end to end over the suite tiny."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codebench.adapter import Unavailable, load, make, placed
from codebench.cli.main import main
from codebench.errors import AdapterError
from codebench.home import builtin
from codebench.plain_yaml import dump_yaml
from codebench.results import read_run
from codebench.runner.candidates import candidates, read_retrievers
from codebench.runner.plan import RunSettings
from codebench.runner.supervise import describe
from codebench.suite import read_suite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codebench.results import RetrieverRun

TOOLS = Path(__file__).parent / "tools"
SCRIPTS = Path(sysconfig.get_path("scripts"))

OUTPUT = {
    "hits": "Result.Hits[]",
    "fields": {"path": "at.file", "line": "at.from"},
    "zero_based": True,
}


def entries(service: str) -> list[dict[str, Any]]:
    """Return one of each kind; what is not installed is skipped by the run."""
    mcp, ty = str(SCRIPTS / "code-index-mcp"), str(SCRIPTS / "ty")
    setup = [{"tool": "set_project_path", "arguments": {"path": "{corpus}"}}]
    lost = [{"tool": "set_project_path", "arguments": {"path": "{corpus}/gone"}}]
    arguments = {"pattern": "{alternatives}", "regex": True, "max_results": 500}
    pattern = r"^(?P<score>\d+) (?P<path>.+):(?P<line>\d+)$"
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "words": ("command", {
            "argv": ["perl", "{here}/word_search.pl", "--", "{query}"],
            "output": {"format": "pattern", "pattern": pattern},
        }),
        "staying": ("command", {
            "argv": ["perl", "{here}/word_search.pl", "--stay"], "persistent": True,
        }),
        "shop": ("http", {"url": f"{service}/search?q={{query}}&k={{k}}", "output": OUTPUT}),
        "vectors": ("embeddings", {
            "url": f"{service}/v1/embeddings", "model": "words", "cache": "{here}/vectors",
        }),
        "code-index": ("mcp", {
            "argv": [mcp], "setup": setup, "tool": "search_code_advanced",
            "arguments": arguments, "output": {"fold": True}, "version": "of the test",
        }),
        "lost": ("mcp", {
            "argv": [mcp], "setup": lost, "tool": "search_code_advanced", "arguments": arguments,
        }),
        "summary": ("mcp", {
            "argv": [mcp], "setup": setup, "tool": "get_file_summary",
            "arguments": {"file_path": "api/auth.py {query}"},
        }),
        "symbols": ("lsp", {"argv": [ty, "server"], "version": [ty, "--version"]}),
        "absent": ("command", {"argv": ["nope-nope", " {query}"], "install": "npm install nope"}),
    }  # fmt: skip
    return [{"name": name, "use": use, "options": o} for name, (use, o) in kinds.items()]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service in a process of its own, over a checkout of its own."""
    folder = tmp_path_factory.mktemp("service")
    corpus = shutil.copytree(builtin("suites") / "tiny" / "corpus", folder / "elsewhere")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = str(folder / "log.jsonl")
    words = [sys.executable, str(TOOLS / "service.py"), str(port), str(corpus), log]
    with subprocess.Popen(words) as process:
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
        process.kill()


@dataclass(frozen=True)
class Measured:
    """What came of the run over tiny: its rows by name, what it printed, its file's folder."""

    rows: dict[str, RetrieverRun]
    out: str
    folder: Path

    def row(self, name: str, package: str = "") -> RetrieverRun:
        if package:
            try:
                version(package)
            except PackageNotFoundError:
                pytest.skip(f"the package {package} is not installed; pip install {package}")
        return self.rows[name]

    def answered(self, name: str, package: str = "") -> RetrieverRun:
        row = self.row(name, package)
        assert [answer.status for answer in row.answers] == ["ok"] * 24
        return row


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, service: str) -> Measured:
    """Run one retrievers file with an entry of each kind over tiny, by the command line."""
    folder = tmp_path_factory.mktemp("measured")
    shutil.copy(TOOLS / "word_search.pl", folder)
    (folder / "tools.yaml").write_text(json.dumps({"retrievers": entries(service)}))
    words = ["run", "tiny", "-r", str(folder / "tools.yaml"), "--repeats", "1"]
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setenv("CODEBENCH_CACHE", str(folder / "cache"))
        main([*words, "-o", str(folder / "results")])
    (run,) = (path for path in (folder / "results").iterdir() if path.is_dir())
    rows = {row.candidate.name: row for row in read_run(run).retrievers}
    return Measured(rows, out.getvalue(), folder)


def right_files(run: RetrieverRun) -> int:
    """For how many of the suite's questions is the right file among the first ten hits?"""
    queries = {query.id: query for query in read_suite(builtin("suites") / "tiny").queries}
    targets = {name: {one.path for one in query.targets} for name, query in queries.items()}
    return sum(
        any(hit.path in targets[answer.query] for hit in answer.hits[:10]) for answer in run.answers
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["words", "staying"])
def test_a_command_in_another_language_is_measured(measured: Measured, name: str) -> None:
    if shutil.which("perl") is None:
        pytest.skip("the program perl is not there; apt install perl")
    row = measured.answered(name)
    assert right_files(row) >= 18
    assert re.fullmatch("sha256:[0-9a-f]{12}", row.candidate.version)  # of the script
    assert dict(row.candidate.options)["argv"][1] == "{here}/word_search.pl"


@pytest.mark.slow
def test_a_service_in_another_process_is_measured(measured: Measured) -> None:
    assert right_files(measured.answered("shop")) >= 18


@pytest.mark.slow
def test_an_embedding_endpoint_is_measured(measured: Measured) -> None:
    assert right_files(measured.answered("vectors")) >= 12
    assert (measured.folder / "vectors" / "vectors.sqlite").is_file()


@pytest.mark.slow
def test_an_mcp_server_of_somebody_else_is_measured(measured: Measured) -> None:
    row = measured.answered("code-index", "code-index-mcp")
    assert right_files(row) >= 18
    assert row.candidate.version.startswith("of the test")


@pytest.mark.slow
def test_a_set_up_that_fails_is_told_and_measures_nothing(measured: Measured) -> None:
    row = measured.row("lost", "code-index-mcp")
    assert not any(answer.status == "ok" for answer in row.answers)
    assert "set_project_path: Error executing tool" in measured.out


@pytest.mark.slow
def test_a_failure_that_the_server_does_not_mark_is_no_empty_answer(measured: Measured) -> None:
    """The server says `needs_deep_index` or the like, and marks it as a success."""
    row = measured.row("summary", "code-index-mcp")
    assert [answer.status for answer in row.answers] == ["error"] * 24


@pytest.mark.slow
def test_a_language_server_of_somebody_else_is_measured(measured: Measured) -> None:
    row = measured.answered("symbols", "ty")
    hits = [hit for answer in row.answers for hit in answer.hits]
    assert hits
    assert all(hit.symbol and hit.path.endswith(".py") for hit in hits)
    assert row.candidate.version.startswith("ty ")
    assert right_files(row) >= 2  # it knows Python alone, and names alone


@pytest.mark.slow
def test_a_program_that_is_not_there_is_skipped_with_its_mend(measured: Measured) -> None:
    assert not measured.row("absent").answers
    assert "absent skipped: the program nope-nope is not there; npm install nope" in measured.out


def test_a_wrong_entry_is_named_with_its_file_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tools.yaml"
    options = {"argv": ["cat", "{query}"], "statuss": [1], "output": {"format": "yaml"}}
    file.write_text(
        dump_yaml({"retrievers": [{"name": "a", "use": "command", "options": options}]})
    )
    assert main(["run", "tiny", "-r", str(file), "-o", str(tmp_path / "results")]) == 2
    said = capsys.readouterr().err
    assert f'{file}: a: statuss: is not a field here; did you mean "statuses"?' in said
    assert "a: argv[2]: '{query}' could be taken for an option; put \"--\" before it" in said
    assert "a: output.format: 'yaml' is not one of json, lines, pattern" in said
    assert not (tmp_path / "results").exists() or not list((tmp_path / "results").glob("2*"))


def examples() -> list[str]:
    text = (builtin("adapters") / "README.md").read_text("utf-8")
    return [
        one for one in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "my_tool" not in one
    ]


@pytest.mark.parametrize("text", examples())
def test_every_example_of_the_manual_is_right(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_TOKEN", "x")
    monkeypatch.setenv("EMBEDDINGS_KEY", "x")
    file = tmp_path / "example.yaml"
    file.write_text(text)
    for one in read_retrievers(file):
        try:
            made = make(load(one.reference), placed(dict(one.options), tmp_path))
        except Unavailable as reason:
            assert "is not there" in str(reason)  # noqa: PT017  # both ends are right
        else:
            made.close()


def test_an_entry_is_relative_to_its_file_wherever_it_is_called_from(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    (tmp_path / "tool.sh").write_text("echo []\n")
    options = {"argv": ["sh", "{here}/tool.sh", " {query}"]}
    file.write_text(
        dump_yaml({"retrievers": [{"name": "a", "use": "command", "options": options}]})
    )
    (one,) = candidates([f"{file}:a"])
    known, reason, _ = describe(one, Path("/"), RunSettings())
    assert reason is None
    assert known.version.startswith("sha256:")
    assert known.file == str(file)
    (tmp_path / "bad.yaml").write_text("retrievers: [{name: a, use: lsp}]")
    (bad,) = candidates([str(tmp_path / "bad.yaml")])
    with pytest.raises(AdapterError, match=r"bad.yaml: a: argv: is missing"):
        describe(bad, Path("/"), RunSettings())
