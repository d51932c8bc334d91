"""How a gate ends: what was checked, and the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from codebench.comparison import Difference
    from codebench.gate.limits import Limit
    from codebench.judging.contest import Contender

Outcome = Literal["passed", "failed", "undecided", "not compared"]

GOOD = 0
BROKEN = 1
DOUBTFUL = 3
"""Exit codes: good; a limit was broken; some answers failed, or the run is incomplete."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A query that the run answers worse than the baseline did."""

    query: str
    text: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Check:
    """One limit, checked.

    Attributes:
        limit: the limit.
        outcome: how that ended.
        before, after: the baseline's value and the run's: in the measure's own unit, in
            milliseconds, in seconds, or in queries.
        change: after - before of a measure; the ratio less 1 of latency and index.
        low, high: its 95 % interval; None where there is none.
        bound: the one-sided 95 % bound of how much worse it may be, which decides whether the
            limit is kept: below 0 is better; None where there is none.
        n: queries behind it.
        reason: why it was not compared; empty where it was.
        difference: the paired comparison of a measure.
        losses: the queries that lost most, the worst first.
    """

    limit: Limit
    outcome: Outcome
    before: float | None = None
    after: float | None = None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    bound: float | None = None
    n: int = 0
    reason: str = ""
    difference: Difference | None = None
    losses: tuple[Loss, ...] = ()

    @property
    def worsened(self) -> bool:
        """Whether what was compared moved for the worse, however little that says."""
        measure = self.limit.measure
        sign = -1 if measure is not None and measure.higher_is_better else 1
        return self.change is not None and sign * self.change > 0


@dataclass(frozen=True, slots=True)
class Gate:
    """A run, held against its limits.

    Attributes:
        candidate: who is gated.
        baseline: what it is compared with; None where every limit is of the run's own values.
        checks: one a limit, in their order.
        strict: whether what is undecided fails.
        failed: how many queries failed or were not answered.
        complete: whether the run is.
        scope: how far the claim goes, in words; empty where nothing was compared by query.
        family: how many differences were tested together.
        notes: what else differs between the two.
    """

    candidate: Contender
    baseline: Contender | None
    checks: tuple[Check, ...]
    strict: bool
    failed: int
    complete: bool
    scope: str = ""
    family: int = 0
    notes: tuple[str, ...] = ()

    def breaks(self, check: Check) -> bool:
        """Tell whether a check makes the gate fail."""
        return check.outcome == "failed" or (self.strict and check.outcome == "undecided")

    @property
    def lost_most(self) -> str:
        """The query that lost most by the first broken limit that names any; empty without one."""
        broken = (check for check in self.checks if self.breaks(check))
        return next((check.losses[0].query for check in broken if check.losses), "")

    @property
    def failures_limited(self) -> bool:
        """Whether a limit says how many queries may fail: then that decides, and nothing else."""
        return any(check.limit.kind == "failed" and not check.limit.where for check in self.checks)

    @property
    def doubt(self) -> str:
        """Why the run as a whole cannot be trusted; empty where it can."""
        if not self.complete:
            return "the run is incomplete"
        if self.failed and not self.failures_limited:
            queries = "1 query" if self.failed == 1 else f"{self.failed} queries"
            return f"{queries} of {len(self.candidate.evaluation.queries)} failed"
        return ""

    @property
    def exit_code(self) -> int:
        """1 where a limit is broken, else 3 where the run is in doubt, else 0."""
        if any(self.breaks(check) for check in self.checks):
            return BROKEN
        return DOUBTFUL if self.doubt else GOOD
