"""Plain judgments as first-reach ranks: a document is its own unit at every level to its grade."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from codebench.errors import Fault, InputError, UsageError
from codebench.measures.ranks import UNREACHED, Level, Places, Ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray


def ranks_of(
    judgments: Sequence[Mapping[str, int]],
    rankings: Sequence[Collection[str]],
) -> Ranks:
    """Return the ranks of q rankings (best first) against q queries' judgments.

    A document that is returned twice keeps both slots and is credited at the first. Grades
    below 0 count as 0.
    """
    found: list[int] = []
    grades: list[int] = []
    for judged, ranking in zip(judgments, rankings, strict=True):
        size = len(ranking)
        first = dict(zip(ranking, range(1, size + 1), strict=True))
        if len(first) < size:
            first = dict(zip(list(ranking)[::-1], range(size, 0, -1), strict=True))
        found.extend([first.get(document, UNREACHED) for document in judged])
        grades.extend(judged.values())
    judged_count = np.fromiter(map(len, judgments), np.int64, len(judgments))
    returned = np.fromiter(map(len, rankings), np.int64, len(rankings))
    return from_columns(
        np.repeat(np.arange(len(judgments)), judged_count),
        np.array(found, np.int32),
        np.array(grades, np.int32),
        returned,
    )


def from_columns(
    rows: NDArray[np.int64],
    ranks: NDArray[np.int32],
    grades: NDArray[np.int32],
    returned: NDArray[np.int64],
) -> Ranks:
    """Return the ranks of judged documents given as (e,) columns; (q,) hits a query.

    `ranks` are 1-based, or UNREACHED for a document that was not returned.
    """
    queries = len(returned)
    grades = np.maximum(grades, 0)
    order = np.lexsort((-grades, ranks, rows))
    rows, ranks, grades = rows[order], ranks[order], grades[order]
    places = Places(
        ends=np.cumsum(np.bincount(rows, minlength=queries)),
        ranks=ranks,
        grades=grades,
        weights=np.ones(len(ranks)),
    )
    return Ranks(
        queries=queries,
        levels={
            int(grade): _level(rows, ranks, grades >= grade, queries)
            for grade in np.unique(grades)
            if grade > 0
        },
        places=places,
        returned=returned,
        judged=True,
    )


def _level(
    rows: NDArray[np.int64], ranks: NDArray[np.int32], chosen: NDArray[np.bool_], queries: int
) -> Level:
    reached = chosen & (ranks < UNREACHED)
    return Level(
        units=np.bincount(rows[chosen], minlength=queries),
        ends=np.cumsum(np.bincount(rows[reached], minlength=queries)),
        ranks=ranks[reached],
    )


_LARGEST_GRADE = 1000


def check_grades(qrels: Mapping[str, Mapping[str, int]]) -> None:
    """Refuse grades that are not whole numbers from -1000 to 1000.

    Raises:
        InputError: with every such grade.
    """
    faults = [
        Fault(
            f"is not a whole number from -{_LARGEST_GRADE} to {_LARGEST_GRADE}",
            file="qrels",
            field=f"{query} {document}",
            value=str(grade),
        )
        for query, judged in qrels.items()
        if not _plainly_grades(judged.values())
        for document, grade in judged.items()
        if not isinstance(grade, int | np.integer) or not -_LARGEST_GRADE <= grade <= _LARGEST_GRADE
    ]
    if faults:
        raise InputError(faults)


def _plainly_grades(grades: Collection[int]) -> bool:
    """Whether they are plain whole numbers in range: what nearly all are, told fast."""
    if set(map(type, grades)) - {int}:
        return False
    return not grades or (min(grades) >= -_LARGEST_GRADE and max(grades) <= _LARGEST_GRADE)


def rankings_of(
    queries: Sequence[str],
    run: Mapping[str, Mapping[str, float] | Sequence[str]],
    ties: str,
) -> tuple[list[Collection[str]], int]:
    """Return each query's documents, best first, and how many queries have scores that rise.

    The order given is the ranking, unless `ties` is `trec`. A query that is not in the run has
    no document.

    Raises:
        InputError: with every score that is not finite and every answer of another shape.
        UsageError: `trec` has no scores to sort by.
    """
    rankings: list[Collection[str]] = []
    faults: list[Fault] = []
    rising = 0
    for query in queries:
        answer = run.get(query, ())
        if isinstance(answer, str | bytes) or not isinstance(answer, Mapping | Sequence):
            faults.append(
                Fault(
                    "is neither a list of documents nor a map",
                    "run",
                    field=query,
                    value=str(answer)[:80],
                )
            )
        elif not isinstance(answer, Mapping):
            if ties == "trec" and len(answer):
                raise UsageError(f"run: query {query} has no scores, and ties='trec' sorts by them")
            rankings.append(answer)
        else:
            scores = list(answer.values())
            faults += _bad_scores(query, answer) if not _finite(scores) else ()
            if not faults and ties == "trec":
                rankings.append(trec_order(answer))
            elif not faults:
                rising += scores != sorted(scores, reverse=True)
                rankings.append(answer)
    if faults:
        raise InputError(faults)
    return rankings, rising


def _finite(scores: Sequence[float]) -> bool:
    """Whether their sum is finite: then all are. Of many large ones it is not, though all are."""
    try:
        return math.isfinite(sum(scores))
    except (TypeError, OverflowError):
        return False


def _bad_scores(query: str, answer: Mapping[str, float]) -> list[Fault]:
    return [
        Fault("is not a finite score", file="run", field=f"{query} {document}", value=str(score))
        for document, score in answer.items()
        if not _finite([score])
    ]


def trec_order(scores: Mapping[str, float]) -> list[str]:
    """Return documents as trec_eval ranks them: by score, then by ID, the last bytes first."""
    by_id = sorted(
        scores, key=lambda document: document.encode("utf-8", "surrogateescape"), reverse=True
    )
    return sorted(by_id, key=scores.__getitem__, reverse=True)
