"""Folders that a retriever may do with what it likes."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.corpus.contents import is_bytecode
from codebench.errors import ResultsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FICLONE = 0x40049409
"""Linux's request that a file share another's blocks (`linux/fs.h`)."""


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Make an empty folder, with its links resolved, that is gone afterwards."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="codebench-")).resolve()
    except OSError as error:
        raise ResultsError(
            f"no temporary folder can be made ({error.strerror}); set TMPDIR to a folder"
        ) from None
    try:
        yield folder
    finally:
        _remove(folder)


def copy_corpus(source: Path, target: Path) -> None:
    """Copy a corpus directory so that it can be written to.

    Blocks are shared where the file system can do that without sharing changes (reflinks);
    elsewhere these are plain copies: with hard links, a tool that writes in place would change
    the corpus of everybody else. Modes are not copied, as the corpus is read-only. What Python
    compiled beside it (pip does, in a suite that is installed) is no part of it.

    Raises:
        ResultsError: the copy cannot be written.
    """
    try:
        copy_folder(source, target, leave_out=is_bytecode)
    except OSError as error:
        raise ResultsError(
            f"{target}: the corpus cannot be copied here ({error.strerror}); set TMPDIR"
        ) from None


def copy_folder(
    source: Path, target: Path, leave_out: Callable[[str], bool] = lambda _: False
) -> None:
    """Copy a folder of files, sharing blocks where that is safe.

    Args:
        source: the folder.
        target: where it is copied to.
        leave_out: by a file's path in the folder, whether it is not copied; a folder of which
            nothing else is left is not made.
    """
    copy = _copier(source, target)
    for folder, folders, names in os.walk(source):
        inside = Path(folder).relative_to(source)
        taken = [name for name in names if not leave_out((inside / name).as_posix())]
        if not taken and names and not folders:
            continue
        (target / inside).mkdir(parents=True, exist_ok=True)
        for name in taken:
            copy(Path(folder, name), target / inside / name)


def _copier(source: Path, target: Path) -> Callable[[Path, Path], object]:
    """Return what copies one file: a clone where a trial shows that it works."""
    target.mkdir(parents=True, exist_ok=True)
    trial = next((Path(folder, names[0]) for folder, _, names in os.walk(source) if names), None)
    place = target / ".codebench-trial"
    if trial is None or not _clone(trial, place):
        return lambda old, new: shutil.copyfile(old, new, follow_symlinks=False)
    place.unlink()
    return lambda old, new: _clone(old, new) or shutil.copyfile(old, new, follow_symlinks=False)


def _clone(source: Path, target: Path) -> bool:
    """Make a file that shares another's blocks until one of them is written; False if not."""
    if sys.platform != "linux" or source.is_symlink():
        return False
    import fcntl  # noqa: PLC0415  # only Unix has it

    try:
        with source.open("rb") as old, target.open("wb") as new:
            fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
    except OSError:
        target.unlink(missing_ok=True)
        return False
    return True


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
