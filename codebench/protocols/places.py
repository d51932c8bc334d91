"""Paths as tools print them -> paths as the corpus names them.

Tried in this order, for each path:

1. A `file://` address becomes its path, percent signs undone.
2. The folder that the configuration names as the tool's root is taken off.
3. `./a`, `a//b`, an absolute path under the corpus (or under what its links lead to): relative.
4. A path that begins with the end of the corpus directory's own path (`corpus/a.py` for
   `…/corpus`): the rest, where that is a file of the corpus.
5. What is left of an answer, where none of its paths of that kind (absolute, or relative) was
   found before: a folder that they all lie under, taken off where at least half of them are
   files of the corpus without it. So an index of a checkout elsewhere can be measured.

A path that nothing helps is handed on as it is: a relative one is counted as no file of the
corpus, an absolute one makes the answer invalid.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from codebench.grading import canonical_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from codebench.model import Corpus


_DEEPEST = 200
"""Folders above a file of the corpus; what is printed may have any number of them."""


class Places:
    """Names the files of one corpus.

    Args:
        corpus: which.
        root: a folder under which the tool sees the corpus; empty where it needs none.
    """

    def __init__(self, corpus: Corpus, root: str = "") -> None:
        self._root = corpus.path
        self._tables = corpus.by_path
        self._prefix = root.rstrip("/") + "/" if root else ""
        parts = [part for part in corpus.path.as_posix().split("/") if part]
        self._tails = ["/".join(parts[-count:]) + "/" for count in range(1, len(parts) + 1)]

    def settle(self, printed: Iterable[str]) -> dict[str, str]:
        """Return what each printed path of one answer means."""
        found: dict[str, str] = {}
        lost: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
        direct = {False: False, True: False}
        for path in dict.fromkeys(printed):
            plain = self._plain(path)
            known = self._direct(plain)
            if known is None:
                lost[posixpath.isabs(plain)].append((path, plain))
            else:
                found[path] = known
                direct[posixpath.isabs(plain)] = True
        for kind, paths in lost.items():
            plains = [plain for _, plain in paths]
            folder = "" if direct[kind] else common_folder(plains, self._is_file)
            found |= {path: plain.removeprefix(folder) for path, plain in paths}
        return found

    def _plain(self, path: str) -> str:
        if path.lower().startswith("file://"):
            path = unquote(urlsplit(path).path)
        if self._prefix and path.startswith(self._prefix):
            path = path.removeprefix(self._prefix).lstrip("/")
        return path

    def _direct(self, path: str) -> str | None:
        name = canonical_path(path, self._root)
        if name is None:  # `../corpus/a.py`, as a tool that stands in the corpus may say
            name = canonical_path(posixpath.join(self._root.as_posix(), path), self._root)
        if name is None:
            return None
        if self._is_file(name):
            return name
        for tail in self._tails:
            if name.startswith(tail) and self._is_file(name.removeprefix(tail)):
                return name.removeprefix(tail)
        return name if posixpath.isabs(path) else None

    def _is_file(self, name: str) -> bool:
        if name in self._tables:
            return True
        try:
            return (self._root / name).is_file()
        except (OSError, ValueError):
            return False


def common_folder(paths: Sequence[str], is_file: Callable[[str], bool]) -> str:
    """Return a folder that all paths lie under, and without which half of them are files.

    It ends with `/`; empty where there is none.
    """
    folders: Counter[str] = Counter()
    for path in paths:
        parts = path.split("/")
        for count in range(max(1, len(parts) - _DEEPEST), len(parts)):
            if is_file("/".join(parts[count:])):
                folders["/".join(parts[:count]) + "/"] += 1
                break
    for folder, count in folders.most_common(1):
        if 2 * count >= len(paths) and all(path.startswith(folder) for path in paths):
            return folder
    return ""
