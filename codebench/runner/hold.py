"""Holding a run's folder, so that two processes never write to one run."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from codebench.errors import ResultsError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a run's folder until the block ends, or this process does, however it does.

    Nothing is written for it. Where the system or the file system knows no such locks, nothing
    is held.

    Raises:
        ResultsError: another process writes to it.
    """
    try:
        import fcntl  # noqa: PLC0415  # only Unix has it
    except ImportError:
        yield
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if isinstance(error, BlockingIOError):
                raise ResultsError(
                    f"{path}: another codebench is writing this run; wait until it ends"
                ) from None
        yield
    finally:
        os.close(folder)
