"""What is asked, how often, and in which order."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codebench.keywords import split_identifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.model import Answer, Chunk, Query
    from codebench.results import RetrieverRun

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
        memory_limit: bytes that a retriever's processes may hold together; 0 for no limit.
        rate_limit_wait: seconds that one query may wait for a service that refuses for a while.
        concurrency: steps of load with so many clients, after the rounds.
        rates: steps of load at so many searches a second, after those.
        check_determinism: whether a sample is asked again after a restart.
        keep_index: whether indexes are taken from and put into the cache.
        jobs: how many retrievers are measured beside each other.
        executor: `local`, or `dask`.
        null_asks: how often the null retriever is asked, which tells the harness's own cost.
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
    memory_limit: int = 0
    rate_limit_wait: float = 300.0
    concurrency: tuple[int, ...] = ()
    rates: tuple[float, ...] = ()
    check_determinism: bool = False
    keep_index: bool = False
    jobs: int = 1
    executor: str = "local"
    null_asks: int = 100


@dataclass(frozen=True, slots=True)
class Ask:
    """One question, once; `again` where it takes the place of an answer that failed."""

    query: Query
    repeat: int
    again: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of one retriever.

    Attributes:
        asks: the questions, in order.
        warmups: texts that are asked first of each process.
        known: answers that are there already: nothing of them is asked again.
        loads: steps of load that follow, each (concurrency, rate).
        load_texts: what each of them asks.
        sample: queries that are asked again after a restart, with their texts.
        resumed: whether rows of this retriever are there already.
    """

    asks: Sequence[Ask]
    warmups: Sequence[str] = ()
    known: Sequence[Answer] = ()
    loads: Sequence[tuple[int, float]] = ()
    load_texts: Sequence[str] = ()
    sample: Mapping[str, str] = field(default_factory=dict)
    resumed: bool = False


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


CHECKED = 50
"""Queries that a check of determinism asks again."""


def plan_of(
    queries: Sequence[Query],
    settings: RunSettings,
    warmups: Sequence[str],
    before: RetrieverRun | None = None,
    *,
    retry: bool = False,
) -> Plan:
    """Return what is still to be asked.

    Args:
        queries: of the suite.
        settings: how the run is made.
        warmups: texts for warming up.
        before: what was done before the run was cut off.
        retry: whether answers that failed are asked again.
    """
    known = before.answers if before else ()
    status = {(answer.query, answer.repeat): answer.status for answer in known}
    asks = []
    for ask in order(queries, settings):
        found = status.get((ask.query.id, ask.repeat))
        if found is None:
            asks.append(ask)
        elif retry and found != "ok":
            asks.append(Ask(ask.query, ask.repeat, again=True))
    loads = [(clients, 0.0) for clients in settings.concurrency]
    loads += [(0, rate) for rate in settings.rates]
    done = {(step.concurrency, step.rate) for step in before.loads} if before else set()
    sample = {}
    wanted = min(CHECKED, len(queries))
    if settings.check_determinism and (before is None or before.checked < wanted):
        named = sorted(queries, key=lambda query: query.id)
        choose = random.Random(f"{settings.seed} determinism")  # noqa: S311
        sample = {query.id: query.text for query in choose.sample(named, wanted)}
    return Plan(
        asks=asks,
        warmups=warmups,
        known=known,
        loads=[step for step in loads if step not in done],
        load_texts=[ask.query.text for ask in order(queries, settings)],
        sample=sample,
        resumed=before is not None,
    )
