"""The retrievers' turns of one run: who still has one, and how each ended."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codebench.runner import floors
from codebench.runner.events import Answered, RetrieverEnded, RetrieverStarted
from codebench.runner.session import GaveUp, Stopped
from codebench.runner.supervise import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codebench.model import Candidate, Suite
    from codebench.results import RetrieverRun, State
    from codebench.runner.plan import Plan
    from codebench.runner.record import AnswerWriter, RunWriter
    from codebench.runner.session import Bench


@dataclass(frozen=True)
class Turns:
    """What the turns of a run share.

    Attributes:
        suite: what is asked.
        bench: what every retriever is given.
        writer: the run's folder.
        recency: chunks or paths by their last change, for the floor `recent`.
        missing: why some retrievers cannot run here.
        plans: what is still to be asked, by name.
        before: what each did before the run was cut off, by name.
        retry: whether what failed is asked again.
        redact: takes secrets out of what others wrote.
        live: the turns that are under way.
    """

    suite: Suite
    bench: Bench
    writer: RunWriter
    recency: Mapping[str, int]
    missing: Mapping[str, str]
    plans: Mapping[str, Plan]
    before: Mapping[str, RetrieverRun]
    retry: bool
    redact: Callable[[str], str]
    live: set[Turn] = field(default_factory=set)

    def is_over(self, candidate: Candidate) -> bool:
        """Whether a retriever's turn was over before the run was cut off.

        One that was given up stays so, unless what failed is asked again; one that could not
        run may now.
        """
        known = self.before.get(candidate.name)
        if known is None or known.state == "stopped":
            return False
        plan = self.plans[candidate.name]
        if known.state == "skipped":
            return candidate.name in self.missing
        if known.state == "failed":
            return not self.retry
        return not plan.asks and not plan.loads and not plan.sample

    def open(self, candidate: Candidate) -> AnswerWriter:
        """Return the writer of a retriever's rows."""
        settings = self.bench.settings
        compare = settings.repeats > 1 and not candidate.floor
        out = self.writer.answers(candidate.name, self.redact, compare=compare)
        if self.plans[candidate.name].resumed:
            out.resume()
        return out

    def take(self, candidate: Candidate, *, beside: bool = False) -> None:
        """Ask one retriever everything, and record how it ended."""
        if self.is_over(candidate):
            return
        missing = self.missing.get(candidate.name)
        plan = self.plans[candidate.name]
        self.bench.events(RetrieverStarted(candidate.name, 0 if missing else len(plan.asks)))
        state: State = "complete"
        reason, left = "", 0
        with contextlib.closing(self.open(candidate)) as out:
            if beside:
                out.context(beside=True)
            turn = Turn(self.bench, candidate, out)
            self.live.add(turn)
            try:
                if missing:
                    state, reason = "skipped", missing
                elif candidate.floor:
                    self._floor(candidate, out)
                else:
                    turn.run(plan)
                    left = turn.left
            except GaveUp as problem:
                state, reason = "failed", str(problem)
            except (KeyboardInterrupt, Stopped):
                out.end("stopped", "it was interrupted")
                raise
            finally:
                self.live.discard(turn)
            out.end(state, reason, left)
        self.bench.events(RetrieverEnded(candidate.name, state, reason))

    def _floor(self, floor: Candidate, out: AnswerWriter) -> None:
        done = {answer.query for answer in self.plans[floor.name].known}
        queries = [query for query in self.suite.queries if query.id not in done]
        found = floors.answers(
            floor.name, queries, self.bench.corpus, self.bench.settings, self.recency
        )
        for number, answer in enumerate(found, start=1 + len(done)):
            out.answer(answer)
            self.bench.events(Answered(floor.name, answer, number))

    def interrupt(self) -> None:
        """Have every turn end now, from another thread."""
        self.bench.stop.set()
        for turn in list(self.live):
            turn.interrupt()
