"""The house stands: imports point down, nothing goes round, and importing costs nothing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import codebench

if TYPE_CHECKING:
    from collections.abc import Container

PACKAGE = Path(codebench.__file__).parent

LAYERS = {
    "errors": 0,
    "home": 0,
    "keywords": 0,
    "kit": 0,
    "lazy": 0,
    "model": 0,
    "options": 0,
    "plain_yaml": 0,
    "reading": 0,
    "watch": 0,
    "writing": 0,
    "adapter": 1,
    "git": 1,
    "grading": 1,
    "measures": 1,
    "wire": 1,
    "corpus": 2,
    "protocols": 2,
    "results": 2,
    "suite": 2,
    "trec": 2,
    "comparison": 3,
    "evaluation": 3,
    "bisecting": 4,
    "gate": 4,
    "gold": 4,
    "judging": 4,
    "listing": 4,
    "runner": 4,
    "report": 5,
    "cli": 6,
    "pytest_plugin": 6,
}
"""A folder or file of the package, and its floor. A new one is added here with thought."""

WITHIN = {
    "plain_yaml": 0.1,
    "reading": 0.2,
    "home": 0.3,
    "keywords": 0.3,
    "options": 0.3,
    "kit": 0.4,
    "judging": 0.2,
    "bisecting": 0.5,
    "gate": 0.5,
}
"""The order inside a floor, where files lean on each other: in this order only."""


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if "_builtin" not in parts:
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


def imports_of(path: Path) -> set[str]:
    """Modules of codebench that a file imports anywhere in it, for types and in code in text too.

    A public name counts as the module that it lives in, a submodule as itself.
    """
    names = modules()
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            for alias in node.names:
                found.add(_home(f"{node.module}.{alias.name}", names))
        elif isinstance(node, ast.Import):
            assert all(alias.name != "codebench" for alias in node.names), (
                f"{path}: import codebench hides what is used of it"
            )
            found |= {_home(alias.name, names) for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= {_home(name, names) for name in IN_TEXT.findall(node.value)}
    return found - {""}


IN_TEXT = re.compile(r"^\s*(?:from|import) (codebench(?:\.\w+)+)", re.MULTILINE)
"""An import in a program that is kept as text: what a child process runs."""


def _home(full: str, names: Container[str]) -> str:
    """Return the module that a dotted name of an import means; nothing where it is not ours."""
    package, _, rest = full.partition(".")
    if package != "codebench":
        return ""
    if rest in codebench._HOMES:
        return codebench._HOMES[rest].removeprefix("codebench.")
    return rest if rest in names else rest.rpartition(".")[0]


def room(module: str) -> str:
    return module.partition(".")[0]


def floor(module: str) -> float:
    return LAYERS[room(module)] + WITHIN.get(room(module), 0)


@pytest.mark.parametrize("module", [name for name in modules() if name not in {"", "__main__"}])
def test_imports_point_down_or_stay_in_the_folder(module: str) -> None:
    assert room(module) in LAYERS, f"{module}: say in LAYERS on which floor it stands"
    for target in sorted(imports_of(modules()[module])):
        assert room(target) == room(module) or floor(target) < floor(module), (
            f"codebench.{module} imports codebench.{target}, which is not below it"
        )


def test_there_is_no_cycle() -> None:
    names = modules()
    graph = {
        name: {target for target in imports_of(path) if target in names}
        for name, path in names.items()
    }
    done: set[str] = set()
    while True:
        free = {name for name in graph if name not in done and graph[name] <= done | {name}}
        if not free:
            break
        done |= free
    assert not set(graph) - done, f"these import each other: {sorted(set(graph) - done)}"


def outside(path: Path) -> set[str]:
    """Packages that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
    return found


def calls(path: Path) -> set[str]:
    """Plain names that a file calls."""
    return {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def test_only_one_room_runs_git() -> None:
    for name, path in modules().items():
        if room(name) == "git":
            continue
        assert "git" not in outside(path), f"{path} imports GitPython"
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            first = node.elts[:1] if isinstance(node, ast.List | ast.Tuple) else []
            assert not any(isinstance(one, ast.Constant) and one.value == "git" for one in first), (
                f"{path}:{getattr(node, 'lineno', 0)} names the program git"
            )


STARTERS = {
    "git.commands",
    "git.shadows",
    "kit.programs",
    "protocols.processes",
    "protocols.settings",
    "runner.keeper",
    "runner.process",
    "watch",
}
"""Who starts programs; each of them bounds what they may take."""


def test_few_places_start_programs() -> None:
    found = {name for name, path in modules().items() if "subprocess" in outside(path)}
    assert found == STARTERS


def test_the_runner_measures_nothing_and_only_the_report_formats() -> None:
    for name, path in modules().items():
        if room(name) == "runner":
            targets = {room(target) for target in imports_of(path)}
            assert not targets & {"evaluation", "comparison"}, f"{name} judges what it runs"
        if LAYERS.get(room(name), 9) < LAYERS["report"]:
            assert "tabulate" not in outside(path), f"{name} makes a table"
            if room(name) != "bisecting":  # whose step is a program of its own, run by git
                assert "print" not in calls(path), f"{name} prints"


def test_contributing_draws_this_house() -> None:
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8")
    _, drawing, _ = text.split("```", 2)
    drawn: list[tuple[str, int]] = []
    pending: list[str] = []
    for line in drawing.partition("codebench/")[2].partition("\nadapters/")[0].splitlines()[1:]:
        names, _, rest = re.sub(r"\.py\b|/(?=[\s,])", "", line).strip().partition("  ")
        pending += [one for one in names.replace(" ", ",").split(",") if one]
        number = re.match(r"\s*(\d)", rest)
        if number:
            drawn += [(one, int(number[1])) for one in pending]
            pending = []
    assert sorted(drawn) == sorted(LAYERS.items())


def test_the_harness_names_no_retriever() -> None:
    """Built-in adapters are data: what runs them knows none of them by name."""
    adapters = {path.stem for path in (PACKAGE.parent / "adapters").glob("*.py")}
    adapters -= {"command", "embeddings", "http", "lsp", "mcp"}  # ways to reach a retriever
    assert adapters
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in adapters | {"git-grep"}, f"{name}:{node.lineno}"


def test_the_public_names() -> None:
    assert sorted(codebench.__all__) == [
        "Chunk",
        "Corpus",
        "Hit",
        "RateLimited",
        "Retriever",
        "__version__",
        "evaluate",
    ]
    assert dir(codebench) == sorted(codebench.__all__)
    for name in codebench.__all__:
        assert getattr(codebench, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        codebench.nonsense  # noqa: B018  # reading it is the test


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=PACKAGE.parent,
    )
    return set(done.stdout.split())


SLOW_TO_START = {"dataclasses", "datetime", "inspect", "pathlib", "shtab"}
"""What no `--help` needs of its own: together they cost as much as the rest of a start."""

HEAVY = {"numpy", "git", "yaml", "tabulate", "tree_sitter", "bm25s", "sqlite3", "asyncio", "scipy"}


def test_importing_does_nothing() -> None:
    loaded = loaded_by("import codebench")
    assert not loaded & HEAVY
    assert {name for name in loaded if name.startswith("codebench")} == {"codebench"}
    light = "model errors home reading options gate.limits measures.names measures.catalogue"
    statement = "; ".join(f"import codebench.{name}" for name in light.split())
    assert not loaded_by(statement) & HEAVY


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["run", "--help"],
        ["score", "--help"],
        ["suite", "--help"],
        ["suite", "build", "-h"],
        *([verb, "--help"] for verb in ("gate", "compare", "completion")),
    ],
)
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    statement = (
        "import contextlib, io\n"
        "from codebench.cli.main import main\n"
        f"with contextlib.redirect_stdout(io.StringIO()): assert main({words!r}) == 0\n"
    )
    assert not loaded_by(f"exec({statement!r})") & (HEAVY | SLOW_TO_START)
