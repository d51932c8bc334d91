"""Folders that a retriever may do with what it likes."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.errors import ResultsError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Make an empty folder, with its links resolved, that is gone afterwards."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="codebench-")).resolve()
    except OSError as error:
        raise ResultsError(
            f"{tempfile.gettempdir()}: no temporary folder can be made ({error.strerror}); "
            "set TMPDIR"
        ) from None
    try:
        yield folder
    finally:
        _remove(folder)


def copy_corpus(source: Path, target: Path) -> None:
    """Copy a corpus directory so that it can be written to.

    Plain copies: with hard links, a tool that writes in place would change the corpus of
    everybody else. Modes are not copied, as the corpus is read-only.

    Raises:
        ResultsError: the copy cannot be written.
    """
    try:
        for folder, _, names in os.walk(source):
            there = target / Path(folder).relative_to(source)
            there.mkdir(parents=True, exist_ok=True)
            for name in names:
                shutil.copyfile(Path(folder, name), there / name, follow_symlinks=False)
    except OSError as error:
        raise ResultsError(
            f"{target}: the corpus cannot be copied here ({error.strerror}); set TMPDIR"
        ) from None


def disk_bytes(folder: Path) -> int:
    """Return the size of all files below a folder."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # it may be gone by now
                total += Path(place, name).lstat().st_size
    return total


def _remove(folder: Path) -> None:
    """Remove a folder even where a tool took its own permissions away."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for place, folders, _ in os.walk(folder):
            for name in folders:
                with contextlib.suppress(OSError):
                    Path(place, name).chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)
