"""A stored run -> evaluations of its retrievers, without running anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.corpus.tables import read_tables
from codebench.errors import NothingMeasured
from codebench.evaluation import evaluate_answers
from codebench.measures.latency import latency_summary
from codebench.results import read_run
from codebench.suite import read_suite, suite_digest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.evaluation import Evaluation
    from codebench.measures.latency import Latency
    from codebench.measures.names import Measure
    from codebench.model import Suite
    from codebench.results import RetrieverRun, Run


@dataclass(frozen=True, slots=True)
class Scored:
    """One retriever of a run with its figures.

    Attributes:
        name: as the report prints it.
        floor: whether it is a reference row of the harness itself.
        run: its answers and costs.
        evaluation: None where it answered nothing (it was skipped, or given up before).
        latency: over every timed answer, repeats too.
    """

    name: str
    floor: bool
    run: RetrieverRun
    evaluation: Evaluation | None
    latency: Latency


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run with the figures of all its retrievers.

    Attributes:
        run: the run.
        suite: what was asked.
        digest: of the suite.
        measures: bound, in the order in which they were asked for.
        retrievers: in the order of the run, floors first.
    """

    run: Run
    suite: Suite
    digest: str
    measures: tuple[Measure, ...]
    retrievers: tuple[Scored, ...]


def score_run(folder: Path, measures: Sequence[Measure | str]) -> ScoredRun:
    """Grade and measure every retriever's answers in a run folder.

    Raises:
        ResultsError, InputError: the folder is no run, or is damaged.
        UsageError: a measure's cutoff is above the run's depth.
        NothingMeasured: no retriever answered anything.
    """
    run = read_run(folder)
    suite = read_suite(run.suite_folder)
    tables = {table.path: table for table in read_tables(run.tables_file)}
    scored = []
    for one in run.retrievers:
        evaluation = (
            evaluate_answers(suite, tables, one.answers, measures, depth=run.depth)
            if one.answers
            else None
        )
        name, floor = one.candidate.name, one.candidate.floor
        scored.append(Scored(name, floor, one, evaluation, latency_summary(one.answers)))
    evaluated = [one.evaluation for one in scored if one.evaluation is not None]
    if not evaluated:
        reasons = "; ".join(f"{one.name}: {one.run.reason or one.run.state}" for one in scored)
        raise NothingMeasured(f"{folder}: no retriever answered anything ({reasons})")
    return ScoredRun(run, suite, suite_digest(suite), evaluated[0].measures, tuple(scored))
