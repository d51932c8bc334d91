"""How old a snapshot is beside its newest query, and what to do where it is too old."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.model import Suite

_YEAR = 365 * 86_400
_OLD_SECONDS = 3 * _YEAR
_FEW = 20
"""Half of fewer queries would show nothing."""


def dates(suite: Suite, seconds: int) -> tuple[str, str]:
    """Return the days (UTC) of the snapshot and of its newest query, so many seconds later."""
    newest = max(datetime.fromisoformat(query.time) for query in suite.queries)
    snapshot = newest - timedelta(seconds=seconds)
    return f"{snapshot:%Y-%m-%d}", f"{newest:%Y-%m-%d}"


def age_notes(suite: Suite, seconds: int, commands: Sequence[str] = ()) -> tuple[str, ...]:
    """Return a warning where the newest query is much younger than its snapshot.

    Args:
        suite: as it was mined.
        seconds: from its snapshot to its newest query.
        commands: what would ask younger code.
    """
    if seconds <= _OLD_SECONDS:
        return ()
    note = (
        f"the newest query is {seconds / _YEAR:.1f} years younger than the snapshot of "
        f"{dates(suite, seconds)[0]} (UTC); its code may have little in common with the questions"
    )
    return (note + (f"; for younger code: {', or '.join(commands)}" if commands else ""),)


def fewer(queries: int) -> int:
    """Return so many queries as younger code may have; 0 where there are few enough."""
    return queries // 2 if queries >= _FEW else 0
