"""An evaluation seen more closely: by a tag, by K, and where equal scores decide nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codebench.errors import UsageError
from codebench.measures import aggregates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codebench.evaluation.table import Evaluation
    from codebench.measures.statistics import Figure
    from codebench.model import Answer, Suite


@dataclass(frozen=True)
class Slice:
    """The queries that share a tag's value, with their figures."""

    tag: str
    value: str
    n: int
    figures: Mapping[str, Figure]


def slices(evaluation: Evaluation, suite: Suite, tag: str) -> tuple[Slice, ...]:
    """Cut an evaluation by a tag of the suite's queries: a slice a value, sorted.

    Queries without the tag form the slice of the empty value. Means are weighted.

    Raises:
        UsageError: no query has the tag (those there are, are named).
    """
    tags = {query.id: query.tags for query in suite.queries}
    if not any(tag in own for own in tags.values()):
        there = sorted({name for own in tags.values() for name in own})
        raise UsageError(f"no query has the tag {tag!r}; there are {', '.join(there) or 'none'}")
    value_of = [tags.get(query, {}).get(tag, "") for query in evaluation.queries]
    cut = []
    for value in sorted(set(value_of)):
        rows = np.array([own == value for own in value_of])
        figures = {
            str(measure): aggregates.macro(measure, column[rows], evaluation.weights[rows])
            for measure, column in zip(evaluation.measures, evaluation.table.T, strict=True)
        }
        cut.append(Slice(tag, value, int(rows.sum()), figures))
    return tuple(cut)


def recall_curve(evaluation: Evaluation, rel: int, depth: int) -> tuple[float | None, ...]:
    """Return the weighted mean of R(rel)@K for K = 1, …, depth; a single K hides saturation."""
    return aggregates.recall_curve(evaluation.ranks, rel, depth, evaluation.weights)


def tied_at(answers: Iterable[Answer], k: int) -> int:
    """Return how many scored answers have equal scores on both sides of the cut after K.

    Their order there is the retriever's own, and no score says why.
    """
    return sum(
        len(answer.hits) > k
        and answer.hits[k - 1].score is not None
        and answer.hits[k - 1].score == answer.hits[k].score
        for answer in answers
        if not answer.repeat
    )
