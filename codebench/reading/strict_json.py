"""Strict JSON: no NaN, no key twice, no bottomless nesting."""

from __future__ import annotations

import json
import math
from typing import Any

from codebench.reading.words import repeated

MAX_JSON_DEPTH = 100
"""Of lists and objects in each other; far below where Python's own recursion ends."""


def parse_json(text: str) -> Any:
    """Parse strict JSON: no NaN or Infinity, no key twice, no bottomless nesting.

    Raises:
        ValueError: with a reason of a few words.
    """
    try:
        value = json.loads(
            text, parse_constant=_constant, parse_float=_finite, object_pairs_hook=_unique
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if text.count("[") + text.count("{") > MAX_JSON_DEPTH:
        _check_depth(value)
    return value


def _constant(name: str) -> Any:
    raise ValueError(f"holds {name}, which JSON does not have")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"holds {text[:60]}, which is too large for a number")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError(f"holds the key {repeated(name for name, _ in pairs)[0][:60]!r} twice")
    return data


def _check_depth(value: Any) -> None:
    layer = [value]
    for _ in range(MAX_JSON_DEPTH):
        layer = [
            inner
            for one in layer
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        if not layer:
            return
    raise ValueError("is nested too deeply")
