"""Limits as a person writes them: `nDCG@10:-0.03`, `p95[language=go]:+10%`, `failed:0`.

Nothing numeric is imported here, so that a command line can check its words at once.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from codebench.errors import Fault, InputError, UsageError
from codebench.measures.names import BESIDE, PRIMARY, Measure, parse, within_depth

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["measure", "latency", "index", "failed"]
Bound = Literal["change", "least", "most"]

Where = tuple[tuple[str, str], ...]

LATENCIES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}
INDEX = "index"
FAILED = "failed"
MARGIN = 0.03
"""How far the measures of the default limits may fall."""

_SHAPE = re.compile(r"\s*(?P<what>[^\[\]]+?)\s*(?:\[(?P<where>.*)\])?\s*", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_LONGEST = 1000
_HIGHEST = 1e9


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit.

    Attributes:
        kind: what is limited.
        name: the same as it is written: a measure's printed name, `p95`, `index` or `failed`.
        bound: `change` against the baseline, or `least` or `most` of the run's own value.
        amount: of a change, how far it may get worse: in the measure's own unit, or as a share
            of the baseline's latency or index time; else the value itself: in the measure's own
            unit, in milliseconds, in seconds, or in queries.
        where: the tags that the queries must have; empty for all queries.
        measure: what is measured, where a measure is limited; without a level where none was
            said, until `bind`.
    """

    kind: Kind
    name: str
    bound: Bound
    amount: float
    where: Where = ()
    measure: Measure | None = None

    def bind(self, default_rel: int) -> Limit:
        """Return the limit of a measure with a level: its own, else that of the suite's gold."""
        if self.measure is None:
            return self
        measure = self.measure.bind(default_rel)
        return replace(self, name=str(measure), measure=measure)

    @property
    def subject(self) -> str:
        """What is limited, with its slice."""
        inside = ",".join(f"{tag}={value}" for tag, value in self.where)
        return f"{self.name}[{inside}]" if inside else self.name

    @property
    def label(self) -> str:
        """The subject as people read it: `nDCG-exp@10` for nDCG(dcg='exp-log2')@10."""
        return self.subject.replace(self.name, self.measure.short) if self.measure else self.subject

    @property
    def allowed(self) -> str:
        """What it may be, as it is written."""
        number = f"{self.amount:.10g}"
        if self.bound == "least":
            return f">={number}"
        if self.bound == "most":
            unit = {"latency": "ms", "index": "s"}.get(self.kind, "")
            return number if self.kind == "failed" else f"<={number}{unit}"
        if self.measure is None:
            return f"+{self.amount * 100:.10g}%"
        return f"{'-' if self.measure.higher_is_better else '+'}{number}"

    @property
    def relative(self) -> bool:
        """Whether it needs a baseline."""
        return self.bound == "change"

    @property
    def shown(self) -> str:
        """The limit as people read it."""
        return f"{self.label}:{self.allowed}"

    def __str__(self) -> str:
        return f"{self.subject}:{self.allowed}"


def parse_limit(text: str, where: Where = ()) -> Limit:
    """Read one limit, as `nDCG@10:-0.03`, `p95:+10%`, `index:<=60s` or `failed:0`.

    Args:
        text: what is limited, a slice in brackets, a colon and what is allowed.
        where: more tags of the slice.

    Raises:
        UsageError: it is none; with how it is written.
    """
    what, colon, allowed = text.rpartition(":")
    match = _SHAPE.fullmatch(what) if len(text) <= _LONGEST else None
    if not colon or match is None:
        raise UsageError(f"{text[:60]!r} is no limit; write nDCG@10:-0.03, p95:+10% or failed:0")
    tags = _tags(text, match["where"])
    twice = sorted({tag for tag, _ in tags} & {tag for tag, _ in where})
    if twice:
        raise UsageError(f"{text!r}: the tag {twice[0]!r} is named twice")
    name, allowed = match["what"], allowed.strip()
    tags = tuple(sorted({*tags, *where}))
    if name in LATENCIES:
        return _cost(text, "latency", name, allowed, tags)
    if name == INDEX:
        if tags:
            raise UsageError(f"{text!r}: an index is built for all queries; leave the slice out")
        return _cost(text, "index", name, allowed, tags)
    if name == FAILED:
        count = allowed.removeprefix("<=")
        if not (count.isascii() and count.isdigit()) or len(count) > 9:
            raise UsageError(f"{text!r}: write how many queries may fail, as failed:0")
        return Limit("failed", FAILED, "most", float(count), tags)
    return _quality(text, name, allowed, tags)


def parse_limits(texts: Sequence[str], field: str = "--limit") -> tuple[Limit, ...]:
    """Read several limits.

    Raises:
        InputError: every one that is wrong, and every one that stands twice.
    """
    faults, found = [], []
    for text in texts:
        try:
            found.append(parse_limit(text))
        except UsageError as error:
            faults.append(Fault(str(error), field=field))
    faults += [Fault(problem, field=field) for problem in repeated(found)]
    if faults:
        raise InputError(faults)
    return tuple(found)


def repeated(limits: Sequence[Limit]) -> list[str]:
    """Name the limits that are set twice."""
    own = Counter((limit.label, limit.bound) for limit in limits)
    return sorted({f"{subject!r} is limited twice" for (subject, _), n in own.items() if n > 1})


def default_limits(depth: int) -> tuple[Limit, ...]:
    """Return the limits of a gate that names none: those measures may fall by the margin."""
    return tuple(
        Limit("measure", str(one), "change", MARGIN, measure=one)
        for one in within_depth((PRIMARY, BESIDE), depth)
    )


def _tags(text: str, inside: str | None) -> Where:
    if inside is None:
        return ()
    pairs = []
    for part in inside.split(","):
        tag, equals, value = part.partition("=")
        if not equals or not tag.strip():
            raise UsageError(f"{text!r}: {part!r} is no slice; write [tag=value]")
        pairs.append((tag.strip(), value.strip()))
    if len({tag for tag, _ in pairs}) != len(pairs):
        raise UsageError(f"{text!r}: a tag is named twice")
    return tuple(pairs)


def _cost(text: str, kind: Kind, name: str, allowed: str, where: Where) -> Limit:
    unit = "ms" if kind == "latency" else "s"
    if allowed.startswith("+") and allowed.endswith("%"):
        share = _number(allowed[1:-1])
        if share is not None:
            return Limit(kind, name, "change", share / 100, where)
    elif allowed.startswith("<="):
        value = _number(allowed[2:].removesuffix(unit))
        if value == 0:
            raise UsageError(f"{text!r}: no run can keep it, as everything takes some time")
        if value is not None:
            return Limit(kind, name, "most", value, where)
    raise UsageError(
        f"{text!r}: write how much slower it may get, as {name}:+10%, or at most how long it may "
        f"take, as {name}:<=50{unit}"
    )


def _quality(text: str, name: str, allowed: str, where: Where) -> Limit:
    measure = parse(name)
    more = measure.higher_is_better
    change, own = ("-", ">=") if more else ("+", "<=")
    if allowed.startswith(own):
        value = _number(allowed[2:])
        if value is not None:
            bound: Bound = "least" if more else "most"
            limit = Limit("measure", str(measure), bound, value, where, measure)
            return _deciding(text, limit, measure)
    elif allowed.startswith(change):
        value = _number(allowed[1:])
        if value is not None:
            limit = Limit("measure", str(measure), "change", value, where, measure)
            return _deciding(text, limit, measure)
    words = ("fall", "0.03", "least", "0.6") if more else ("rise", "500", "largest", "4000")
    raise UsageError(
        f"{text!r}: write how far it may {words[0]}, as {name}:{change}{words[1]}, or its "
        f"{words[2]} value, as {name}:{own}{words[3]}"
    )


def _deciding(text: str, limit: Limit, measure: Measure) -> Limit:
    """Return a measure's limit, unless it decides nothing: all runs keep it, or none can."""
    name, value, highest = measure.short, limit.amount, measure.highest
    always = never = ""
    if limit.bound == "change":
        moves = "fall" if measure.higher_is_better else "rise"
        always = f"{name} cannot {moves} by more than {highest:g}" if value >= highest else ""
    elif limit.bound == "least":
        always = f"{name} is never below 0" if value <= 0 else ""
        never = f"{name} is at most {highest:g}" if value > highest else ""
    else:
        always = f"{name} is at most {highest:g}" if value >= highest else ""
        never = f"{name} is above 0" if value <= 0 else ""
    if always or never:
        kept = "every run keeps it" if always else "no run can keep it"
        raise UsageError(f"{text!r}: {kept}, as {always or never}")
    return limit


def _number(text: str) -> float | None:
    value = float(text) if _NUMBER.fullmatch(text.strip()) else math.inf
    return value if value <= _HIGHEST else None
