"""The evaluations of several suites -> one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codebench.errors import NothingMeasured, UsageError
from codebench.evaluation.table import Evaluation
from codebench.measures.ranks import concat
from codebench.suite import rows_digest

if TYPE_CHECKING:
    from collections.abc import Sequence


def merge(parts: Sequence[tuple[str, Evaluation]]) -> Evaluation:
    """Put the evaluations of several suites into one; their queries become `NAME/QUERY`.

    Args:
        parts: a name and an evaluation each, of the same measures.

    Raises:
        UsageError: the measures differ.
        NothingMeasured: there is no part.
    """
    if not parts:
        raise NothingMeasured("there is no evaluation to put together")
    first = parts[0][1]
    if any(one.measures != first.measures for _, one in parts):
        raise UsageError("evaluations of different measures cannot be put together")
    return Evaluation(
        measures=first.measures,
        queries=tuple(f"{name}/{query}" for name, one in parts for query in one.queries),
        table=np.vstack([one.table for _, one in parts]),
        weights=np.concatenate([one.weights for _, one in parts]),
        statuses=tuple(status for _, one in parts for status in one.statuses),
        clusters=tuple(f"{name}/{cluster}" for name, one in parts for cluster in one.clusters),
        repositories=tuple(own for _, one in parts for own in one.repositories),
        gold=rows_digest([[name, one.gold] for name, one in parts]),
        ranks=concat([one.ranks for _, one in parts]),
        notes=tuple(f"{name}: {note}" for name, one in parts for note in one.notes),
        default_rel=first.default_rel,
    )
