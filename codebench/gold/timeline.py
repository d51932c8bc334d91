"""A history with what was found out about its commits, and the epochs that it is cut into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.corpus.carry import Renames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from codebench.gold.history import Commit
    from codebench.gold.window import Mainline

MAX_COCHANGE_COMMITS = 20_000
"""Change sets further back than this describe another code base."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """A snapshot and the commits that are asked of it.

    Attributes:
        name: of its member suite; empty where there is only one.
        snapshot: commit ID.
        commits: those that could become its queries, newest first.
        between: tells of a commit whether it lies after the snapshot, so that its renames must
            be undone.
    """

    name: str
    snapshot: str
    commits: tuple[Commit, ...]
    between: Callable[[str], bool]


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
        self._renames = Renames(
            (index, change.old_path, change.path)
            for index, commit in enumerate(commits)
            for change in commit.changes
            if change.status == "R"
        )

    @property
    def kept(self) -> list[Commit]:
        """The commits that message and paths let through, newest first."""
        return [commit for commit in self.commits if not self.verdicts[commit.id]]

    def after(self, cut: int, since: int = 0) -> list[Commit]:
        """Return what `line[cut]` does not reach and `line[since]` does, newest first.

        With the default the newest commit is the end: everything after the cut.
        """
        joined = self.mainline.joined
        return [one for one in self.commits if since <= joined.get(one.id, cut) < cut]

    def epoch(self, cut: int, since: int = 0, name: str = "") -> Epoch:
        """Return the epoch of a place on the first-parent line."""
        joined = self.mainline.joined
        return Epoch(
            name,
            self.mainline.line[cut],
            tuple(self.after(cut, since)),
            lambda commit: joined.get(commit, cut) < cut,
        )

    def path_at(self, path: str, commit: str, epoch: Epoch) -> str:
        """Follow a path from a commit's parent back to the epoch's snapshot."""
        return self._renames.back(
            path,
            self.position[commit],
            lambda position: epoch.between(self.commits[position].id),
        )

    def change_sets(self, snapshot: str) -> Iterator[frozenset[str]]:
        """Yield what changed together up to the snapshot, under the names that files have there."""
        before = self._reached(snapshot)
        names: dict[str, str] = {}
        read = 0
        for commit in self.commits:
            if commit.id not in before:
                continue
            read += 1
            if read > MAX_COCHANGE_COMMITS:
                return
            yield frozenset(names.get(change.path, change.path) for change in commit.changes)
            for change in commit.changes:
                if change.status == "R":
                    names[change.old_path] = names.get(change.path, change.path)

    def _reached(self, commit: str) -> set[str]:
        found: set[str] = set()
        stack = [commit]
        while stack:
            one = stack.pop()
            if one not in found and one in self.by_id:
                found.add(one)
                stack.extend(self.by_id[one].parents)
        return found
