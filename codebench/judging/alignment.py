"""Do offline measures move with a team's online figures? Runs with both -> correlations."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from codebench.errors import NothingMeasured
from codebench.judging.contest import Contender, check_suites
from codebench.judging.scoring import depth_of, score_run
from codebench.measures.correlation import FEWEST, kendall, kendall_p, pearson, spearman
from codebench.measures.names import within_depth
from codebench.measures.statistics import holm
from codebench.reading import Faults, is_folder, near, read_lines, repeated, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from codebench.judging.scored import ScoredRun
    from codebench.measures.correlation import Correlation
    from codebench.measures.names import Measure

Verdict = Literal["aligned", "opposed", "undecided", "too few"]

ALPHA = 0.05
RUN = "run"
RETRIEVER = "retriever"
_MOST_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Online:
    """A line of the file: a retriever of a run, with what was seen online.

    Attributes:
        line: its number.
        run: the run's folder.
        retriever: its name in the run; empty for the run's only one.
        figures: by column; a figure that is missing is not there.
    """

    line: int
    run: Path
    retriever: str
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Aligned:
    """One measure beside one online figure.

    Attributes:
        measure: by its printed name.
        online: the column.
        verdict: by Kendall's tau: `aligned` where better scores went with better figures, `opposed`
            where they went with worse, both at an adjusted p of at most 0.05; `too few` below
            five runs.
        n: runs that have both.
        kendall, spearman, pearson: of the measure's gain (its value, or less where less is better)
            with the figure.
        p: of Kendall's tau alone; p_adjusted: for all rows together (Holm).
    """

    measure: str
    online: str
    verdict: Verdict
    n: int
    kendall: Correlation
    spearman: Correlation
    pearson: Correlation
    p: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """Every measure beside every online figure.

    Attributes:
        rows: measure by measure.
        points: who was compared: the run, the retriever, the measures' values and the figures.
    """

    rows: tuple[Aligned, ...]
    points: tuple[tuple[Online, Mapping[str, float | None]], ...]


def align(file: Path, measures: Sequence[Measure]) -> Alignment:
    """Correlate measures of runs with online figures.

    Args:
        file: CSV with a column `run` (a folder, relative to the file's own), `retriever` where a
            run has several, and a column for each online figure, more of which is better.
        measures: what is measured; those that a run is too shallow for are left out.

    Raises:
        InputError: the file is wrong, or a run in it cannot be read; every fault is listed.
        NoBaseline: the runs answered different suites.
        NothingMeasured: fewer than three runs have a figure.
    """
    faults = Faults(file)
    rows = read_online(file, faults)
    faults.check()
    depth = min((depth_of(row.run) for row in rows), default=0)
    kept = within_depth(measures, depth)
    if not kept:
        raise NothingMeasured(f"{file}: a run's depth is {depth}, too little for every measure")
    found = _contenders(rows, kept, faults)
    faults.check()
    check_suites([one for _, one in found])
    points = tuple((row, dict(one.evaluation.values)) for row, one in found)
    if len(points) < 3:
        raise NothingMeasured(
            f"{file}: {len(points)} runs have an online figure; a correlation needs 3, and "
            f"{FEWEST} before it can tell anything"
        )
    columns = list(dict.fromkeys(name for row, _ in points for name in row.figures))
    signs = {str(one): 1 if one.higher_is_better else -1 for one in found[0][1].evaluation.measures}
    pairs = [
        _pair(points, name, sign, column) for name, sign in signs.items() for column in columns
    ]
    adjusted = holm([one.p for one in pairs])
    return Alignment(tuple(_judged(one, p) for one, p in zip(pairs, adjusted, strict=True)), points)


def read_online(file: Path, faults: Faults) -> list[Online]:
    """Read the file's lines; what is wrong goes to `faults`."""
    lines = list(read_lines(file, faults))
    if not lines or faults.found:
        if not faults.found:
            faults.add("holds no line", mend=f"its first line is {RUN},FIGURE,…")
        return []
    (first, head), *rest = lines
    header = [name.strip() for name in _cells(head, first, faults)]
    for name in repeated(header):
        faults.add("is a column twice", line=first, value=name)
    if RUN not in header:
        faults.add(f"has no column {RUN}", line=first, mend=near(RUN, header))
    if not set(header) - {RUN, RETRIEVER}:
        faults.add("has no column of an online figure", line=first)
    if "" in header:
        faults.add("has a column without a name", line=first)
    if len(rest) > _MOST_ROWS:
        faults.add(f"has more than {_MOST_ROWS} lines")
    if faults.found:
        return []
    rows = []
    seen: dict[tuple[Path, str], int] = {}
    for number, text in rest:
        cells = _cells(text, number, faults)
        if len(cells) != len(header):
            faults.add(f"has {len(cells)} cells, not {len(header)}", line=number)
            continue
        row = _row(number, dict(zip(header, cells, strict=True)), file, faults)
        if row is None:
            continue
        place = row.run.resolve(), row.retriever
        if place in seen:
            faults.add(f"is also the run of line {seen[place]}", line=number, field=RUN)
        seen.setdefault(place, number)
        if row.figures:
            rows.append(row)
    return rows


def _cells(text: str, number: int, faults: Faults) -> list[str]:
    try:
        return next(csv.reader([text.rstrip("\r\n")]), [])
    except csv.Error as error:
        faults.add(f"is not CSV ({error})", line=number)
        return []


def _row(number: int, cells: Mapping[str, str], file: Path, faults: Faults) -> Online | None:
    """Return a line's figures; None where its run cannot be told."""
    figures = {}
    for name, cell in cells.items():
        if name in {RUN, RETRIEVER} or not cell.strip():
            continue
        try:
            figures[name] = float(cell)
        except ValueError:
            figures[name] = math.nan
        if not math.isfinite(figures[name]):
            faults.add("is not a finite number", line=number, field=name, value=shown(cell))
    run = cells.get(RUN, "").strip()
    if not run:
        faults.add("is empty", line=number, field=RUN)
        return None
    if not is_folder(file.parent / run):
        faults.add("is no folder beside this file", line=number, field=RUN, value=run)
        return None
    return Online(number, file.parent / run, cells.get(RETRIEVER, "").strip(), figures)


def _contenders(
    rows: Sequence[Online], measures: Sequence[Measure], faults: Faults
) -> list[tuple[Online, Contender]]:
    scored: dict[Path, ScoredRun] = {}
    found = []
    for row in rows:
        if row.run not in scored:
            scored[row.run] = score_run(row.run, measures)
        run = scored[row.run]
        own = [one for one in run.retrievers if row.retriever == one.name]
        if not row.retriever:
            own = [one for one in run.retrievers if not one.floor]
        if len(own) != 1:
            names = [one.name for one in run.retrievers if not one.floor]
            mend = near(row.retriever, names) if row.retriever else f"name one: {', '.join(names)}"
            problem = "is not in the run" if row.retriever else "must be named: the run has several"
            faults.add(problem, line=row.line, field=RETRIEVER, value=row.retriever, mend=mend)
            continue
        one = own[0]
        if one.evaluation is None:
            faults.add("answered nothing", line=row.line, field=RETRIEVER, value=one.name)
            continue
        label = f"{one.name} @ {row.run}"
        contender = Contender(label, run.run, one.run, run.suite, run.digest, one.evaluation)
        found.append((row, contender))
    return found


def _pair(
    points: Sequence[tuple[Online, Mapping[str, float | None]]], name: str, sign: int, column: str
) -> Aligned:
    both = [
        (sign * value, row.figures[column])
        for row, values in points
        if column in row.figures and (value := values[name]) is not None
    ]
    first, second = [one for one, _ in both], [other for _, other in both]
    return Aligned(
        measure=name,
        online=column,
        verdict="undecided",
        n=len(both),
        kendall=kendall(first, second),
        spearman=spearman(first, second),
        pearson=pearson(first, second),
        p=kendall_p(first, second),
        p_adjusted=1.0,
    )


def _judged(one: Aligned, p: float) -> Aligned:
    verdict: Verdict = "undecided"
    if one.n < FEWEST:
        verdict = "too few"
    elif p <= ALPHA and one.kendall.value:
        verdict = "aligned" if one.kendall.value > 0 else "opposed"
    return Aligned(
        one.measure,
        one.online,
        verdict,
        one.n,
        one.kendall,
        one.spearman,
        one.pearson,
        one.p,
        p,
    )
