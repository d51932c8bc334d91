"""What a perfect retriever would score: the gold's own ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codebench.evaluation import evaluate_answers
from codebench.measures.aggregates import macro
from codebench.model import Answer, Hit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.evaluation import Evaluation
    from codebench.measures.names import Measure
    from codebench.measures.statistics import Figure
    from codebench.model import FileTable, Query, Suite, Target

DEPTH = 50


def ideal_hits(query: Query, tables: Mapping[str, FileTable]) -> tuple[Hit, ...]:
    """Return a perfect answer: every target by name and lines, the best first.

    Of equal grades each file's first comes before any file's second, so that the files are found
    as early as the symbols. A target that the corpus does not have is still pointed at.
    """
    by_path: dict[tuple[int, str], int] = {}
    placed = []
    for target in sorted(query.targets, key=lambda one: (-one.grade, -one.weight, one.chunk)):
        turn = by_path.get((target.grade, target.path), 0)
        by_path[target.grade, target.path] = turn + 1
        placed.append((-target.grade, turn, -target.weight, target.chunk, target))
    return tuple(_hit(target, tables) for *_, target in sorted(placed, key=lambda one: one[:4]))


def evaluate_ideal(
    suite: Suite, tables: Mapping[str, FileTable], measures: Sequence[Measure]
) -> Evaluation:
    """Measure perfect answers to a suite.

    Raises:
        UsageError: a measure is not defined for this gold.
    """
    answers = [Answer(query.id, "ok", ideal_hits(query, tables)[:DEPTH]) for query in suite.queries]
    return evaluate_answers(suite, tables, answers, measures, depth=DEPTH)


def ceiling(evaluations: Sequence[Evaluation]) -> dict[Measure, Figure]:
    """Return each measure's weighted mean over the queries of all members."""
    if not evaluations:
        return {}
    weights = np.concatenate([one.weights for one in evaluations])
    return {
        measure: macro(
            measure, np.concatenate([one.column(measure) for one in evaluations]), weights
        )
        for measure in evaluations[0].measures
    }


def _hit(target: Target, tables: Mapping[str, FileTable]) -> Hit:
    table = tables.get(target.path)
    chunk = next((one for one in table.chunks if one.id == target.chunk), None) if table else None
    if target.chunk == target.path or chunk is None:
        return Hit(target.path)
    symbol = target.chunk.removeprefix(f"{target.path}::")
    return Hit(target.path, chunk.start_line, chunk.end_line, symbol)
