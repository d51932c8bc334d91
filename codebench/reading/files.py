"""Files that cannot wait for ever, have no end, or swell beyond belief."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import stat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SMALL_BYTES = 64_000_000
_MOST_TIMES = 200
"""How many times its size on disk a gzip file may hold, where that is more than a little."""


def open_file(path: Path) -> io.BufferedReader:
    """Open a file to read its bytes, and nothing that could wait for ever or has no end.

    Raises:
        OSError: it cannot be opened, or is a folder, a pipe or a device.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except ValueError as error:  # NUL in its name
        raise OSError(str(error)) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        os.close(handle)
        raise OSError("is a folder" if is_folder else "is a pipe or a device, not a file")
    return os.fdopen(handle, "rb")


@contextlib.contextmanager
def unpacked(raw: io.BufferedReader) -> Iterator[io.BufferedReader]:
    """Give what a gzip file holds, as a file that ends where it swells beyond belief.

    Raises:
        OSError: in reading, where it is no gzip file or a bomb.
    """
    with gzip.open(raw, "rb") as file:
        yield io.BufferedReader(_Bounded(file, most_unpacked(raw)))


def most_unpacked(raw: io.BufferedReader) -> int:
    """Return how many bytes a packed file may hold before it is a bomb."""
    return max(_SMALL_BYTES, os.fstat(raw.fileno()).st_size * _MOST_TIMES)


class _Bounded(io.RawIOBase):
    """A file that may give so many bytes.

    Args:
        file: it.
        most: so many.
    """

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file = file
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise OSError("it unpacks to more than a file like it holds")
        buffer[: len(data)] = data
        return len(data)


def read_text(path: Path, most: int) -> str:
    """Return the whole text of a file.

    Args:
        path: the file.
        most: bytes that it may have.

    Raises:
        OSError: it cannot be read.
        ValueError: it is longer, or is not UTF-8.
    """
    with open_file(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"is longer than {most} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 at byte {error.start + 1}") from None


def is_file(path: Path) -> bool:
    """Whether there is such a file; False too where there can be none of that name."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; False too where there can be none of that name."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path, its links followed, lies in a folder or is it."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # of links in a circle, and of NUL
        return False
