"""Carrying a chunk from one snapshot to an earlier or later one.

First match wins:

1. the same path and name;
2. the path followed through renames, then the same name;
3. the same name-masked fingerprint, where it is unique and long enough to mean something;
4. the same qualified name, where it is unique, and alike to at least 0.3;
5. the same name and kind, alike to at least 0.5 in the file, or to 0.75 elsewhere where at most
   50 symbols have that name; the most alike.

What is carried but alike to less than 0.3 has drifted: its name means something else by now.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from codebench.model import Chunk, FileTable

Rule = Literal["path and name", "rename", "fingerprint", "qualified name", "similar"]

MIN_MASKED_BYTES = 60
"""A shorter body (a getter, an empty method) is the same in too many places to identify."""

DRIFTED = 0.3
ALIKE_BY_NAME = 0.3
ALIKE_IN_FILE = 0.5
ALIKE_ELSEWHERE = 0.75

MAX_NAMESAKES = 50
"""A name that more symbols have (`__init__`, `run`) says nothing of where one of them went."""

_BAGS_HELD = 2048

_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Carried:
    """A chunk's place in another snapshot.

    Attributes:
        chunk: as it stands there.
        rule: by which it was found.
        similarity: of the two texts, 0 to 1.
    """

    chunk: Chunk
    rule: Rule
    similarity: float

    @property
    def drifted(self) -> bool:
        """Whether the place is found but holds other code."""
        return self.similarity < DRIFTED


@dataclass(frozen=True)
class Origin:
    """A chunk as it stands where it is carried from.

    Attributes:
        chunk: the chunk.
        text: returns its own lines; it is asked only where two texts must be compared.
        renamed: its file's path there when renames are followed; the same path when it has none.
    """

    chunk: Chunk
    text: Callable[[], str]
    renamed: str

    @cached_property
    def bag(self) -> Counter[str]:
        """The tokens of its text, each with its count."""
        return _bag(self.text())


def similarity(one: str, other: str) -> float:
    """Return the Dice coefficient of two texts' bags of tokens: 1 where they hold the same.

    Twice the common tokens over all tokens (Dice, Ecology 26, 1945), the bag form of what
    difflib calls a ratio; the order of tokens plays no part.
    """
    return _dice(_bag(one), _bag(other))


def _bag(text: str) -> Counter[str]:
    return Counter(_TOKEN.findall(text))


def _dice(first: Counter[str], second: Counter[str]) -> float:
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 1.0


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


class Place:
    """A snapshot in which chunks are looked for.

    Args:
        tables: the snapshot's tables by path.
        text: returns a chunk's own lines.
        whole: whether the tables are all of them; only then can something be called unique.
    """

    def __init__(
        self, tables: Mapping[str, FileTable], text: Callable[[Chunk], str], *, whole: bool
    ) -> None:
        self._tables = tables
        self._whole = whole
        self._by: dict[str, Mapping[str, list[Chunk]]] = {}
        self._bag = lru_cache(_BAGS_HELD)(lambda chunk: _bag(text(chunk)))

    def find(self, origin: Origin) -> Carried | None:
        """Return where a chunk stands in this snapshot; None where it is lost."""
        chunk = origin.chunk
        exact: list[tuple[Rule, Chunk | None]] = [
            ("path and name", self._named(chunk.path, chunk)),
            ("rename", self._named(origin.renamed, chunk)),
        ]
        if self._whole and chunk.size >= MIN_MASKED_BYTES:
            exact.append(("fingerprint", _only(self._with("masked").get(chunk.masked, []))))
        for rule, found in exact:
            if found is not None:
                return Carried(found, rule, self._alike(origin, found))
        return self._by_likeness(origin) if self._whole else None

    def _by_likeness(self, origin: Origin) -> Carried | None:
        chunk = origin.chunk
        only = _only(self._with("name").get(chunk.name, []))
        if only is not None:
            alike = self._alike(origin, only)
            if alike >= ALIKE_BY_NAME:
                return Carried(only, "qualified name", alike)
        named = [
            one for one in self._with("last").get(_last(chunk.name), []) if one.kind == chunk.kind
        ]
        files = {chunk.path, origin.renamed}
        here = [one for one in named if one.path in files]
        elsewhere = named if len(named) <= MAX_NAMESAKES else []
        for group, least in ((here, ALIKE_IN_FILE), (elsewhere, ALIKE_ELSEWHERE)):
            ranked = sorted(((self._alike(origin, one), one.id) for one in group), reverse=True)
            if ranked and ranked[0][0] >= least:
                best = next(one for one in group if one.id == ranked[0][1])
                return Carried(best, "similar", ranked[0][0])
        return None

    def _alike(self, origin: Origin, found: Chunk) -> float:
        if found.fingerprint == origin.chunk.fingerprint:
            return 1.0
        return _dice(origin.bag, self._bag(found))

    def _named(self, path: str, chunk: Chunk) -> Chunk | None:
        """Return the chunk of that name in a file: of repeats by fingerprint, then by order."""
        table = self._tables.get(path)
        named = [one for one in table.chunks if one.name == chunk.name] if table else []
        same = [one for one in named if one.fingerprint == chunk.fingerprint]
        ordinal = [one for one in named if one.ordinal == chunk.ordinal]
        return next(iter([*same, *ordinal, *named]), None)

    def _with(self, what: str) -> Mapping[str, list[Chunk]]:
        """Return the snapshot's symbols by fingerprint, qualified name or last name."""
        if what not in self._by:
            found: dict[str, list[Chunk]] = defaultdict(list)
            for path in sorted(self._tables):
                for one in self._tables[path].chunks:
                    if one.kind not in {"module", "file"}:
                        key = _last(one.name) if what == "last" else getattr(one, what)
                        found[key].append(one)
            self._by[what] = found
        return self._by[what]


def _only(found: Sequence[Chunk]) -> Chunk | None:
    return found[0] if len(found) == 1 else None


def _last(name: str) -> str:
    return name.rpartition(".")[2]
