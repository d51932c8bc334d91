"""Tasks of people -> the evidence of what answered their queries."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from codebench.gold.logs.clicks import SATISFIED_SECONDS, QueryEvidence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codebench.gold.logs.record import Place, Record
    from codebench.gold.logs.tasks import Task

    Resolve = Callable[[Place, Record], str]

DEPTH = 100
"""Results of one list that count: nobody pages further."""


def normal(text: str) -> str:
    """Return what two askings of one query have in common."""
    return " ".join(text.casefold().split())


def gather(task: Task, resolve: Resolve, everything: dict[str, QueryEvidence]) -> None:
    """Add what happened in one task to the evidence.

    Args:
        task: of one person.
        resolve: returns the chunk ID or path that a logged place means; empty where it is lost.
        everything: by query text as `normal` returns it.
    """
    queries = task.queries
    by_id = {one.query_id: number for number, one in enumerate(queries) if one.query_id}
    clicked: dict[int, set[str]] = defaultdict(set)
    seen: dict[int, list[tuple[int, str]]] = defaultdict(list)
    last = _last_click(task.records)
    latest = 0
    for number, one in enumerate(task.records):
        if one.kind == "query":
            latest = next(at for at, query in enumerate(queries) if query is one)
            continue
        if one.place is None or not one.ok:
            continue
        asked = by_id.get(one.query_id, latest)
        evidence = everything[normal(queries[asked].query)]
        name = resolve(one.place, one)
        if not name:
            continue
        if one.kind == "impression":
            seen[asked].append((one.place.rank or len(seen[asked]) + 1, name))
        elif one.kind == "edit":
            evidence.places[name].edited = True
        elif one.kind in {"click", "read"}:
            clicked[asked].add(name)
            satisfied = number == last or _stayed(task.records, number)
            evidence.click(name, one.user, satisfied=satisfied)
    for number, query in enumerate(queries):
        evidence = everything[normal(query.query)]
        evidence.users.add(query.user)
        shown = [name for _, name in sorted(seen[number])] or [
            resolve(place, query) for place in query.results[:DEPTH]
        ]
        if shown:
            evidence.impression(shown, clicked[number])
            if query.retriever:
                evidence.retrievers.add(query.retriever)


def _last_click(records: Sequence[Record]) -> int:
    places = [number for number, one in enumerate(records) if one.kind == "click" and one.ok]
    return places[-1] if places else -1


def _stayed(records: Sequence[Record], number: int) -> bool:
    """Tell whether who clicked stayed: as the log says, or until the next thing that they did."""
    click = records[number]
    if click.dwell is not None:
        return click.dwell >= SATISFIED_SECONDS
    follow = records[number + 1] if number + 1 < len(records) else None
    if follow is None or follow.time is None or click.time is None:
        return False
    return follow.time - click.time >= SATISFIED_SECONDS
