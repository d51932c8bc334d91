"""From a run's folder and a baseline's to the two that are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codebench.errors import CodebenchError, NoBaseline, NothingMeasured, UsageError
from codebench.gate.judge import judge
from codebench.gate.limits import default_limits, repeated
from codebench.gate.who import accepted, gated
from codebench.judging.contest import ONE_SUITE, Contender
from codebench.judging.scoring import depth_of, score_run
from codebench.listing import runs
from codebench.measures.names import PRIMARY, check_depth, parse, within_depth
from codebench.reading import meant_folder
from codebench.results import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.evaluation import Evaluation
    from codebench.gate.limits import Limit
    from codebench.gate.verdict import Gate
    from codebench.judging.scored import Scored, ScoredRun
    from codebench.measures.names import Measure

_OF_DEFAULTS = (
    "the default limits are of quality alone: latency, index time and failures are gated where "
    "limits name them, as -l nDCG-exp@10:-0.03 -l p95:+10% -l failed:0"
)


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What is gated, and against what.

    Attributes:
        run: the run's folder.
        baseline: an accepted run's folder, or a folder of runs, of which the newest complete one
            of the same suite counts; None where there is none.
        limits: what must be kept; empty for the default.
        retriever: who is gated; empty for the one retriever that is in both.
        against: its name in the baseline; empty for the same.
        strict: whether what is undecided fails.
        seed: of the sign flips and the latencies' resampling.
    """

    run: Path
    baseline: Path | None
    limits: Sequence[Limit] = ()
    retriever: str = ""
    against: str = ""
    strict: bool = False
    seed: int = 0


def gate(asked: GateRequest) -> Gate:
    """Score a run and its baseline, and hold the run against its limits.

    Raises:
        NoBaseline: there is no baseline that can be compared; the reason is named.
        NothingMeasured: the run answered nothing.
        UsageError: a name is not in the run, or a cutoff is above its depth.
        ResultsError, InputError: a folder is no run, or is damaged.
    """
    depth = depth_of(asked.run)
    named = tuple(asked.limits) or default_limits(depth)
    if not named:
        raise UsageError(
            f"the default limits need a depth of 10, and {asked.run} has {depth}; name limits, as "
            f"R(rel=3)@{depth}:-0.03"
        )
    measures = _measures(named, depth)
    run = score_run(asked.run, measures)
    baseline = None
    if asked.baseline is not None:
        baseline = _baseline(asked.baseline, measures, run)
    one = gated(run, baseline, asked.retriever, asked.against)
    evaluation = _answered(run, one)
    limits = _bound(named, evaluation, all_needed=bool(asked.limits))
    other = None
    if baseline is not None:
        other = accepted(baseline, one, asked.against)
    judged = judge(
        _contender(run, one),
        None if baseline is None or other is None else _contender(baseline, other),
        limits,
        strict=asked.strict,
        seed=asked.seed,
    )
    return judged if asked.limits else replace(judged, notes=(*judged.notes, _OF_DEFAULTS))


def _measures(limits: Sequence[Limit], depth: int) -> tuple[Measure, ...]:
    named = tuple(dict.fromkeys(limit.measure for limit in limits if limit.measure is not None))
    check_depth(named, depth)
    # Failures are counted by an evaluation, and it needs a measure.
    return named or within_depth((PRIMARY,), depth) or (parse("RR@1"),)


def _baseline(path: Path, measures: Sequence[Measure], run: ScoredRun) -> ScoredRun:
    if not path.is_dir():
        hint = meant_folder(path)
        raise NoBaseline(
            f"{path}: there is no such baseline; "
            + (hint or f"make one of an accepted run with codebench gate RUN --accept -o {path}")
        )
    if (path / MANIFEST).is_file():
        return _scored_baseline(path, measures)
    reasons = []
    for listed in runs(path):
        if listed.problem or not listed.complete or listed.path.resolve() == run.run.path.resolve():
            continue
        if listed.digest != run.digest:
            reasons.append(f"{listed.path}: its suite is another; {ONE_SUITE}")
            continue
        try:
            return _scored_baseline(listed.path, measures)
        except CodebenchError as error:
            reasons.append(str(error))
    why = f" ({reasons[0]})" if reasons else ""
    raise NoBaseline(f"{path}: holds no complete run of the suite of {run.run.path}{why}")


def _scored_baseline(path: Path, measures: Sequence[Measure]) -> ScoredRun:
    try:
        check_depth(measures, depth_of(path))
        return score_run(path, measures)
    except (NothingMeasured, UsageError) as error:
        raise NoBaseline(f"{path}: cannot be a baseline: {error}") from None


def _answered(run: ScoredRun, one: Scored) -> Evaluation:
    if one.evaluation is None or "ok" not in one.evaluation.statuses:
        reason = one.run.first_error or one.run.reason or one.run.state
        raise NothingMeasured(f"{run.run.path}: {one.name} answered nothing ({reason})")
    return one.evaluation


def _bound(
    limits: Sequence[Limit], evaluation: Evaluation, *, all_needed: bool
) -> tuple[Limit, ...]:
    """Return limits at the levels of the suite's gold, without those of defaults that it lacks."""
    bound = [limit.bind(evaluation.default_rel) for limit in limits]
    twice = repeated(bound)
    if twice:
        raise UsageError("\n".join(twice))
    figures = evaluation.figures
    return tuple(one for one in bound if all_needed or figures[one.name].value is not None)


def _contender(run: ScoredRun, one: Scored) -> Contender:
    if one.evaluation is None:
        raise AssertionError("only who answered is compared")
    return Contender(one.name, run.run, one.run, run.suite, run.digest, one.evaluation)
