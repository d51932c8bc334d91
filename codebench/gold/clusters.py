"""Queries that ask the same thing form one cluster with the weight of one, and the time split."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NEAR = 0.8
FOLLOW_UP_SECONDS = 3 * 86_400
GAP_SECONDS = 14 * 86_400
TRAIN, DEV = 0.6, 0.8

_TOKEN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Member:
    """What decides whether two queries ask the same thing.

    Attributes:
        id: the query's ID.
        text: its text.
        diff: digest of the commit's symbol diff.
        author: whose commit it was.
        time: of the committer, in seconds.
        targets: chunk IDs.
    """

    id: str
    text: str
    diff: str
    author: str
    time: int
    targets: frozenset[str]


def clusters(members: Sequence[Member]) -> dict[str, str]:
    """Return for each query in a cluster of two or more the ID of the cluster's oldest query.

    Near-duplicates (Jaccard of token sets at least 0.8), cherry-picks (the same symbol diff) and
    follow-ups (the same author, at most 3 days later, on a common target) belong together.
    """
    parent = {one.id: one.id for one in members}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for one, other in _alike(members):
        parent[root(one)] = root(other)
    groups: dict[str, list[Member]] = defaultdict(list)
    for member in members:
        groups[root(member.id)].append(member)
    return {
        member.id: min(group, key=lambda each: (each.time, each.id)).id
        for group in groups.values()
        if len(group) > 1
        for member in group
    }


def _alike(members: Sequence[Member]) -> Iterable[tuple[str, str]]:
    by_diff: dict[str, list[str]] = defaultdict(list)
    by_author: dict[str, list[Member]] = defaultdict(list)
    for one in members:
        if one.diff:
            by_diff[one.diff].append(one.id)
        by_author[one.author].append(one)
    for ids in by_diff.values():
        yield from pairwise(ids)
    for own in by_author.values():
        for one, other in combinations(own, 2):
            if abs(one.time - other.time) <= FOLLOW_UP_SECONDS and one.targets & other.targets:
                yield one.id, other.id
    yield from _near_duplicates(members)


def _near_duplicates(members: Sequence[Member]) -> Iterable[tuple[str, str]]:
    """Compare only texts that share a word and whose lengths allow the similarity."""
    tokens = {one.id: frozenset(_TOKEN.findall(one.text.lower())) for one in members}
    holders: dict[str, list[str]] = defaultdict(list)
    for one in members:
        seen: set[str] = set()
        for token in sorted(tokens[one.id]):
            seen.update(holders[token])
            holders[token].append(one.id)
        for other in sorted(seen):
            mine, theirs = tokens[one.id], tokens[other]
            if min(len(mine), len(theirs)) < NEAR * max(len(mine), len(theirs)):
                continue
            if len(mine & theirs) >= NEAR * len(mine | theirs):
                yield one.id, other


def time_split(times: Mapping[str, int], grouped: Mapping[str, str]) -> dict[str, str]:
    """Return `train`, `dev` or `test` for each query, or `gap`.

    The oldest 60 % are for training, the next 20 % for development, the newest 20 % for the
    test. What follows a boundary within 14 days is in none of them, nor is a cluster that lies
    across one: its query would be known before it is asked.

    Args:
        times: by query ID, in topological order, oldest first; the running maximum counts, as a
            clock may have been wrong.
        grouped: the cluster of each query that is in one.
    """
    split: dict[str, str] = {}
    latest = 0
    bounds: dict[str, int] = {}
    for index, (query, time) in enumerate(times.items()):
        latest = max(latest, time)
        share = index / len(times)
        part = "train" if share < TRAIN else "dev" if share < DEV else "test"
        start = bounds.setdefault(part, latest)
        young = part != "train" and latest - start < GAP_SECONDS
        split[query] = "gap" if young else part
    for cluster in set(grouped.values()):
        parts = {split[query] for query, own in grouped.items() if own == cluster} - {"gap"}
        if len(parts) > 1:
            split.update({query: "gap" for query, own in grouped.items() if own == cluster})
    return split
