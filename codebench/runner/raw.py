"""What an adapter returned -> JSON rows, judged on the other side of the pipe."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from codebench.model import Hit

_BIG = 2**63


def raw_row(item: Any) -> Any:
    """Return what an adapter returned as one item, as JSON: the other side of `validate`.

    Numbers of other libraries become Python's; a value of any other type becomes
    `{"type": "…"}`, so that the reader can say what it was.
    """
    if not isinstance(item, Hit):
        return {"type": type(item).__name__}
    if _is_plain(item):
        return [item.path, item.start_line, item.end_line, item.symbol, item.score]
    values = (item.path, item.start_line, item.end_line, item.symbol, item.score)
    return [_plain(value) for value in values]


def _is_plain(hit: Hit) -> bool:
    """Whether nothing of a hit needs a conversion; most hits are so, and there are many."""
    start, end = hit.start_line, hit.end_line
    return (
        type(hit.path) is str
        and (start is None or (type(start) is int and -_BIG < start < _BIG))
        and (end is None or (type(end) is int and -_BIG < end < _BIG))
        and (hit.symbol is None or type(hit.symbol) is str)
        and (hit.score is None or type(hit.score) is float)
    )


def _plain(value: Any) -> Any:
    if value is None or type(value) in {str, float}:
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        number = int(value)
        return number if abs(number) < _BIG else {"type": "number of more than 63 bits"}
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return float(value)
    return {"type": type(value).__name__}


def is_list(value: Any) -> bool:
    """Return whether a search result is a sequence of hits rather than text or a generator."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
