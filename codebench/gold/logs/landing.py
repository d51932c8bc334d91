"""Places of a log, at the commit that it saw -> the snapshot that is asked."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.corpus.carry import Origin
from codebench.corpus.carry import Place as Whereabouts
from codebench.errors import GitError
from codebench.gold.carrying import Journey, fate_of
from codebench.gold.logs.trees import Tree
from codebench.model import Chunk, Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codebench.gold.workshop import Source
    from codebench.model import Corpus

_TREES_HELD = 64


@dataclass(frozen=True, slots=True)
class Landed:
    """A place at the snapshot.

    Attributes:
        path: the file.
        chunk: the symbol; None for the file as a whole.
        journey: how it came there, but for the query's ID; None where it did not have to go.
    """

    path: str
    chunk: Chunk | None
    journey: Journey | None = None

    @property
    def name(self) -> str:
        """The chunk ID, or the path."""
        return self.path if self.chunk is None else self.chunk.id

    def target(self, grade: int, weight: float = 1.0) -> Target:
        """Return it as a target."""
        if self.chunk is None:
            return Target(self.path, self.path, grade, weight)
        return Target(
            path=self.path,
            chunk=self.chunk.id,
            grade=grade,
            weight=weight,
            fingerprint=self.chunk.fingerprint,
            masked=self.chunk.masked,
        )


class Ground:
    """The snapshot, and the commits from which places come to it.

    Args:
        source: the repository.
        snapshot: full ID.
        corpus: the snapshot's.

    Attributes:
        lost: how many places did not come to it.
    """

    def __init__(self, source: Source, snapshot: str, corpus: Corpus) -> None:
        self._source = source
        self._snapshot = snapshot
        self._corpus = corpus
        self._chunks = {chunk.id: chunk for chunk in corpus.chunks()}
        self._place = Whereabouts(corpus.by_path, corpus.text, whole=True)
        self._trees: OrderedDict[str, Tree] = OrderedDict()
        self._renames: dict[str, Mapping[str, str]] = {}
        self._known: dict[tuple[str, str], Landed | None] = {}
        self.lost = 0

    def tree(self, commit: str) -> Tree:
        """Return the files of a commit."""
        tree = self._trees.pop(commit, None) or Tree(self._source, commit)
        self._trees[commit] = tree
        if len(self._trees) > _TREES_HELD:
            self._trees.popitem(last=False)
        return tree

    def land(self, tree: Tree, path: str, chunk: Chunk | None) -> Landed | None:
        """Return where a place of a commit stands at the snapshot; None where it is lost."""
        key = (tree.commit, path if chunk is None else chunk.id)
        if key not in self._known:
            self._known[key] = self._land(tree, path, chunk)
        landed = self._known[key]
        self.lost += landed is None or not landed.path
        return landed

    def _land(self, tree: Tree, path: str, chunk: Chunk | None) -> Landed | None:
        if tree.commit == self._snapshot:
            if path not in self._corpus.by_path:
                return None
            return Landed(path, self._chunks.get(chunk.id) if chunk is not None else None)
        renamed = self._renamed(tree.commit).get(path, path)
        if chunk is None:
            found = next((one for one in (path, renamed) if one in self._corpus.by_path), None)
            return None if found is None else Landed(found, None)
        origin = Origin(chunk, lambda: self._source.labeller.text_at(tree.commit, chunk), renamed)
        carried = self._place.find(origin)
        journey = Journey("", chunk, carried, fate_of(carried))
        if carried is None or carried.drifted:
            return Landed("", None, journey)
        return Landed(carried.chunk.path, carried.chunk, journey)

    def _renamed(self, commit: str) -> Mapping[str, str]:
        if commit not in self._renames:
            try:
                renames = self._source.shadow.renames(commit, self._snapshot)
            except GitError:  # without renames, what moved is found by its fingerprint alone
                renames = {}
            self._renames[commit] = renames
        return self._renames[commit]
