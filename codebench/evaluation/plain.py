"""Rankings and judgments in plain mappings -> an evaluation, as trec_eval would have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from codebench.errors import NothingMeasured, UsageError
from codebench.evaluation.table import JUDGMENTS_REL, UNANSWERED, Evaluation, values_of
from codebench.measures.names import Measure, parse_all
from codebench.measures.plain import check_grades, rankings_of, ranks_of
from codebench.suite import rows_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def evaluate(
    qrels: Mapping[str, Mapping[str, int]],
    run: Mapping[str, Mapping[str, float] | Sequence[str]],
    measures: Iterable[str | Measure],
    *,
    ties: Literal["order", "trec"] = "order",
    empty_gold: Literal["exclude", "zero"] = "exclude",
) -> Evaluation:
    """Measure rankings against plain judgments. The arguments are never changed.

    Args:
        qrels: `{query: {document: grade}}`; grades are whole numbers, those below 0 count as 0.
        run: `{query: [document, …]}` best first, or `{query: {document: score}}`. A mapping's own
            order is the ranking too, and its scores are only checked: pass `ties="trec"` for
            mappings that are not in the order of their scores.
        measures: names such as `RR@10`, `R(rel=2)@10`, or `Measure`s; `rel` is 1 by default.
        ties: `order` keeps the order given; `trec` sorts by score, highest first, and equal scores
            by document, last first by bytes, as trec_eval does (it needs scores).
        empty_gold: what a query without a relevant document is: `exclude`d from the measure, its
            value None and counted, or scored `zero` as trec_eval does.

    Returns:
        an evaluation with `.values` (`{measure: float}`) and `.per_query`
        (`{query: {measure: float}}`), over every query of `qrels`: one that `run` does not answer
        scores 0. A query that `qrels` does not have is ignored. `.notes` says what was.

    Raises:
        UsageError: a measure's name is wrong, or `ties="trec"` has no scores to sort by.
        InputError: every grade that is not a whole number from -1000 to 1000, every score that is
            not a finite number, and every ranking of another shape.
        NothingMeasured: `qrels` has no query.
    """
    bound = parse_all(measures, JUDGMENTS_REL)
    if ties not in ("order", "trec") or empty_gold not in ("exclude", "zero"):
        raise UsageError('ties is "order" or "trec"; empty_gold is "exclude" or "zero"')
    if not qrels:
        raise NothingMeasured("the judgments have no query")
    queries = sorted(qrels)
    check_grades(qrels)
    rankings, rising = rankings_of(queries, run, ties)
    ranks = ranks_of([qrels[query] for query in queries], rankings)
    table = values_of(bound, ranks)
    if empty_gold == "zero":
        worst = np.array([measure.worst for measure in bound])
        table = np.where(np.isnan(table), worst, table)
    return Evaluation(
        measures=bound,
        queries=tuple(queries),
        table=table,
        weights=np.ones(len(queries)),
        statuses=tuple("ok" if query in run else UNANSWERED for query in queries),
        clusters=tuple(queries),
        repositories=("",) * len(queries),
        gold=rows_digest(
            [query, *sorted((name, int(grade)) for name, grade in qrels[query].items())]
            for query in queries
        ),
        ranks=ranks,
        notes=_plain_notes(qrels, run, rising),
        default_rel=JUDGMENTS_REL,
    )


def _plain_notes(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Any], rising: int
) -> tuple[str, ...]:
    strange = sum(query not in qrels for query in run)
    negative = sum(grade < 0 for judged in qrels.values() for grade in judged.values())
    notes = []
    if strange:
        notes.append(f"{strange} queries of the run have no judgment and were ignored")
    if negative:
        notes.append(f"{negative} grades below 0 count as 0")
    if rising:
        notes.append(
            f"{rising} queries have scores that rise: the order given is the ranking "
            "(ties=trec sorts by score)"
        )
    return tuple(notes)
