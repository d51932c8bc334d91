"""What one retriever did in a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.measures.columns import Columns
    from codebench.measures.latency import LoadStep
    from codebench.model import Answer, Candidate, IndexCost

State = Literal["complete", "skipped", "failed", "stopped"]
"""How a retriever ended: all was asked; it cannot run here; it was given up; or cut off."""

GOOD_ENDS = frozenset({"complete", "skipped"})


@dataclass(frozen=True, slots=True)
class Fall:
    """One time that a retriever's process was ended before its time.

    Attributes:
        reason: one line.
        said: the end of what it printed, line by line, as it was.
        left: processes that it had started and that were still running.
    """

    reason: str
    said: tuple[str, ...] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class RetrieverRun:
    """What one retriever did in a run.

    Attributes:
        candidate: who it is.
        answers: in the order in which they were asked; repeat 0 is the one that is scored.
        index: what it took to be ready; None where it never was.
        first_ns: latency of the very first search after the index was built.
        restarts: how many times its process was started again.
        state: how it ended; `stopped` where the run was cut off.
        reason: one line, empty for `complete`.
        falls: each time that its process was ended before its time.
        left: processes that were still running after its end, and were ended.
        loads: what was measured under load, in that order.
        checked: how many queries were asked again after a restart; 0 where none was.
        changed: those of them whose hits were others then.
        beside: whether other retrievers ran at the same time: then its latency is no figure to
            compare.
        machines: digests of the machines that it ran on, sorted; empty for the run's own alone.
        columns: what scoring reads in place of the answers, where the run is sealed.
    """

    candidate: Candidate
    answers: Sequence[Answer]
    index: IndexCost | None
    first_ns: int | None
    restarts: int
    state: State
    reason: str
    falls: tuple[Fall, ...] = ()
    left: int = 0
    loads: tuple[LoadStep, ...] = ()
    checked: int = 0
    changed: tuple[str, ...] = ()
    beside: bool = False
    machines: tuple[str, ...] = ()
    columns: Columns | None = None

    @property
    def first_error(self) -> str:
        """Why the first answer that failed did so; empty where none did."""
        if self.columns is not None:
            return str(self.columns.about.get("first_error", ""))
        return next((a.error for a in self.answers if a.status != "ok" and a.error), "")

    @property
    def waited_seconds(self) -> float:
        """How long a service that refused for a while was waited for, beside all latency."""
        if self.columns is not None:
            return float(self.columns.about.get("waited_ns", 0)) / 1e9
        return sum(answer.waited_ns for answer in self.answers) / 1e9

    @property
    def latency_doubt(self) -> str:
        """Why its latency is not to be compared with another's; empty where it may be."""
        if len(self.machines) > 1:
            return f"taken on {len(self.machines)} machines"
        return "taken while other retrievers ran beside" if self.beside else ""

    @property
    def complete(self) -> bool:
        """True where every query was asked, whatever came back."""
        return self.state == "complete"
