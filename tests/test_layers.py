"""The house stands: imports point down, nothing goes round, and importing costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import codebench

PACKAGE = Path(codebench.__file__).parent

LAYERS = {
    "errors": 0,
    "home": 0,
    "keywords": 0,
    "model": 0,
    "options": 0,
    "passages": 0,
    "plain_yaml": 0,
    "programs": 0,
    "reading": 0,
    "vectors": 0,
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
    "union": 4,
    "comparison": 3,
    "evaluation": 3,
    "alignment": 4,
    "bisecting": 4,
    "contest": 4,
    "gate": 4,
    "gold": 4,
    "history": 4,
    "listing": 4,
    "runner": 4,
    "scored": 4,
    "scoring": 4,
    "tuning": 4,
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
    "passages": 0.3,
    "tuning": 0.1,
    "union": 0.1,
    "scoring": 0.2,
    "alignment": 0.5,
    "bisecting": 0.5,
    "gate": 0.5,
    "history": 0.5,
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
    """Modules of codebench that a file imports anywhere in it, for types too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            if node.module == "codebench":
                found |= {alias.name for alias in node.names}
            elif node.module.startswith("codebench."):
                found.add(node.module.removeprefix("codebench."))
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.removeprefix("codebench.")
                for alias in node.names
                if alias.name.startswith("codebench.")
            }
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}: relative import"
    return {name for name in found if name not in codebench.__all__}


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


def test_only_one_room_runs_git() -> None:
    for name, path in modules().items():
        text = path.read_text("utf-8")
        if room(name) != "git":
            assert '"git",' not in text, f"{path} names the program git"
            assert "from git." not in text, f"{path} imports GitPython"
            assert "import git\n" not in text.replace("from codebench import git\n", "")


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
