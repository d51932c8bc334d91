"""Moments as logs write them -> seconds since the epoch."""

from __future__ import annotations

import contextlib
import math
from datetime import UTC, datetime

_FIRST, _LAST = 0.0, 253_402_300_799.0
_MOST_SECONDS = 1e11
"""A larger number of seconds lies thousands of years ahead: it counts a smaller unit."""


def seconds_of(value: object) -> float | None:
    """Return seconds; None for what is no moment.

    ISO 8601 (UTC where it names no zone), or a number of seconds, milli-, micro- or nanoseconds.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        return _text(value.strip())
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    for unit in (1.0, 1e3, 1e6, 1e9):
        if math.isfinite(number) and abs(number) / unit < _MOST_SECONDS:
            return number / unit if number >= _FIRST else None
    return None


def _text(text: str) -> float | None:
    with contextlib.suppress(ValueError):
        return seconds_of(float(text))
    try:
        moment = datetime.fromisoformat(text)
        found = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return found if _FIRST <= found <= _LAST else None


def iso_of(seconds: float | None) -> str:
    """Return a moment as ISO 8601 in UTC; empty where it is unknown."""
    return "" if seconds is None else datetime.fromtimestamp(int(seconds), UTC).isoformat()
