"""`codebench cache`, and the words that `codebench run` takes for limits and load."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import pytest

from codebench.cli.main import main
from codebench.cli.run import parser
from codebench.cli.run_options import settings_of, several, size
from codebench.errors import UsageError
from codebench.runner.plan import RunSettings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cache = tmp_path / "cache"
    monkeypatch.setenv("CODEBENCH_CACHE", str(cache))
    (cache / "indexes" / "one").mkdir(parents=True)
    (cache / "indexes" / "one" / "data").write_bytes(b"x" * 1000)
    (cache / "outlines.sqlite").write_bytes(b"x" * 500)
    (cache / "mine.txt").write_text("not codebench's")
    return cache


def rooms(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, tuple[int, int]]:
    assert main(["cache", *words, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    return {room["name"]: (room["entries"], room["bytes"]) for room in data["rooms"]}


def test_the_cache_is_shown_and_cleared_by_room(
    filled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rooms(capsys, "info")
    assert (found["indexes"], found["outlines"], found["corpora"]) == ((1, 1000), (1, 500), (0, 0))
    assert rooms(capsys, "clear", "indexes") == {"indexes": (1, 1000)}
    assert not (filled / "indexes").exists()
    assert (filled / "outlines.sqlite").exists()
    assert main(["cache", "clear"]) == 0
    assert "cleared" in capsys.readouterr().out
    assert [path.name for path in filled.iterdir()] == ["mine.txt"]
    assert main(["cache", "info", "indices"]) == 2
    assert "no room 'indices'; did you mean \"indexes\"?" in capsys.readouterr().err


def test_an_empty_cache_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CODEBENCH_CACHE", str(tmp_path / "nowhere"))
    assert main(["cache", "clear"]) == 0
    assert not (tmp_path / "nowhere").exists()
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("4G", 4 * 10**9), ("500MB", 500 * 10**6), ("1500k", 1500000), ("7000000", 7 * 10**6)],
)
def test_sizes(text: str, bytes_: int) -> None:
    assert size(text) == bytes_


@pytest.mark.parametrize("text", ["", "0", "-1", "4X", "G", "9" * 30])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a size; write 4G or 500M"):
        size(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("512", "'512' is 512 bytes, in which no process fits; write 512M (M is a million)"),
        ("20k", "'20k' is 20,000 bytes, in which no process fits; write 4G or 500M"),
    ],
)
def test_a_size_whose_unit_was_forgotten(text: str, said: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        size(text)
    assert str(caught.value).startswith(said)


def test_what_is_said_becomes_settings() -> None:
    words = "x --memory-limit 1G --max-restarts 0 --concurrency 4,1,4 --rate 2.5 --jobs 3".split()
    settings = settings_of(parser().parse_args(words))
    assert settings.memory_limit == 10**9
    assert settings.max_restarts == 0
    assert settings.concurrency == (1, 4)
    assert settings.rates == (2.5,)
    assert settings.jobs == 3
    assert settings_of(parser().parse_args(["x"])) == RunSettings()
    assert several(int)("3,1,3") == (1, 3)


def test_load_and_a_cluster_do_not_go_together() -> None:
    words = ["x", "--executor", "dask", "--rate", "5"]
    with pytest.raises(UsageError, match="measure one machine"):
        settings_of(parser().parse_args(words))
