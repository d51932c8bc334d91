"""What a log holds and nobody understood: counted and located, never fatal, never silent."""

from __future__ import annotations

from collections import Counter

from codebench.reading import plain_line

MAX_LOCATED = 20
"""So many places are named; the rest is counted."""

MAX_KINDS = 50


class Skipped:
    """Lines and records that gave nothing.

    Attributes:
        lines: how many lines (or items of a document) could not be read.
        located: the first of them, as `file:line: reason`.
        ignored: how many records of a kind that says nothing of search there were, by kind.
    """

    def __init__(self) -> None:
        self.lines = 0
        self.located: list[str] = []
        self.ignored: Counter[str] = Counter()

    def line(self, file: str, line: int, reason: str) -> None:
        """Count a line that cannot be read."""
        self.lines += 1
        if len(self.located) < MAX_LOCATED:
            self.located.append(plain_line(f"{file}:{line}: {reason}"))

    def ignore(self, kind: object) -> None:
        """Count a record of a kind that is not used."""
        name = plain_line(kind)[:60] or "without a kind"
        known = name in self.ignored or len(self.ignored) < MAX_KINDS
        self.ignored[name if known else "other kinds"] += 1
