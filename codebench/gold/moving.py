"""One query carried to another snapshot: its targets, related modules, judged places and tags."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from codebench.corpus.carry import Carried, Origin, similarity
from codebench.gold.carrying import Journey, fate_of, one_to_one
from codebench.gold.related import assign
from codebench.gold.tags import age, leak
from codebench.model import Chunk, Query, Target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.corpus.carry import Place, Rule
    from codebench.gold.history import Commit
    from codebench.gold.related import Relations
    from codebench.model import Corpus, Related

DANGLING = "dangling"
"""Fate of a target that its own snapshot does not have."""

PAST = "past"
"""The tag `age` of a query whose commit the snapshot already holds."""


class Mover:
    """Finds the places of one corpus in another.

    Args:
        before: where they stand.
        after: where they are looked for.
        place: looks there.
        renames: new path by old path.
    """

    def __init__(
        self, before: Corpus, after: Corpus, place: Place, renames: Mapping[str, str]
    ) -> None:
        self._before = before
        self.after = after
        self._place = place
        self._renames = renames
        self._chunks = {chunk.id: chunk for chunk in before.chunks()}

    def journeys(self, query: Query) -> tuple[Journey, ...]:
        """Return the way of each target of a query, sorted by where it came from."""
        own = []
        for target in query.targets:
            origin, found = self.find(target.path, target.chunk)
            known = self._knows(target.path, target.chunk)
            own.append(Journey(query.id, origin, found, fate_of(found) if known else DANGLING))
        return one_to_one(own)

    def find(self, path: str, name: str) -> tuple[Chunk, Carried | None]:
        """Return a place as it stands before, and after; None where it is lost."""
        chunk = self._chunks.get(name)
        if chunk is not None and chunk.id != path:
            text = self._before.text
            return chunk, self._place.find(Origin(chunk, lambda: text(chunk), self._path(path)))
        symbol = name.removeprefix(path).removeprefix("::")
        whole = _whole(path) if not symbol else Chunk(path, symbol, 1, "", (), "", "", 0)
        return whole, None if symbol else self._find_file(path)

    def path_after(self, path: str) -> str | None:
        """Return a file's path in the new corpus; None where it is gone."""
        there = self.after.by_path
        return next((one for one in (path, self._path(path)) if one in there), None)

    def _find_file(self, path: str) -> Carried | None:
        now = self.path_after(path)
        if now is None or path not in self._before.by_path:
            return None
        rule: Rule = "path and name" if now == path else "rename"
        texts = ("".join(self._before.lines(path)), "".join(self.after.lines(now)))
        return Carried(_whole(now), rule, similarity(*texts))

    def _path(self, path: str) -> str:
        return self._renames.get(path, path)

    def _knows(self, path: str, name: str) -> bool:
        return name in self._chunks or (name == path and path in self._before.by_path)


def _whole(path: str) -> Chunk:
    return Chunk(path, "", 1, "file", (), "", "", 0)


def moved_query(
    query: Query,
    journeys: Sequence[Journey],
    mover: Mover,
    relations: Relations | None,
    commits: Mapping[str, Commit],
    snapshot: str,
) -> Query | None:
    """Return a query at another snapshot; None where it lost too much to be asked.

    Args:
        query: as it was.
        journeys: of its targets.
        mover: finds what else it names.
        relations: at the new snapshot.
        commits: what the new snapshot reaches.
        snapshot: its commit.
    """
    arrived = {
        one.origin.id: one.found.chunk for one in journeys if one.found and one.fate == "carried"
    }
    targets = tuple(
        _target(target, arrived[target.chunk])
        for target in query.targets
        if target.chunk in arrived
    )
    graded = [any(target.grade >= 3 for target in one) for one in (query.targets, targets)]
    if not targets or (graded[0] and not graded[1]):
        return None
    judged = [mover.find(name.partition("::")[0], name)[1] for name in query.not_relevant]
    moved = replace(
        query,
        targets=targets,
        related=_related(query, targets, arrived, mover, relations),
        not_relevant=tuple(sorted({one.chunk.id for one in judged if one and not one.drifted})),
    )
    return replace(moved, tags=_tags(moved, mover.after, commits, snapshot))


def _target(target: Target, chunk: Chunk) -> Target:
    kept = chunk.fingerprint if target.fingerprint else ""
    return replace(
        target,
        path=chunk.path,
        chunk=chunk.id,
        fingerprint=kept,
        masked=chunk.masked if target.masked else "",
    )


def _related(
    query: Query,
    targets: Sequence[Target],
    arrived: Mapping[str, Chunk],
    mover: Mover,
    relations: Relations | None,
) -> tuple[Related, ...]:
    files = {target.path for target in targets}
    if query.source == "history" and relations is not None:
        return assign((one for path in sorted(files) for one in relations.of(path)), files)
    homes = {
        target.path: arrived[target.chunk].path
        for target in query.targets
        if target.chunk in arrived
    }
    kept = [
        replace(one, path=now, of=homes[one.of])
        for one in query.related
        if (now := mover.path_after(one.path)) is not None and one.of in homes
    ]
    return tuple(one for one in kept if one.path not in files)


def _tags(
    query: Query, corpus: Corpus, commits: Mapping[str, Commit], snapshot: str
) -> Mapping[str, str]:
    """Return the tags of a query from history as they are at the new snapshot."""
    if query.source != "history":
        return query.tags
    files = {target.path for target in query.targets}
    table = corpus.by_path[query.targets[0].path]
    now = {
        "age": _age(query, commits, snapshot),
        "files": "single" if len(files) == 1 else "multi",
        "language": table.language,
        "leak": leak(query.text, query.targets),
        "symbols": "single" if len(query.targets) == 1 else "multi",
    }
    return {tag: now.get(tag, value) for tag, value in query.tags.items()}


def _age(query: Query, commits: Mapping[str, Commit], snapshot: str) -> str:
    if query.origin in commits:
        return PAST
    try:
        asked = datetime.fromisoformat(query.time).timestamp()
    except ValueError:
        return query.tags.get("age", "")
    return age(int(asked) - commits[snapshot].time)
