"""Who is gated, and against whom: names of retrievers in a run and in its baseline."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from codebench.adapter import parse_reference
from codebench.errors import AdapterError, NoBaseline, UsageError
from codebench.reading import near

if TYPE_CHECKING:
    from codebench.judging.scored import Scored, ScoredRun


def gated(run: ScoredRun, baseline: ScoredRun | None, name: str = "", against: str = "") -> Scored:
    """Return who is gated: who has the name, else the one retriever that is in both runs.

    Args:
        run: the run.
        baseline: what it is compared with; None where there is nothing.
        name: who is asked for; empty for the only one.
        against: its name in the baseline, where it is another.

    Raises:
        UsageError: the run does not hold it, or holds several.
        NoBaseline: the baseline holds none of the run's retrievers.
    """
    if name:
        found = [one for one in run.retrievers if one.name == name]
        if not found:
            hint = _meant(name, run, baseline, against)
            raise UsageError(f"{run.run.path}: holds no retriever {name!r}; {hint}")
        return found[0]
    own = _asked(run)
    if baseline is not None and not against:
        both = [one for one in own if _named(one.name, baseline)]
        if own and not both:
            raise NoBaseline(
                f"{baseline.run.path}: holds none of the retrievers of {run.run.path} "
                f"({', '.join(one.name for one in own)}); {_held(baseline, own)}"
            )
        own = both
    if len(own) != 1:
        listed = ", ".join(one.name for one in own) or "none"
        raise UsageError(f"{run.run.path}: name one retriever by -r; there are {listed}")
    return own[0]


def accepted(baseline: ScoredRun, one: Scored, against: str = "") -> Scored:
    """Return whom a retriever is compared with: who has its name, or the other name that is given.

    Raises:
        NoBaseline: the baseline does not hold it, or it answered nothing there.
    """
    name = against or one.name
    found = _named(name, baseline)
    if found is None:
        held = _held(baseline, [one])
        raise NoBaseline(f"{baseline.run.path}: holds no retriever {name!r}; {held}")
    if found.evaluation is None or "ok" not in found.evaluation.statuses:
        raise NoBaseline(f"{baseline.run.path}: {name} answered nothing there")
    return found


def _asked(run: ScoredRun) -> list[Scored]:
    return [one for one in run.retrievers if not one.floor]


def _named(name: str, run: ScoredRun) -> Scored | None:
    return next((one for one in run.retrievers if one.name == name), None)


def _akin(name: str, run: ScoredRun) -> Scored | None:
    """Return the first retriever of a run that is of that name but for its options."""
    base = _base(name)
    return next((one for one in _asked(run) if _base(one.name) == base), None)


def _base(name: str) -> str:
    try:
        return parse_reference(name)[0]
    except AdapterError:  # a name of somebody's own
        return name


def _meant(name: str, run: ScoredRun, baseline: ScoredRun | None, against: str) -> str:
    """Return how who was meant is named, in both runs where its names differ."""
    one = _akin(name, run)
    if one is None:
        return near(name, (other.name for other in run.retrievers))
    words = f"name it, as -r {shlex.quote(one.name)}"
    if baseline is None:
        return words
    other = _named(against, baseline) or _named(one.name, baseline) or _named(name, baseline)
    other = other or _akin(name, baseline)
    if other is None or other.name == one.name:
        return words
    return f"{words} --against {shlex.quote(other.name)}"


def _held(baseline: ScoredRun, own: list[Scored]) -> str:
    """Return whom a baseline holds, and how one of them is named, the most alike first."""
    held = _asked(baseline)
    if not held:
        return "it holds floors alone"
    pairs = [(one, _akin(one.name, baseline)) for one in own]
    one, other = next(((one, other) for one, other in pairs if other), (own[0], held[0]))
    words = f"-r {shlex.quote(one.name)} " if len(own) > 1 else ""
    listed = ", ".join(one.name for one in held)
    return f"it holds {listed}: name one, as {words}--against {shlex.quote(other.name)}"
