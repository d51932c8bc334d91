"""A corpus is the files of a commit, in a folder that nothing of the repository chose."""

from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from codebench import git
from codebench.corpus import directory
from codebench.corpus import snapshot as module
from codebench.corpus.cache import ChunkCache
from codebench.corpus.contents import is_safe
from codebench.corpus.directory import open_directory
from codebench.corpus.outliner import Outliner
from codebench.corpus.rules import SnapshotRules
from codebench.corpus.snapshot import open_snapshot
from codebench.errors import CorpusError
from tests.repositories import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codebench.model import Corpus


@contextmanager
def outliner(tmp_path: Path) -> Iterator[Outliner]:
    cache = ChunkCache(tmp_path / "cache" / "outlines.sqlite")
    with Outliner(cache, jobs=1) as one:
        yield one
    cache.close()


def snapshot(repository: Repository, tmp_path: Path, rules: SnapshotRules | None = None) -> Corpus:
    located = git.locate(repository.path)
    with (
        outliner(tmp_path) as parses,
        git.shadow(located, tmp_path / "shadow") as shadow,
    ):
        return open_snapshot(
            shadow,
            shadow.commit(repository.head),
            cache=tmp_path / "corpora",
            outliner=parses,
            rules=rules or SnapshotRules(),
        )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def test_files_chunks_and_no_git_folder(repository: Repository, tmp_path: Path) -> None:
    repository.commit("all", {"pkg/a.py": "def f():\n    return 1\n", "notes.txt": "hello\n"})
    corpus = snapshot(repository, tmp_path)
    assert [table.path for table in corpus.tables] == ["notes.txt", "pkg/a.py"]
    assert [chunk.id for chunk in corpus.chunks()] == ["notes.txt", "pkg/a.py::f"]
    assert (corpus.path / "pkg/a.py").read_text() == "def f():\n    return 1\n"
    assert not (corpus.path / ".git").exists()
    assert not os.access(corpus.path / "notes.txt", os.W_OK) or os.geteuid() == 0
    assert (corpus.path / "notes.txt").stat().st_mode & 0o222 == 0


def test_the_same_tree_is_the_same_corpus_from_the_cache(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit("one", {"a.py": "x = 1\n"})
    first = snapshot(repository, tmp_path)
    before = first.path.stat().st_ino
    repository.commit("no change")
    again = snapshot(repository, tmp_path)
    assert again == first
    assert again.path.stat().st_ino == before


def test_another_version_writes_its_tables_beside_and_leaves_the_files(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("one", {"b/a.py": "def f():\n    return 1\n", "b.py": "y = 1\n"})
    first = snapshot(repository, tmp_path)
    files = (first.path / "b.py").stat().st_ino
    monkeypatch.setattr(module, "CHUNKER_VERSION", "another")
    assert snapshot(repository, tmp_path) == first
    assert (first.path / "b.py").stat().st_ino == files  # a retriever may be reading it
    assert len(list(first.path.parent.glob("tables-*"))) == 2
    assert sorted(one.name for one in first.path.parent.iterdir() if one.name[0] == ".") == []


@pytest.mark.parametrize("damage", ["content", "file", "about", "tables"])
def test_a_damaged_cache_is_made_again(repository: Repository, tmp_path: Path, damage: str) -> None:
    repository.commit("one", {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    first = snapshot(repository, tmp_path)
    place = first.path.parent
    if damage == "content":
        (first.path / "a.py").chmod(0o644)
        (first.path / "a.py").write_text("x = 2\n")
    elif damage == "file":
        (first.path / "a.py").unlink()
    elif damage == "about":
        (place / "corpus.json").write_text("{")
    else:
        next(place.glob("tables-*")).write_bytes(b"\x1f\x8b nonsense")
    again = snapshot(repository, tmp_path)
    assert again.digest == first.digest
    assert (again.path / "a.py").read_text() == "x = 1\n"


def test_what_is_no_text_is_left_out(repository: Repository, tmp_path: Path) -> None:
    repository.write(
        {
            "a.py": "x = 1\n",
            "image.bin": b"\x89PNG\0\0",
            "big.txt": "x" * ((1 << 20) + 1),
            "lfs.dat": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            "empty.py": "",
            ".gitattributes": "*.py binary\n",
        }
    )
    (repository.path / "link.py").symlink_to("a.py")
    (repository.path / "out").symlink_to("/etc")
    repository.commit("mixed")
    paths = [table.path for table in snapshot(repository, tmp_path).tables]
    assert paths == [".gitattributes", "a.py", "empty.py"]


def test_files_that_quote_messages_are_left_out_unless_wanted(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit(
        "docs",
        {
            "CHANGES.rst": "x\n",
            "docs/changelog.md": "x\n",
            "changelog/12.bugfix.rst": "x\n",
            "NEWS": "x\n",
            "History.md": "x\n",
            "changes.py": "x = 1\n",
            "src/news/feed.py": "x = 1\n",
            "README.md": "x\n",
        },
    )
    kept = [table.path for table in snapshot(repository, tmp_path).tables]
    assert kept == ["README.md", "changes.py", "src/news/feed.py"]
    everything = snapshot(repository, tmp_path, SnapshotRules(quoting=True))
    assert len(everything.tables) == 8


def test_globs_choose_files(repository: Repository, tmp_path: Path) -> None:
    repository.commit("all", {"a/x.py": "x = 1\n", "a/y.go": "package a\n", "b/z.py": "z = 1\n"})
    rules = SnapshotRules(include=("*.py",), exclude=("b/*",))
    assert [table.path for table in snapshot(repository, tmp_path, rules).tables] == ["a/x.py"]
    assert SnapshotRules.from_data(rules.as_data()) == rules


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        (b"a/b.py", True),
        (b"a/..b/c", True),
        (b"../x", False),
        (b"a/../../x", False),
        (b"/etc/passwd", False),
        (b"a//b", False),
        (b"a/./b", False),
        (b".git/config", False),
        (b"a/.GIT/hooks/x", False),
        (b"a/git~1/x", False),
        (b".git . /x", False),
        (b"odd\xff.py", False),
        (b"tab\tname.py", True),
        (b"x" * 300, False),
        (b"/".join([b"d"] * 200), False),
    ],
)
def test_which_paths_can_be_written(path: bytes, safe: bool) -> None:
    assert is_safe(path) is safe


def test_a_hostile_tree_writes_nothing_outside(repository: Repository, tmp_path: Path) -> None:
    repository.commit("plain", {"a.py": "x = 1\n"})
    blob = repository.git("hash-object", "-w", "a.py").strip()
    raw = b"".join(
        b"100644 " + name + b"\0" + bytes.fromhex(blob) for name in (b"..", b"../evil", b"good.py")
    )
    (tmp_path / "raw").write_bytes(raw)
    repository.git("config", "core.protectNTFS", "false")
    tree = repository.git("hash-object", "-t", "tree", "-w", "--literally", str(tmp_path / "raw"))
    commit = repository.git("commit-tree", "-m", "evil", tree.strip()).strip()
    repository.git("update-ref", "HEAD", commit)
    before = set(tmp_path.rglob("evil*"))
    corpus = snapshot(repository, tmp_path)
    assert [table.path for table in corpus.tables] == ["good.py"]
    assert set(tmp_path.rglob("evil*")) == before


def test_a_snapshot_without_text_is_an_error(repository: Repository, tmp_path: Path) -> None:
    repository.commit("binary", {"x.bin": b"\0\0"})
    with pytest.raises(CorpusError, match="holds no text file"):
        snapshot(repository, tmp_path)


def test_a_pinned_directory(tmp_path: Path) -> None:
    folder = tmp_path / "pinned"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/b.go").write_text("package sub\n\nfunc F() {}\n")
    (folder / "a.md").write_text("# a\n")
    (folder / "x.bin").write_bytes(b"\0")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/a.cpython-311.pyc").write_text("compiled, and by chance without NUL")
    (folder / "link").symlink_to("/etc/hostname")
    with outliner(tmp_path) as parses:
        first = open_directory(folder, parses)
        (folder / "a.md").write_text("# b\n")
        second = open_directory(folder, parses)
        with pytest.raises(CorpusError, match="no such folder"):
            open_directory(tmp_path / "nowhere", parses)
    assert [table.path for table in first.tables] == ["a.md", "sub/b.go"]
    assert first.digest != second.digest


def test_the_digest_knows_paths_and_contents_only(repository: Repository, tmp_path: Path) -> None:
    repository.commit("one", {"a.py": "x = 1\n", "sub/b.py": "y = 1\n"})
    corpus = snapshot(repository, tmp_path)
    twin = tmp_path / "twin"
    (twin / "sub").mkdir(parents=True)
    (twin / "a.py").write_text("x = 1\n")
    (twin / "sub/b.py").write_text("y = 1\n")
    with outliner(tmp_path) as parses:
        assert open_directory(twin, parses).digest == corpus.digest
    about = json.loads((corpus.path.parent / "corpus.json").read_text())
    assert about["digest"] == corpus.digest


def test_a_cache_that_is_no_database_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "outlines.sqlite"
    file.parent.mkdir()
    file.write_bytes(b"this is not a database, it is a truncated mess" * 100)
    cache = ChunkCache(file)
    cache.put({"key": [1]})
    assert cache.get(["key", "other"]) == {"key": [1]}
    cache.close()


def test_a_cache_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CorpusError, match="set CODEBENCH_CACHE to another folder"):
        ChunkCache(tmp_path / "file" / "outlines.sqlite")


def test_a_directory_that_cannot_be_read_or_is_no_code_base_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n" * 100)
    with outliner(tmp_path) as parses:
        monkeypatch.setattr(directory, "MAX_CORPUS_BYTES", 100)
        with pytest.raises(CorpusError, match="holds more than 0 MB of text"):
            open_directory(folder, parses)

        def read(path: Path) -> bytes:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

        monkeypatch.setattr("pathlib.Path.read_bytes", read)
        with pytest.raises(CorpusError, match=r"a\.py: cannot be read \(Permission denied\)"):
            open_directory(folder, parses)
