"""Words about what somebody else wrote: near names, counts, values and lines fit to be shown."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_NAME = 240
"""Bytes; disks take 255, and some files have an ending put to theirs."""


def near(name: str, known: Iterable[str]) -> str:
    """Return `did you mean "x" or "y"?`, or what is known where nothing is near."""
    names = sorted(known)
    close = alike(name, names)
    if close:
        return "did you mean " + " or ".join(f'"{other}"' for other in close) + "?"
    return "known: " + ", ".join(names) if names else ""


def alike(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the known names that are most like one; letters that changed places come first."""
    names = list(dict.fromkeys(known))
    letters = sorted(name.casefold())
    swapped = [one for one in names if sorted(one.casefold()) == letters]
    close = difflib.get_close_matches(name, names, n=most, cutoff=0.6)
    return list(dict.fromkeys([*swapped, *close]))[:most]


def counted(count: int | str, one: str, many: str = "") -> str:
    """Return how many, as `1 line` or `2 lines`; `many` is for what takes no s."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def repeated(names: Iterable[Any]) -> list[Any]:
    """Return what stands more than once, sorted."""
    return sorted(name for name, times in Counter(names).items() if times > 1)


def shown(value: Any) -> str:
    """Return a value as JSON, short enough for one line of a message."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):  # of bottomless nesting, of a number of 5,000 digits
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= 60 else text[:57] + "..."


def is_text(value: str) -> bool:
    """Whether a string can be written as UTF-8: it holds no half of a character pair."""
    return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)


def is_name(value: str) -> bool:
    """Whether a text can be the name of one file in a folder, on any disk."""
    plain = value not in {"", ".", ".."} and not any(char in "/\\\0" for char in value)
    return plain and is_text(value) and len(value.encode()) <= _LONGEST_NAME


def plain_line(text: object) -> str:
    """Return what somebody else wrote as one printable line of at most 300 characters."""
    printable = "".join(char if char.isprintable() else " " for char in str(text))
    line = " ".join(printable.split())
    return line if len(line) <= 300 else line[:297] + "..."
