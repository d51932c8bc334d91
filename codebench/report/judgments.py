"""An evaluation of a TREC run against judgments, as a table, Markdown or JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codebench.evaluation import UNANSWERED, aggregate
from codebench.measures.names import parse
from codebench.report.data import figure_data
from codebench.report.text import NONE, escaped, json_text, lines, queries, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codebench.evaluation import Evaluation, How
    from codebench.measures.statistics import Figure

_LISTED = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """A TREC run with its evaluation.

    Attributes:
        name: the run's tag, or its file's name.
        evaluation: its figures.
        ties: how equal scores were ordered.
        depth: the length of its longest ranking.
        tied: by cutoff, how many queries have equal scores on both sides of the cut.
        notes: what was mended in its files.
    """

    name: str
    evaluation: Evaluation
    ties: str
    depth: int
    tied: Mapping[int, int]
    notes: tuple[str, ...] = ()


def judged_text(judged: Judged, how: How, *, markdown: bool = False) -> str:
    """Return the figures as a table with a row a measure, and its notes."""
    mean = aggregate(judged.evaluation, how)
    rows = [[parse(name).short, *_cells(figure)] for name, figure in mean.figures.items()]
    answered = len(judged.evaluation.queries) - len(_unanswered(judged))
    title = escaped(
        f"{judged.name}: {queries(len(judged.evaluation.queries))} judged, {answered} answered",
        markdown=markdown,
    )
    notes = [f"values are the {mean.words}; a query that is not answered scores the worst value"]
    return "\n\n".join(
        [
            f"### {title}" if markdown else title,
            table(["measure", "value", "95 % interval", "queries"], rows, markdown=markdown),
            lines([*notes, *_notes(judged, mean.figures)], markdown=markdown),
        ]
    )


def judged_data(judged: Judged, how: How) -> dict[str, Any]:
    """Return the figures as strict JSON data."""
    evaluation, mean = judged.evaluation, aggregate(judged.evaluation, how)
    return {
        "queries": len(evaluation.queries),
        "measures": {name: figure_data(figure) for name, figure in mean.figures.items()},
        "run": judged.name,
        "aggregate": mean.words,
        "ties": judged.ties,
        "tied_at_cut": {str(cutoff): count for cutoff, count in judged.tied.items()},
        "unanswered": _unanswered(judged),
        "notes": [*judged.notes, *evaluation.notes],
    }


def judged_json(judged: Judged, how: How, more: Mapping[str, Any]) -> str:
    """Return the figures, and what else was asked for, as strict JSON."""
    return json_text(judged_data(judged, how) | dict(more))


def _cells(figure: Figure) -> list[str]:
    digits = 0 if (figure.value or 0) > 100 else 4
    value = NONE if figure.value is None else f"{figure.value:.{digits}f}"
    interval = NONE
    if figure.low is not None and figure.high is not None:
        interval = f"{figure.low:.{digits}f} to {figure.high:.{digits}f}"
    return [value, interval, str(figure.n)]


def _unanswered(judged: Judged) -> list[str]:
    pairs = zip(judged.evaluation.queries, judged.evaluation.statuses, strict=True)
    return [query for query, status in pairs if status == UNANSWERED]


def _notes(judged: Judged, figures: Mapping[str, Figure]) -> list[str]:
    empty: dict[int, list[str]] = {}
    for name, figure in figures.items():
        empty.setdefault(figure.excluded, []).append(name)
    notes = [
        f"{', '.join(names)}: {queries(count)} without a relevant document left out "
        "(--empty-gold zero counts them as 0)"
        for count, names in empty.items()
        if count
    ]
    lone = _unanswered(judged)
    if lone:
        some = ", ".join(lone[:_LISTED]) + (", …" if len(lone) > _LISTED else "")
        notes.append(f"{queries(len(lone))} not answered: {some}")
    order = "the order of the lines decides; --ties trec orders them as trec_eval does"
    if judged.ties == "trec":
        order = "ordered by document, last first, as trec_eval does"
    notes += [
        f"{queries(count)} with equal scores on both sides of the cut at {cutoff} ({order})"
        for cutoff, count in judged.tied.items()
        if count
    ]
    return [*notes, *judged.notes, *judged.evaluation.notes]
