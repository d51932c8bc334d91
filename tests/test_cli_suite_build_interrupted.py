"""A build that is interrupted half way leaves nothing, and then goes on where it was."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import codebench
from tests.long_history import long_history


def labelled(cache: Path) -> int:
    """How many commits' labels a cache holds."""
    file = cache / "outlines.sqlite"
    if not file.exists():
        return 0
    with contextlib.closing(sqlite3.connect(file, timeout=30)) as connection:
        try:
            ask = "SELECT count(*) FROM outlines WHERE key LIKE 'label:%'"
            return int(connection.execute(ask).fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def start(repository: Path, output: Path, cache: Path, jobs: int) -> subprocess.Popen[str]:
    words = ["suite", "build", str(repository), "-o", str(output), "--max-queries", "900"]
    root = str(Path(codebench.__file__).parent.parent)
    return subprocess.Popen(
        [sys.executable, "-m", "codebench", *words, "--jobs", str(jobs)],
        env={**os.environ, "CODEBENCH_CACHE": str(cache), "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, err = process.communicate(timeout=120)
    return process.returncode, err


@pytest.mark.slow
def test_interrupted_and_resumed_gives_the_same_bytes(tmp_path: Path) -> None:
    repository = long_history(tmp_path / "garden", commits=1000).path
    assert finish(start(repository, tmp_path / "whole/suite", tmp_path / "cold", 1)) == (0, "")

    cache = tmp_path / "cache"
    output = tmp_path / "resumed/suite"
    process = start(repository, output, cache, 2)
    limit = time.monotonic() + 100
    while not labelled(cache) and time.monotonic() < limit:
        time.sleep(0.02)
    # As a terminal does it: the whole group is told, git and the workers too.
    os.killpg(process.pid, signal.SIGINT)
    assert finish(process) == (130, "codebench: interrupted\n")
    kept = labelled(cache)
    assert 0 < kept < 900
    assert not output.exists()
    assert not output.parent.exists() or not list(output.parent.iterdir())
    assert not list((cache / "shadows").iterdir())

    assert finish(start(repository, output, cache, 2)) == (0, "")
    for name in ("suite.yaml", "queries.jsonl", "carry.jsonl"):
        assert (output / name).read_bytes() == (tmp_path / "whole/suite" / name).read_bytes()
