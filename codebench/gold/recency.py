"""Which chunks of a snapshot were changed last, for the floor `recent`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from codebench.errors import GitError
from codebench.gold.history import FORM, parse_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codebench.git import Shadow
    from codebench.gold.history import Change, Commit
    from codebench.gold.labeller import Labeller
    from codebench.model import Corpus

WANTED = 200
"""So many chunks are ranked; no list of hits that a person or an agent reads is longer."""

_MAX_COMMITS = 2000
_BATCH = 64


def last_changes(shadow: Shadow, labeller: Labeller, commit: str, corpus: Corpus) -> dict[str, int]:
    """Return chunk IDs of the corpus by their last change, 0 for the one changed last.

    Args:
        shadow: reads the history.
        labeller: reads files as they stood.
        commit: the snapshot.
        corpus: its corpus.
    """
    try:
        return _ranked(parse_log(shadow.log(commit, FORM)), labeller, corpus)
    except GitError:  # a partial clone lacks the blobs that inexact renames need
        return _ranked(parse_log(shadow.log(commit, FORM, renames=False)), labeller, corpus)


def _ranked(history: Iterator[Commit], labeller: Labeller, corpus: Corpus) -> dict[str, int]:
    """Rank chunks by a history, newest first, of which no more is read than is needed."""
    known = {chunk.id for chunk in corpus.chunks()}
    names = {table.path: table.path for table in corpus.tables}
    ranks: dict[str, int] = {}
    log = islice(history, _MAX_COMMITS)
    while len(ranks) < WANTED and (batch := list(islice(log, _BATCH))):
        for change, path in _followed(batch, names):
            for chunk in labeller.changed_chunks(change):
                now = path + chunk.id[len(chunk.path) :]
                if now in known:
                    ranks.setdefault(now, len(ranks))
    return ranks


def _followed(commits: list[Commit], names: dict[str, str]) -> Iterator[tuple[Change, str]]:
    """Yield the changes to files of the snapshot, with the name that each has there."""
    for commit in commits:
        for change in commit.changes:
            now = names.get(change.path)
            if now is None or not change.regular:
                continue
            yield change, now
            if change.status == "R":
                names.setdefault(change.old_path, now)
