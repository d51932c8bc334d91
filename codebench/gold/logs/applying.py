"""Edits as an agent made them, done again on a file's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.gold.logs.record import Change

MAX_TEXT = 4_000_000
"""Characters that a file may grow to."""


def applied(text: str, changes: Sequence[Change]) -> str | None:
    """Return a text after changes; None where one of them does not fit it."""
    for change in changes:
        after = _one(text, change)
        if after is None or len(after) > MAX_TEXT:
            return None
        text = after
    return text


def _one(text: str, change: Change) -> str | None:
    if change.old is None:
        return change.new
    if change.until is not None and change.line is not None:
        lines = text.split("\n")
        if change.until > len(lines):
            return None
        instead = change.new.removesuffix("\n").split("\n") if change.new.strip("\n") else []
        return "\n".join([*lines[: change.line - 1], *instead, *lines[change.until :]])
    if not change.old:
        return _inserted(text, change)
    for old, new in ((change.old, change.new), _without_end(change)):
        if old and old in text:
            if change.every:
                return text.replace(old, new)
            at = _nearest(text, old, change.line)
            return text[:at] + new + text[at + len(old) :]
    return None


def _inserted(text: str, change: Change) -> str | None:
    if change.line is None:
        return text or change.new
    lines = text.split("\n")
    if change.line - 1 > len(lines):
        return None
    return "\n".join(
        [*lines[: change.line - 1], change.new.removesuffix("\n"), *lines[change.line - 1 :]]
    )


def _without_end(change: Change) -> tuple[str, str]:
    """A patch ends each line; the last line of a file may have no end."""
    return (change.old or "").removesuffix("\n"), change.new.removesuffix("\n")


def _nearest(text: str, old: str, line: int | None) -> int:
    """Return where a text stands, of several places the one nearest to a line."""
    first = text.index(old)
    if line is None:
        return first
    best, at = first, first
    for _ in range(10_000):
        at = text.find(old, at + 1)
        if at < 0:
            break
        if abs(_line_of(text, at) - line) < abs(_line_of(text, best) - line):
            best = at
    return best


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
