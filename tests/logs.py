"""A repository and logs of what people and agents did in it."""

from __future__ import annotations

import shutil
from pathlib import Path

from codebench import home
from tests.repositories import Repository

DATA = Path(__file__).parent / "data" / "logs"
BEFORE = 1_714_521_600
"""2024-05-01: before every log."""


def shop(folder: Path) -> tuple[Repository, Path]:
    """Return a repository with the code of the suite tiny, and its logs, which name its commit."""
    repository = Repository(folder / "shop")
    source = home.builtin("suites") / "tiny" / "corpus"
    files: dict[str, str | bytes | None] = {
        path.relative_to(source).as_posix(): path.read_bytes()
        for path in sorted(source.rglob("*.py"))
    }
    commit = repository.commit("Open the shop", files, time=BEFORE)
    logs = folder / "logs"
    shutil.copytree(DATA, logs)
    for path in sorted(logs.rglob("*")):
        if path.is_file():
            text = path.read_text("utf-8")
            path.write_text(text.replace("{{commit}}", commit), "utf-8")
    return repository, logs
