"""Carrying a chunk from one snapshot to an earlier or later one.

First match wins: the same path and name; the path followed through renames and the same name;
the same name-masked fingerprint, where it is unique and long enough to mean something.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from codebench.model import Chunk, FileTable

MIN_MASKED_BYTES = 60
"""A shorter body (a getter, an empty method) is the same in too many places to identify."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A chunk's place in another snapshot, and by which rule it was found."""

    chunk: Chunk
    rule: str


class Renames:
    """The renames of a history, so that a path can be followed back in time.

    Args:
        renames: (position, old path, new path), where a larger position is further back.
    """

    def __init__(self, renames: Iterable[tuple[int, str, str]]) -> None:
        self._at: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for position, old, new in sorted(renames):
            self._at[new].append((position, old))

    def back(self, path: str, start: int, within: Callable[[int], bool]) -> str:
        """Return the path's name further back.

        Args:
            path: its name just before `start`.
            start: the position from which to go back (exclusive).
            within: whether a position lies between here and the snapshot.
        """
        position = start
        while True:
            events = self._at.get(path, [])
            first = bisect_right(events, (position, "\U0010ffff"))
            event = next((event for event in events[first:] if within(event[0])), None)
            if event is None:
                return path
            position, path = event


def carry(chunk: Chunk, paths: Sequence[tuple[str, str]], find: Find) -> Carried | None:
    """Find a chunk's place in another snapshot; None where it is lost.

    Args:
        chunk: as it stood where it was labelled.
        paths: (rule, path) under which to look for it, best first.
        find: looks into the other snapshot.
    """
    for rule, path in paths:
        found = find.by_name(path, chunk)
        if found is not None:
            return Carried(found, rule)
    if chunk.size >= MIN_MASKED_BYTES:
        found = find.by_masked(chunk)
        if found is not None:
            return Carried(found, "fingerprint")
    return None


class Find:
    """Looks chunks up in a snapshot.

    Args:
        tables: the snapshot's tables by path.
        whole: whether they are all of them; only then can a fingerprint be called unique.
    """

    def __init__(self, tables: Mapping[str, FileTable], *, whole: bool) -> None:
        self._tables = tables
        self._whole = whole
        self._masked: dict[str, list[Chunk]] | None = None

    def by_name(self, path: str, chunk: Chunk) -> Chunk | None:
        """Return the chunk of that name in a file: of repeats by fingerprint, then by order."""
        table = self._tables.get(path)
        if table is None:
            return None
        named = [one for one in table.chunks if one.name == chunk.name]
        if not named:
            return None
        same = [one for one in named if one.fingerprint == chunk.fingerprint]
        ordinal = [one for one in named if one.ordinal == chunk.ordinal]
        return (same or ordinal or named)[0]

    def by_masked(self, chunk: Chunk) -> Chunk | None:
        """Return the one chunk with the same name-masked fingerprint, if it is only one."""
        if not self._whole:
            return None
        if self._masked is None:
            self._masked = defaultdict(list)
            for table in self._tables.values():
                for one in table.chunks:
                    self._masked[one.masked].append(one)
        found = self._masked.get(chunk.masked, [])
        return found[0] if len(found) == 1 else None
