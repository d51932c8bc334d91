"""What is odd about answers of which none failed: empty, alike, of other files, or mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.reading import counted, plain_line
from codebench.report.text import queries
from codebench.results.tally import UNKNOWN
from codebench.runner.validate import CLIPPED, CUT

if TYPE_CHECKING:
    from codebench.judging.scored import Scored
    from codebench.results.tally import Tally

_MENDED = {
    UNKNOWN: "in {answers} {are} in no file of the corpus{first}",
    CUT: "beyond the depth {were} cut off, in {answers}",
    CLIPPED: "with lines beyond {their} file {were} clipped, in {answers}",
}
_FEWEST = 3
"""Answers that must be alike before that is no chance."""

_LONGEST = 80


def oddity_notes(one: Scored) -> list[str]:
    """Return what is odd about a retriever's good answers, a line each."""
    tally = one.tally
    if one.floor or tally is None or not tally.good:
        return []
    notes = []
    if tally.empty == tally.good:
        alone = "its only answer is empty"
        many = f"its answers to all {queries(tally.good)} are empty"
        notes.append(alone if tally.good == 1 else many)
    elif tally.alike == tally.good >= _FEWEST:
        notes.append(f"the same hits for all {queries(tally.good)}")
    if tally.astray:
        name = "names" if tally.astray == 1 else "name"
        astray = _of(tally.astray, tally.good)
        notes.append(f"{astray} {name} only files that are not in the corpus{_first(tally)}")
    notes += [
        _mended(tally, kind)
        for kind in _MENDED
        if kind in tally.hits and not (kind == UNKNOWN and _all_astray(tally))
    ]
    return [f"{one.name}: {note}" for note in notes]


def oddity_data(one: Scored) -> dict[str, Any]:
    """Return the same as JSON data; what is not there is left out."""
    tally = one.tally
    if tally is None:
        return {}
    data: dict[str, Any] = {}
    if tally.empty:
        data["empty"] = tally.empty
    if tally.astray:
        data["astray"] = tally.astray
    if tally.hits:
        data["repairs"] = {
            kind: {"times": times, "answers": tally.answers[kind]}
            for kind, times in tally.hits.items()
        }
    return data


def _all_astray(tally: Tally) -> bool:
    """Whether the answers astray are all that have hits in no file: then they are told already."""
    return tally.answers[UNKNOWN] == tally.astray


def _first(tally: Tally) -> str:
    """Return the first path that is no file of the corpus, and what it may have meant."""
    if not tally.stray:
        return ""
    path, meant = (plain_line(text)[:_LONGEST] for text in (tally.stray, tally.meant))
    return f" (first: {path}{f' is {meant} in the corpus' if meant else ''})"


def _mended(tally: Tally, kind: str) -> str:
    """Return how often something was mended, in words that fit one hit, too."""
    hits = tally.hits[kind]
    are, were, their = ("is", "was", "its") if hits == 1 else ("are", "were", "their")
    answers, first = _of(tally.answers[kind], tally.good), _first(tally)
    words = _MENDED[kind].format(answers=answers, first=first, are=are, were=were, their=their)
    return f"{counted(hits, 'hit')} {words}"


def _of(count: int, good: int) -> str:
    return f"{count} of {counted(good, 'answer')}"
