"""A stored run -> evaluations of its retrievers, without running anything."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from codebench.comparison import compare
from codebench.corpus.tables import read_tables
from codebench.errors import UsageError
from codebench.evaluation import evaluate_answers, evaluate_columns
from codebench.judging.scored import Scored, ScoredRun, nothing_answered
from codebench.judging.union import union
from codebench.measures.latency import TIMED, latency_summary, summary_of
from codebench.measures.resampling import FLIPS
from codebench.model import STATUSES
from codebench.reading import near
from codebench.results import read_ends, read_run
from codebench.results.several import member_runs, read_several
from codebench.results.tally import of_row, tally_of
from codebench.suite import read_suite, suite_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from codebench.evaluation import Evaluation
    from codebench.measures.latency import Latency
    from codebench.measures.names import Measure
    from codebench.model import FileTable, Suite
    from codebench.results import RetrieverRun, Run
    from codebench.results.tally import Tally


_FEWEST_FLIPS = 1000
_MOST_SIGNS = 20_000_000
"""Flips x queries for one measure's leaders: a table must not take longer than its run."""


def score_run(
    folder: Path, measures: Sequence[Measure | str], only: Sequence[str] = ()
) -> ScoredRun:
    """Grade and measure the answers in a run folder.

    Args:
        folder: the run.
        measures: what to measure.
        only: names of the retrievers and floors to take; all of them where it is empty.

    Raises:
        ResultsError, InputError: the folder is no run, or is damaged.
        UsageError: a measure's cutoff is above the run's depth, or a name is not in the run.
        NothingMeasured: no retriever answered anything.
    """
    manifest = read_several(folder)
    if manifest is None:
        return score(read_run(folder), measures, only)
    parts = [
        (member, score(read_run(path), measures, only)) for member, path in member_runs(folder)
    ]
    whole = manifest["ended"] and len(parts) == len(manifest["members"])
    return union(folder, manifest, parts, whole=whole)


def depth_of(folder: Path) -> int:
    """Return how many hits each answer of a run could hold.

    Raises:
        ResultsError, InputError: the folder is no run, or is damaged.
    """
    return min(int(read_ends(path)[0]["depth"]) for _, path in member_runs(folder))


def score(run: Run, measures: Sequence[Measure | str], only: Sequence[str] = ()) -> ScoredRun:
    """Grade and measure the answers of a run that was read; as `score_run`."""
    count = None if run.asked is None else len(run.asked.queries)
    suite = read_suite(run.suite_folder, known_queries=count)
    grader = _Grader(run, suite)
    scored = []
    for one in _chosen(run, only):
        evaluation = grader.evaluation(one, measures) if one.answers else None
        name, floor = one.candidate.name, one.candidate.floor
        scored.append(Scored(name, floor, one, evaluation, _latency(one), grader.tally(one)))
    evaluated = [one.evaluation for one in scored if one.evaluation is not None]
    if not evaluated:
        raise nothing_answered(run.path, [one.run for one in scored])
    digest = suite_digest(suite) if run.asked is None else run.asked.suite
    return ScoredRun(run, suite, digest, evaluated[0].measures, tuple(scored))


class _Grader:
    """Evaluates retrievers of one run: from their columns, or by grading their answers."""

    def __init__(self, run: Run, suite: Suite) -> None:
        self._run = run
        self._suite = suite

    @cached_property
    def _tables(self) -> Mapping[str, FileTable]:
        return {table.path: table for table in read_tables(self._run.tables_file)}

    def evaluation(self, one: RetrieverRun, measures: Sequence[Measure | str]) -> Evaluation:
        asked, depth = self._run.asked, self._run.depth
        if asked is not None and one.columns is not None:
            return evaluate_columns(asked, one.columns, measures, depth=depth)
        return evaluate_answers(self._suite, self._tables, one.answers, measures, depth=depth)

    def tally(self, one: RetrieverRun) -> Tally | None:
        if one.columns is not None:
            return of_row(one.columns.about.get("tally"))
        return tally_of(one.answers, self._tables if one.answers else ())


def _latency(one: RetrieverRun) -> Latency:
    columns = one.columns
    if columns is None:
        return latency_summary(one.answers)
    timed = np.isin(columns.status, [STATUSES.index(status) for status in TIMED])
    timed &= columns.latency_ns >= 0
    late = columns.status == STATUSES.index("timeout")
    censored = int(np.count_nonzero(timed & late))
    untimed = len(timed) - int(np.count_nonzero(timed))
    return summary_of(columns.latency_ns[timed], columns.query[timed], censored, untimed)


def _chosen(run: Run, only: Sequence[str]) -> list[RetrieverRun]:
    names = [one.candidate.name for one in run.retrievers]
    for name in only:
        if name not in names:
            raise UsageError(f"{run.path}: holds no retriever {name!r}; {near(name, names)}")
    return [one for one in run.retrievers if not only or one.candidate.name in only]


@dataclass(frozen=True, slots=True)
class Leaders:
    """By one measure: the best retriever, and those that are not shown to be worse.

    Attributes:
        best: its name; the first in the run's order of several that are equal.
        level: names of those whose verdict against it is *undecided*.
    """

    best: str
    level: frozenset[str]


def leaders(scored: ScoredRun, measures: Sequence[Measure]) -> Mapping[str, Leaders]:
    """Return the leaders by each of some measures' printed names, floors aside.

    The others are compared with the best, by the same test and margin as any comparison, adjusted
    for how many they are. Measures without a value, and runs with one retriever, have no leader.
    """
    own = {
        one.name: one.evaluation for one in scored.retrievers if one.evaluation and not one.floor
    }
    if len(own) < 2:
        return {}
    found = {}
    flips = min(FLIPS, max(_FEWEST_FLIPS, _MOST_SIGNS // len(scored.suite.queries)))
    for measure in measures:
        sign = 1 if measure.higher_is_better else -1
        values = {name: own[name].figures[str(measure)].value for name in own}
        known = {name: sign * value for name, value in values.items() if value is not None}
        if len(known) < 2:
            continue
        best = max(known, key=lambda name: known[name])
        pairs = [(best, name) for name in known if name != best]
        compared = compare(own, pairs=pairs, measures=[measure], flips=flips)
        level = [one.candidate for one in compared.differences if one.verdict == "undecided"]
        found[str(measure)] = Leaders(best, frozenset(level))
    return found
