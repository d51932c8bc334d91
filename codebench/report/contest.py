"""A contest as a table, Markdown, JSON or CSV: differences, verdicts, and latency beside them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from codebench.measures.statistics import FEW
from codebench.report.data import finite
from codebench.report.text import (
    NONE,
    csv_text,
    digits_of,
    escaped,
    json_text,
    lines,
    milliseconds,
    queries,
    table,
)

if TYPE_CHECKING:
    from codebench.comparison import Comparison, Difference
    from codebench.judging.contest import Contest, LatencyChange
    from codebench.measures.latency import Ratio

_RATIO_FIELDS = ("ratio", "low", "high")


def contest_text(contest: Contest, *, markdown: bool = False) -> str:
    """Return a contest as tables with their notes."""
    names = _Names(contest)
    blocks = [
        _title(contest, names, markdown=markdown),
        _differences(contest, names, markdown=markdown),
        _latency_table(contest, names, markdown=markdown),
        lines([*_legend(contest), *_notes(contest, names)], markdown=markdown),
    ]
    return "\n\n".join(block for block in blocks if block)


def contest_json(contest: Contest) -> str:
    """Return a contest as strict JSON."""
    return json_text(contest_data(contest))


def contest_csv(contest: Contest) -> str:
    """Return a contest as CSV: a row a pair and measure, the pair's latency ratios at its end."""
    fields = [field.name for field in dataclasses.fields(contest.comparison.differences[0])]
    ratios = [f"{share}_{name}" for share in ("median", "p95") for name in _RATIO_FIELDS]
    latency = {(one.baseline, one.candidate): one for one in contest.latency}
    rows = []
    for one in contest.comparison.differences:
        data = _difference_data(one) | {"notes": "; ".join(one.notes)}
        change = latency.get((one.baseline, one.candidate))
        shares = (change.median, change.p95) if change else (None, None)
        timed = [getattr(share, name, None) for share in shares for name in _RATIO_FIELDS]
        rows.append([*(data[field] for field in fields), *timed])
    return csv_text([*fields, *ratios], rows)


def contest_data(contest: Contest) -> dict[str, Any]:
    """Return a contest as strict JSON data."""
    first, comparison = contest.contenders[0], contest.comparison
    return {
        "suite": {"name": first.suite.name, "digest": first.digest},
        "queries": len(first.suite.queries),
        "retrievers": [
            {
                "label": one.label,
                "name": one.name,
                "run": str(one.run.path),
                "version": one.answers.candidate.version,
                "floor": one.answers.candidate.floor,
                "complete": one.run.complete,
                "failed": sum(one.evaluation.failures.values()),
            }
            for one in contest.contenders
        ],
        "test": {
            "comparisons": len(comparison.differences),
            "flipping": comparison.flipping,
            "flips": comparison.flips,
            "seed": comparison.seed,
            "alpha": comparison.alpha,
        },
        "scope": comparison.scope,
        "differences": [_difference_data(one) for one in comparison.differences],
        "latency": [_latency_data(one) for one in contest.latency],
        "notes": list(contest.notes),
    }


def _difference_data(one: Difference) -> dict[str, Any]:
    data = {field.name: getattr(one, field.name) for field in dataclasses.fields(one)}
    data = {
        name: finite(value) if isinstance(value, float) else value for name, value in data.items()
    }
    return data | {"measure": str(one.measure), "notes": list(one.notes)}


def _latency_data(one: LatencyChange) -> dict[str, Any]:
    return {
        "baseline": one.baseline,
        "candidate": one.candidate,
        "compared": not one.reason,
        **({"reason": one.reason} if one.reason else {}),
        "median": _ratio_data(one.median),
        "p95": _ratio_data(one.p95),
    }


def _ratio_data(ratio: Ratio | None) -> dict[str, Any] | None:
    if ratio is None:
        return None
    return {name: finite(getattr(ratio, name)) for name in _RATIO_FIELDS} | {"n": ratio.n}


class _Names:
    """How a row names its pair: no word more than is needed to tell the rows apart.

    Attributes:
        against: what the title says that all rows are compared with; empty where they differ.
        headers: of the columns that name a pair.
    """

    def __init__(self, contest: Contest) -> None:
        own = {one.label: one for one in contest.contenders}
        pairs = [(own[one.baseline], own[one.candidate]) for one in contest.comparison.differences]
        runs = {(str(old.run.path), str(new.run.path)) for old, new in pairs}
        baselines = {old.label for old, _ in pairs}
        self._own: dict[str, str] = {}
        self.against = ""
        self.headers = ["baseline", "candidate"]
        if len(runs) == 1 and all(old.name == new.name for old, new in pairs):
            before, after = runs.pop()
            self.against, self.headers = f"{before} -> {after}", ["retriever"]
            self._own = {one.label: one.name for one in contest.contenders}
        elif len(baselines) == 1:
            self.against, self.headers = f"compared with {baselines.pop()}", ["candidate"]

    def cells(self, baseline: str, candidate: str) -> list[str]:
        """Return the cells below `headers`."""
        named = self._own.get(candidate, candidate)
        return [named] if len(self.headers) == 1 else [baseline, named]


def _title(contest: Contest, names: _Names, *, markdown: bool) -> str:
    first = contest.contenders[0]
    suite = escaped(first.suite.name, markdown=markdown)
    against = f", {escaped(names.against, markdown=markdown)}" if names.against else ""
    title = f"{suite}: {queries(len(first.suite.queries))}{against}"
    return f"### {title}" if markdown else title


def _differences(contest: Contest, names: _Names, *, markdown: bool) -> str:
    rows = []
    for one in contest.comparison.differences:
        undecided = one.verdict == "undecided"
        rows.append(
            [
                *names.cells(one.baseline, one.candidate),
                *contest_cells(one),
                NONE if one.ratio is None else f"{one.ratio:+.2f}",
                _value(one, one.smallest) if undecided and one.changed else NONE,
                str(one.needed) if undecided and one.needed else NONE,
            ]
        )
    headers = [*names.headers, "measure", "verdict", "before", "after", "Δ", "95 % interval", "p"]
    headers += ["won/tied/lost", "Δ/sd", "sees", "needs"]
    return table(headers, rows, markdown=markdown, left=len(names.headers) + 2)


def contest_cells(one: Difference) -> list[str]:
    """Return measure, verdict, before, after, difference, interval, p, and won/tied/lost."""
    return [
        one.measure.short,
        one.verdict,
        _value(one, one.baseline_value),
        _value(one, one.candidate_value),
        _signed(one, one.delta),
        _interval(one),
        _p(one.p_adjusted),
        f"{one.wins}/{one.ties}/{one.losses}",
    ]


def _value(one: Difference, value: float | None) -> str:
    return NONE if value is None else f"{value:.{digits_of(one.measure)}f}"


def _signed(one: Difference, value: float) -> str:
    return f"{value:+.{digits_of(one.measure)}f}"


def _interval(one: Difference) -> str:
    if one.low is None or one.high is None:
        return NONE
    return f"{_signed(one, one.low)} to {_signed(one, one.high)}"


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _latency_table(contest: Contest, names: _Names, *, markdown: bool) -> str:
    if not contest.latency:
        return ""
    rows = [
        [
            *names.cells(one.baseline, one.candidate),
            milliseconds(_ms(one.before.p50)),
            milliseconds(_ms(one.after.p50)),
            _ratio(one.median),
            milliseconds(_ms(one.before.p95)),
            milliseconds(_ms(one.after.p95)),
            _ratio(one.p95),
        ]
        for one in contest.latency
    ]
    headers = [*names.headers, "p50 ms before", "after", "ratio of medians"]
    headers += ["p95 ms before", "after", "ratio of p95"]
    return table(headers, rows, markdown=markdown, left=len(names.headers))


def _ms(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


def _ratio(ratio: Ratio | None) -> str:
    if ratio is None:
        return "not compared"
    if ratio.ratio is None:
        return NONE
    if ratio.low is None or ratio.high is None:
        return f"{ratio.ratio:.2f}"
    return f"{ratio.ratio:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def _legend(contest: Contest) -> list[str]:
    comparison = contest.comparison
    differences = comparison.differences
    margins = sorted({f"{one.margin:g}" for one in differences if one.measure.scale == 1})
    margin = " or ".join(margins) or "the margin"
    rule = (
        f"better or worse: p <= {comparison.alpha:g}, the interval excludes 0, and the difference "
        f"is at least {margin}; otherwise undecided"
    )
    legend = [_of_the_test(comparison), rule]
    if any(one.verdict == "undecided" for one in differences):
        legend.append(
            "sees: the smallest difference that these queries could have seen (power 0.8); needs: "
            "about how many queries like these would decide"
        )
    if any(not one.reason for one in contest.latency):
        legend.append("a ratio of latencies above 1 is slower; its 95 % interval is over queries")
    return [*legend, f"scope: {comparison.scope}"]


def _of_the_test(comparison: Comparison) -> str:
    count = len(comparison.differences)
    test = f"sign flips by {comparison.flipping} (seed {comparison.seed})"
    if count == 1:
        return f"Δ is after - before with its paired t interval; p is of {test}"
    return f"Δ is after - before; interval and p are of {test}, adjusted for {count} comparisons"


def _notes(contest: Contest, names: _Names) -> list[str]:
    asked = len(contest.contenders[0].suite.queries)
    notes = [f"only {queries(asked)}: the intervals are rough"] if asked < FEW else []
    limits: dict[str, dict[str, list[str]]] = {}
    for one in contest.comparison.differences:
        for note in one.notes:
            who = " vs ".join(reversed(names.cells(one.baseline, one.candidate)))
            limits.setdefault(note, {}).setdefault(who, []).append(one.measure.short)
    for note, pairs in limits.items():
        where = "; ".join(f"{who} by {', '.join(by)}" for who, by in pairs.items())
        notes.append(f"{where}: {note}")
    excluded = {str(one.measure): one.excluded for one in contest.comparison.differences}
    notes += [
        f"{name}: {queries(count)} without gold at that level left out"
        for name, count in excluded.items()
        if count
    ]
    reasons: dict[str, list[str]] = {}
    for change in contest.latency:
        if change.reason:
            named = names.cells(change.baseline, change.candidate)[-1]
            reasons.setdefault(change.reason, []).append(named)
    notes += [
        f"latency not compared for {', '.join(dict.fromkeys(who))}: {reason}"
        for reason, who in reasons.items()
    ]
    for contender in contest.contenders:
        failures = contender.evaluation.failures
        if failures:
            counts = ", ".join(f"{count} {status}" for status, count in failures.items())
            notes.append(f"{contender.label}: {counts} (a failed query scores the worst value)")
        notes += [f"{contender.label}: {note}" for note in contender.evaluation.notes]
    incomplete = {str(one.run.path): None for one in contest.contenders if not one.run.complete}
    notes += [f"{path}: the run is incomplete" for path in incomplete]
    return [*notes, *contest.notes]
