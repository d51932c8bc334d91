"""One person's records in their order -> tasks: queries that pursue one thing, and what followed.

A session ends with 30 minutes of nothing. A new task begins with a query that shares no token and
no result with the last two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codebench.keywords import STOP_WORDS, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codebench.gold.logs.record import Record

GAP_SECONDS = 30 * 60
LATE_SECONDS = 24 * 3600
"""An edit belongs to the last task for so long."""

LOOKED_BACK = 2


@dataclass
class Task:
    """What one person, or agent, pursued.

    Attributes:
        file: number of the log's file in which it began.
        records: in their order, a query first.
    """

    file: int
    records: list[Record] = field(default_factory=list)

    @property
    def queries(self) -> list[Record]:
        """What a person asked."""
        return [one for one in self.records if one.kind == "query" and not one.search]


def tasks_of(records: Iterable[tuple[int, Record]]) -> Iterator[Task]:
    """Cut one person's records in one repository into tasks.

    What comes before any query belongs to none, and is left out; so is what comes after a session
    has ended, unless it is an edit within 24 hours.
    """
    task: Task | None = None
    recent: list[tuple[frozenset[str], frozenset[str]]] = []
    latest: Record | None = None
    for file, record in records:
        apart = latest is not None and _apart(latest, record)
        asks = record.kind == "query" and not record.search
        if asks:
            about = _about(record)
            if task is None or apart or not any(_shares(about, other) for other in recent):
                if task is not None:
                    yield task
                task, recent = Task(file), []
            recent = [*recent, about][-LOOKED_BACK:]
            task.records.append(record)
        elif task is not None and (not _ended(task, record) or _late_edit(task, record)):
            task.records.append(record)
        if asks or not apart:
            latest = record
    if task is not None:
        yield task


def _apart(before: Record, after: Record) -> bool:
    """Tell whether two records lie in two sessions: by time, or as the log says without times."""
    if before.time is None or after.time is None:
        return before.session != after.session
    return after.time - before.time > GAP_SECONDS


def _ended(task: Task, record: Record) -> bool:
    return _apart(task.records[-1], record)


def _late_edit(task: Task, record: Record) -> bool:
    asked = task.records[0].time
    return (
        record.kind == "edit"
        and record.time is not None
        and asked is not None
        and record.time - asked <= LATE_SECONDS
    )


def _about(record: Record) -> tuple[frozenset[str], frozenset[str]]:
    words = frozenset(word for word in tokens(record.query) if word not in STOP_WORDS)
    return words, frozenset(place.path for place in record.results)


def _shares(
    one: tuple[frozenset[str], frozenset[str]], other: tuple[frozenset[str], frozenset[str]]
) -> bool:
    return bool(one[0] & other[0] or one[1] & other[1])
