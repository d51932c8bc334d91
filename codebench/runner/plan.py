"""What is asked, how often, and in which order."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.keywords import split_identifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.model import Chunk, Query

FLOORS = ("random", "path-match", "recent", "right-file")


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a run is made; part of its identity.

    Attributes:
        depth: how many hits are asked for.
        query_timeout: seconds for one search.
        index_timeout: seconds for building an index.
        start_timeout: seconds for starting a process and making the adapter.
        warmups: searches before the first that is measured.
        repeats: how often each query is asked; the first is scored, all give latency.
        seed: of every random choice.
        max_restarts: how many times in a row a process may die or hang, with no answer in
            between, before the retriever is given up.
        floors: which reference rows are answered.
    """

    depth: int = 50
    query_timeout: float = 30.0
    index_timeout: float = 1800.0
    start_timeout: float = 120.0
    warmups: int = 5
    repeats: int = 3
    seed: int = 0
    max_restarts: int = 3
    floors: tuple[str, ...] = FLOORS


@dataclass(frozen=True, slots=True)
class Ask:
    """One question, once."""

    query: Query
    repeat: int


def order(queries: Sequence[Query], settings: RunSettings) -> list[Ask]:
    """Return every query `repeats` times: round by round, each round in an order of its own.

    The order depends on the seed and the query IDs only, so that every retriever meets the
    same one.
    """
    asks = []
    for repeat in range(settings.repeats):
        round_ = sorted(queries, key=lambda query: query.id)
        random.Random(f"{settings.seed} round {repeat}").shuffle(round_)  # noqa: S311
        asks += [Ask(query, repeat) for query in round_]
    return asks


def warmup_texts(chunks: Sequence[Chunk], settings: RunSettings) -> list[str]:
    """Return questions that warm a retriever up and are none of the suite's.

    They are the words of a seeded choice of the corpus's own names, so they find something,
    and no answer to a measured query can be kept from them.
    """
    names = sorted({" ".join(split_identifier(chunk.name)) for chunk in chunks if chunk.name})
    names = [name for name in names if name != "module"] or ["warm up"]
    choose = random.Random(f"{settings.seed} warm up")  # noqa: S311
    return [choose.choice(names) for _ in range(settings.warmups)]
