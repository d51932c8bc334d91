"""The code that a stored run was about, where it is still at hand.

A run folder keeps chunk tables and no file contents. They are looked for by the corpus's digest:
in the cache, in the pinned directory of the suite, and in the repository that the suite names. What
is found is what was asked about, or it is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from codebench import home
from codebench.corpus.contents import MAX_FILE_BYTES, corpus_digest, is_safe
from codebench.errors import CodebenchError, SuiteError
from codebench.gold.folders import open_corpus
from codebench.gold.whereabouts import directory_of, is_url, place_of
from codebench.gold.workshop import workshop
from codebench.reading import is_inside, is_text, open_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from codebench.gold.workshop import Progress
    from codebench.model import Suite


class Code(Protocol):
    """Lines of the files of one corpus."""

    @property
    def missing(self) -> str:
        """Why there is no code; empty where it is at hand."""

    def lines(self, path: str) -> tuple[str, ...] | None:
        """Return a file's lines without their newlines; None where it is not at hand."""


class NoCode:
    """Nothing is at hand."""

    def __init__(self, missing: str) -> None:
        self.missing = missing

    def lines(self, path: str) -> tuple[str, ...] | None:  # noqa: ARG002  # there is none
        """Return None."""
        return None


class KeptCode:
    """A directory whose files are known by their digests."""

    missing = ""

    def __init__(self, root: Path, digests: Mapping[str, str]) -> None:
        self._root = root
        self._digests = digests
        self._read: dict[str, tuple[str, ...] | None] = {}

    def lines(self, path: str) -> tuple[str, ...] | None:
        """Return a file's lines; None where it is gone, or is not what it was."""
        if path not in self._read:
            self._read[path] = self._lines(path)
        return self._read[path]

    def _lines(self, path: str) -> tuple[str, ...] | None:
        wanted = self._digests.get(path)
        data = None if wanted is None else _bytes(self._root, path)
        if data is None or hashlib.sha256(data).hexdigest() != wanted:
            return None
        lines = data.decode("utf-8", "replace").split("\n")
        return tuple(lines if lines[-1] else lines[:-1])


def find_code(
    suite: Suite, folder: Path, paths: Collection[str], progress: Progress = lambda *_: None
) -> Code:
    """Find the code of a suite's corpus. Nothing is fetched from anywhere.

    Args:
        suite: the suite that was asked.
        folder: the suite folder of the run.
        paths: the files of the corpus.
        progress: told (step, done, of how many), where a snapshot has to be made again.
    """
    if not suite.corpus_digest:
        return NoCode("the suite names no corpus")
    try:
        found = _in_cache(suite.corpus_digest)
        if found is not None:
            return found
        if not suite.snapshot:
            return _pinned(suite, folder, paths)
        if is_url(suite.repository) or not _is_here(suite, folder):
            where = suite.repository or "the repository"
            return NoCode(f"{where} is not on this machine, nor its snapshot in the cache")
        with workshop(progress) as shop:
            corpus = open_corpus(suite, folder, shop)
        if corpus.digest != suite.corpus_digest:
            return NoCode(f"{suite.repository} gives another corpus than the one that was asked")
        return _in_cache(suite.corpus_digest) or NoCode("the cache cannot be read")
    except (CodebenchError, OSError) as error:
        return NoCode(" ".join(str(error).split()))


def _is_here(suite: Suite, folder: Path) -> bool:
    try:
        return bool(place_of(suite, folder))
    except SuiteError:
        return False


def _in_cache(digest: str) -> KeptCode | None:
    corpora = home.cache_dir() / "corpora"
    for about in sorted(corpora.glob("*/corpus.json")):
        files = _files_of(about, digest)
        if files is not None:
            return KeptCode(about.parent / "files", files)
    return None


def _files_of(about: Path, digest: str) -> Mapping[str, str] | None:
    try:
        # A corpus.json is long, and its digest stands first.
        with about.open(encoding="utf-8") as file:
            if digest not in file.read(200):
                return None
        data: Any = json.loads(about.read_text("utf-8"))
        files: Mapping[str, str] = data["files"]
        return files if corpus_digest(files) == digest else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _pinned(suite: Suite, folder: Path, paths: Collection[str]) -> Code:
    for root in _roots(suite, folder):
        digests = {}
        for path in paths:
            data = _bytes(root, path)
            if data is None:
                break
            digests[path] = hashlib.sha256(data).hexdigest()
        if digests and corpus_digest(digests) == suite.corpus_digest:
            return KeptCode(root, digests)
    return NoCode(f"the directory {suite.repository} of the suite is not here as it was asked")


def _roots(suite: Suite, folder: Path) -> Iterator[Path]:
    with contextlib.suppress(SuiteError):
        yield directory_of(suite, folder)
    if suite.name == Path(suite.name).name:
        yield home.builtin("suites") / suite.name / suite.repository


def _bytes(root: Path, path: str) -> bytes | None:
    """Return the contents of a file below a folder; None for what no corpus file can be."""
    if not is_text(path) or not is_safe(path.encode()) or not is_inside(root / path, root):
        return None
    try:
        with open_file(root / path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= MAX_FILE_BYTES else None
