"""Labels many commits: reads their blobs, parses what is new, and keeps the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.corpus.chunks import file_table_of
from codebench.corpus.languages import language_of
from codebench.corpus.outliner import MAX_BYTES, tables_of
from codebench.corpus.snapshot import is_text
from codebench.gold import filters
from codebench.gold.label import FilePair, Label, label_commit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from codebench.corpus.chunks import Outline
    from codebench.corpus.outliner import Outliner
    from codebench.git import Shadow
    from codebench.gold.history import Change, Commit
    from codebench.model import Chunk, FileTable

    Blob = tuple[str, str]

_BATCH = 256


class Labeller:
    """Labels commits with the symbols that they edited; each commit once.

    Args:
        shadow: reads blobs.
        outliner: parses them.

    Attributes:
        labels: by commit ID.
    """

    def __init__(self, shadow: Shadow, outliner: Outliner) -> None:
        self._shadow = shadow
        self._outliner = outliner
        self._trees: dict[str, Mapping[str, str]] = {}
        self.labels: dict[str, Label] = {}

    def label(self, commits: Sequence[Commit], progress: Callable[[str, int, int], None]) -> None:
        """Label the commits that have no label yet."""
        todo = [commit for commit in commits if commit.id not in self.labels]
        for start in range(0, len(todo), _BATCH):
            progress("labelling commits", start, len(todo))
            self._label_batch(todo[start : start + _BATCH])

    def tables_at(self, commit: str, paths: Set[str]) -> dict[str, FileTable]:
        """Return the tables of some files of a commit's tree."""
        if commit not in self._trees:
            self._trees[commit] = {
                entry.path.decode("utf-8", "replace"): entry.id
                for entry in self._shadow.tree(commit)
                if entry.mode.startswith("100")
            }
        tree = self._trees[commit]
        files = {path: tree[path] for path in sorted(paths) if path in tree}
        return tables_of(files, self._outlines((blob, path) for path, blob in files.items()))

    def changed_chunks(self, change: Change) -> tuple[Chunk, ...]:
        """Return the chunks of the new file that a change made, or gave other own tokens."""
        outlines = self._outlines(_sides(change))
        pair = _pair(change, outlines)
        if pair is None or pair.new is None:
            return ()
        before = {(one.name, one.fingerprint) for one in (pair.old.chunks if pair.old else ())}
        return tuple(one for one in pair.new.chunks if (one.name, one.fingerprint) not in before)

    def _label_batch(self, commits: Sequence[Commit]) -> None:
        changes = {commit.id: filters.source_changes(commit) for commit in commits}
        outlines = self._outlines(
            side for sources in changes.values() for change in sources for side in _sides(change)
        )
        for commit in commits:
            pairs = [_pair(change, outlines) for change in changes[commit.id]]
            whole = [pair for pair in pairs if pair is not None]
            self.labels[commit.id] = (
                label_commit(whole) if len(whole) == len(pairs) else Label((), filters.MISSING)
            )

    def _outlines(self, sides: Iterable[tuple[str, str]]) -> dict[Blob, Outline]:
        """Return outlines by (blob, language) for (blob, path) pairs."""
        wanted = sorted({(blob, language_of(path)) for blob, path in sides})
        found = self._outliner.known(wanted)
        missing = [blob for blob in wanted if blob not in found]
        return found | dict(self._outliner.parse(self._contents(missing)))

    def _contents(self, blobs: Sequence[Blob]) -> Iterator[tuple[Blob, bytes]]:
        ids = (blob for blob, _ in blobs)
        for blob, (_, data) in zip(blobs, self._shadow.blobs(ids, MAX_BYTES), strict=True):
            if data is not None and is_text(data):
                yield blob, data


def _sides(change: Change) -> Iterator[tuple[str, str]]:
    """Yield (blob, path) before and after, where there is one."""
    if change.old_id.strip("0"):
        yield change.old_id, change.old_path
    if change.new_id.strip("0"):
        yield change.new_id, change.path


def _pair(change: Change, outlines: Mapping[Blob, Outline]) -> FilePair | None:
    tables: list[FileTable | None] = []
    for blob, path in ((change.old_id, change.old_path), (change.new_id, change.path)):
        if not blob.strip("0"):
            tables.append(None)
        elif (blob, language_of(path)) in outlines:
            tables.append(file_table_of(path, outlines[blob, language_of(path)]))
        else:
            return None
    return FilePair(*tables)
