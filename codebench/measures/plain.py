"""Plain judgments as first-reach ranks: a document is its own unit at every level to its grade."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codebench.measures.ranks import UNREACHED, Level, Places, Ranks

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray


def ranks_of(
    judgments: Sequence[Mapping[Hashable, int]],
    rankings: Sequence[Sequence[Hashable]],
) -> Ranks:
    """Return the ranks of q rankings (best first) against q queries' judgments.

    A document that is returned twice keeps both slots and is credited at the first. Grades
    below 0 count as 0.
    """
    found: list[int] = []
    grades: list[int] = []
    for judged, ranking in zip(judgments, rankings, strict=True):
        first = dict(zip(reversed(ranking), range(len(ranking), 0, -1), strict=True))
        found.extend([first.get(document, UNREACHED) for document in judged])
        grades.extend(judged.values())
    size = np.fromiter(map(len, judgments), np.int64, len(judgments))
    returned = np.fromiter(map(len, rankings), np.int64, len(rankings))
    return from_columns(
        np.repeat(np.arange(len(judgments)), size),
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
