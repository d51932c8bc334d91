"""A checkout of codebench's own, in which a repository's history is walked by `git bisect run`.

It is a shadow with a work tree: the repository itself, its checkout, its references and its
config are never written to, and no hook or filter of it is ever in force.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.errors import GitError
from codebench.git.commands import output, program
from codebench.git.repository import DEFUSED
from codebench.git.shadows import shadow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from git.cmd import Git

    from codebench.git.repository import Repository
    from codebench.git.shadows import Shadow

_ENDED = frozenset({0, 2})
"""How `git bisect run` ends: found; or only commits that were skipped are left."""

OWN = "codebench: "
"""How a line begins that the command at a commit says of its own failure."""


@dataclass(frozen=True, slots=True)
class CommitLine:
    """A commit, for a person: when, its subject, and the files that it changed."""

    id: str
    time: str
    subject: str
    files: tuple[str, ...]


def place_in(file: Path) -> str:
    """Return a file's path inside its repository, with `/`.

    Raises:
        GitError: it lies in none.
    """
    ask = [*DEFUSED, "rev-parse", "--show-prefix"]
    prefix = output(program(file.parent), ask, f"{file} lies in no git repository")
    return prefix.removesuffix("\n") + file.name


@contextmanager
def walk(repository: Repository, folder: Path) -> Iterator[Walk]:
    """Open a checkout of `repository` in `folder` (made anew), and remove it at the end."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with shadow(repository, folder / ".git") as reader:
            git = program(folder)
            output(git, ["config", "core.bare", "false"], f"cannot make {folder}")
            yield Walk(folder, git, reader)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Walk:
    """A checkout that moves from commit to commit.

    Attributes:
        folder: where it is.
    """

    def __init__(self, folder: Path, git: Git, reader: Shadow) -> None:
        self.folder = folder
        self._git = git
        self._reader = reader

    def commit(self, revision: str) -> str:
        """Return a commit's full ID.

        Raises:
            GitError: it is no commit of this repository.
        """
        return self._reader.commit(revision)

    def check_out(self, commit: str) -> None:
        """Put a commit's files into the folder."""
        what = ["-c", "advice.detachedHead=false", "checkout", "--quiet", "--force", commit]
        self._say(what, f"cannot check out {commit[:12]}")

    def between(self, good: str, bad: str) -> tuple[str, ...]:
        """Return the commits that `bad` has and `good` has not, the newest first."""
        listed = self._say(
            ["rev-list", "--topo-order", bad, f"^{good}", "--"],
            f"the history from {good[:12]} to {bad[:12]} cannot be read",
        )
        return tuple(listed.split())

    def is_before(self, old: str, new: str) -> bool:
        """Tell whether a commit is an ancestor of another."""
        try:
            self._say(["merge-base", "--is-ancestor", old, new], "no")
        except GitError:
            return False
        return True

    def bisect(
        self, good: str, bad: str, command: Sequence[str], environment: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return the first bad commit; several where all between them were skipped.

        Args:
            good: a commit that the command calls good.
            bad: a later one that it calls bad.
            command: run in the folder at each commit; ends with 0 for good, 1 for bad, 125 for
                one that cannot be judged.
            environment: variables that it gets, too.

        Raises:
            GitError: the command ended otherwise, or git failed.
        """
        self._say(["bisect", "start", bad, good, "--"], "the bisection cannot be started")
        # It is silent for as long as the command runs, and the command's memory is its own.
        status, _, said = program(self.folder, **environment).execute(
            ["git", "bisect", "run", *command], with_extended_output=True, with_exceptions=False
        )
        if status not in _ENDED:
            lines = [line for line in str(said).split("\n") if line]
            own = [line.removeprefix(OWN) for line in lines if line.startswith(OWN)]
            last = (own or lines or [f"git exited with {status}"])[-1]
            raise GitError(f"the bisection ended early: {last}")
        left = self._say(
            ["rev-list", "--topo-order", "refs/bisect/bad", "--not", "--glob=refs/bisect/good-*"],
            "the bisection left no trace",
        ).split()
        first, *others = left
        if not others:
            return (first,)
        skipped = self._say(
            ["for-each-ref", "--format=%(objectname)", "refs/bisect/skip-*"], "cannot list refs"
        ).split()
        if set(others) <= set(skipped):
            return (first, *others)
        raise GitError(f"the bisection ended early with {len(left)} commits left")

    def line(self, commit: str) -> CommitLine:
        """Return a commit for a person."""
        form = ["show", "--no-patch", "--format=%cI%x00%s", "--no-show-signature", commit]
        time, _, subject = self._say(form, f"{commit[:12]} cannot be read").strip().partition("\0")
        names = ["diff-tree", "--root", "-r", "-z", "-m", "--first-parent", "--name-only"]
        files = self._say([*names, "--no-commit-id", commit], f"{commit[:12]} cannot be read")
        return CommitLine(commit, time, subject, tuple(filter(None, files.split("\0"))))

    def _say(self, what: Sequence[str], failure: str) -> str:
        return output(self._git, list(what), failure, keep_reason=True)
