"""The reference rows that the harness itself answers (they may see the gold).

A retriever that is not above `random` finds nothing; one not above `path-match` reads no code;
`right-file` shows what a measure pays for the file alone.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from codebench.keywords import tokens
from codebench.model import Answer, Candidate, Chunk, Hit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from codebench.model import Corpus, Query
    from codebench.runner.plan import RunSettings

    Floor = Callable[[Query], Sequence[Hit]]


def candidate(name: str) -> Candidate:
    """Return a floor as a run names it."""
    return Candidate(name=name, reference=name, floor=True)


def hit_of(chunk: Chunk) -> Hit:
    """Return the hit that points at a chunk by name and lines."""
    return Hit(chunk.path, chunk.start_line, chunk.end_line, chunk.name or None)


def available(names: Sequence[str], recency: Mapping[str, int]) -> list[str]:
    """Return the floors that can be answered: `recent` needs a history."""
    return [name for name in names if name != "recent" or recency]


def answers(
    name: str,
    queries: Sequence[Query],
    corpus: Corpus,
    settings: RunSettings,
    recency: Mapping[str, int],
) -> Iterator[Answer]:
    """Yield a floor's answers, in the order of the queries. They have no latency.

    Args:
        name: which floor.
        queries: with their gold.
        corpus: what they are asked of.
        settings: depth and seed.
        recency: chunk IDs or paths, ranked by their last change before the snapshot,
            0 for the newest.
    """
    chunks = sorted(corpus.chunks(), key=lambda chunk: chunk.id)
    makers: dict[str, Callable[[], Floor]] = {
        "random": lambda: _random(chunks, settings),
        "path-match": lambda: _path_match(chunks, settings.depth),
        "recent": lambda: _recent(chunks, recency, settings.depth),
        "right-file": lambda: _right_file(corpus, settings),
    }
    floor = makers[name]()
    for query in queries:
        yield Answer(query.id, "ok", tuple(floor(query)[: settings.depth]))


def _random(chunks: Sequence[Chunk], settings: RunSettings) -> Floor:
    def floor(query: Query) -> Sequence[Hit]:
        choose = random.Random(f"{settings.seed} random {query.id}")  # noqa: S311
        return [hit_of(c) for c in choose.sample(chunks, min(settings.depth, len(chunks)))]

    return floor


def _path_match(chunks: Sequence[Chunk], depth: int) -> Floor:
    """Rank chunks by how many of the query's tokens their path and name hold."""
    holders: dict[str, list[int]] = defaultdict(list)
    for number, chunk in enumerate(chunks):
        for token in set(tokens(f"{chunk.path} {chunk.name}")):
            holders[token].append(number)

    def floor(query: Query) -> Sequence[Hit]:
        counts: Counter[int] = Counter()
        for token in set(tokens(query.text)):
            counts.update(holders.get(token, ()))
        best = sorted(counts, key=lambda number: (-counts[number], number))
        return [hit_of(chunks[number]) for number in best[:depth]]

    return floor


def _recent(chunks: Sequence[Chunk], recency: Mapping[str, int], depth: int) -> Floor:
    oldest = len(recency)
    newest = sorted(
        chunks, key=lambda chunk: (recency.get(chunk.id, recency.get(chunk.path, oldest)), chunk.id)
    )
    hits = [hit_of(chunk) for chunk in newest[:depth]]
    return lambda _: hits


def _right_file(corpus: Corpus, settings: RunSettings) -> Floor:
    """For each target in turn, choose another chunk of its file that is no target."""

    def floor(query: Query) -> Sequence[Hit]:
        choose = random.Random(f"{settings.seed} right-file {query.id}")  # noqa: S311
        gold = {target.chunk for target in query.targets}
        hits = []
        for target in query.targets:
            table = corpus.by_path.get(target.path)
            names = {chunk.name for chunk in table.chunks if chunk.id in gold} if table else set()
            others = [chunk for chunk in table.chunks if chunk.name not in names] if table else []
            hits.append(hit_of(choose.choice(others)) if others else Hit(target.path))
        return hits

    return floor
