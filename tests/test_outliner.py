"""Blobs are parsed once, on all cores, and one that kills a parser costs itself alone."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from codebench.corpus import outliner as module
from codebench.corpus.cache import ChunkCache
from codebench.corpus.outliner import Outliner, outline_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

PADDING = (b"# " + b"x" * 70 + b"\n") * 800
DEADLY = b"def deadly():\n    pass\n"


def dying_rows(work: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """Do what a worker does, and die of one file."""
    if any(data == DEADLY for _, data in work):
        os._exit(139)
    return outline_rows(work)


def endless_rows(work: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """Do what a worker does, and never return from one file; no handler of Python's would run."""
    if any(data == DEADLY for _, data in work):
        sum(itertools.repeat(1))
    return outline_rows(work)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ChunkCache]:
    own = ChunkCache(tmp_path / "outlines.sqlite")
    yield own
    own.close()


def contents(count: int) -> list[tuple[tuple[str, str], bytes]]:
    return [
        ((f"{number:040x}", "python"), PADDING + f"def f{number}():\n    return 1\n".encode())
        for number in range(count)
    ]


def names(outliner: Outliner, given: list[tuple[tuple[str, str], bytes]]) -> dict[str, str]:
    return {blob: found.chunks[-1].name for (blob, _), found in outliner.parse(given)}


def test_any_number_of_processes_gives_the_same_in_the_same_order(tmp_path: Path) -> None:
    given = contents(40)
    outlines = []
    for jobs in (1, 2, 3):
        cache = ChunkCache(tmp_path / f"{jobs}.sqlite")
        with Outliner(cache, jobs) as outliner:
            outlines.append(list(outliner.parse(given)))
            assert list(outliner.known(blob for blob, _ in given).items()) == outlines[-1]
        cache.close()
    assert outlines[0] == outlines[1] == outlines[2]
    assert [blob for blob, _ in outlines[0]] == [blob for blob, _ in given]


@pytest.mark.parametrize("rows", [dying_rows, endless_rows])
def test_a_file_that_kills_a_parser_is_not_parsed_and_the_others_are(
    cache: ChunkCache,
    rows: Callable[[Sequence[tuple[str, bytes]]], list[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if rows is endless_rows:
        monkeypatch.setattr(module, "CPU_SECONDS", 0.5)
    given = contents(30)
    given.insert(7, (("d" * 40, "python"), DEADLY))
    with Outliner(cache, 2, rows) as outliner:
        found = dict(outliner.parse(given))
        assert len(found) == 31
        deadly = found["d" * 40, "python"]
        assert [chunk.kind for chunk in deadly.chunks] == ["file"]
        assert not deadly.sound
        assert all(
            one.chunks[-1].kind == "function" for b, one in found.items() if b[0] != "d" * 40
        )
        assert names(outliner, contents(3)), "the outliner goes on"
    with Outliner(cache, 2) as outliner:
        assert not outliner.known([("d" * 40, "python")]), "it may have been the machine's fault"


def test_processes_are_started_when_there_is_something_to_parse(cache: ChunkCache) -> None:
    with Outliner(cache) as outliner:
        assert list(outliner.parse([])) == []
        assert outliner._pool is None
        assert names(outliner, contents(1))
        assert outliner._pool is not None


def test_workers_end_when_who_started_them_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from codebench.corpus.cache import ChunkCache\n"
        "from codebench.corpus.outliner import Outliner\n"
        "if __name__ == '__main__':\n"
        "    outliner = Outliner(ChunkCache(Path(sys.argv[1])), 2)\n"
        "    list(outliner.parse([(('1' * 40, 'python'), b'x = 1\\n')]))\n"
        "    print(*outliner._pool._processes, flush=True)\n"
        "    time.sleep(600)\n"
    )
    file = tmp_path / "program.py"
    file.write_text(program)
    with subprocess.Popen(
        [sys.executable, str(file), str(tmp_path / "cache.sqlite")], stdout=subprocess.PIPE
    ) as started:
        assert started.stdout is not None
        workers = [int(word) for word in started.stdout.readline().split()]
        started.kill()
    assert workers
    deadline = time.monotonic() + 30
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(is_alive, workers))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
