"""One commit: ask the query of the adapter that is checked out here, and say good or bad."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.bisecting.job import Step, read_job
from codebench.errors import AdapterError, CodebenchError, NothingMeasured
from codebench.git.walks import OWN
from codebench.measures.names import parse
from codebench.reading import plain_line
from codebench.results import SUITE, TABLES

if TYPE_CHECKING:
    from codebench.bisecting.job import Job

EXITS = {"good": 0, "bad": 1, "skipped": 125}
_BROKEN = 200
"""Ends the whole bisection: what went wrong has nothing to do with the commit."""


def examine(job: Job, checkout: Path, commit: str) -> Step:
    """Run the one query against the adapter in a checkout.

    Raises:
        CodebenchError: what went wrong has nothing to do with the adapter.
    """
    from codebench.corpus.tables import read_tables  # noqa: PLC0415  # numpy and more
    from codebench.judging.scoring import score_run  # noqa: PLC0415
    from codebench.model import Candidate, Corpus  # noqa: PLC0415
    from codebench.runner.plan import RunSettings  # noqa: PLC0415
    from codebench.runner.run import run  # noqa: PLC0415
    from codebench.suite import read_suite  # noqa: PLC0415

    suite = read_suite(Path(job.run) / SUITE)
    suite = replace(suite, queries=tuple(one for one in suite.queries if one.id == job.query))
    tables = tuple(read_tables(Path(job.run) / TABLES))
    corpus = Corpus(Path(job.corpus), suite.corpus_digest, tables)
    candidate = Candidate(job.name, job.reference, tuple(sorted(job.options.items())))
    settings = RunSettings(
        depth=job.depth,
        query_timeout=job.query_timeout,
        index_timeout=job.index_timeout,
        warmups=0,
        repeats=1,
        floors=(),
        null_asks=0,
    )
    measure = parse(job.measure)
    try:
        folder = run(suite, corpus, [candidate], Path(job.results), settings, folder=checkout)
        evaluation = score_run(folder, [measure]).retrievers[0].evaluation
    except (AdapterError, NothingMeasured) as error:
        return Step(commit, "skipped", None, str(error).partition("\n")[0])
    if evaluation is None:
        return Step(commit, "skipped", None, "it answered nothing")
    value = evaluation.per_query[job.query][str(evaluation.measures[0])]
    status = evaluation.statuses[0]
    if status != "ok":
        return Step(commit, "bad" if job.fails else "skipped", value, f"its answer: {status}")
    if value is None:
        return Step(commit, "skipped", None, "the query has no gold at the measure's level")
    gain = value if measure.higher_is_better else -value
    return Step(commit, "bad" if gain < job.turning else "good", value)


def main(file: Path) -> int:
    """Judge the commit that is checked out in the current directory; `git bisect run` calls it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]  # git's own, which the adapter must not meet
    job = read_job(file)
    checkout = Path.cwd()
    commit = (checkout / ".git" / "HEAD").read_text(encoding="utf-8").strip()
    try:
        step = examine(job, checkout, commit)
    except CodebenchError as error:
        print(f"{OWN}{plain_line(error)}", file=sys.stderr)
        return _BROKEN
    step.append(Path(job.log))
    return EXITS[step.outcome]
