"""Which commit a log saw, and which one is asked."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from codebench.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.gold.history import Commit
    from codebench.gold.window import Mainline
    from codebench.gold.workshop import Source

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


class Moments:
    """Finds the commit of a moment.

    Args:
        source: the repository.
        commits: its history, newest first.
        mainline: the first-parent line of it.

    Attributes:
        unknown: how many commits the log named that the repository does not have.
    """

    def __init__(self, source: Source, commits: Sequence[Commit], mainline: Mainline) -> None:
        self._source = source
        times = {commit.id: commit.time for commit in commits}
        self._line = mainline.line[::-1]
        # A clock may have been wrong: a commit is as young as the youngest before it.
        self._times = list(accumulate((times[one] for one in self._line), max))
        self._named: dict[str, str] = {}
        self.unknown: set[str] = set()

    def named(self, commit: str) -> str:
        """Return the full ID of a commit that the log names; empty where there is none."""
        if commit not in self._named:
            found = ""
            if _COMMIT.fullmatch(commit):
                try:
                    found = self._source.commit(commit)
                except GitError:
                    self.unknown.add(commit)
            self._named[commit] = found
        return self._named[commit]

    def before(self, time: float) -> str:
        """Return the newest commit of the first-parent line that is not younger than a moment."""
        at = bisect_right(self._times, time)
        return self._line[at - 1] if at else ""

    def of(self, commit: str, time: float | None, otherwise: str) -> str:
        """Return the commit that was looked at: named, or of that time, or the one given."""
        found = self.named(commit) if commit else ""
        if not found and time is not None:
            found = self.before(time)
        return found or otherwise
