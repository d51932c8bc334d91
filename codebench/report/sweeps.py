"""Sweeps of a run as tables, and as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.judging.sweeps import CHOSEN_ON, TOLD_ON, sweeps_of
from codebench.measures.statistics import FEW
from codebench.report.data import figure_data
from codebench.report.text import escaped, figure_cell, lines, queries, table

if TYPE_CHECKING:
    from codebench.judging.scored import ScoredRun
    from codebench.judging.sweeps import Sweep

BEST = "*"


def sweeps_text(scored: ScoredRun, *, markdown: bool) -> list[str]:
    """Return a block of text for each sweep of a run."""
    return [_block(sweep, markdown=markdown) for sweep in sweeps_of(scored)]


def sweeps_data(scored: ScoredRun) -> list[dict[str, Any]]:
    """Return a run's sweeps as JSON data."""
    return [
        {
            "sweep": sweep.name,
            "measure": str(sweep.measure),
            "chosen_on": CHOSEN_ON if sweep.parts else "all",
            "reported_on": TOLD_ON if sweep.parts else "all",
            "best": sweep.best or None,
            "points": [
                {
                    "name": point.name,
                    "options": dict(point.options),
                    "chosen": figure_data(point.chosen),
                    "reported": figure_data(point.told or point.chosen),
                }
                for point in sweep.points
            ],
            "without_answers": list(sweep.left_out),
        }
        for sweep in sweeps_of(scored)
    ]


def _block(sweep: Sweep, *, markdown: bool) -> str:
    first = sweep.points[0]
    names = [name for name, _ in first.options]
    parts = [CHOSEN_ON, TOLD_ON] if sweep.parts else ["all queries"]
    rows = [
        [
            (BEST if point.name == sweep.best else "")
            + ", ".join(f"{name}={_value(value)}" for name, value in point.options),
            *(
                figure_cell(figure, sweep.measure)
                for figure in (point.chosen, point.told)
                if figure is not None
            ),
        ]
        for point in sweep.points
    ]
    title = escaped(f"sweep of {sweep.name}: {sweep.measure.short}", markdown=markdown)
    own = table([", ".join(names), *parts], rows, markdown=markdown)
    head = f"#### {title}" if markdown else title
    return "\n\n".join([head, own, lines(_notes(sweep), markdown=markdown)])


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _notes(sweep: Sweep) -> list[str]:
    first = sweep.points[0]
    count = first.chosen.n
    notes = []
    best = next((point for point in sweep.points if point.name == sweep.best), None)
    if best is not None and best.told is not None:
        notes.append(
            f"{BEST} {best.name}: chosen on {CHOSEN_ON} ({queries(count)}); report its "
            f"{figure_cell(best.told, sweep.measure)} on {TOLD_ON} ({queries(best.told.n)})"
        )
    elif best is not None:
        notes.append(
            f"{BEST} {best.name}: the suite has no split into {CHOSEN_ON} and {TOLD_ON}, so it is "
            f"chosen and reported on the same {queries(count)}: the best of "
            f"{len(sweep.points)} looks better here than it is"
        )
    if count < FEW:
        notes.append(f"chosen on only {queries(count)}: a neighbour may be as good or better")
    notes += [f"{name} answered nothing and is left out" for name in sweep.left_out]
    return notes
