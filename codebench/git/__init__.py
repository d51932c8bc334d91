"""The only room that runs git, and how it runs it safely.

A repository is untrusted: its own config can make plain `git log` or `git diff` run programs.
So its history is read from a *shadow*, a bare repository of codebench's own whose only tie to
the real one is `objects/info/alternates`: no config, hook, filter or attribute of the
repository is ever in force, and nothing is written to it.
"""

from codebench.git.repository import (
    UNSHALLOW,
    Repository,
    checkout_state,
    clone,
    locate,
    refresh,
    resolve,
)
from codebench.git.shadows import Shadow, TreeEntry, shadow
from codebench.git.walks import CommitLine, Walk, place_in, walk

__all__ = [
    "UNSHALLOW",
    "CommitLine",
    "Repository",
    "Shadow",
    "TreeEntry",
    "Walk",
    "checkout_state",
    "clone",
    "locate",
    "place_in",
    "refresh",
    "resolve",
    "shadow",
    "walk",
]
