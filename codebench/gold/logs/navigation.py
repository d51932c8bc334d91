"""How agents found their way, kept beside a suite: one trajectory a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from codebench.errors import SuiteError
from codebench.gold.logs.efforts import Navigation
from codebench.reading import Faults, read_objects

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAVIGATION_FILE = "navigation.jsonl"

_MAX = 10**12


def navigation_rows(navigation: Mapping[str, Navigation]) -> bytes:
    """Return the file's contents, sorted by query; empty where there is no trajectory."""
    rows = [
        {
            "query": name,
            "searches": one.searches,
            "files": one.files,
            "tokens": one.tokens,
            "reached": one.reached,
            "steps": list(one.steps),
        }
        for name, one in sorted(navigation.items())
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def read_navigation(folder: Path) -> dict[str, Navigation]:
    """Read how agents found their way, by the query's ID.

    Raises:
        SuiteError: the suite was not built from trajectories.
        InputError: something in the file is wrong; every fault is listed.
    """
    path = folder / NAVIGATION_FILE
    if not path.is_file():
        raise SuiteError(
            f"{folder}: holds no {NAVIGATION_FILE}; only a suite that was built of agents' "
            "trajectories can be replayed (codebench suite build --from-log)"
        )
    faults = Faults(path)
    found: dict[str, Navigation] = {}
    for fields in read_objects(path, faults):
        name = fields.text("query", empty=False)
        found[name] = Navigation(
            searches=fields.integer("searches", low=0, high=_MAX),
            files=fields.integer("files", low=0, high=_MAX),
            tokens=fields.integer("tokens", low=0, high=_MAX),
            reached=fields.flag("reached"),
            steps=fields.texts("steps"),
        )
        fields.finish()
    faults.check()
    return found
