"""A run's answers -> an evaluation, by grading them or from their columns.

Every query of the suite stays in the denominator: one that failed or was not answered scores the
worst value. A query without a unit at a measure's level is left out of that measure, and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codebench.errors import NothingMeasured
from codebench.evaluation.table import UNANSWERED, Evaluation, values_of
from codebench.grading import Files, compile_gold, reach
from codebench.measures.columns import RanksBuilder
from codebench.measures.names import check_depth, parse_all
from codebench.model import STATUSES
from codebench.suite import cluster_of, gold_digest, is_judged, rel_of, repository_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codebench.measures.columns import Asked, Columns
    from codebench.measures.names import Measure
    from codebench.model import Answer, FileTable, Query, Suite


def evaluate_answers(
    suite: Suite,
    tables: Mapping[str, FileTable],
    answers: Iterable[Answer],
    measures: Sequence[Measure | str],
    *,
    depth: int,
) -> Evaluation:
    """Grade one retriever's answers to a suite and measure them.

    `tables` are the corpus's files by path. The answer of repeat 0 is scored, its hits cut at
    `depth`; an answer that is not `ok` counts as no hits.

    Raises:
        UsageError: a cutoff is above the depth, or a measure is not defined for this gold.
        NothingMeasured: the suite has no query.
    """
    queries = sorted(suite.queries, key=lambda query: query.id)
    if not queries:
        raise NothingMeasured(f"suite {suite.name} has no query")
    rel = rel_of(queries)
    bound = parse_all(measures, rel)
    check_depth(bound, depth)
    scored, notes = _scored({query.id for query in queries}, answers)
    files = Files(tables)
    builder = RanksBuilder(len(queries))
    for at, query in enumerate(queries):
        hits = scored[query.id].hits[:depth] if _ok(scored, query) else ()
        builder.add(at, reach(compile_gold(query, files), hits))
    ranks = builder.ranks(judged=is_judged(queries))
    return Evaluation(
        measures=bound,
        queries=tuple(query.id for query in queries),
        table=values_of(bound, ranks),
        weights=np.array([query.weight for query in queries], np.float64),
        statuses=tuple(
            scored[query.id].status if query.id in scored else UNANSWERED for query in queries
        ),
        clusters=tuple(cluster_of(query) for query in queries),
        repositories=tuple(repository_of(query) for query in queries),
        gold=gold_digest(queries),
        ranks=ranks,
        notes=notes,
        default_rel=rel,
    )


def evaluate_columns(
    asked: Asked, columns: Columns, measures: Sequence[Measure | str], *, depth: int
) -> Evaluation:
    """Measure a sealed run's answers from their columns; the same as from the answers.

    Raises:
        UsageError: a cutoff is above the depth, or a measure is not defined for this gold.
    """
    bound = parse_all(measures, asked.rel)
    check_depth(bound, depth)
    first = np.flatnonzero(columns.repeat == 0)
    statuses = [UNANSWERED] * len(asked.queries)
    for at, status in zip(
        columns.query[first].tolist(), columns.status[first].tolist(), strict=True
    ):
        statuses[at] = STATUSES[status]
    return Evaluation(
        measures=bound,
        queries=asked.queries,
        table=values_of(bound, columns.ranks),
        weights=asked.weights,
        statuses=tuple(statuses),
        clusters=asked.clusters,
        repositories=asked.repositories,
        gold=asked.gold,
        ranks=columns.ranks,
        default_rel=asked.rel,
    )


def _ok(scored: Mapping[str, Answer], query: Query) -> bool:
    return query.id in scored and scored[query.id].status == "ok"


def _scored(
    known: set[str], answers: Iterable[Answer]
) -> tuple[dict[str, Answer], tuple[str, ...]]:
    scored: dict[str, Answer] = {}
    strange = repeated = 0
    for answer in answers:
        if answer.repeat:
            continue
        if answer.query not in known:
            strange += 1
        elif answer.query in scored:
            repeated += 1
        else:
            scored[answer.query] = answer
    notes = []
    if strange:
        notes.append(f"{strange} answers to queries that the suite does not have were ignored")
    if repeated:
        notes.append(f"{repeated} second answers to a query were ignored")
    return scored, tuple(notes)
