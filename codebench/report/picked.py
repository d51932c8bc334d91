"""Queries that were picked from a run: the worst, or those that another run found or missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codebench.errors import NoBaseline
from codebench.report.data import finite
from codebench.report.rankings import values_of
from codebench.report.text import NONE, digits_of, escaped, json_text, number, queries, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codebench.evaluation import Evaluation
    from codebench.judging.scored import ScoredRun
    from codebench.measures.names import Measure
    from codebench.model import Query

_TEXT = 70


@dataclass(frozen=True, slots=True)
class Picked:
    """One query that was picked.

    Attributes:
        query: the query.
        values: by retriever, the run's value.
        before: by retriever, the baseline's value; empty where there is none.
    """

    query: Query
    values: Mapping[str, float | None]
    before: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Picks:
    """The queries that were picked, and how.

    Attributes:
        words: what they are.
        measure: by which they were picked.
        names: the retrievers whose values are shown.
        picked: in order.
    """

    words: str
    measure: Measure
    names: tuple[str, ...]
    picked: tuple[Picked, ...]


def worst(scored: ScoredRun, measure: Measure, count: int) -> Picks:
    """Pick the queries with the worst mean value over the retrievers (floors only where alone)."""
    own = _evaluations(scored)
    sign = 1 if measure.higher_is_better else -1
    ranked: list[tuple[float, str, Picked]] = []
    for query in scored.suite.queries:
        values = _values(own, measure, query.id)
        known = [value for value in values.values() if value is not None]
        if known:
            mean = sign * sum(known) / len(known)
            ranked.append((mean, query.id, Picked(query, values, {})))
    ranked.sort(key=lambda one: one[:2])
    picked = tuple(one for _, _, one in ranked[:count])
    who = ", ".join(own)
    return Picks(f"worst by {measure.short}, mean of {who}", measure, tuple(own), picked)


def changed(scored: ScoredRun, baseline: ScoredRun, measure: Measure, *, fixed: bool) -> Picks:
    """Pick the queries at which some retriever does better (or worse) than in another run.

    Raises:
        NoBaseline: the runs answered different suites, or have no retriever in common.
    """
    if scored.digest != baseline.digest:
        raise NoBaseline(
            f"{baseline.run.path}: its suite is not that of {scored.run.path}; run both on one "
            "suite folder (`codebench compare` names what differs)"
        )
    now, then = _evaluations(scored), _evaluations(baseline)
    names = tuple(name for name in now if name in then)
    if not names:
        raise NoBaseline(
            f"{baseline.run.path} and {scored.run.path} have no retriever in common "
            f"({', '.join(then)} / {', '.join(now)})"
        )
    sign = (1 if measure.higher_is_better else -1) * (1 if fixed else -1)
    ranked: list[tuple[float, str, Picked]] = []
    for query in scored.suite.queries:
        after = _values({name: now[name] for name in names}, measure, query.id)
        before = _values({name: then[name] for name in names}, measure, query.id)
        gains = [sign * gain for gain in map(_gain, before.values(), after.values())]
        if max(gains) > 0:
            ranked.append((-max(gains), query.id, Picked(query, after, before)))
    ranked.sort(key=lambda one: one[:2])
    rose = "fixed" if fixed else "broken"
    words = f"{rose} since {baseline.run.path}, by {measure.short}"
    return Picks(words, measure, names, tuple(one for _, _, one in ranked))


def _gain(before: float | None, after: float | None) -> float:
    return 0.0 if before is None or after is None else after - before


def _evaluations(scored: ScoredRun) -> dict[str, Evaluation]:
    found = {one.name: one.evaluation for one in scored.retrievers if one.evaluation}
    own = {one.name for one in scored.retrievers if not one.floor}
    return {name: found[name] for name in found if name in own} or found


def _values(
    evaluations: Mapping[str, Evaluation], measure: Measure, query: str
) -> dict[str, float | None]:
    printed = {name: str(measure.bind(one.default_rel)) for name, one in evaluations.items()}
    return {name: values_of(one, query)[printed[name]] for name, one in evaluations.items()}


def picked_text(picks: Picks, form: str) -> str:
    """Return the picked queries as `table`, `markdown` or `json`."""
    if form == "json":
        return json_text(_data(picks))
    markdown = form == "markdown"
    title = escaped(f"{queries(len(picks.picked))} {picks.words}", markdown=markdown)
    rows = [
        [one.query.id, _cut(one.query.text), *(_cell(picks, one, name) for name in picks.names)]
        for one in picks.picked
    ]
    headers = ["query", "text", *picks.names]
    own = table(headers, rows, markdown=markdown, left=2)
    head = f"### {title}" if markdown else title
    return f"{head}\n\n{own}" if rows else head


def _cell(picks: Picks, one: Picked, name: str) -> str:
    digits = digits_of(picks.measure)
    now = number(one.values[name], digits)
    if not one.before:
        return now
    before = one.before[name]
    if before == one.values[name]:
        return now if before is not None else NONE
    return f"{number(before, digits)} -> {now}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TEXT else line[: _TEXT - 1] + "…"


def _data(picks: Picks) -> dict[str, Any]:
    return {
        "what": picks.words,
        "measure": str(picks.measure),
        "queries": [
            {
                "id": one.query.id,
                "text": one.query.text,
                "tags": dict(sorted(one.query.tags.items())),
                "values": {name: finite(value) for name, value in one.values.items()},
                **(
                    {"before": {name: finite(value) for name, value in one.before.items()}}
                    if one.before
                    else {}
                ),
            }
            for one in picks.picked
        ],
    }
