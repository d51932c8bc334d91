"""A run and its baseline, held against limits.

A limit `m:-d` *fails* where the run is worse by the rule of every comparison and by at least d,
*passes* where the one-sided 95 % lower bound of the gain lies above -d, and is *undecided*
otherwise. Latency goes by the ratio of percentiles with a bootstrap interval over queries; an
index is built once, so its time is compared as it stands.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from codebench.comparison import Pairing, compare_each
from codebench.errors import NoBaseline, UsageError
from codebench.gate.limits import LATENCIES
from codebench.gate.verdict import Check, Gate, Loss
from codebench.judging.contest import changes, check_suites, not_comparable
from codebench.measures.latency import by_query, latency_ratio, latency_summary, percentile
from codebench.reading import near

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from codebench.comparison import Comparison, Difference
    from codebench.evaluation import Evaluation
    from codebench.gate.limits import Limit, Where
    from codebench.gate.verdict import Outcome
    from codebench.judging.contest import Contender
    from codebench.measures.names import Measure
    from codebench.model import IndexCost, Query

    Rows = NDArray[np.bool_]

LOSSES = 3
"""Queries that are named below a measure that is not kept."""

_MS = 1e6


def judge(
    candidate: Contender,
    baseline: Contender | None,
    limits: Sequence[Limit],
    *,
    strict: bool = False,
    seed: int = 0,
) -> Gate:
    """Hold a run against its limits.

    Args:
        candidate: who is gated, evaluated with every measure that is limited.
        baseline: what it is compared with, evaluated alike.
        limits: what must be kept.
        strict: whether what is undecided fails.
        seed: of the sign flips and the latencies' resampling.

    Raises:
        NoBaseline: a limit needs a baseline and there is none, or it answered another suite; the
            fields that differ are named.
        UsageError: no query has the tags of a slice, or gold at a measure's level.
    """
    relative = [limit for limit in limits if limit.relative]
    if relative and baseline is None:
        raise NoBaseline(
            f"{relative[0].shown} needs a baseline: name one by --baseline RUN; codebench gate RUN "
            "--accept makes one of a run"
        )
    if baseline is not None:
        check_suites([baseline, candidate])
    bench = _Bench(candidate, baseline, seed)
    bench.check_slices(limits)
    tested = bench.compare(limits)
    differences = iter(tested.differences if tested else ())
    checks = []
    for limit in limits:
        if limit.kind == "measure" and limit.relative:
            checks.append(bench.measure_change(limit, next(differences)))
        else:
            checks.append(bench.check(limit))
    return Gate(
        candidate=candidate,
        baseline=baseline,
        checks=tuple(checks),
        strict=strict,
        failed=sum(candidate.evaluation.failures.values()),
        complete=candidate.run.complete,
        scope=tested.scope if tested else "",
        family=len(tested.differences) if tested else 0,
        notes=_notes(candidate, baseline),
    )


def _notes(candidate: Contender, baseline: Contender | None) -> tuple[str, ...]:
    if baseline is None:
        return ()
    notes = changes(baseline, candidate)
    failed = sum(baseline.evaluation.failures.values())
    if not baseline.run.complete:
        notes.append("the baseline is incomplete: what was not asked counts as unanswered")
    elif failed:
        notes.append(f"{failed} of the baseline's queries failed")
    return tuple(notes)


class _Bench:
    """The two runs, with what every check needs of them."""

    def __init__(self, candidate: Contender, baseline: Contender | None, seed: int) -> None:
        self.candidate = candidate
        self.baseline = baseline
        self.seed = seed

    @cached_property
    def queries(self) -> Mapping[str, Query]:
        return {query.id: query for query in self.candidate.suite.queries}

    def rows(self, where: Where) -> Rows:
        """Return which queries of the evaluation have the tags."""
        if not where:
            return np.ones(len(self.candidate.evaluation.queries), np.bool_)
        tags = [self.queries[name].tags for name in self.candidate.evaluation.queries]
        return np.array([all(own.get(tag) == value for tag, value in where) for own in tags])

    def check_slices(self, limits: Sequence[Limit]) -> None:
        """Refuse slices without a query, and measures without gold, all at once."""
        problems = []
        for limit in limits:
            rows = self.rows(limit.where)
            if rows.any():
                if limit.measure is not None and self._blank(limit.measure, rows):
                    which = "no query of the slice" if limit.where else "no query"
                    level = limit.measure.level
                    problems.append(f"{limit.shown}: {which} has gold at level {level}")
                continue
            own = [query.tags for query in self.queries.values()]
            there = sorted({f"{tag}={value}" for tags in own for tag, value in tags.items()})
            asked = ",".join(f"{tag}={value}" for tag, value in limit.where)
            hint = near(asked, there[:50]) or "the suite has no tags"
            problems.append(f"{limit.shown}: no query has {asked}; {hint}")
        if problems:
            raise UsageError("\n".join(problems))

    def _blank(self, measure: Measure, rows: Rows) -> bool:
        return _cut(self.candidate.evaluation, rows).figures[str(measure)].value is None

    def compare(self, limits: Sequence[Limit]) -> Comparison | None:
        """Test all limited changes of measures as one family."""
        evaluations: dict[str, Evaluation] = {}
        asked = []
        for limit in limits:
            if self.baseline is None or limit.measure is None or not limit.relative:
                continue
            names = [f"{side} {limit.where}" for side in ("baseline", "run")]
            rows = self.rows(limit.where)
            for name, one in zip(names, (self.baseline, self.candidate), strict=True):
                evaluations[name] = _cut(one.evaluation, rows)
            asked.append(Pairing(names[0], names[1], limit.measure, limit.amount))
        return compare_each(evaluations, asked, seed=self.seed) if asked else None

    def measure_change(self, limit: Limit, difference: Difference) -> Check:
        """Check a measure against the baseline's."""
        outcome: Outcome = "undecided"
        bound = difference.gain_bound
        if difference.verdict == "worse":
            outcome = "failed"
        elif bound is not None and (bound > -limit.amount or not difference.changed):
            outcome = "passed"
        return Check(
            limit=limit,
            outcome=outcome,
            before=difference.baseline_value,
            after=difference.candidate_value,
            change=difference.delta,
            low=difference.low,
            high=difference.high,
            bound=None if bound is None else 0.0 - bound,
            n=difference.n,
            difference=difference,
            losses=() if outcome == "passed" else self.losses(limit),
        )

    def losses(self, limit: Limit) -> tuple[Loss, ...]:
        """Return the queries of a slice that lost most."""
        if self.baseline is None or limit.measure is None:
            return ()
        before = self.baseline.evaluation.column(limit.measure)
        after = self.candidate.evaluation.column(limit.measure)
        sign = 1 if limit.measure.higher_is_better else -1
        gains = np.where(self.rows(limit.where), np.nan_to_num(sign * (after - before)), 0.0)
        names = self.candidate.evaluation.queries
        worst = [at for at in np.argsort(gains, kind="stable")[:LOSSES].tolist() if gains[at] < 0]
        return tuple(
            Loss(names[at], self.queries[names[at]].text, float(before[at]), float(after[at]))
            for at in worst
        )

    def check(self, limit: Limit) -> Check:
        """Check what is no change of a measure."""
        if limit.kind == "failed":
            return self.failures(limit)
        if limit.kind == "latency":
            return self.latency_change(limit) if limit.relative else self.latency(limit)
        if limit.kind == "index":
            return self.index(limit)
        return self.value(limit)

    def value(self, limit: Limit) -> Check:
        """Check a measure's own value."""
        rows = self.rows(limit.where)
        figures = _cut(self.candidate.evaluation, rows).figures
        figure = figures[limit.name]
        if figure.value is None:
            raise AssertionError("measures without gold were refused")
        kept = figure.value >= limit.amount
        if limit.bound == "most":
            kept = figure.value <= limit.amount
        outcome: Outcome = "passed" if kept else "failed"
        return Check(limit, outcome, after=figure.value, n=figure.n)

    def failures(self, limit: Limit) -> Check:
        """Count the queries that failed."""
        rows = self.rows(limit.where)
        counts = []
        for one in (self.baseline, self.candidate):
            statuses = one.evaluation.statuses if one else ()
            failed = sum(
                own and status != "ok" for own, status in zip(rows.tolist(), statuses, strict=False)
            )
            counts.append(float(failed) if one else None)
        before, after = counts
        kept = after is not None and after <= limit.amount
        outcome: Outcome = "passed" if kept else "failed"
        return Check(limit, outcome, before=before, after=after, n=int(rows.sum()))

    def latency(self, limit: Limit) -> Check:
        """Check a percentile of the run's own latency, over every timed call."""
        doubt = self.candidate.answers.latency_doubt
        own = self._names(limit.where)
        answers = (one for one in self.candidate.answers.answers if one.query in own)
        value = getattr(latency_summary(answers), limit.name)
        if doubt or value is None:
            return Check(limit, "not compared", reason=doubt or "no query was timed")
        outcome: Outcome = "passed" if value / _MS <= limit.amount else "failed"
        return Check(limit, outcome, after=value / _MS, n=len(own))

    def latency_change(self, limit: Limit) -> Check:
        """Check a percentile against the baseline's, over the queries that both timed."""
        if self.baseline is None:
            raise AssertionError("a change is only checked beside a baseline")
        reason = not_comparable(self.baseline, self.candidate)
        if reason:
            return Check(limit, "not compared", reason=reason)
        own = self._names(limit.where)
        before, after = (
            {query: ns for query, ns in by_query(one.answers.answers).items() if query in own}
            for one in (self.baseline, self.candidate)
        )
        share = LATENCIES[limit.name]
        ratio = latency_ratio(before, after, share, seed=self.seed)
        if ratio.ratio is None:
            return Check(limit, "not compared", reason="no query was timed by both")
        outcome: Outcome = "undecided"
        most = 1 + limit.amount
        if ratio.low is not None and ratio.low > 1 and ratio.ratio > most:
            outcome = "failed"
        elif ratio.upper is not None and ratio.upper < most:
            outcome = "passed"
        both = sorted(before.keys() & after.keys())
        values = [
            percentile(sorted(side[query] for query in both), share) for side in (before, after)
        ]
        return Check(
            limit=limit,
            outcome=outcome,
            before=values[0] / _MS,
            after=values[1] / _MS,
            change=ratio.ratio - 1,
            low=_less_one(ratio.low),
            high=_less_one(ratio.high),
            bound=_less_one(ratio.upper),
            n=ratio.n,
        )

    def index(self, limit: Limit) -> Check:
        """Check what building the index took."""
        after = _to_build(self.candidate.answers.index)
        if after is None:
            return Check(limit, "not compared", reason="the run says nothing of an index")
        if not limit.relative:
            kept: Outcome = "passed" if after <= limit.amount else "failed"
            return Check(limit, kept, after=after)
        if self.baseline is None:
            raise AssertionError("a change is only checked beside a baseline")
        reason = not_comparable(self.baseline, self.candidate)
        before = _to_build(self.baseline.answers.index)
        if reason or not before:
            reason = reason or "the baseline says nothing of an index"
            return Check(limit, "not compared", after=after, reason=reason)
        outcome: Outcome = "passed" if after <= before * (1 + limit.amount) else "failed"
        return Check(limit, outcome, before=before, after=after, change=after / before - 1)

    def _names(self, where: Where) -> frozenset[str]:
        pairs = zip(self.candidate.evaluation.queries, self.rows(where).tolist(), strict=True)
        return frozenset(name for name, own in pairs if own)


def _cut(evaluation: Evaluation, rows: Rows) -> Evaluation:
    """Return an evaluation in which all other queries are without a value."""
    if rows.all():
        return evaluation
    return replace(evaluation, table=np.where(rows[:, None], evaluation.table, np.nan))


def _less_one(ratio: float | None) -> float | None:
    return None if ratio is None else ratio - 1


def _to_build(index: IndexCost | None) -> float | None:
    return None if index is None else index.to_build
