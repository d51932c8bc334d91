"""Which retriever to use within a latency budget, for every budget that changes the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.report.text import milliseconds, number

if TYPE_CHECKING:
    from codebench.measures.names import Measure
    from codebench.report.page.board import Board, Row

BUDGET_MS = 50.0
"""What an agent's loop can spare for a search; the page lets one choose another."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What to use where the budget is at least a limit.

    Attributes:
        from_ms: the least budget for which this holds.
        best: label of the best within it.
        series: its number, for the charts.
        lines: why, a sentence each.
    """

    from_ms: float
    best: str
    series: int
    lines: tuple[str, ...]


def choices(board: Board) -> tuple[Choice, ...]:
    """Return the choices by rising budget; below the first there is none.

    A retriever is within a budget where its p95 is. The best is the one with the highest mean of
    the primary measure; who is not shown to be worse in a paired comparison is named too.
    """
    timed = sorted(
        ((row.p95, row.label, row) for row in board.retrievers if row.p95 is not None),
        key=lambda one: one[:2],
    )
    found = []
    for at, (limit, _, _) in enumerate(timed, 1):
        if at < len(timed) and timed[at][0] == limit:
            continue
        within = [row for _, _, row in timed[:at]]
        standing = board.standing(board.primary, within)
        if standing is None:
            continue
        best = next(row for row in within if row.label == standing.best)
        level = [row for row in within if row.label in standing.level]
        beyond = [row for _, _, row in timed[at:]]
        lines = tuple(_lines(board, best, level, within, beyond))
        found.append(Choice(limit, best.label, best.series, lines))
    return tuple(found)


def choice_for(found: tuple[Choice, ...], budget: float) -> Choice | None:
    """Return what holds for a budget in milliseconds; None where nothing is fast enough."""
    fitting = [one for one in found if one.from_ms <= budget]
    return fitting[-1] if fitting else None


def _lines(
    board: Board, best: Row, level: list[Row], within: list[Row], beyond: list[Row]
) -> list[str]:
    primary, exact = board.primary, board.exact
    tokens = best.evaluation.values[str(board.bound("Tokens@32000"))]
    read = "" if tokens is None else f", {tokens:,.0f} tokens to the first target"
    quality = f"{_figure(best, primary)}, {_figure(best, exact)}"
    lines = [f"{quality}, p50 {_ms(best, 'p50')}, p95 {_ms(best, 'p95')}{read}."]
    if level:
        fastest = min([best, *level], key=lambda row: row.scored.latency.p95 or 0)
        names = ", ".join(f"{row.label} ({_figure(row, primary)})" for row in level)
        quick = f" The fastest of them all is {fastest.label}." if fastest is not best else ""
        lines.append(f"Not shown to be worse, as the difference is undecided: {names}.{quick}")
    elif len(within) > 1:
        lines.append(f"Every other one within the budget is worse by {primary.short}.")
    else:
        lines.append("It is the only one within the budget.")
    if beyond:
        named = ", ".join(f"{row.label} (p95 {_ms(row, 'p95')})" for row in beyond)
        lines.append(f"Too slow for the budget: {named}.")
    if best.failed:
        lines.append(f"{best.failed} of its {len(best.evaluation.queries)} answers failed.")
    return lines


def _figure(row: Row, measure: Measure) -> str:
    figure = row.evaluation.figures[str(measure)]
    interval = ""
    if figure.low is not None and figure.high is not None:
        interval = f" [{number(figure.low, 2)}, {number(figure.high, 2)}]"
    return f"{measure.short} {number(figure.value)}{interval}"


def _ms(row: Row, share: str) -> str:
    value = getattr(row.scored.latency, share)
    return f"{milliseconds(None if value is None else value / 1e6)} ms"
