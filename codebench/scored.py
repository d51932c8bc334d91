"""A run with the figures of its retrievers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    """A run with the figures of its retrievers.

    Attributes:
        run: the run.
        suite: what was asked.
        digest: of the suite.
        measures: bound, in the order in which they were asked for.
        retrievers: in the order of the run, floors first.
        members: where several suites were asked, each one's name and scored run.
    """

    run: Run
    suite: Suite
    digest: str
    measures: tuple[Measure, ...]
    retrievers: tuple[Scored, ...]
    members: tuple[tuple[str, ScoredRun], ...] = ()

    @property
    def sound(self) -> bool:
        """True where the run is complete and every answer of a retriever here is good."""
        return self.run.complete and not any(
            one.evaluation.failures for one in self.retrievers if one.evaluation and not one.floor
        )
