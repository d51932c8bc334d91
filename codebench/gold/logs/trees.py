"""One commit as a log saw it: which file a logged path means, its chunks and its text."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from codebench.corpus.contents import MAX_FILE_BYTES
from codebench.grading.files import File

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codebench.gold.logs.record import Place
    from codebench.gold.workshop import Source
    from codebench.model import Chunk, FileTable

_WINDOWS = re.compile(r"[A-Za-z]:[\\/]")
_DROPPED = 6
"""Folders above a repository that a log may have had below the folder that it names."""


class Tree:
    """The files of a commit.

    Args:
        source: the repository.
        commit: full ID.
    """

    def __init__(self, source: Source, commit: str) -> None:
        self.commit = commit
        self._source = source
        self._blobs: Mapping[str, str] = source.labeller.tree(commit)
        self._tables: dict[str, FileTable | None] = {}
        self._files: dict[str, File] = {}

    def path(self, path: str, root: str = "") -> str:
        """Return the file that a logged path means; empty where there is none.

        Args:
            path: relative or absolute.
            root: the folder that it was relative to, absolute, or empty.
        """
        if _WINDOWS.match(path) or _WINDOWS.match(root):
            path, root = path.replace("\\", "/"), root.replace("\\", "/")
        absolute = posixpath.isabs(path) or bool(_WINDOWS.match(path))
        if not absolute and root:
            path = posixpath.join(root, path)
            absolute = True
        path = posixpath.normpath(path)
        if not absolute:
            return path if path in self._blobs else ""
        return next((one for one in _candidates(path, root) if one in self._blobs), "")

    def table(self, path: str) -> FileTable | None:
        """Return a file's chunks; None where it is no text, or not there."""
        if path not in self._tables:
            self._tables |= {path: None}
            self._tables |= self._source.labeller.tables_at(self.commit, {path})
        return self._tables[path]

    def chunk(self, path: str, place: Place) -> Chunk | None:
        """Return the chunk that a place in a file means: by its symbol, or the innermost one.

        None where it means the file as a whole.
        """
        table = self.table(path)
        if table is None:
            return None
        file = self._files.setdefault(path, File(table))
        if place.symbol:
            named = file.named(place.symbol)
            if named:
                return named[0]
        if place.start is None:
            return None
        chunk = file.pointed_at((place.start, place.end or place.start))
        return chunk if chunk is not None and chunk.name else None

    def bytes(self, path: str) -> bytes | None:
        """Return a file's contents; None where it is not there or too large."""
        if path not in self._blobs:
            return None
        ((_, data),) = self._source.shadow.blobs([self._blobs[path]], MAX_FILE_BYTES)
        return data


def _candidates(path: str, root: str) -> Iterator[str]:
    """Yield what an absolute path may be called in the repository, the likeliest first.

    Who works in a folder of the repository names it as the root, so those above are tried; a log
    that names no root, or one above the repository, has folders too many.
    """
    base = posixpath.normpath(root) if root else ""
    folder = base
    while folder and folder != "/":
        if path.startswith(f"{folder}/"):
            yield path[len(folder) + 1 :]
        folder = posixpath.dirname(folder) if "/" in folder else ""
    if base and not path.startswith(f"{base.rstrip('/')}/"):
        return
    parts = path[len(base) :].strip("/").split("/")
    for drop in range(0 if not base else 1, min(len(parts), _DROPPED)):
        yield "/".join(parts[drop:])
