"""Names of measures, read and printed as ir-measures writes them: `R(rel=2)@10`.

Nothing numeric is imported here, so that a command line can check its words at once.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from codebench.errors import UsageError
from codebench.measures.catalogue import ALIASES, BY_NAME, KINDS, TOKENS_LIMIT, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(
    r"\s*([A-Za-z][\w-]*)\s*(?:\((.*)\))?\s*(?:@\s*([0-9]{1,9})\s*(tokens)?)?\s*\Z", re.DOTALL
)
_LONGEST = 300
_MAX_GRADE = 1000

Scalar = float | str
Gains = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure with its cutoff and parameters.

    Attributes:
        name: the family, for example `nDCG`.
        cutoff: K, or N where `tokens`; None for the run's whole depth.
        tokens: whether the cutoff counts tokens read in place of ranks.
        rel: the level that it reads; None until `bind` (or where the family has none).
        parameters: what else stands in parentheses, sorted by name, defaults left out.
    """

    name: str
    cutoff: int | None = None
    tokens: bool = False
    rel: int | None = None
    parameters: tuple[tuple[str, Scalar | Gains], ...] = ()

    @property
    def kind(self) -> Kind:
        """The family's entry in the catalogue."""
        return BY_NAME[self.name]

    @property
    def higher_is_better(self) -> bool:
        """Whether more is better."""
        return self.kind.higher_is_better

    @property
    def worst(self) -> float:
        """What a query that failed scores."""
        return float(self.limit) if self.name == "Tokens" else 0.0

    @property
    def limit(self) -> int:
        """The cutoff of `Tokens`, in tokens."""
        return TOKENS_LIMIT if self.cutoff is None else self.cutoff

    @property
    def scale(self) -> float:
        """The width that a margin is a share of: 1, or the cutoff of `Tokens`."""
        return float(self.limit) if self.name == "Tokens" else 1.0

    @property
    def highest(self) -> float:
        """The largest value that it can take; infinite where that hangs on the gold."""
        return self.scale if self.kind.bounded or self.name == "Tokens" else math.inf

    @property
    def level(self) -> int:
        """The level that it reads, 1 when nothing was said."""
        return 1 if self.rel is None else self.rel

    def number(self, name: str) -> float:
        """Return a numeric parameter, or its default."""
        value = dict(self.parameters).get(name, dict(self.kind.parameters).get(name))
        if not isinstance(value, int | float):
            raise TypeError(f"{self.name} has no number {name}")
        return float(value)

    @property
    def gains(self) -> Gains | None:
        """The map of `nDCG(gains={…})`."""
        value = dict(self.parameters).get("gains")
        return value if isinstance(value, tuple) else None

    @property
    def exponential(self) -> bool:
        """Whether nDCG takes 2^g - 1."""
        return dict(self.parameters).get("dcg") == "exp-log2"

    def bind(self, default_rel: int) -> Measure:
        """Return the measure with a level: its own, else the context's default.

        The default is 2 for a suite, 1 for plain judgments.
        """
        if self.rel is not None or not self.kind.has_rel:
            return self
        return replace(self, rel=default_rel)

    @property
    def short(self) -> str:
        """The name as people read it: `nDCG-exp@10` for nDCG(dcg='exp-log2')@10.

        `parse` reads both; what is stored has the full name.
        """
        if not self.exponential:
            return str(self)
        return f"nDCG-exp{self._suffix()}"

    def _suffix(self) -> str:
        return "" if self.cutoff is None else f"@{self.cutoff}{'tokens' if self.tokens else ''}"

    def __str__(self) -> str:
        return self._named(None if self.rel == 1 else self.rel)

    @property
    def written(self) -> str:
        """The name that reads back as this measure whatever the context's default level is."""
        return self._named(self.rel)

    def _named(self, rel: int | None) -> str:
        values = dict(self.parameters) | ({} if rel is None else {"rel": float(rel)})
        inside = ",".join(f"{name}={_printed(values[name])}" for name in sorted(values))
        name = "F1" if self.name == "F" and "beta" not in values else self.name
        return f"{name}{f'({inside})' if inside else ''}{self._suffix()}"


def _printed(value: Scalar | Gains) -> str:
    if isinstance(value, tuple):
        return "{" + ",".join(f"{grade}:{_printed(gain)}" for grade, gain in value) + "}"
    if isinstance(value, str):
        return repr(value)
    return str(int(value)) if value == int(value) else repr(value)


def parse(text: str) -> Measure:
    """Read one measure's name.

    Raises:
        UsageError: the family is unknown (near names are said), a parameter or a cutoff is
            wrong, or a cutoff is missing.
    """
    if len(text) > _LONGEST:
        raise UsageError(f"measure {text[:40]!r}… is longer than {_LONGEST} characters")
    match = _NAME.match(text)
    if match is None:
        raise UsageError(
            f"{text!r} is not a measure; write it as RR@10, R(rel=3)@10 or nDCG-exp@10"
        )
    word, inside, digits, tokens = match.groups()
    given = _arguments(text, inside or "")
    if word == "nDCG-exp":
        word = "nDCG"
        given.setdefault("dcg", "exp-log2")
    name = ALIASES.get(word, word)
    if name not in BY_NAME:
        raise UsageError(f"there is no measure {word!r}; {_near(word)}")
    if word == "F1" and "beta" in given:
        raise UsageError(f"{text!r}: F1 is F(beta=1); write F(beta=…)")
    kind = BY_NAME[name]
    cutoff = _checked_cutoff(text, kind, digits, tokens=bool(tokens))
    rel = _checked_rel(text, kind, given.pop("rel", None))
    parameters = _checked_parameters(text, kind, given)
    return Measure(name, cutoff, bool(tokens), rel, parameters)


def parse_all(names: Iterable[str | Measure], default_rel: int) -> tuple[Measure, ...]:
    """Read several names, each bound to its level; one that is asked twice stands once.

    Raises:
        UsageError: as `parse`, or none was named.
    """
    if isinstance(names, str):
        raise UsageError(f"measures must be a list of names, not the text {names[:40]!r}")
    measures = [name if isinstance(name, Measure) else parse(name) for name in names]
    bound = tuple(dict.fromkeys(measure.bind(default_rel) for measure in measures))
    if not bound:
        raise UsageError("no measure was named; name one such as RR@10")
    return bound


def check_depth(measures: Iterable[Measure], depth: int) -> None:
    """Refuse a cutoff that the run's depth cannot answer.

    Raises:
        UsageError: naming every measure whose K is above the depth.
    """
    deep = [measure.short for measure in measures if not measure.tokens and _rank(measure) > depth]
    if deep:
        raise UsageError(
            f"{', '.join(deep)}: the cutoff is above the depth {depth}; ask for a depth of at "
            "least the cutoff"
        )


def within_depth(measures: Iterable[Measure], depth: int) -> tuple[Measure, ...]:
    """Return the measures that a run of this depth can answer."""
    return tuple(one for one in measures if one.tokens or _rank(one) <= depth)


def lowered(measures: Iterable[Measure], depth: int) -> tuple[Measure, ...]:
    """Return measures, each once, with cutoffs above the depth lowered to it."""
    own = (
        one if one.tokens or _rank(one) <= depth else replace(one, cutoff=depth) for one in measures
    )
    return tuple(dict.fromkeys(own))


def _rank(measure: Measure) -> int:
    return 0 if measure.cutoff is None or measure.name == "Tokens" else measure.cutoff


def _near(word: str) -> str:
    import difflib  # noqa: PLC0415  # only a wrong name pays for it

    # Names last: an alias that differs in case alone must not hide one.
    known = {name.lower(): name for name in (*ALIASES, *BY_NAME, "nDCG-exp")}
    near = difflib.get_close_matches(word.lower(), known, n=4, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(known[name] for name in near)}?"
    return f"there are {', '.join(kind.name for kind in KINDS)}"


def _arguments(text: str, inside: str) -> dict[str, object]:
    if not inside.strip():
        return {}
    import ast  # noqa: PLC0415  # most names have no parameter

    said = " ".join(inside.split())
    problem = f"{text!r}: ({said}) is not a list such as (rel=2) or (dcg='exp-log2')"
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        words = call.keywords if isinstance(call, ast.Call) and not call.args else []
        given = {str(word.arg): ast.literal_eval(word.value) for word in words}
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise UsageError(problem) from None
    if not given:
        raise UsageError(problem)
    return given


def _checked_cutoff(text: str, kind: Kind, digits: str | None, *, tokens: bool) -> int | None:
    if digits is None:
        if kind.cutoff == "required":
            raise UsageError(f"{text!r} needs a cutoff: {kind.name}@10")
        return None
    if kind.cutoff == "none":
        raise UsageError(f"{text!r}: {kind.name} takes no cutoff")
    if tokens and not kind.by_tokens:
        raise UsageError(f"{text!r}: {kind.name} is not counted by tokens")
    if int(digits) < 1:
        raise UsageError(f"{text!r}: the cutoff must be at least 1")
    return int(digits)


def _checked_rel(text: str, kind: Kind, value: object) -> int | None:
    if value is None:
        return None
    if not kind.has_rel:
        raise UsageError(f"{text!r}: {kind.name} takes no rel")
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MAX_GRADE:
        raise UsageError(f"{text!r}: rel must be a grade, 1 to {_MAX_GRADE}")
    return value


def _checked_parameters(
    text: str, kind: Kind, given: dict[str, object]
) -> tuple[tuple[str, Scalar | Gains], ...]:
    defaults = dict(kind.parameters)
    unknown = sorted(set(given) - set(defaults))
    if unknown:
        known = [*defaults, *(["rel"] if kind.has_rel else [])]
        takes = f"takes {', '.join(sorted(known))}" if known else "takes no parameter"
        raise UsageError(f"{text!r}: {kind.name} has no {unknown[0]!r}; it {takes}")
    if "gains" in given and "dcg" in given:
        raise UsageError(f"{text!r}: give dcg or gains, not both")
    values = {name: _value(text, name, given[name]) for name in sorted(given)}
    return tuple((name, value) for name, value in values.items() if value != defaults[name])


def _value(text: str, name: str, value: object) -> Scalar | Gains:
    if name == "gains":
        return _gains(text, value)
    if name == "dcg":
        if value not in ("log2", "exp-log2"):
            raise UsageError(f"{text!r}: dcg is 'log2' or 'exp-log2'")
        return str(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    low, high, words = {
        "beta": (1e-6, 1e6, "beta must lie between 0.000001 and 1000000"),
        "p": (1e-9, 1 - 1e-9, "p must lie between 0 and 1"),
        "max_rel": (1, _MAX_GRADE, f"max_rel must be a grade, 1 to {_MAX_GRADE}"),
    }[name]
    if not number or not low <= float(str(value)) <= high:
        raise UsageError(f"{text!r}: {words}")
    return float(str(value))


def _gains(text: str, value: object) -> Gains:
    problem = f"{text!r}: gains must be a map such as {{3:7,2:3,1:1}} that never falls, 0 for 0"
    if not isinstance(value, dict) or not value:
        raise UsageError(problem)
    pairs: list[tuple[int, float]] = []
    for grade, gain in value.items():
        whole = isinstance(grade, int) and not isinstance(grade, bool)
        finite = isinstance(gain, int | float) and math.isfinite(gain) and gain >= 0
        if not whole or not 0 <= grade <= _MAX_GRADE or not finite or (grade == 0 and gain):
            raise UsageError(problem)
        if gain > 1e300:
            raise UsageError(f"{text!r}: a gain must be at most 1e300")
        pairs.append((grade, float(gain)))
    pairs.sort(reverse=True)
    if any(low > high for (_, high), (_, low) in pairwise(pairs)):
        raise UsageError(problem)
    return tuple(pairs)


PRIMARY = Measure("nDCG", 10, parameters=(("dcg", "exp-log2"),))
"""The measure of verdicts."""

BESIDE = Measure("R", 10, rel=3)
"""Exact recall, which is tested beside the primary measure."""

DEFAULT: tuple[Measure, ...] = (
    Measure("RR", 10),
    Measure("R", 10),
    BESIDE,
    Measure("nDCG", 10),
    PRIMARY,
)
"""The report's set; RR and R at the level that the gold has: files, or relevant documents."""

TOKENS = Measure("Tokens", TOKENS_LIMIT)
"""What a retriever costs its reader: tokens read until the first target is reached."""

EXTRA: tuple[Measure, ...] = (
    Measure("Success", 1, rel=3),
    Measure("RR", 10, rel=3),
    TOKENS,
)
"""Measured beside the default set; a terminal's table has room for the tokens alone."""
