"""Where to cut a history: what lies before the snapshot, and what comes after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.gold.history import Commit

CANDIDATES = 20


class Mainline:
    """The first-parent line of a history, and where each commit joined it.

    Args:
        commits: newest first, the tip at the front, children before parents.

    Attributes:
        line: first-parent commit IDs, tip first.
        joined: by commit ID, the index on the line of the oldest commit that reaches it.
            The commits that `line[j]` does not reach are those with an index below j.
    """

    def __init__(self, commits: Sequence[Commit]) -> None:
        parents = {commit.id: commit.parents for commit in commits}
        self.line: list[str] = []
        here = commits[0].id if commits else ""
        while here in parents:
            self.line.append(here)
            here = parents[here][0] if parents[here] else ""
        self.joined: dict[str, int] = {}
        for index in range(len(self.line) - 1, -1, -1):
            stack = [self.line[index]]
            while stack:
                commit = stack.pop()
                if commit not in self.joined and commit in parents:
                    self.joined[commit] = index
                    stack.extend(parents[commit])


def candidates(mainline: Mainline, kept: Sequence[str], wanted: int) -> list[int]:
    """Choose about 20 places on the first-parent line at which the history could be cut.

    Args:
        mainline: the line.
        kept: IDs of the commits that could become queries.
        wanted: how many queries are wanted.

    Returns:
        Indices on the line, newest first. The later steps lie closer together where fewer
        commits come after them, as the newest that suffices is what is looked for.
    """
    if len(mainline.line) <= CANDIDATES + 1:
        return list(range(1, len(mainline.line)))
    after = _kept_after(mainline, kept)
    total = after[-1]
    if total <= wanted:
        marks = [max(1, total * step // CANDIDATES) for step in range(1, CANDIDATES + 1)]
    else:
        ratio = total / wanted
        marks = [round(wanted * ratio ** (step / (CANDIDATES - 1))) for step in range(CANDIDATES)]
    places = []
    for mark in marks:
        place = next((index for index, count in enumerate(after) if count >= mark), None)
        if place is not None and place > 0:
            places.append(place)
    return sorted(set(places))


def _kept_after(mainline: Mainline, kept: Sequence[str]) -> list[int]:
    """Return, by index on the line, how many kept commits that place does not reach."""
    at = [0] * (len(mainline.line) + 1)
    for commit in kept:
        index = mainline.joined.get(commit)
        if index is not None:
            at[index + 1] += 1
    counts = []
    running = 0
    for index in range(len(mainline.line)):
        running += at[index]
        counts.append(running)
    return counts


def parts(mainline: Mainline, kept: Sequence[str], cut: int, number: int) -> list[int]:
    """Divide what comes after a cut into parts with about as many kept commits each.

    Returns:
        Indices on the line, newest first; the last is the cut.
    """
    after = _kept_after(mainline, kept)[: cut + 1]
    total = after[-1]
    places = [
        next(index for index, count in enumerate(after) if count * number >= total * part)
        for part in range(1, number)
    ]
    return sorted({place for place in places if 0 < place < cut} | {cut})
