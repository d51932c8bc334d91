"""Which files of a tree are in the corpus."""

from __future__ import annotations

import fnmatch
import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.corpus.languages import language_of
from codebench.reading import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

RULES_VERSION = 1

QUOTING = ("CHANGE*", "NEWS*", "HISTORY*", "RELEASE*", "RELNOTES*")
"""Files (by name, any folder) that quote commit messages: they would hand over the answer."""

_QUOTING_DIRS = frozenset({"changelog", "changelogs", "changes", "newsfragments", "news"})


@dataclass(frozen=True, slots=True)
class SnapshotRules:
    """Which files of a tree are in the corpus.

    Attributes:
        include: globs over whole paths; none means all.
        exclude: globs over whole paths.
        quoting: whether files that quote commit messages stay.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    quoting: bool = False

    @classmethod
    def from_data(cls, data: Mapping[str, object]) -> SnapshotRules:
        """Read the rules that `as_data` wrote.

        Raises:
            TypeError: a field is unknown or not of its type.
        """
        if not isinstance(data, dict) or set(data) - {"include", "exclude", "quoting"}:
            raise TypeError(f"{shown(data)} is not a map of include, exclude and quoting")
        globs = {name: data.get(name, []) for name in ("include", "exclude")}
        for name, value in globs.items():
            if not isinstance(value, list) or not all(isinstance(glob, str) for glob in value):
                raise TypeError(f"{name} is not a list of globs")
        return cls(tuple(globs["include"]), tuple(globs["exclude"]), data.get("quoting") is True)

    def as_data(self) -> dict[str, object]:
        """Return what differs from the defaults, for a suite's recipe."""
        data: dict[str, object] = {}
        if self.include:
            data["include"] = list(self.include)
        if self.exclude:
            data["exclude"] = list(self.exclude)
        if self.quoting:
            data["quoting"] = True
        return data

    def takes(self, path: str) -> bool:
        """Tell whether a path belongs to the corpus."""
        if self.include and not any(fnmatch.fnmatchcase(path, glob) for glob in self.include):
            return False
        if any(fnmatch.fnmatchcase(path, glob) for glob in self.exclude):
            return False
        return self.quoting or not _quotes(path)

    @property
    def key(self) -> str:
        """A short digest: snapshots of one tree under other rules are kept apart."""
        parts = [str(RULES_VERSION), *self.include, "-", *self.exclude, str(self.quoting)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _quotes(path: str) -> bool:
    *folders, name = path.split("/")
    if any(folder.lower() in _QUOTING_DIRS for folder in folders):
        return not language_of(path)
    named = any(fnmatch.fnmatchcase(name.upper(), glob) for glob in QUOTING)
    return named and not language_of(path) and bool(re.match(r"[A-Za-z_-]+", name))
