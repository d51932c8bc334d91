"""What appears or changes in folders that somebody else should leave alone."""

from __future__ import annotations

import contextlib
import os
import pwd
import tempfile
from dataclasses import dataclass
from pathlib import Path

from codebench.home import cache_dir

MOST_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class Watched:
    """A folder that is watched.

    Attributes:
        folder: which.
        levels: how deep.
        changes: whether files that change count, too: not where others write as well.
    """

    folder: Path
    levels: int
    changes: bool = True


def places_of_others(here: Path, adapter: str) -> list[Watched]:
    """Return what an adapter should leave alone: this folder, its file's, the home folder.

    The system's temporary folder is left out, and this folder where it holds that one: there
    everybody writes, and who did it cannot be told.
    """
    found = [Watched(here, 2), *([Watched(Path(adapter).parent, 1)] if adapter else [])]
    temporary = Path(tempfile.gettempdir()).resolve()
    found = [one for one in found if not temporary.is_relative_to(one.folder.resolve())]
    # Not HOME, which a worker has one of its own for: who asks the system gets this one.
    with contextlib.suppress(KeyError):
        found.append(Watched(Path(pwd.getpwuid(os.getuid()).pw_dir), 3, changes=False))
    return found


class Watch:
    """Looks at folders when it is made, and tells what is new afterwards."""

    def __init__(self, places: list[Watched]) -> None:
        self._places = places
        self._before = [_listing(one) for one in places]

    def news(self) -> tuple[str, ...]:
        """Return the paths that are new, or have changed where that counts; sorted."""
        found = set()
        for place, before in zip(self._places, self._before, strict=True):
            for path, mark in _listing(place).items():
                if path not in before or (place.changes and before[path] != mark):
                    found.add(path)
        return tuple(sorted(found))


def _listing(place: Watched) -> dict[str, tuple[int, int]]:
    """Return each file's size and time of change; a folder's are left out, as files tell them."""
    found: dict[str, tuple[int, int]] = {}
    own = {os.path.realpath(cache_dir()), os.path.realpath(tempfile.gettempdir())}
    waiting = [(os.fspath(place.folder), 1)]
    while waiting and len(found) < MOST_ENTRIES:
        folder, level = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                real = os.path.realpath(entry.path)
                if real in own or entry.name == ".git":
                    continue
                with contextlib.suppress(OSError):
                    is_folder = entry.is_dir(follow_symlinks=False)
                    stat = entry.stat(follow_symlinks=False)
                    found[entry.path] = (0, 0) if is_folder else (stat.st_size, stat.st_mtime_ns)
                    if is_folder and level < place.levels:
                        waiting.append((entry.path, level + 1))
    return found
