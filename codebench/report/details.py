"""What stands below or in place of a summary: slices, recall by K, and values by query.

`evaluations` are by the name of the retriever (or of the TREC run), in the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codebench.evaluation import aggregate, recall_curve, slices
from codebench.report.data import figure_data, finite
from codebench.report.text import (
    csv_text,
    digits_of,
    escaped,
    figure_cell,
    lines,
    number,
    table,
    tag_words,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.evaluation import Evaluation, How
    from codebench.measures.statistics import Figure
    from codebench.model import Suite
    from codebench.report.text import Value

    Evaluations = Mapping[str, Evaluation]

LEVELS = (1, 2, 3)
"""The levels whose recall is drawn by K."""

_LADDER = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000)
_FIGURE = ("value", "low", "high", "n", "excluded")


@dataclass(frozen=True, slots=True)
class Details:
    """What was asked for beside the figures.

    Attributes:
        how: which mean; slices and curves are weighted means always.
        curve: the largest K of recall by K; 0 for none.
        per_query: whether every query's values are shown.
        by: tags to cut by; they need the suite.
        suite: what was asked of the retrievers.
    """

    how: How = "macro"
    curve: int = 0
    per_query: bool = False
    by: tuple[str, ...] = ()
    suite: Suite | None = None


def more_text(evaluations: Evaluations, asked: Details, *, markdown: bool) -> list[str]:
    """Return the blocks of text that were asked for.

    Raises:
        UsageError: no query has a tag.
    """
    blocks = []
    if asked.suite:
        suite = asked.suite
        blocks += [slices_text(evaluations, suite, tag, markdown=markdown) for tag in asked.by]
    if asked.curve:
        blocks.append(curve_text(evaluations, asked.curve, markdown=markdown))
    if asked.per_query:
        blocks.append(per_query_text(evaluations, markdown=markdown))
    return blocks


def more_data(evaluation: Evaluation, asked: Details) -> dict[str, Any]:
    """Return what was asked for as JSON data. Raises as `more_text`."""
    data: dict[str, Any] = {}
    if asked.suite and asked.by:
        data["slices"] = {tag: slices_data(evaluation, asked.suite, tag) for tag in asked.by}
    if asked.curve:
        data["curve"] = curve_data(evaluation, asked.curve)
    return data | (per_query_data(evaluation) if asked.per_query else {})


def one_csv(evaluations: Evaluations, asked: Details) -> str:
    """Return the one table that was asked for as CSV; the figures where none was."""
    if asked.suite and asked.by:
        return slices_csv(evaluations, asked.suite, asked.by)
    if asked.curve:
        return curve_csv(evaluations, asked.curve)
    if asked.per_query:
        return per_query_csv(evaluations)
    return figures_csv(evaluations, asked.how)


def slices_text(evaluations: Evaluations, suite: Suite, tag: str, *, markdown: bool) -> str:
    """Return a table of a tag's slices: each with its count, a row a retriever.

    Raises:
        UsageError: no query has the tag.
    """
    rows: dict[str, list[list[str]]] = {}
    for name, evaluation in evaluations.items():
        for one in slices(evaluation, suite, tag):
            cells = [
                figure_cell(one.figures[str(measure)], measure) for measure in evaluation.measures
            ]
            rows.setdefault(one.value, []).append([one.value or "(none)", str(one.n), name, *cells])
    shown = [measure.short for measure in next(iter(evaluations.values())).measures]
    own = table(
        [tag, "queries", "retriever", *shown],
        [row for value in sorted(rows) for row in rows[value]],
        markdown=markdown,
        left=3,
    )
    words = "means over a slice's queries, weighted by query weight"
    meant = tag_words(tag)
    below = [own, lines([f"{tag}: {meant}"], markdown=markdown)] if meant else [own]
    return _headed(f"by {tag}: {words}", "\n\n".join(below), markdown=markdown)


def slices_data(evaluation: Evaluation, suite: Suite, tag: str) -> list[dict[str, Any]]:
    """Return a tag's slices as JSON data."""
    return [
        {
            "value": one.value,
            "queries": one.n,
            "measures": {name: figure_data(figure) for name, figure in one.figures.items()},
        }
        for one in slices(evaluation, suite, tag)
    ]


def slices_csv(evaluations: Evaluations, suite: Suite, tags: Sequence[str]) -> str:
    """Return slices as CSV: a row a tag, value, retriever and measure."""
    rows = [
        [tag, one.value, one.n, name, measure, *_figure_row(figure)]
        for tag in tags
        for name, evaluation in evaluations.items()
        for one in slices(evaluation, suite, tag)
        for measure, figure in one.figures.items()
    ]
    return csv_text(["tag", "slice", "queries", "retriever", "measure", *_FIGURE], rows)


def figures_csv(evaluations: Evaluations, how: How) -> str:
    """Return figures as CSV: a row a retriever and measure."""
    rows = [
        [name, measure, *_figure_row(figure)]
        for name, evaluation in evaluations.items()
        for measure, figure in aggregate(evaluation, how).figures.items()
    ]
    return csv_text(["retriever", "measure", *_FIGURE], rows)


def _figure_row(figure: Figure) -> list[Value]:
    return [
        finite(figure.value),
        finite(figure.low),
        finite(figure.high),
        figure.n,
        figure.excluded,
    ]


def curve_text(evaluations: Evaluations, depth: int, *, markdown: bool) -> str:
    """Return recall by K, a table a level, at some K up to the depth (JSON and CSV hold all)."""
    steps = [k for k in _LADDER if k < depth] + [depth]
    blocks = []
    for level in LEVELS:
        rows = []
        for name, evaluation in evaluations.items():
            values = recall_curve(evaluation, level, depth)
            if any(value is not None for value in values):
                rows.append([name, *(number(values[k - 1]) for k in steps)])
        if rows:
            own = table(["retriever", *map(str, steps)], rows, markdown=markdown)
            title = f"recall by K at level {level} (R(rel={level})@K)"
            blocks.append(_headed(title, own, markdown=markdown))
    return "\n\n".join(blocks)


def curve_data(evaluation: Evaluation, depth: int) -> dict[str, list[float | None]]:
    """Return recall by level at K = 1, …, depth, weighted means; levels without gold left out."""
    curves = {str(level): list(recall_curve(evaluation, level, depth)) for level in LEVELS}
    return {level: values for level, values in curves.items() if values != [None] * depth}


def curve_csv(evaluations: Evaluations, depth: int) -> str:
    """Return recall by K as CSV: a row a retriever, level and K."""
    rows = [
        [name, int(level), k, value]
        for name, evaluation in evaluations.items()
        for level, values in curve_data(evaluation, depth).items()
        for k, value in enumerate(values, start=1)
    ]
    return csv_text(["retriever", "rel", "k", "recall"], rows)


def per_query_text(evaluations: Evaluations, *, markdown: bool) -> str:
    """Return every query's values: a row a query and retriever."""
    first = next(iter(evaluations.values()))
    rows = [
        [
            query,
            name,
            *(
                number(evaluation.per_query[query][str(measure)], digits_of(measure, 4))
                for measure in first.measures
            ),
            status,
        ]
        for query, name, evaluation, status in _by_query(evaluations)
    ]
    shown = [measure.short for measure in first.measures]
    own = table(["query", "retriever", *shown, "status"], rows, markdown=markdown, left=2)
    return _headed("by query", own, markdown=markdown)


def per_query_csv(evaluations: Evaluations) -> str:
    """Return every query's values as CSV: a row a query and retriever."""
    first = next(iter(evaluations.values()))
    rows = [
        [query, name, status, *evaluation.per_query[query].values()]
        for query, name, evaluation, status in _by_query(evaluations)
    ]
    return csv_text(["query", "retriever", "status", *map(str, first.measures)], rows)


def per_query_data(evaluation: Evaluation) -> dict[str, Any]:
    """Return every query's values, and the statuses that are not `ok`, as JSON data."""
    statuses = zip(evaluation.queries, evaluation.statuses, strict=True)
    return {
        "per_query": {query: dict(values) for query, values in evaluation.per_query.items()},
        "statuses": {query: status for query, status in statuses if status != "ok"},
    }


def _by_query(evaluations: Evaluations) -> list[tuple[str, str, Evaluation, str]]:
    first = next(iter(evaluations.values()))
    return [
        (query, name, evaluation, evaluation.statuses[at])
        for at, query in enumerate(first.queries)
        for name, evaluation in evaluations.items()
    ]


def _headed(title: str, own: str, *, markdown: bool) -> str:
    words = escaped(title, markdown=markdown)
    return f"#### {words}\n\n{own}" if markdown else f"{words}\n\n{own}"
