"""What survived -> queries with targets, related modules, tags, clusters and weights."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from codebench.gold.carrying import query_id
from codebench.gold.clusters import Member, clusters, time_split
from codebench.gold.filters import pull_request_message
from codebench.gold.related import assign
from codebench.gold.tags import age, history_tags, masked
from codebench.gold.text import content_words
from codebench.model import Query, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codebench.corpus.carry import Carried
    from codebench.gold.history import Commit
    from codebench.gold.label import Label
    from codebench.gold.recipe import Recipe
    from codebench.gold.timeline import Timeline
    from codebench.model import FileTable, Related

    Arrived = Mapping[str, tuple[Carried, ...]]


def targets_of(carried: Sequence[Carried]) -> tuple[Target, ...]:
    """Return carried chunks as targets of grade 3."""
    return tuple(
        Target(
            path=one.chunk.path,
            chunk=one.chunk.id,
            fingerprint=one.chunk.fingerprint,
            masked=one.chunk.masked,
        )
        for one in carried
    )


def text_of(history: Timeline, commit: str, carried: Sequence[Carried], recipe: Recipe) -> str:
    """Return a query's text; empty where masking leaves too little to ask."""
    text = history.texts[commit]
    if not recipe.mask_leaks:
        return text
    without = masked(text, targets_of(carried))
    return without if content_words(without) >= 3 else ""


def query_of(
    history: Timeline,
    commit: Commit,
    carried: Sequence[Carried],
    recipe: Recipe,
    *,
    snapshot: str,
    tables: Mapping[str, FileTable],
    related: Callable[[str], Sequence[Related]],
) -> Query:
    """Return the query of one commit, without what depends on the other queries."""
    targets = targets_of(carried)
    text = text_of(history, commit.id, carried, recipe)
    files = {target.path for target in targets}
    message = pull_request_message(commit) if recipe.pull_requests else commit.message
    language = tables[targets[0].path].language
    since = commit.time - history.by_id[snapshot].time
    tags = {
        **history_tags(message, text, targets, language),
        "age": age(since),
        "source": "history",
        **({"masked": "yes"} if text != history.texts[commit.id] else {}),
    }
    return Query(
        id=query_id(commit.id),
        text=text,
        targets=targets,
        source="history",
        origin=commit.id,
        time=datetime.fromtimestamp(commit.time, UTC).isoformat(),
        tags=tags,
        related=assign((one for path in sorted(files) for one in related(path)), files),
    )


def with_clusters(
    queries: Sequence[Query], history: Timeline, labels: Mapping[str, Label]
) -> tuple[Query, ...]:
    """Weigh clusters as one, tag the time split, and sort by ID.

    Args:
        queries: of all epochs.
        history: knows authors, times and the topological order.
        labels: know the symbol diffs.
    """
    oldest_first = sorted(queries, key=lambda one: history.position[one.origin], reverse=True)
    grouped = clusters([_member(one, history, labels) for one in oldest_first])
    sizes = {name: list(grouped.values()).count(name) for name in set(grouped.values())}
    times = {one.id: history.by_id[one.origin].time for one in oldest_first}
    split = time_split(times, grouped)
    return tuple(
        sorted(
            (_tagged(one, grouped.get(one.id, ""), sizes, split[one.id]) for one in queries),
            key=lambda one: one.id,
        )
    )


def _tagged(one: Query, cluster: str, sizes: Mapping[str, int], split: str) -> Query:
    tags = {**one.tags, "split": split, **({"cluster": cluster} if cluster else {})}
    return Query(
        id=one.id,
        text=one.text,
        targets=one.targets,
        source=one.source,
        origin=one.origin,
        time=one.time,
        weight=1 / sizes[cluster] if cluster else 1.0,
        tags=dict(sorted(tags.items())),
        related=one.related,
    )


def _member(one: Query, history: Timeline, labels: Mapping[str, Label]) -> Member:
    commit = history.by_id[one.origin]
    return Member(
        id=one.id,
        text=one.text,
        diff=labels[one.origin].diff,
        author=commit.email or commit.author,
        time=commit.time,
        targets=frozenset(target.chunk for target in one.targets),
    )
