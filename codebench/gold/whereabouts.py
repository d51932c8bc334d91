"""Where a suite's repository is: on the machine that built it, and on every other one."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.errors import SuiteError
from codebench.reading import is_inside, shown
from codebench.suite import SUITE_FILE

if TYPE_CHECKING:
    from codebench.model import Suite

_URL = re.compile(r"[a-z][a-z0-9+.-]+://|[\w.-]+@[\w.-]+:", re.IGNORECASE)


def is_url(named: str) -> bool:
    """Tell a repository's URL from a path."""
    return bool(_URL.match(named))


def place_of(suite: Suite, folder: Path) -> str:
    """Return the repository of a suite that has a snapshot: a URL, or an absolute path.

    Args:
        suite: as it was read.
        folder: where it was read; a relative path of a repository leads from there.

    Raises:
        SuiteError: it names no repository, or a path that is not on this machine.
    """
    field = f"{folder / SUITE_FILE}: repository:"
    if not suite.repository:
        raise SuiteError(f"{field} is missing; name the repository that has {suite.snapshot}")
    if is_url(suite.repository):
        return suite.repository
    place = Path(os.path.normpath(folder.resolve() / suite.repository))
    if not place.is_dir():
        raise SuiteError(
            f"{field} {suite.repository!r} is not on this machine; write its URL, or its path "
            "(a relative one leads from this file's folder)"
        )
    return str(place)


def directory_of(suite: Suite, folder: Path) -> Path:
    """Return the pinned directory of a suite without a snapshot, which lies in its folder.

    A suite is somebody else's, and all that it names is read and handed to retrievers.

    Raises:
        SuiteError: it names none, or one that leads out of its folder.
    """
    place = folder / suite.repository
    if not suite.repository or not is_inside(place, folder):
        raise SuiteError(
            f"{folder / SUITE_FILE}: repository: {shown(suite.repository)} is no folder beside "
            "this file; copy the code there, or write `snapshot`, the commit of a repository"
        )
    return place


def portable(suite: Suite, folder: Path) -> Suite:
    """Return a suite as it is written to a folder: beside its code, it finds it by the way there.

    A clone of a repository that holds its own suite is then whole, wherever it lies.
    """
    if not suite.snapshot or is_url(suite.repository) or not suite.repository:
        return suite
    place, home = folder.resolve(), Path(suite.repository)
    if not home.is_absolute() or not place.is_relative_to(home):
        return suite
    return replace(suite, repository=Path(os.path.relpath(home, place)).as_posix())
