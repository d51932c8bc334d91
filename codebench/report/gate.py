"""A gate as a table, Markdown or JSON: each limit with its verdict and what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.gate.verdict import BROKEN
from codebench.measures.statistics import FEW
from codebench.report.data import finite
from codebench.report.text import (
    NONE,
    digits_of,
    escaped,
    json_text,
    lines,
    milliseconds,
    printable,
    queries,
    table,
)

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.gate.verdict import Check, Gate, Loss
    from codebench.measures.names import Measure

_HEADERS = ("limit", "verdict", "before", "after", "change", "95 % interval", "at worst", "queries")
_LEFT = 2

_ENDS = {0: "passed", 1: "failed", 3: "in doubt"}


def gate_text(gate: Gate, *, markdown: bool = False) -> str:
    """Return a gate as a table with its notes; no line begins with foreign text."""
    rows = [_row(gate, check) for check in gate.checks]
    blocks = [
        _title(gate, markdown=markdown),
        table(_HEADERS, rows, markdown=markdown, left=_LEFT),
        lines(_notes(gate), markdown=markdown),
    ]
    return "\n\n".join(block for block in blocks if block)


def gate_json(gate: Gate) -> str:
    """Return a gate as strict JSON."""
    return json_text(gate_data(gate))


def gate_data(gate: Gate) -> dict[str, Any]:
    """Return a gate as strict JSON data."""
    return {
        "verdict": ending(gate),
        "undecided": sum(check.outcome == "undecided" for check in gate.checks),
        "exit_code": gate.exit_code,
        "strict": gate.strict,
        "suite": {"name": gate.candidate.suite.name, "digest": gate.candidate.digest},
        "queries": len(gate.candidate.evaluation.queries),
        "failed": gate.failed,
        "complete": gate.complete,
        "run": _side(gate, baseline=False),
        "baseline": _side(gate, baseline=True),
        "checks": [_check_data(gate, check) for check in gate.checks],
        "comparisons": gate.family,
        "scope": gate.scope,
        "notes": _notes(gate),
    }


def ending(gate: Gate) -> str:
    """Return how a gate ended, in a word or two."""
    return _ENDS[gate.exit_code]


def headline(gate: Gate) -> str:
    """Return how a gate ended, with how many limits decided nothing where it did not fail."""
    told = ending(gate)
    if gate.exit_code == BROKEN:
        return told
    counts = {
        outcome: sum(check.outcome == outcome for check in gate.checks)
        for outcome in ("undecided", "not compared")
    }
    open_ = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    if not open_:
        return told
    limits = "1 limit" if len(gate.checks) == 1 else f"{len(gate.checks)} limits"
    count, _, rest = open_.partition(" ")
    return f"{told}, {count} of {limits} {rest}"


def accepted_beside(gate: Gate) -> str:
    """Return a warning of undecided limits that moved for the worse; empty where none did."""
    worse = [
        f"{check.limit.label} {change(check, check.change)}"
        for check in gate.checks
        if check.outcome == "undecided" and check.worsened
    ]
    if not worse:
        return ""
    return printable(
        f"warning: accepted though undecided limits moved for the worse: {', '.join(worse)}"
    )


def refusal(gate: Gate, target: Path, *, there: bool) -> str:
    """Return why a run was not made the baseline, and what is in its place."""
    why = "the gate failed" if gate.exit_code == BROKEN else f"the gate is {ending(gate)}"
    left = "is unchanged" if there else "was not made"
    return printable(f"not accepted: {why}; {target} {left}")


def words(gate: Gate, check: Check) -> str:
    """Return what a check found, on one line."""
    limit = check.limit
    if check.outcome == "not compared":
        return f"{limit.label} was not compared: {check.reason}"
    before = "" if check.before is None else f"{value(check, check.before)} -> "
    told = f"{limit.label} {before}{value(check, check.after)}"
    beside = []
    if check.change is not None:
        beside.append(change(check, check.change))
    interval = _interval(check)
    if interval != NONE:
        beside.append(f"95 % interval {interval}")
    told += f" ({', '.join(beside)})" if beside else ""
    told += f"; the limit is {limit.allowed}"
    if check.outcome == "undecided":
        strict = " (--strict: undecided fails)" if gate.strict else ""
        told += f"; undecided{strict}{_seen(check)}"
    return told


def loss_words(check: Check, loss: Loss) -> str:
    """Return a query that lost, on one line."""
    before, after = value(check, loss.before), value(check, loss.after)
    return f"{loss.query}: {before} -> {after}, {loss.text}"


def value(check: Check, number: float | None) -> str:
    """Return a value in the unit of what is limited."""
    if number is None:
        return NONE
    kind = check.limit.kind
    if kind == "latency":
        return f"{milliseconds(number)} ms"
    if kind == "index":
        return f"{number:.2f} s"
    return f"{number:.0f}" if kind == "failed" else f"{number:.{_digits(check.limit.measure)}f}"


def change(check: Check, number: float | None) -> str:
    """Return a change in the unit of what is limited."""
    if number is None:
        return NONE
    measure, number = check.limit.measure, number + 0.0  # no zero has a sign
    return f"{number:+.1%}" if measure is None else f"{number:+.{_digits(measure)}f}"


def _digits(measure: Measure | None) -> int:
    return 3 if measure is None else digits_of(measure)


def _title(gate: Gate, *, markdown: bool) -> str:
    one = gate.candidate
    against = ""
    if gate.baseline is not None:
        name = gate.baseline.name
        other = f"{name} of " if name != one.name else ""
        against = f" against {other}{gate.baseline.run.path}"
    title = escaped(
        f"gate {headline(gate)}: {one.name} of {one.run.path}{against}; suite {one.suite.name}, "
        f"{queries(len(one.evaluation.queries))}",
        markdown=markdown,
    )
    return f"### {title}" if markdown else title


def _row(gate: Gate, check: Check) -> list[str]:
    failing = check.outcome == "undecided" and gate.breaks(check)
    bound = check.bound
    if bound is not None and check.limit.measure is not None:
        # The bound is how much worse it may be; the table shows changes.
        bound = -bound if check.limit.measure.higher_is_better else bound
    return [
        check.limit.shown,
        f"{check.outcome} (fails)" if failing else check.outcome,
        value(check, check.before),
        value(check, check.after),
        change(check, check.change),
        _interval(check),
        change(check, bound),
        str(check.n) if check.n else NONE,
    ]


def _interval(check: Check) -> str:
    if check.low is None or check.high is None:
        return NONE
    return f"{change(check, check.low)} to {change(check, check.high)}"


def _seen(check: Check) -> str:
    """Return what these queries could have seen, where that is known."""
    difference = check.difference
    if difference is None or difference.smallest is None or not difference.changed:
        return ""
    seen = f"; these queries could have seen {value(check, difference.smallest)}"
    if difference.needed:
        seen += f", about {queries(difference.needed)} like these would decide"
    return seen


def _notes(gate: Gate) -> list[str]:
    notes = []
    for check in gate.checks:
        if check.outcome in {"undecided", "not compared"}:
            notes.append(words(gate, check))
        difference = check.difference
        if difference and check.outcome != "passed":
            counts = f"{difference.wins} won, {difference.ties} tied, {difference.losses} lost"
            notes.append(f"{check.limit.label}: {counts}")
            notes += [f"{check.limit.label}: {note}" for note in difference.notes]
        notes += [
            f"{check.limit.label} lost most at {loss_words(check, loss)}" for loss in check.losses
        ]
    asked = len(gate.candidate.evaluation.queries)
    if gate.doubt:
        notes.append(f"in doubt: {gate.doubt}")
    if asked < FEW and gate.family:
        notes.append(f"only {queries(asked)}: the intervals are rough")
    if gate.family > 1:
        notes.append(f"intervals of measures are adjusted for {gate.family} comparisons")
    if any(check.bound is not None for check in gate.checks):
        notes.append(
            "at worst: the one-sided 95 % bound; a limit is kept where it lies inside of it"
        )
    notes += [f"scope: {gate.scope}"] if gate.scope else []
    return [*notes, *(f"note: {note}" for note in gate.notes)]


def _side(gate: Gate, *, baseline: bool) -> dict[str, Any] | None:
    one = gate.baseline if baseline else gate.candidate
    if one is None:
        return None
    candidate = one.answers.candidate
    return {"folder": str(one.run.path), "retriever": one.name, "version": candidate.version}


def _check_data(gate: Gate, check: Check) -> dict[str, Any]:
    difference = check.difference
    numbers = ("before", "after", "change", "low", "high", "bound")
    data: dict[str, Any] = {
        "limit": str(check.limit),
        "kind": check.limit.kind,
        "name": check.limit.name,
        "where": dict(check.limit.where),
        "allowed": check.limit.allowed,
        "outcome": check.outcome,
        "fails": gate.breaks(check),
        **{name: finite(getattr(check, name)) for name in numbers},
        "n": check.n,
        "reason": check.reason,
    }
    if difference is not None:
        data |= {
            "verdict": difference.verdict,
            "p": difference.p,
            "p_adjusted": difference.p_adjusted,
            "wins": difference.wins,
            "ties": difference.ties,
            "losses": difference.losses,
            "smallest": finite(difference.smallest),
            "needed": difference.needed,
            "notes": list(difference.notes),
        }
    lost = [
        {"query": loss.query, "text": loss.text, "before": loss.before, "after": loss.after}
        for loss in check.losses
    ]
    return data | ({"lost_most": lost} if lost else {})
