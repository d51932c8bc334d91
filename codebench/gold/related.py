"""Level 1 of the gold: which files are related to a target file.

Import neighbour in either direction 1, same small package 1, changed together before the
queries 2; files with 2 or more count, at most 10 a target file. Confidence and lift are those
of association rules (Agrawal et al., SIGMOD 1993; Brin et al., SIGMOD 1997).
"""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from codebench.gold.paths import path_kind
from codebench.model import Related

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

MAX_RELATED = 10
MAX_PACKAGE = 15
MAX_CHANGE_SET = 30
MIN_TOGETHER = 2
MIN_CONFIDENCE = 0.05
MIN_LIFT = 1.5
MIN_SCORE = 2


class CoChange:
    """Which files changed together.

    Args:
        change_sets: the files of each commit, under the names that they have in the snapshot;
            sets of more than 30 files say nothing and are left out.
    """

    def __init__(self, change_sets: Iterable[Set[str]]) -> None:
        self._sets: list[tuple[str, ...]] = []
        self._of: dict[str, list[int]] = defaultdict(list)
        for files in change_sets:
            if 0 < len(files) <= MAX_CHANGE_SET:
                for path in sorted(files):
                    self._of[path].append(len(self._sets))
                self._sets.append(tuple(sorted(files)))

    def partners(self, path: str) -> frozenset[str]:
        """Return the files that change with `path` often enough, and more than by chance."""
        mine = self._of.get(path, [])
        together = Counter(other for index in mine for other in self._sets[index])
        del together[path]
        return frozenset(
            other
            for other, count in together.items()
            if count >= MIN_TOGETHER
            and count / len(mine) >= MIN_CONFIDENCE
            and count * len(self._sets) / (len(mine) * len(self._of[other])) >= MIN_LIFT
        )


class Relations:
    """Scores the relation of every file to a target file.

    Args:
        imports: the files that each file imports.
        paths: every file of the snapshot whose language is known.
        cochange: what changed together before the snapshot.
    """

    def __init__(
        self, imports: Mapping[str, Set[str]], paths: Sequence[str], cochange: CoChange
    ) -> None:
        self._imports = imports
        self._importers: dict[str, set[str]] = defaultdict(set)
        for path, targets in imports.items():
            for target in targets:
                self._importers[target].add(path)
        self._folder: dict[str, list[str]] = defaultdict(list)
        for path in sorted(paths):
            self._folder[posixpath.dirname(path)].append(path)
        self._paths = frozenset(paths)
        self._cochange = cochange

    def of(self, path: str) -> tuple[Related, ...]:
        """Return the related modules of one target file, best first."""
        package = self._folder.get(posixpath.dirname(path), [])
        why: dict[str, Set[str]] = {
            "import": self._imports.get(path, frozenset()) | self._importers.get(path, set()),
            "package": frozenset(package if len(package) <= MAX_PACKAGE else ()),
            "co-change": self._cochange.partners(path) & self._paths,
            "test": frozenset(self._own_tests(path)),
        }
        scores: Counter[str] = Counter()
        for reason, worth in (("import", 1), ("package", 1), ("co-change", 2)):
            scores.update(dict.fromkeys(why[reason], worth))
        scores.update({test: max(0, MIN_SCORE - scores[test]) for test in why["test"]})
        del scores[path]
        ranked = sorted(
            (one for one, score in scores.items() if score >= MIN_SCORE),
            key=lambda one: (-scores[one], one),
        )
        return tuple(
            Related(
                one,
                path,
                scores[one],
                tuple(reason for reason, files in why.items() if one in files),
            )
            for one in ranked[:MAX_RELATED]
        )

    def _own_tests(self, path: str) -> Iterable[str]:
        stem, ending = posixpath.splitext(posixpath.basename(path))
        names = {
            f"test_{stem}{ending}",
            f"{stem}_test{ending}",
            f"{stem}.test{ending}",
            f"{stem}.spec{ending}",
            f"{stem}Test{ending}",
            f"{stem}_spec{ending}",
        }
        found = [
            one
            for one in self._paths
            if posixpath.basename(one) in names and path_kind(one) == "test"
        ]
        return found if len(found) == 1 else []


def assign(related: Iterable[Related], targets: Set[str]) -> tuple[Related, ...]:
    """Give each module to one target file: the best score, then the path.

    A target file is nobody's related module.
    """
    best: dict[str, Related] = {}
    for one in sorted(related, key=lambda one: (-one.score, one.of)):
        if one.path not in targets:
            best.setdefault(one.path, one)
    return tuple(sorted(best.values(), key=lambda one: (one.of, -one.score, one.path)))
