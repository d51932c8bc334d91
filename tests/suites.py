"""Suites over real repositories, made and edited as a person would."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codebench.gold.building import build
from codebench.gold.recipe import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.repositories import Repository

Rows = list[dict[str, Any]]


def made_suite(repository: Repository, folder: Path, **recipe: Any) -> Path:
    """Build a suite and return its folder."""
    build([str(repository.path)], Recipe(**recipe), folder, lambda *_: None, jobs=1)
    return folder


def edit(folder: Path, change: Callable[[Rows], None]) -> None:
    """Edit the queries of a suite folder in place."""
    file = folder / "queries.jsonl"
    rows = [json.loads(row) for row in file.read_text("utf-8").splitlines()]
    change(rows)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
