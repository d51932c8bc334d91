"""Sweeps of a run: which point is best, chosen on one part of the queries, told on another.

The best of many points is partly the luckiest. So it is chosen by the queries of the split `dev`,
and what is reported of it is measured on `test`, which had no part in the choice. A suite without
both has one part only: then choice and report are of the same queries, and a reader is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from codebench.evaluation import SUITE_REL
from codebench.measures import aggregates
from codebench.measures.formulas import compute
from codebench.measures.names import PRIMARY

if TYPE_CHECKING:
    from codebench.evaluation import Evaluation
    from codebench.judging.scored import Scored, ScoredRun
    from codebench.measures.names import Measure
    from codebench.measures.statistics import Figure

CHOSEN_ON = "dev"
TOLD_ON = "test"


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a sweep.

    Attributes:
        name: the retriever's.
        options: the values of the options that the sweep varies.
        chosen: the measure over the queries by which the best is chosen.
        told: the measure over the others; None where there is one part only.
    """

    name: str
    options: tuple[tuple[str, Any], ...]
    chosen: Figure
    told: Figure | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """Points that differ in some options, and the best of them.

    Attributes:
        name: as `bm25 over k1`.
        measure: by which the best is chosen.
        points: in the order of the sweep.
        best: the name of the best; of equal ones the first; empty where none has a figure.
        parts: whether it was chosen on one part of the queries and told on another.
        left_out: points without any answer.
    """

    name: str
    measure: Measure
    points: tuple[Point, ...]
    best: str
    parts: bool
    left_out: tuple[str, ...] = ()


def sweeps_of(scored: ScoredRun) -> tuple[Sweep, ...]:
    """Return the sweeps of a run, in its order; those that have at least one point with answers."""
    grouped: dict[str, list[Scored]] = {}
    for one in scored.retrievers:
        if one.run.candidate.sweep:
            grouped.setdefault(one.run.candidate.sweep, []).append(one)
    parts = _parts(scored)
    measure = _measure(scored)
    return tuple(
        _sweep(name, members, measure, parts)
        for name, members in grouped.items()
        if any(one.evaluation for one in members)
    )


def _measure(scored: ScoredRun) -> Measure:
    """Return the primary measure; where the run is not deep enough for it, the first asked for."""
    deep = PRIMARY.cutoff is None or PRIMARY.cutoff <= scored.run.depth
    return PRIMARY.bind(SUITE_REL) if deep else scored.measures[0]


def _parts(scored: ScoredRun) -> tuple[frozenset[str], frozenset[str]] | None:
    own = {
        part: frozenset(q.id for q in scored.suite.queries if q.tags.get("split") == part)
        for part in (CHOSEN_ON, TOLD_ON)
    }
    return (own[CHOSEN_ON], own[TOLD_ON]) if all(own.values()) else None


def _sweep(
    name: str,
    members: list[Scored],
    measure: Measure,
    parts: tuple[frozenset[str], frozenset[str]] | None,
) -> Sweep:
    varied = name.rpartition(" over ")[2].split(", ")
    points = []
    for one in members:
        if one.evaluation is None:
            continue
        options = dict(one.run.candidate.options)
        chosen = _figure(one.evaluation, measure, parts[0] if parts else None)
        told = _figure(one.evaluation, measure, parts[1]) if parts else None
        points.append(
            Point(one.name, tuple((key, options.get(key)) for key in varied), chosen, told)
        )
    sign = 1 if measure.higher_is_better else -1
    known = [point for point in points if point.chosen.value is not None]
    best = max(known, key=lambda point: sign * (point.chosen.value or 0.0), default=None)
    left_out = tuple(one.name for one in members if one.evaluation is None)
    return Sweep(name, measure, tuple(points), best.name if best else "", bool(parts), left_out)


def _figure(evaluation: Evaluation, measure: Measure, queries: frozenset[str] | None) -> Figure:
    """Return the weighted mean of a measure over some of the queries, or all of them."""
    values = compute(measure, evaluation.ranks)
    rows = np.array([queries is None or query in queries for query in evaluation.queries])
    return aggregates.macro(measure, values[rows], evaluation.weights[rows])
