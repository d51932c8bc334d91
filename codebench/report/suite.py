"""What `codebench suite build` tells: the funnel, the snapshots with their age, what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.gold.age import age_notes, dates
from codebench.gold.building import total_funnel
from codebench.report.summary import funnel_line
from codebench.report.text import escaped, json_text, lines, queries, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from codebench.gold.building import Built
    from codebench.model import Query

_DAY = 86_400
_MAX_ROWS = 20
"""More snapshots than this are summed up: nobody reads a row for each parent."""


def previewed(funnels: Mapping[str, Mapping[str, int]], form: str) -> str:
    """Return the funnels of a dry run, by repository, as `table`, `markdown` or `json`."""
    if form == "json":
        return json_text({"funnels": {name: dict(one) for name, one in funnels.items()}})
    whole = total_funnel(list(funnels.values()))
    rows = [
        [reason, *(str(one.get(reason, 0)) for one in funnels.values())] for reason in dict(whole)
    ]
    notes = [
        funnel_line(whole),
        "nothing was written; the built suite may differ by a few queries",
    ]
    markdown = form == "markdown"
    shown = table(["funnel", *funnels], rows, markdown=markdown)
    return f"{shown}\n\n{lines(notes, markdown=markdown)}"


def built(
    members: Sequence[Built],
    folder: Path,
    form: str,
    more: Sequence[str] = (),
    commands: Sequence[str] = (),
) -> str:
    """Return what was built as `table`, `markdown` or `json`.

    Args:
        members: one for each snapshot.
        folder: where the suite is.
        form: of these three.
        more: lines about it.
        commands: what would ask younger code, where a snapshot is old.
    """
    if form == "json":
        data = {"folder": str(folder), "members": [_as_data(one, commands) for one in members]}
        return json_text(data | ({"notes": list(more)} if more else {}))
    markdown = form == "markdown"
    count = sum(len(one.suite.queries) for one in members)
    funnel = total_funnel([dict(one.suite.funnel) for one in members])
    notes = [_snapshots(members), funnel_line(funnel), *more, *_warnings(members, commands)]
    blocks = [f"{escaped(str(folder), markdown=markdown)}: {queries(count)}"]
    if 1 < len(members) <= _MAX_ROWS:
        headers = ["member", "snapshot", "of", "newest query", "queries"]
        rows = [_row(one) for one in members]
        blocks.append(table(headers, rows, markdown=markdown, left=len(headers) - 1))
    blocks.append(lines(notes, markdown=markdown))
    if not markdown:
        blocks.append(f"next: codebench suite check {escaped(str(folder), markdown=False)}")
    return ("\n\n" if markdown or len(blocks) > 3 else "\n").join(blocks)


def _as_data(one: Built, commands: Sequence[str]) -> dict[str, Any]:
    snapshot, newest = dates(one.suite, one.age_seconds)
    return {
        "member": one.member,
        "name": one.suite.name,
        "repository": one.suite.repository,
        "snapshot": one.suite.snapshot,
        "snapshot_date": snapshot,
        "newest_query_date": newest,
        "age_days": round(one.age_seconds / _DAY, 1),
        "queries": len(one.suite.queries),
        "funnel": dict(one.suite.funnel),
        "warnings": list(age_notes(one.suite, one.age_seconds, commands)),
    }


def _row(one: Built) -> list[str]:
    return [
        one.member,
        one.suite.snapshot[:12],
        *dates(one.suite, one.age_seconds),
        str(len(one.suite.queries)),
    ]


def _snapshots(members: Sequence[Built]) -> str:
    """Say which code is asked, and how much older it is than the newest question."""
    days = max(one.age_seconds for one in members) / _DAY
    if len(members) == 1:
        (one,) = members
        snapshot, newest = dates(one.suite, one.age_seconds)
        return (
            f"snapshot {one.suite.snapshot[:12]} of {snapshot}; the newest query is of {newest}, "
            f"{_days(days)} later"
        )
    days_of = sorted(dates(one.suite, one.age_seconds)[0] for one in members)
    return (
        f"{len(members)} snapshots of {days_of[0]} to {days_of[-1]}; no query is more than "
        f"{_days(days)} younger than the code that it is asked of"
    )


def _warnings(members: Sequence[Built], commands: Sequence[str]) -> list[str]:
    """Return a warning for each old snapshot; the first says what to do."""
    found: list[str] = []
    for one in members:
        notes = age_notes(one.suite, one.age_seconds, () if found else commands)
        found += [f"warning: {f'{one.member}: ' if one.member else ''}{note}" for note in notes]
    return found[:_MAX_ROWS]


def _days(count: float) -> str:
    return "1 day" if round(count) == 1 else f"{count:.0f} days"


def listed(asked: Sequence[tuple[str, Query]], form: str) -> str:
    """Return queries, each with its member, as `table`, `markdown` or `json`."""
    if form == "json":
        rows = [
            {"id": query.id, "member": member, "text": query.text, "tags": dict(query.tags)}
            for member, query in asked
        ]
        return json_text({"queries": rows})
    several = any(member for member, _ in asked)
    cells = [[query.id, *([member] if several else []), query.text] for member, query in asked]
    headers = ["query", *(["member"] if several else []), "text"]
    return table(headers, cells, markdown=form == "markdown", left=len(headers))
