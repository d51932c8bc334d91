"""Counts over a suite's queries: what kind of gold it holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING

from codebench.gold.tags import LEAKS, leak

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.model import Query


@dataclass(frozen=True, slots=True)
class Row:
    """What is counted of one query."""

    targets: int
    files: int
    related: int
    leak: str
    language: str
    split: str


@dataclass(frozen=True, slots=True)
class Census:
    """Counts over queries.

    Attributes:
        queries: how many.
        targets_mean, targets_median: targets a query, of all grades.
        single_file: share of queries whose targets lie in one file.
        related_mean: related modules a query.
        leaks: queries by how much their text gives away, the worst first.
        languages: queries by the language of their first target, the most frequent first.
        splits: queries by the tag `split`; empty where no query has it.
    """

    queries: int
    targets_mean: float
    targets_median: float
    single_file: float
    related_mean: float
    leaks: Mapping[str, int]
    languages: Mapping[str, int]
    splits: Mapping[str, int]


def row_of(query: Query, language: str) -> Row:
    """Return what is counted of a query."""
    return Row(
        targets=len(query.targets),
        files=len({target.path for target in query.targets}),
        related=len(query.related),
        # Not its tag: somebody may have edited the text since.
        leak=leak(query.text, query.targets),
        language=language,
        split=query.tags.get("split", ""),
    )


def census_of(rows: Sequence[Row]) -> Census:
    """Count; with no row everything is 0."""
    leaks = Counter(row.leak for row in rows)
    languages = Counter(row.language for row in rows)
    splits = Counter(row.split or "none" for row in rows)
    return Census(
        queries=len(rows),
        targets_mean=fmean([row.targets for row in rows] or [0]),
        targets_median=median([row.targets for row in rows] or [0]),
        single_file=fmean([row.files == 1 for row in rows] or [0]),
        related_mean=fmean([row.related for row in rows] or [0]),
        leaks={level: leaks[level] for level in LEAKS if leaks[level]},
        languages=dict(sorted(languages.items(), key=lambda one: (-one[1], one[0]))),
        splits=dict(sorted(splits.items())) if any(row.split for row in rows) else {},
    )
