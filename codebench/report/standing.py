"""What a run's table comes to, in words: who is best, who is shown to be worse or alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.measures.names import PRIMARY, Measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codebench.judging.scored import ScoredRun
    from codebench.judging.scoring import Leaders

_BLIND = ("path-match", "recent", "random")
"""The floors that neither read the code nor know the answer."""


def standing_notes(scored: ScoredRun, leading: Mapping[str, Leaders]) -> list[str]:
    """Say who is best by the primary measure, who is level with it, and who stands below a floor.

    Args:
        scored: the run.
        leading: the leaders by each measure's printed name; empty where none were looked for.
    """
    measure = _judging(scored)
    if measure is None:
        return []
    values = {
        one.name: one.evaluation.figures[str(measure)].value
        for one in scored.retrievers
        if one.evaluation
    }
    own = [one.name for one in scored.retrievers if one.evaluation and not one.floor]
    # Who failed everywhere is told of by its failures; what they cost is no finding.
    answered = [one.name for one in scored.retrievers if one.answered]
    found = leading.get(str(measure))
    notes = [_best(measure, found, own)] if found and found.best in answered else []
    for name in own:
        floor = _beaten_by(measure, values, name) if name in answered else ""
        if floor:
            notes.append(
                f"{name} scores less than the floor {floor}, which reads no code "
                f"({measure.short} {values[name]:.3f} and {values[floor]:.3f})"
            )
    return [*notes, *_alike(scored)]


def _alike(scored: ScoredRun) -> list[str]:
    """Say which retrievers have the same values everywhere: it is so, and no fault."""
    own: dict[bytes, list[str]] = {}
    for one in scored.retrievers:
        if one.evaluation and one.answered and not one.floor:
            own.setdefault(one.evaluation.table.tobytes(), []).append(one.name)
    return [
        f"{', '.join(names[:-1])} and {names[-1]} score the same on every query"
        for names in own.values()
        if len(names) > 1
    ]


def _judging(scored: ScoredRun) -> Measure | None:
    """Return the measure of verdicts where it was measured, else the first."""
    return PRIMARY if PRIMARY in scored.measures else next(iter(scored.measures), None)


def _best(measure: Measure, found: Leaders, own: list[str]) -> str:
    level = [name for name in own if name in found.level and name != found.best]
    worse = [name for name in own if name not in found.level and name != found.best]
    parts = [f"{found.best} is best"]
    parts += [f"not shown to be worse: {', '.join(level)}"] if level else []
    parts += [f"worse: {', '.join(worse)}"] if worse else []
    why = ", the measure of verdicts" if measure == PRIMARY else ""
    return f"by {measure.short}{why}: {'; '.join(parts)}"


def _beaten_by(measure: Measure, values: Mapping[str, float | None], name: str) -> str:
    sign = 1 if measure.higher_is_better else -1
    value = values[name]
    floors = [
        (sign * other, floor)
        for floor in _BLIND
        if (other := values.get(floor)) is not None and value is not None
        if sign * other > sign * value
    ]
    return max(floors)[1] if floors else ""
