"""The cache folder, room by room."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.errors import CodebenchError, UsageError
from codebench.reading import near
from codebench.runner.kept import FOLDER
from codebench.runner.remote import FETCHED
from codebench.runner.scratch import disk_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ROOMS = {
    "clones": "repositories given by URL",
    "corpora": "snapshots of repositories",
    FETCHED: "corpora and adapters that came over a cluster",
    FOLDER: "kept indexes (--keep-index)",
    "outlines": "what is parsed of files",
    "shadows": "read-only views of repositories, left by a run that was killed",
}
"""What codebench puts into its cache. Nothing else in the folder is shown or removed."""


@dataclass(frozen=True, slots=True)
class Room:
    """One room of the cache.

    Attributes:
        name: what it is called.
        what: what it holds.
        paths: the files and folders that it is made of.
        entries: how many things are in it.
        bytes: how much they take on disk.
    """

    name: str
    what: str
    paths: tuple[Path, ...]
    entries: int
    bytes: int


def chosen(place: Path, names: Sequence[str] = ()) -> list[Room]:
    """Return the rooms of a cache folder, those that are empty too.

    Raises:
        UsageError: a name is no room.
    """
    for name in names:
        if name not in ROOMS:
            raise UsageError(f"the cache has no room {name!r}; {near(name, ROOMS)}")
    return [_room(place, name) for name in ROOMS if not names or name in names]


def _room(place: Path, name: str) -> Room:
    folder = place / name
    files = tuple(sorted(place.glob(f"{name}.sqlite*"))) if place.is_dir() else ()
    paths = (*((folder,) if folder.is_dir() else ()), *files)
    entries = sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0
    size = sum(disk_bytes(path) if path.is_dir() else path.stat().st_size for path in paths)
    return Room(name, ROOMS[name], paths, entries + len(files), size)


def clear(rooms: Sequence[Room]) -> None:
    """Remove what is in some rooms.

    Raises:
        CodebenchError: something cannot be removed.
    """
    for room in rooms:
        for path in room.paths:
            try:
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
            except OSError as error:
                raise CodebenchError(f"{path}: cannot be removed ({error.strerror})") from None
