"""Files that somebody names are written whole or not at all, and devices stay devices."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codebench import git
from codebench.corpus import snapshot
from codebench.corpus.cache import ChunkCache
from codebench.corpus.snapshot import put
from codebench.errors import CorpusError, GitError, ResultsError
from codebench.git import locate
from codebench.gold import exporting
from codebench.gold.workshop import workshop
from codebench.runner import record
from codebench.runner.events import RunStarted
from codebench.runner.hold import held
from codebench.runner.run import Resume
from codebench.runner.scratch import scratch
from codebench.writing import write_file
from tests.misbehaving import Lab
from tests.repositories import Repository
from tests.runs import corpus, suite


def fail(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_whole_or_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, link = tmp_path / "report.html", tmp_path / "latest.html"
    write_file(file, "old")
    link.symlink_to(file)
    write_file(link, "new")
    assert (link.is_symlink(), file.read_text("utf-8")) == (True, "new")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        write_file(file, "newer")
    assert (names(tmp_path), file.read_text("utf-8")) == (["latest.html", "report.html"], "new")


def test_who_may_read_a_file_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.touch(0o600)
    write_file(file, "ours")
    assert (file.stat().st_mode & 0o777, file.read_text("utf-8")) == (0o600, "ours")


def test_where_no_file_can_be_that_is_what_is_said(tmp_path: Path) -> None:
    write_file(tmp_path / "file", "")
    with pytest.raises(NotADirectoryError) as raised:
        write_file(tmp_path / "file" / "report.html", "text")
    assert raised.value.__context__ is None  # not what failed while that was cleaned up


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such devices")
def test_a_device_is_written_to_and_stays_one() -> None:
    here, there = os.openpty()
    device = Path(os.ttyname(there))
    write_file(device, "text")
    assert os.read(here, 100) == b"text"
    assert device.is_char_device()
    os.close(here)
    os.close(there)


def test_a_run_that_cannot_be_begun_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "write_tables", fail)
    now = datetime(2024, 5, 1, tzinfo=UTC)
    with pytest.raises(ResultsError, match=r"no run can be begun here \(No space left on device"):
        record.create_run(tmp_path, suite(), corpus(), [], now=now, identity={})
    assert names(tmp_path) == [".gitignore"]


def test_an_answer_that_cannot_be_written_says_how_to_go_on() -> None:
    error = record.unwritable(Path("run/answers"), OSError(28, "No space left on device"))
    assert "what was answered before is kept" in str(error)
    assert "--resume" in str(error)


def test_an_export_that_fails_leaves_room_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_weights", fail)
    folder = tmp_path / "files"
    with pytest.raises(ResultsError, match=r"cannot be written \(No space left on device"):
        exporting.export_suite("tiny", "trec", folder, lambda *_: None, jobs=1)
    assert not folder.exists()


def test_no_temporary_folder_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.mkdtemp", fail)
    monkeypatch.setattr("tempfile.gettempdir", fail)
    with pytest.raises(ResultsError, match="set TMPDIR to a folder"), scratch():
        pass


@pytest.mark.parametrize("other", ["", "CREATE TABLE outlines (a, b)", "CREATE TABLE x (y)"])
def test_a_cache_of_another_version_is_replaced(tmp_path: Path, other: str) -> None:
    file = tmp_path / "outlines.sqlite"
    with closing(ChunkCache(file)) as cache:
        cache.put({"key": ["old"]})
    if other:
        file.unlink()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(other)
    else:
        file.write_bytes(file.read_bytes()[:5000])
    (tmp_path / "outlines.sqlite-wal").write_bytes(b"a log of the cache before")
    with closing(ChunkCache(file)) as cache:
        assert cache.get(["key"]) == {}
        cache.put({"key": ["new"]})
        assert cache.get(["key"]) == {"key": ["new"]}


def test_a_cache_that_is_held_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    file = tmp_path / "outlines.sqlite"
    with closing(connect(file)) as other:
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(sqlite3, "connect", lambda *_, **__: connect(file, timeout=0))
        with pytest.raises(
            CorpusError, match=r"database is locked\); end the program that holds it"
        ):
            ChunkCache(file)


def test_two_processes_never_write_one_run(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    path = lab.run("Healthy", ["query"]).path
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    with held(path), pytest.raises(ResultsError, match="another codebench is writing this run"):
        lab.run("Healthy", ["query"], resume=Resume())
    assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before
    lab.run("Healthy", ["query"], resume=Resume())


def test_a_run_holds_its_folder_while_it_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    seen = []

    def try_to_hold(event: object) -> None:
        if isinstance(event, RunStarted):
            with pytest.raises(ResultsError, match="another codebench"), held(event.path):
                pass
            seen.append(event.path)

    monkeypatch.setattr(lab, "_hear", try_to_hold)
    path = lab.run("Healthy", ["query"]).path
    assert seen == [path]
    with held(path):
        pass


@pytest.mark.parametrize("there", ["whole", "damaged", "a file"])
def test_of_two_runs_that_make_one_corpus_the_first_stays(tmp_path: Path, there: str) -> None:
    place, made = tmp_path / "place", tmp_path / "made"
    if there == "a file":
        place.write_text("")
    else:
        place.mkdir()
        (place / "first").write_text("")
    made.mkdir()
    (made / "second").write_text("")
    put(made, place, lambda: there == "whole")
    assert names(place) == (["first"] if there == "whole" else ["second"])


def test_a_corpus_that_a_run_beside_mends_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, made = tmp_path / "place", tmp_path / "made"
    place.mkdir()
    (place / "damaged").write_text("")
    made.mkdir()

    def beside(path: Path) -> None:
        shutil.rmtree(path)
        path.mkdir()
        (path / "mended").write_text("")

    monkeypatch.setattr(snapshot, "_remove", beside)
    put(made, place, (place / "mended").exists)
    assert names(place) == ["mended"]


def test_of_two_runs_that_clone_one_url_both_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository(tmp_path / "r")
    repository.commit("one", {"a.py": "x = 1\n"})
    url, clone = f"file://{repository.path}", git.clone

    def beside(url: str, folder: Path) -> None:
        clone(url, folder)
        if not list(folder.parent.glob("beside")):
            (folder.parent / "beside").mkdir()
            with workshop(lambda *_: None, jobs=1) as shop, shop.repository(url) as source:
                assert source.tip() == repository.head

    monkeypatch.setattr(git, "clone", beside)
    with workshop(lambda *_: None, jobs=1) as shop, shop.repository(url) as source:
        assert source.tip() == repository.head


@pytest.mark.parametrize(
    ("version", "old"),
    [("2.17.1", True), ("2.31.9 (Apple Git-1)", True), ("2.32.0", False), ("of my own", False)],
)
def test_a_git_that_is_too_old_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, old: bool
) -> None:
    repository = Repository(tmp_path / "shop")
    real = next(
        path
        for folder in os.environ["PATH"].split(os.pathsep)
        if (path := Path(folder) / "git").is_file()
    )
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(
        f'#!/bin/sh\n[ "$1" = version ] && echo "git version {version}" && exit\n'
        f'exec "{real}" "$@"\n'
    )
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(shim.parent), prepend=os.pathsep)
    if old:
        with pytest.raises(GitError, match=r"too old; install git 2\.32 or later"):
            locate(repository.path)
    else:
        assert locate(repository.path).object_format == "sha1"
