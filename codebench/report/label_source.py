"""Who produced the impressions that a suite's labels come from, and whether it is scored on them.

What people never saw they never clicked: the retriever whose results they saw has an advantage that
no correction takes away.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codebench.judging.scored import ScoredRun
    from codebench.model import Candidate


def label_notes(scored: ScoredRun) -> list[str]:
    """Return warnings, one for each retriever that is scored on labels that are its own."""
    log: Any = scored.suite.recipe.get("log")
    known = log.get("retrievers") if isinstance(log, dict) else None
    if not isinstance(known, list) or not known:
        return []
    own = Counter(query.tags.get("retriever", "") for query in scored.suite.queries)
    total = sum(own.values())
    notes = []
    for one in scored.retrievers:
        names = _names(one.run.candidate)
        count = sum(number for name, number in own.items() if name and name.casefold() in names)
        if count and not one.floor:
            notes.append(
                f"warning: {one.name} is scored on labels that only it could have produced: people "
                f"saw its results alone under {count} of {total} queries"
            )
    alone = [name for name, number in own.items() if name and number == total]
    if alone and not notes:
        notes.append(
            f"labels: people saw the results of {alone[0]} alone; who finds the same is favoured"
        )
    return notes


def _names(candidate: Candidate) -> frozenset[str]:
    """Return what a log may call a retriever: its name, with and without options, and its class."""
    reference = candidate.reference
    last = reference.rpartition("/")[2]
    parts = {candidate.name, candidate.name.partition(":")[0], reference, last}
    parts |= {last.partition(":")[2], last.partition(".py:")[0]}
    return frozenset(part.casefold() for part in parts if part)
