"""The runs of a results folder, in the order of time: one measure, and whether it moved."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from codebench.comparison import MARGIN, compare
from codebench.errors import CodebenchError, NothingMeasured, UsageError
from codebench.judging.contest import suite_changes
from codebench.judging.scoring import score_run
from codebench.listing import runs
from codebench.reading import near

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.comparison import Difference
    from codebench.evaluation import Evaluation
    from codebench.listing import ListedRun
    from codebench.measures.latency import Latency
    from codebench.measures.names import Measure
    from codebench.measures.statistics import Figure
    from codebench.model import Suite

Verdict = Literal["", "better", "worse", "undecided", "not comparable"]


@dataclass(frozen=True, slots=True)
class Point:
    """One retriever in one run.

    Attributes:
        run: the run's folder.
        started: ISO 8601; empty where the run does not say.
        suite: the suite's name.
        version: what the retriever said of itself.
        adapter: digest of its file.
        codebench: the version that ran it.
        figure: the measure's mean with its interval.
        latency: over every timed call.
        failed: queries that failed or were not answered.
        complete: whether the run is.
        verdict: against the last point before it of the same suite; empty for the first of all.
        difference: the comparison behind it; None where there is none.
        reason: why it is not comparable, where no run before it asked its suite: what differs
            from the suite of the run before.
    """

    run: Path
    started: str
    suite: str
    version: str
    adapter: str
    codebench: str
    figure: Figure
    latency: Latency
    failed: int
    complete: bool
    verdict: Verdict = ""
    difference: Difference | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """One measure over time.

    Attributes:
        measure: bound to its level.
        lines: by retriever, the oldest run first.
        skipped: runs that could not be scored, and why.
    """

    measure: Measure
    lines: tuple[tuple[str, tuple[Point, ...]], ...]
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Scored:
    """A point with what a comparison needs of it."""

    point: Point
    evaluation: Evaluation
    suite: Suite
    digest: str


def history(
    results: Path,
    measure: Measure,
    *,
    only: Sequence[str] = (),
    suite: str = "",
    margin: float = MARGIN,
    seed: int = 0,
) -> History:
    """Score every run that is kept; compare each retriever with itself in the suite's last run.

    Args:
        results: the folder of runs.
        measure: what is looked at.
        only: retrievers and floors to take; all retrievers where it is empty.
        suite: only runs of the suite of this name.
        margin: the smallest difference that counts.
        seed: of the sign flips.

    Raises:
        ResultsError: the folder cannot be read.
        NothingMeasured: it holds no run that can be scored.
        UsageError: no run holds a retriever that was named.
    """
    found: dict[str, list[_Scored]] = defaultdict(list)
    skipped = []
    names: set[str] = set()
    for listed in reversed(runs(results)):
        if listed.problem:
            skipped.append(f"{listed.path.name}: {listed.problem}")
            continue
        if suite and listed.suite != suite:
            continue
        try:
            points = _points(listed, measure)
        except CodebenchError as error:
            skipped.append(str(error).partition("\n")[0])
            continue
        names |= {name for name, _, _ in points}
        for name, floor, point in points:
            if name in only or (not only and not floor):
                found[name].append(point)
    strange = [name for name in only if name not in names]
    if strange and names:
        raise UsageError(f"no run holds a retriever {strange[0]!r}; {near(strange[0], names)}")
    if not found:
        which = f" of the suite {suite}" if suite else ""
        why = f" ({'; '.join(skipped[:3])})" if skipped else ""
        raise NothingMeasured(f"{results}: holds no run{which} that can be scored{why}")
    lines = tuple(
        (name, _judged(own, measure, margin, seed)) for name, own in sorted(found.items())
    )
    bound = next(iter(found.values()))[0].evaluation.measures[0]
    return History(bound, lines, tuple(skipped))


def _points(listed: ListedRun, measure: Measure) -> list[tuple[str, bool, _Scored]]:
    scored = score_run(listed.path, [measure])
    manifest = scored.run.manifest
    points = []
    for one in scored.retrievers:
        if one.evaluation is None:
            continue
        candidate = one.run.candidate
        point = Point(
            run=listed.path,
            started=listed.started,
            suite=scored.suite.name,
            version=candidate.version,
            adapter=candidate.digest,
            codebench=str(manifest.get("codebench", "")),
            figure=one.evaluation.figures[str(scored.measures[0])],
            latency=one.latency,
            failed=sum(one.evaluation.failures.values()),
            complete=scored.run.complete,
        )
        points.append(
            (one.name, one.floor, _Scored(point, one.evaluation, scored.suite, scored.digest))
        )
    return points


def _judged(
    line: Sequence[_Scored], measure: Measure, margin: float, seed: int
) -> tuple[Point, ...]:
    """Compare each point with the last one before it of its suite; a suite's are one family."""
    points = [one.point for one in line]
    families: dict[str, list[tuple[int, int]]] = defaultdict(list)
    newest: dict[str, int] = {}
    for at, one in enumerate(line):
        if one.digest in newest:
            families[one.digest].append((newest[one.digest], at))
        elif at:
            reason = "; ".join(suite_changes(line[at - 1].suite, one.suite))
            points[at] = replace(points[at], verdict="not comparable", reason=reason)
        newest[one.digest] = at
    for pairs in families.values():
        compared = compare(
            {str(at): line[at].evaluation for at in sorted({at for pair in pairs for at in pair})},
            pairs=[(str(before), str(after)) for before, after in pairs],
            measures=[measure],
            margin=margin,
            seed=seed,
        )
        for (_, at), difference in zip(pairs, compared.differences, strict=True):
            points[at] = replace(points[at], verdict=difference.verdict, difference=difference)
    return tuple(points)
