"""Labels many commits: reads their blobs, parses what is new, and keeps the results."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.corpus.chunks import CHUNKER_VERSION, file_table_of
from codebench.corpus.contents import MAX_FILE_BYTES, is_text
from codebench.corpus.languages import language_of
from codebench.corpus.outliner import tables_of
from codebench.gold import filters
from codebench.gold.label import FilePair, Label, label_commit
from codebench.model import Chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from codebench.corpus.cache import ChunkCache
    from codebench.corpus.chunks import Outline
    from codebench.corpus.outliner import Outliner
    from codebench.git import Shadow
    from codebench.gold.history import Change, Commit
    from codebench.model import FileTable

    Blob = tuple[str, str]

_BATCH = 512
_BLOBS_HELD = 64
_RULES = ("filters", "label", "labeller", "paths", "text")
"""The modules beside this one that decide what a label is."""


class Labeller:
    """Labels commits with the symbols that they edited; each commit once, ever.

    A label depends on the commit's changes and on the rules alone, so it is kept in the cache
    too: an interrupted build goes on where it was, and the next one reads no blob.

    Args:
        shadow: reads blobs.
        outliner: parses them.
        cache: keeps labels between runs.

    Attributes:
        labels: by commit ID.
    """

    def __init__(self, shadow: Shadow, outliner: Outliner, cache: ChunkCache) -> None:
        self._shadow = shadow
        self._outliner = outliner
        self._cache = cache
        self._tree_of: tuple[str, Mapping[str, str]] = ("", {})
        self._lines = lru_cache(_BLOBS_HELD)(self._read_lines)
        self.labels: dict[str, Label] = {}

    def label(self, commits: Sequence[Commit], progress: Callable[[int, int], None]) -> None:
        """Label the commits that have no label yet.

        Args:
            commits: newest first.
            progress: told how many of how many are done.
        """
        todo = [commit for commit in commits if commit.id not in self.labels]
        for start in range(0, len(todo), _BATCH):
            batch = todo[start : start + _BATCH]
            progress(start, len(todo))
            keys = {commit.id: _key(commit) for commit in batch}
            known = self._cache.get(keys.values())
            self.labels.update(
                (name, _from_row(known[key])) for name, key in keys.items() if key in known
            )
            fresh = [commit for commit in batch if commit.id not in self.labels]
            self._label_batch(fresh)
            labels = {commit: self.labels[commit.id] for commit in fresh}
            # What is missing today may be fetched tomorrow.
            self._cache.put(
                {
                    keys[commit.id]: _row(label)
                    for commit, label in labels.items()
                    if label.verdict != filters.MISSING
                }
            )
        if todo:
            progress(len(todo), len(todo))

    def tables_at(self, commit: str, paths: Set[str]) -> dict[str, FileTable]:
        """Return the tables of some files of a commit's tree."""
        tree = self.tree(commit)
        files = {path: tree[path] for path in sorted(paths) if path in tree}
        return tables_of(files, self._outlines((blob, path) for path, blob in files.items()))

    def tree(self, commit: str) -> Mapping[str, str]:
        """Return the regular files of a commit's tree: blob ID by path."""
        if self._tree_of[0] != commit:
            files = {
                entry.path.decode("utf-8", "replace"): entry.id
                for entry in self._shadow.tree(commit)
                if entry.mode.startswith("100")
            }
            self._tree_of = (commit, files)
        return self._tree_of[1]

    def text_at(self, commit: str, chunk: Chunk) -> str:
        """Return a chunk's own lines as they stand in a commit's tree."""
        return _cut(self._lines(self.tree(commit)[chunk.path]), chunk)

    def text_before(self, commit: Commit, chunk: Chunk) -> str:
        """Return a target's own lines as they stood at the commit's parent."""
        blob = next(one.old_id for one in commit.changes if one.old_path == chunk.path)
        return _cut(self._lines(blob), chunk)

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
                label_commit(whole, renames=_renames(commit))
                if len(whole) == len(pairs)
                else Label((), filters.MISSING)
            )

    def _outlines(self, sides: Iterable[tuple[str, str]]) -> dict[Blob, Outline]:
        """Return outlines by (blob, language) for (blob, path) pairs."""
        # Versions of one file together, in their order: they are parsed fastest so.
        by_path = sorted(dict.fromkeys(sides), key=lambda side: side[1])
        wanted = list(dict.fromkeys((blob, language_of(path)) for blob, path in by_path))
        found = self._outliner.known(wanted)
        missing = [blob for blob in wanted if blob not in found]
        return found | dict(self._outliner.parse(self._contents(missing)))

    def _contents(self, blobs: Sequence[Blob]) -> Iterator[tuple[Blob, bytes]]:
        ids = (blob for blob, _ in blobs)
        for blob, (_, data) in zip(blobs, self._shadow.blobs(ids, MAX_FILE_BYTES), strict=True):
            if data is not None and is_text(data):
                yield blob, data

    def _read_lines(self, blob: str) -> Sequence[str]:
        (found,) = self._shadow.blobs([blob], MAX_FILE_BYTES)
        return (found[1] or b"").decode("utf-8", "replace").split("\n")


def _cut(lines: Sequence[str], chunk: Chunk) -> str:
    return "\n".join(line for start, end in chunk.spans for line in lines[start - 1 : end])


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


def _renames(commit: Commit) -> bool:
    """Tell whether a commit, or the pull request that it merges, is about a new name."""
    return filters.renames_something(filters.pull_request_message(commit))


def _key(commit: Commit) -> str:
    """Return a label's key: of the commit, and of its changes as they were read.

    A merge has changes where first parents are followed only, and a partial clone does not tell
    what is renamed and edited; completed, it does.
    """
    digest = hashlib.sha256()
    for one in filters.source_changes(commit):
        side = f"{one.old_id} {one.new_id} {one.old_path}\0{one.path}\0"
        digest.update(side.encode("utf-8", "surrogateescape"))
    return f"label:{_VERSION}:{commit.id}:{digest.hexdigest()[:16]}"


def _row(label: Label) -> list[Any]:
    targets = [
        [
            *(one.path, one.name, one.ordinal, one.kind, one.fingerprint, one.masked, one.size),
            [list(span) for span in one.spans],
        ]
        for one in label.targets
    ]
    return [label.verdict, label.diff, targets]


def _from_row(row: Any) -> Label:
    verdict, diff, targets = row
    return Label(
        tuple(
            Chunk(path, name, ordinal, kind, tuple((a, b) for a, b in spans), print_, masked, size)
            for path, name, ordinal, kind, print_, masked, size, spans in targets
        ),
        verdict,
        diff,
    )


def _version() -> str:
    digest = hashlib.sha256(CHUNKER_VERSION.encode())
    for module in _RULES:
        digest.update(Path(__file__).with_name(f"{module}.py").read_bytes())
    return digest.hexdigest()[:12]


_VERSION = _version()
