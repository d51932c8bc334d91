"""Indexes that adapters built, kept for later runs over the same corpus.

    indexes/KEY/about.json    what it is an index of, and what building it took
    indexes/KEY/data/         what the adapter saved

The key is a digest of all that the index hangs on. A folder appears in one step, so a kept index
is whole or not there; who uses one gets a copy, so that a tool cannot change it for others.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import platform
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.results.stored import file_digest

if TYPE_CHECKING:
    from codebench.model import Candidate, Corpus, IndexCost

FOLDER = "indexes"
_ABOUT = "about.json"
_DATA = "data"


@dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    """A kept index.

    Attributes:
        folder: what the adapter saved; not to be written to.
        seconds: what building it took.
        bytes: its size, as it was recorded when it was built; None where it was not known.
    """

    folder: Path
    seconds: float
    bytes: int | None


class IndexStore:
    """The kept indexes of a machine.

    Args:
        root: the folder of all of them.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def key(self, candidate: Candidate, corpus: Corpus, tables: Path) -> str:
        """Return what an index hangs on, as a digest."""
        what = [
            corpus.digest,
            file_digest(tables),
            candidate.digest,
            candidate.version,
            candidate.reference.rpartition(":")[2],
            [list(pair) for pair in candidate.options],
            platform.python_version(),
        ]
        text = json.dumps(what, sort_keys=True, default=repr)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def find(self, key: str) -> Kept | None:
        """Return a kept index, or None where there is none."""
        place = self._root / key
        try:
            about = json.loads((place / _ABOUT).read_text(encoding="utf-8"))
            size = about["bytes"]
            kept = Kept(place / _DATA, float(about["seconds"]), None if size is None else int(size))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        return kept if kept.folder.is_dir() else None

    def put(self, key: str, saved: Path, candidate: Candidate, cost: IndexCost) -> None:
        """Keep what an adapter saved; one that is there already stays.

        Raises:
            OSError: it cannot be written.
        """
        self._root.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=".making-", dir=self._root))
        try:
            shutil.copytree(saved, making / _DATA, symlinks=True)
            about = {
                "retriever": candidate.reference,
                "digest": candidate.digest,
                "seconds": cost.seconds,
                "bytes": cost.bytes,
            }
            (making / _ABOUT).write_text(json.dumps(about, sort_keys=True), encoding="utf-8")
            with contextlib.suppress(OSError):  # another run was first
                os.rename(making, self._root / key)  # noqa: PTH104  # fails where it is there
        finally:
            shutil.rmtree(making, ignore_errors=True)

    def drop(self, key: str) -> None:
        """Let go of a kept index that cannot be used."""
        with contextlib.suppress(OSError):  # the cache may be read-only
            gone = Path(tempfile.mkdtemp(prefix=".dropped-", dir=self._root))
            with contextlib.suppress(OSError):  # another run was first
                os.rename(self._root / key, gone)  # noqa: PTH104  # at once, whoever copies it
            shutil.rmtree(gone, ignore_errors=True)
