"""A history and its cut: what comes after the snapshot, and what a path was called in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.corpus.carry import Renames

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codebench.gold.history import Commit
    from codebench.gold.window import Mainline

MAX_COCHANGE_COMMITS = 20_000
"""Change sets further back than this describe another code base."""


class Timeline:
    """The commits of a history with what was found out about them.

    Args:
        commits: newest first.
        verdicts: by commit ID, why it was dropped by message or paths; empty when it was not.
        texts: by commit ID, the text of its query.
        mainline: of the same commits.
    """

    def __init__(
        self,
        commits: Sequence[Commit],
        verdicts: Mapping[str, str],
        texts: Mapping[str, str],
        mainline: Mainline,
    ) -> None:
        self.commits = commits
        self.verdicts = verdicts
        self.texts = texts
        self.mainline = mainline
        self.by_id = {commit.id: commit for commit in commits}
        self.position = {commit.id: index for index, commit in enumerate(commits)}
        self.renames = Renames(
            (index, change.old_path, change.path)
            for index, commit in enumerate(commits)
            for change in commit.changes
            if change.status == "R"
        )

    def after(self, cut: int, *, kept_only: bool = True) -> list[Commit]:
        """Return the commits that the cut does not reach, newest first."""
        return [
            commit
            for commit in self.commits
            if self.mainline.joined.get(commit.id, cut) < cut
            and not (kept_only and self.verdicts[commit.id])
        ]

    def path_at(self, path: str, commit: str, cut: int) -> str:
        """Follow a path from a commit's parent back to the cut."""
        joined = self.mainline.joined

        def between(position: int) -> bool:
            return joined.get(self.commits[position].id, cut) < cut

        return self.renames.back(path, self.position[commit], between)

    def change_sets(self, cut: int) -> Iterator[frozenset[str]]:
        """Yield what changed together before the snapshot, under the names of the snapshot."""
        joined = self.mainline.joined
        names: dict[str, str] = {}
        read = 0
        for commit in self.commits:
            if joined.get(commit.id, -1) < cut:
                continue
            read += 1
            if read > MAX_COCHANGE_COMMITS:
                return
            yield frozenset(names.get(change.path, change.path) for change in commit.changes)
            for change in commit.changes:
                if change.status == "R":
                    names[change.old_path] = names.get(change.path, change.path)
