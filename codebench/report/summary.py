"""The summary of a run: retrievers as rows, quality beside latency, cost and failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.evaluation import aggregate
from codebench.judging.scoring import leaders
from codebench.measures.names import TOKENS
from codebench.measures.statistics import FEW
from codebench.reading import counted
from codebench.report.data import answer_counts, run_data
from codebench.report.label_source import label_notes
from codebench.report.measuring import load_table, measuring_notes, updates_table
from codebench.report.oddities import oddity_notes
from codebench.report.standing import standing_notes
from codebench.report.sweeps import sweeps_data, sweeps_text
from codebench.report.text import (
    NONE,
    escaped,
    figure_cell,
    json_text,
    lines,
    milliseconds,
    printable,
    queries,
    table,
)
from codebench.results.retriever import GOOD_ENDS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from codebench.evaluation import Aggregate, How
    from codebench.judging.scored import Scored, ScoredRun
    from codebench.judging.scoring import Leaders
    from codebench.measures.names import Measure

BEST = "*"
LEVEL = "="

_MARKS = (
    f"{BEST} the best, {LEVEL} not shown to be worse than it: undecided in a paired comparison "
    "(codebench compare --baseline best shows it)"
)


_TOKENS = (
    f"tokens: what one must read until the first target, on average, in the order of the hits; "
    f"{TOKENS.limit} where it is not found"
)


def summary(
    scored: ScoredRun,
    *,
    markdown: bool = False,
    floors: bool = True,
    how: How = "macro",
    aside: Collection[Measure] = (),
) -> str:
    """Return the summary of a run as a table with its notes.

    Args:
        scored: the run.
        markdown: whether it is Markdown.
        floors: whether the floors' rows stand in it.
        how: which mean over queries.
        aside: measures that the table has no room for; the tokens among them stand among the
            costs.
    """
    own = [one for one in scored.retrievers if not one.floor and one.evaluation]
    reference = [one for one in scored.retrievers if one.floor and one.evaluation] if floors else []
    means = {
        one.name: aggregate(one.evaluation, how) for one in [*own, *reference] if one.evaluation
    }
    first = next(iter(means.values()))
    wanted = [measure for measure in scored.measures if measure not in aside]
    shown = [measure for measure in wanted if str(measure) in first.figures]
    costs = [TOKENS] if TOKENS in aside and str(TOKENS) in first.figures else []
    # A leader is found by weighted means; of other means it could be another.
    leading = leaders(scored, shown) if how == "macro" else {}
    headers = ["retriever", *(one.short for one in shown), "p50 ms", "p95 ms", "index s"]
    headers += [*(["tokens"] if costs else []), "failed"]
    rows = [_row(one, shown, means[one.name], leading, costs) for one in own]
    rows += [
        [one.name, *[NONE] * (len(headers) - 2), one.run.state]
        for one in scored.retrievers
        if one.evaluation is None and not one.floor and one.run.state not in GOOD_ENDS
    ]
    if reference:
        rows += [["floors", *[""] * (len(headers) - 1)]] if rows else []
        rows += [_row(one, shown, means[one.name], {}, costs) for one in reference]
    notes = [*standing_notes(scored, leading), caption(first.words)]
    notes += [_MARKS] if leading else []
    notes += [_TOKENS] if costs else []
    left_out = [measure.short for measure in wanted if measure not in shown]
    notes += [f"{', '.join(left_out)}: no such mean"] if left_out else []
    notes += [*_notes(scored, first, [*shown, *costs]), *measuring_notes(scored)]
    blocks = [
        _title(scored, markdown=markdown),
        table(headers, rows, markdown=markdown),
        load_table(scored, markdown=markdown),
        updates_table(scored, markdown=markdown),
        lines(notes, markdown=markdown),
        *sweeps_text(scored, markdown=markdown),
    ]
    return "\n\n".join(block for block in blocks if block)


def caption(words: str) -> str:
    """Return how a table's values are to be read."""
    return (
        f"values are the {words}, ± the wider side of the 95 % interval; a failed query scores "
        "the worst value"
    )


def as_json(
    scored: ScoredRun, how: How = "macro", more: Mapping[str, Mapping[str, Any]] | None = None
) -> str:
    """Return the summary as strict JSON; `more` is added to retrievers by their names."""
    data = run_data(scored, how)
    for one in data["retrievers"]:
        one.update((more or {}).get(one["name"], {}))
    swept = sweeps_data(scored)
    return json_text({**data, "sweeps": swept} if swept else data)


def _title(scored: ScoredRun, *, markdown: bool) -> str:
    suite = scored.suite
    at = f" at {suite.snapshot[:12]}" if suite.snapshot else ""
    corpus: dict[str, Any] = scored.run.manifest.get("corpus", {})
    title = (
        f"{escaped(suite.name, markdown=markdown)}{at}: {queries(len(suite.queries))}, "
        + ", ".join(counted(corpus.get(f"{what}s", "?"), what) for what in ("file", "chunk"))
    )
    return f"### {title}" if markdown else title


def _row(
    one: Scored,
    measures: list[Measure],
    mean: Aggregate,
    leading: Mapping[str, Leaders],
    costs: list[Measure],
) -> list[str]:
    counts = answer_counts(one)
    failed = sum(count for status, count in counts.items() if status != "ok")
    index = one.run.index
    return [
        one.name,
        *(
            _mark(leading.get(str(measure)), one.name)
            + figure_cell(mean.figures[str(measure)], measure)
            for measure in measures
        ),
        NONE if one.floor else milliseconds(_ms(one.latency.p50)),
        NONE if one.floor else milliseconds(_ms(one.latency.p95)),
        NONE if index is None else f"{index.seconds:.2f}",
        *(figure_cell(mean.figures[str(cost)], cost) for cost in costs),
        str(failed),
    ]


def _mark(leading: Leaders | None, name: str) -> str:
    if leading is None:
        return ""
    return BEST if name == leading.best else LEVEL if name in leading.level else ""


def _ms(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


def _notes(scored: ScoredRun, first: Aggregate, shown: list[Measure]) -> list[str]:
    notes = []
    count = len(scored.suite.queries)
    width = _widest(scored, shown)
    if count < FEW and width is not None:
        notes.append(
            f"only {queries(count)}: the intervals are wide (up to ±{width:.2f}); differences "
            "smaller than that cannot be seen"
        )
    notes += _excluded(first, shown)
    return [*notes, *run_notes(scored)]


def run_notes(scored: ScoredRun) -> list[str]:
    """Say what went wrong in a run, and what casts doubt on its figures."""
    notes = []
    for one in scored.retrievers:
        if one.run.state != "complete":
            notes.append(f"{one.name} {one.run.state}: {one.run.reason}")
        elif one.run.restarts:
            notes.append(f"{one.name} was restarted {counted(one.run.restarts, 'time')}")
        if one.run.latency_doubt:
            notes.append(f"{one.name}: latency {one.run.latency_doubt}")
        failures = one.evaluation.failures if one.evaluation else {}
        if failures and not one.floor:
            counts = ", ".join(f"{count} {status}" for status, count in failures.items())
            error = one.run.first_error
            notes.append(f"{one.name}: {counts}" + (f" (first: {error})" if error else ""))
        notes += oddity_notes(one)
        notes += [f"{one.name}: {note}" for note in one.evaluation.notes] if one.evaluation else []
    if not scored.run.complete:
        notes.append(
            "the run is incomplete: what was not asked counts as unanswered (`codebench run` as it "
            "was called, with --resume, goes on)"
        )
    return [*notes, *label_notes(scored)]


def _excluded(mean: Aggregate, shown: list[Measure]) -> list[str]:
    return [
        f"{one.short}: {queries(mean.figures[str(one)].excluded)} without gold at that level left "
        "out"
        for one in shown
        if mean.figures[str(one)].excluded
    ]


def _widest(scored: ScoredRun, shown: list[Measure]) -> float | None:
    """Return the widest side of the intervals that are shown, of measures from 0 to 1."""
    sides = [
        max(figure.high - figure.value, figure.value - figure.low)
        for one in scored.retrievers
        if one.evaluation and not one.floor
        for figure in (one.evaluation.figures[str(own)] for own in shown if own.highest == 1)
        if figure.value is not None and figure.low is not None and figure.high is not None
    ]
    return max(sides, default=None)


def funnel_line(funnel: tuple[tuple[str, int], ...]) -> str:
    """Return the funnel on one line: what came in, what each filter took, what is left."""
    if not funnel:
        return ""
    (what, first), *dropped, (_, last) = funnel
    taken = ", ".join(f"{count} {printable(reason)}" for reason, count in dropped)
    less = f" - {taken}" if taken else ""
    many = printable(what)
    whole = counted(first, many.removesuffix("s"), many)
    whole += " after the snapshot" if what == "commits" else ""
    return f"{whole}{less} = {queries(last)}"
