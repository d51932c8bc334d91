"""The summary of a run: retrievers as rows, quality beside latency, cost and failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.report.data import answer_counts, run_data
from codebench.report.text import NONE, milliseconds, number, printable, table

if TYPE_CHECKING:
    from codebench.measures.statistics import Figure
    from codebench.scoring import Scored, ScoredRun

FEW_QUERIES = 30

_CAPTION = (
    "values are means over queries, weighted by query weight, ± the wider side of the 95 % "
    "interval; a failed query scores the worst value"
)

_SHORT = {"nDCG(dcg='exp-log2')": "nDCG-exp"}


def summary(scored: ScoredRun, *, markdown: bool = False, floors: bool = True) -> str:
    """Return the summary of a run as a table with its notes."""
    own = [one for one in scored.retrievers if not one.floor and one.evaluation]
    reference = [one for one in scored.retrievers if one.floor and one.evaluation] if floors else []
    names = [str(measure) for measure in scored.measures]
    headers = ["retriever", *map(_heading, names), "p50 ms", "p95 ms", "index s", "failed"]
    rows = [_row(one, names) for one in own]
    if reference:
        rows += [["floors", *[""] * (len(headers) - 1)]] if own else []
        rows += [_row(one, names) for one in reference]
    blocks = [_title(scored, markdown=markdown), table(headers, rows, markdown=markdown)]
    blocks += ["\n".join(_notes(scored))]
    return "\n\n".join(block for block in blocks if block)


def as_json(scored: ScoredRun) -> str:
    """Return the summary as strict JSON."""
    import json  # noqa: PLC0415

    return json.dumps(run_data(scored), indent=2, allow_nan=False, ensure_ascii=False)


def _title(scored: ScoredRun, *, markdown: bool) -> str:
    suite = scored.suite
    at = f" at {suite.snapshot[:12]}" if suite.snapshot else ""
    corpus: dict[str, Any] = scored.run.manifest.get("corpus", {})
    title = (
        f"{printable(suite.name)}{at}: {len(suite.queries)} queries, "
        f"{corpus.get('files', '?')} files, {corpus.get('chunks', '?')} chunks"
    )
    return f"### {title}" if markdown else title


def _heading(name: str) -> str:
    for long, short in _SHORT.items():
        name = name.replace(long, short)
    return name


def _row(one: Scored, names: list[str]) -> list[str]:
    assert one.evaluation is not None  # noqa: S101  # rows are made of evaluated ones only
    figures = one.evaluation.figures
    counts = answer_counts(one)
    failed = sum(count for status, count in counts.items() if status != "ok")
    index = one.run.index
    return [
        one.name,
        *(_cell(figures[name]) for name in names),
        NONE if one.floor else milliseconds(_ms(one.latency.p50)),
        NONE if one.floor else milliseconds(_ms(one.latency.p95)),
        NONE if index is None else f"{index.seconds:.2f}",
        str(failed),
    ]


def _cell(figure: Figure) -> str:
    """Return `value ±half` of a figure; the half width is the wider side of the interval."""
    if figure.value is None:
        return NONE
    digits = 0 if figure.value > 100 else 3
    if figure.low is None or figure.high is None:
        return number(figure.value, digits)
    half = max(figure.high - figure.value, figure.value - figure.low)
    return f"{number(figure.value, digits)} ±{half:.{digits}f}".replace("±0.", "±.")


def _ms(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


def _notes(scored: ScoredRun) -> list[str]:
    notes = [_CAPTION]
    queries = len(scored.suite.queries)
    if queries < FEW_QUERIES:
        width = _widest(scored)
        notes.append(
            f"only {queries} queries: the intervals are wide (up to ±{width:.2f}); differences "
            "smaller than that cannot be seen"
        )
    notes += _excluded(scored)
    for one in scored.retrievers:
        if one.run.state != "complete":
            notes.append(f"{printable(one.name)} {one.run.state}: {printable(one.run.reason)}")
        elif one.run.restarts:
            notes.append(f"{printable(one.name)} was restarted {one.run.restarts} times")
        failures = one.evaluation.failures if one.evaluation else {}
        if failures and not one.floor:
            counts = ", ".join(f"{count} {status}" for status, count in failures.items())
            first = next((a.error for a in one.run.answers if a.status != "ok" and a.error), "")
            notes.append(
                f"{printable(one.name)}: {counts}"
                + (f" (first: {printable(first)})" if first else "")
            )
    if not scored.run.complete:
        notes.append("the run is incomplete: what was not asked counts as unanswered")
    return notes


def _excluded(scored: ScoredRun) -> list[str]:
    evaluation = next(one.evaluation for one in scored.retrievers if one.evaluation)
    return [
        f"{name}: {figure.excluded} queries without gold at that level are left out"
        for name, figure in evaluation.figures.items()
        if figure.excluded
    ]


def _widest(scored: ScoredRun) -> float:
    halves = [
        (figure.high - figure.low) / 2
        for one in scored.retrievers
        if one.evaluation and not one.floor
        for name, figure in one.evaluation.figures.items()
        if figure.low is not None and figure.high is not None and not name.startswith("Tokens")
    ]
    return max(halves, default=1.0)


def funnel_line(funnel: tuple[tuple[str, int], ...]) -> str:
    """Return the funnel on one line: what came in, what each filter took, what is left."""
    if not funnel:
        return ""
    (_, first), *dropped, (_, last) = funnel
    taken = ", ".join(f"{count} {printable(reason)}" for reason, count in dropped)
    return f"{first} commits after the snapshot - {taken} = {last} queries"
