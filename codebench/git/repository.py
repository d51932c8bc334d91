"""A repository as its owner has it: where it keeps what, what its names name, and clones of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from codebench.errors import GitError
from codebench.git.commands import check_version, output, program

_PROTOCOLS = "file:git:http:https:ssh"
DEFUSED = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.sshCommand=false"),
    *("-c", "safe.directory=*"),
)
"""For the few questions that only the repository itself can answer (where it is, what HEAD is)."""

SHALLOW = "shallow"
"""The file that lists the commits at which a clone's history was cut off."""

UNSHALLOW = (
    "; this clone is shallow, and has its last commits alone: git fetch --unshallow, or "
    "`fetch-depth: 0` where CI checks it out"
)


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a repository keeps what codebench reads.

    Attributes:
        path: as it was given.
        git_dir: its own git folder (a worktree has one for itself).
        common_dir: the git folder that holds the objects.
        object_format: `sha1` or `sha256`.
    """

    path: Path
    git_dir: Path
    common_dir: Path
    object_format: str

    @property
    def top(self) -> Path:
        """Its top folder, absolute, where `path` is any folder in it; a bare one is its own."""
        here, git_dir = self.path.resolve(), self.git_dir.resolve()
        if here.is_relative_to(git_dir):
            return git_dir.parent if git_dir.name == ".git" else git_dir
        every = (here, *here.parents)
        return next((one for one in every if os.path.lexists(one / ".git")), here)

    @property
    def shallow(self) -> bool:
        """Whether it is a clone that holds the last commits alone."""
        return (self.common_dir / SHALLOW).is_file()


def locate(path: Path) -> Repository:
    """Find the repository that holds `path`.

    Raises:
        GitError: there is none, or git cannot read it.
    """
    check_version(program(path))
    own = path / ".git"
    # A broken `.git` would be passed over, and the repository around this one taken for it.
    git = program(path, **({"GIT_DIR": str(own.absolute())} if os.path.lexists(own) else {}))

    def ask(what: str) -> str:
        # One at a time: a path may hold a newline.
        words = [*DEFUSED, "rev-parse", what]
        return output(git, words, f"{path} is not a git repository").removesuffix("\n")

    git_dir, common = Path(ask("--absolute-git-dir")), Path(ask("--git-common-dir"))
    return Repository(path, git_dir, (path / common).resolve(), ask("--show-object-format"))


def resolve(repository: Repository, revision: str) -> str:
    """Return the object ID that a branch, tag, HEAD or (abbreviated) commit ID names.

    Raises:
        GitError: it names nothing.
    """
    found = output(
        program(repository.path, GIT_DIR=str(repository.git_dir)),
        [*DEFUSED, "rev-parse", "--verify", "--quiet", "--end-of-options", revision],
        f"{repository.path}: {revision} names no commit"
        + (" (the repository is empty)" if revision == "HEAD" else "")
        + (UNSHALLOW if repository.shallow else ""),
    )
    return found.strip()


def checkout_state(file: Path) -> tuple[str, bool] | None:
    """Return the commit that a file's checkout is at, and whether it is dirty.

    Dirty: a tracked file was changed, or this one is not tracked. None where the file lies in no
    repository, or in one without a commit.
    """
    git = program(file.parent)
    try:
        commit = output(git, [*DEFUSED, "rev-parse", "--verify", "--quiet", "HEAD"], "").strip()
        known = output(git, [*DEFUSED, "ls-files", "--", file.name], "").strip()
        status = [*DEFUSED, "status", "--porcelain", "--untracked-files=no"]
        return commit, not known or bool(output(git, status, "").strip())
    except GitError:
        return None


def clone(url: str, folder: Path) -> None:
    """Clone a repository without its work tree.

    Raises:
        GitError: with git's own last line.
    """
    git = program(folder.parent, GIT_ALLOW_PROTOCOL=_PROTOCOLS)
    check_version(git)
    what = ["clone", "--bare", "--quiet", "--template=", "--end-of-options", url, str(folder)]
    output(git, what, f"cannot clone {url}", keep_reason=True, patient=True)


def refresh(folder: Path) -> None:
    """Bring a clone that `clone` made up to date with where it came from.

    Raises:
        GitError: with git's own last line.
    """
    fetch = ["fetch", "--quiet", "--prune", "origin", "+refs/heads/*:refs/heads/*"]
    git = program(folder, GIT_ALLOW_PROTOCOL=_PROTOCOLS)
    failure = f"cannot bring {folder} up to date"
    output(git, fetch, failure, keep_reason=True, patient=True)
