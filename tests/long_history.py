"""A repository with a history long enough to be interrupted in, written in one stream."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests.repositories import DAY, EPOCH, Repository

if TYPE_CHECKING:
    from pathlib import Path

_FUNCTIONS = 36
_WORDS = (
    "amber basil cedar dahlia elder fern ginger hazel iris juniper kelp laurel maple nettle oak "
    "poppy quince rowan sage thistle umber violet willow yarrow zinnia"
).split()


def long_history(path: Path, commits: int) -> Repository:
    """Build a repository in which each commit but the first edits one function of one module."""
    repository = Repository(path)
    values = [0] * _FUNCTIONS
    stream = [_commit(0, "start the herb garden", values)]
    for number in range(1, commits):
        values[number % _FUNCTIONS] = number
        words = [_WORDS[number // 25**place % 25] for place in range(3)]
        stream.append(_commit(number, f"water {' and '.join(words)} beds", values))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=path,
        env=environment,
        input="".join(stream).encode(),
        check=True,
        capture_output=True,
    )
    return repository


def _commit(number: int, message: str, values: list[int]) -> str:
    code = "".join(
        f"def bed_{place}(garden):\n    depth = garden.depth({place})\n"
        f"    return depth + {value}\n\n\n"
        for place, value in enumerate(values)
    )
    who = f"Ada <ada@example.org> {EPOCH + number * DAY} +0000"
    return (
        f"commit refs/heads/main\nauthor {who}\ncommitter {who}\n"
        f"data {len(message)}\n{message}\nM 100644 inline garden.py\ndata {len(code)}\n{code}\n"
    )
