"""A run with the figures of its retrievers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.errors import NothingMeasured

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.evaluation import Evaluation
    from codebench.measures.latency import Latency
    from codebench.measures.names import Measure
    from codebench.model import Suite
    from codebench.results import RetrieverRun, Run
    from codebench.results.tally import Tally


@dataclass(frozen=True, slots=True)
class Scored:
    """One retriever of a run with its figures.

    Attributes:
        name: as the report prints it.
        floor: whether it is a reference row of the harness itself.
        run: its answers and costs.
        evaluation: None where it answered nothing (it was skipped, or given up before).
        latency: over every timed answer, repeats too.
        tally: what is odd about its good answers; None where that was not kept.
    """

    name: str
    floor: bool
    run: RetrieverRun
    evaluation: Evaluation | None
    latency: Latency
    tally: Tally | None = None

    @property
    def answered(self) -> bool:
        """Whether at least one of its answers is good."""
        return self.evaluation is not None and "ok" in self.evaluation.statuses


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

    def check_answered(self, *, noted: bool = False) -> None:
        """Make sure that of the retrievers here, floors aside, at least one answered anything.

        Args:
            noted: whether notes under a table told why not: then it is not told again.

        Raises:
            NothingMeasured: none did; with why.
        """
        own = [one for one in self.retrievers if not one.floor]
        if own and not any(one.answered for one in own):
            if noted:
                raise NothingMeasured(
                    f"{self.run.path}: no retriever answered anything; the notes under the table "
                    "say why"
                )
            raise nothing_answered(self.run.path, [one.run for one in own])

    @property
    def sound(self) -> bool:
        """True where the run is complete and every answer of a retriever here is good."""
        return self.run.complete and not any(
            one.evaluation.failures for one in self.retrievers if one.evaluation and not one.floor
        )


def nothing_answered(run: Path, silent: Sequence[RetrieverRun]) -> NothingMeasured:
    """Return the error that no retriever of a run answered anything, with the reason of each."""
    reasons = "; ".join(
        f"{one.candidate.name}: {one.reason or one.first_error or one.state}" for one in silent
    )
    return NothingMeasured(f"{run}: no retriever answered anything ({reasons})")
