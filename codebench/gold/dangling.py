"""Which places a query names that its corpus does not have, and where each probably went."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from codebench.corpus.carry import MIN_MASKED_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from codebench.model import Chunk, Corpus, Query, Target

_MOST = 3
"""So many places are named; more help nobody."""


class Wrong(NamedTuple):
    """One thing that is wrong with a query: the field, what, the value, and the mend."""

    field: str
    problem: str
    value: str
    mend: str


class Places:
    """A corpus in which places are looked for.

    Args:
        corpus: the corpus.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.paths = corpus.by_path
        self.by_id = {chunk.id: chunk for chunk in corpus.chunks()}
        self._by: dict[str, dict[str, list[Chunk]]] = {
            "fingerprint": defaultdict(list),
            "masked": defaultdict(list),
            "name": defaultdict(list),
        }
        for chunk in self.by_id.values():
            self._by["fingerprint"][chunk.fingerprint].append(chunk)
            self._by["masked"][chunk.masked].append(chunk)
            self._by["name"][_last(chunk.name)].append(chunk)

    def has(self, name: str) -> bool:
        """Tell whether a chunk ID or a path is in the corpus."""
        return name in self.by_id or name in self.paths

    def probably(self, target: Target) -> str:
        """Say where a target probably went; what to do where nothing is like it."""
        for kind, words in (("fingerprint", "the same code is"), ("masked", "renamed to")):
            found = [
                one
                for one in self._by[kind].get(getattr(target, kind), [])
                if one.id != target.chunk and one.size >= MIN_MASKED_BYTES
            ]
            if found:
                return f"{words} {_some(one.id for one in found)}"
        return self.near(target.path, target.chunk)

    def symbols_near(self, symbol: str) -> str:
        """Say which names are meant by one that no file has: those that end like it before all."""
        equal = sorted({one.name for one in self._by["name"].get(_last(symbol), [])})
        names = {chunk.name for chunk in self.by_id.values() if chunk.name}
        meant = equal or get_close_matches(symbol, sorted(names), _MOST)
        return f"did you mean {_some(meant)}?" if meant else "name the path too"

    def in_lines(self, path: str, first: int, last: int) -> str:
        """Say which symbols of a file lie in its lines."""
        found = [
            one.name
            for one in self.paths[path].chunks
            if one.name and any(start <= last and first <= end for start, end in one.spans)
        ]
        return _some(found)

    def near(self, path: str, name: str) -> str:
        """Say which places have a name like one that is not there."""
        symbol = name.removeprefix(path).removeprefix("::")
        if path not in self.paths:
            return self._near_path(path, symbol)
        own = [chunk.id.removeprefix(path).removeprefix("::") for chunk in self.paths[path].chunks]
        there = [one.id for one in self._by["name"].get(_last(symbol), []) if symbol]
        there.sort(key=lambda one: not one.startswith(f"{path}::"))
        close = [f"{path}::{one}" for one in get_close_matches(symbol, filter(None, own), _MOST)]
        named = list(dict.fromkeys([*there, *close]))
        if named:
            return f"did you mean {_some(named)}?"
        return f"{path} has {_some(one for one in own if one)}" if any(own) else f"write {path}"

    def _near_path(self, path: str, symbol: str) -> str:
        there = [one.id for one in self._by["name"].get(_last(symbol), []) if symbol]
        file = posixpath.basename(path)
        alike = [one for one in self.paths if posixpath.basename(one) == file]
        alike = alike or get_close_matches(path, self.paths, _MOST, 0.7)
        if there and len(there) <= _MOST:
            return f"did you mean {_some(there)}?"
        if alike:
            return f"did you mean a place in {_some(alike)}?"
        return "nothing there is named like it; take it out, or name where it is"


def query_faults(query: Query, places: Places) -> Iterator[Wrong]:
    """Yield what is wrong between a query and its corpus."""
    for number, target in enumerate(query.targets, start=1):
        field = f"targets[{number}]"
        problem = _problem(target, places)
        if problem:
            yield Wrong(field, problem, target.chunk, places.probably(target))
    files = {target.path for target in query.targets if not target.document}
    for number, related in enumerate(query.related, start=1):
        field = f"related[{number}]"
        if related.path not in places.paths:
            mend = places.near(related.path, related.path)
            yield Wrong(f"{field}.path", "is no file of the corpus", related.path, mend)
        if related.of not in files:
            mend = f"write {_some(sorted(files))}" if files else "take it out"
            yield Wrong(f"{field}.of", "is no target's file", related.of, mend)
    for number, name in enumerate(query.not_relevant, start=1):
        if not places.has(name):
            mend = places.near(name.partition("::")[0], name)
            yield Wrong(f"not_relevant[{number}]", "is not in the corpus", name, mend)


def _problem(target: Target, places: Places) -> str:
    if target.path not in places.paths:
        what = "document" if target.document else "file"
        return f"is in no {what} of the corpus"
    chunk = places.by_id.get(target.chunk)
    if chunk is None and target.chunk != target.path:
        return "is no chunk of its file"
    if chunk is not None and target.fingerprint not in {"", chunk.fingerprint}:
        return "is other code in the corpus than its fingerprint says"
    return ""


def _last(name: str) -> str:
    return name.partition("~")[0].rpartition(".")[2]


def _some(names: Iterable[str]) -> str:
    every: Sequence[str] = list(names)
    more = f" or {len(every) - _MOST} more" if len(every) > _MOST else ""
    return " or ".join(every[:_MOST]) + more
