"""A commit as a read-only corpus.

A snapshot is written once, under the ID of its tree, into the cache; every later use checks its
digest. Nothing of the repository decides where a file is written: paths that would leave the
folder are left out, symlinks and submodules are not followed, and no filter or attribute runs.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from codebench.corpus.chunks import CHUNKER_VERSION
from codebench.corpus.contents import MAX_FILE_BYTES, corpus_digest, is_safe, is_text
from codebench.corpus.directory import MAX_CORPUS_BYTES, open_directory
from codebench.corpus.languages import language_of
from codebench.corpus.outliner import Outliner, tables_of
from codebench.corpus.tables import read_tables, write_tables
from codebench.errors import CorpusError, InputError, ResultsError
from codebench.model import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from codebench.corpus.rules import SnapshotRules
    from codebench.git import Shadow, TreeEntry

_TAKEN = frozenset({errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR})
_TRIES = 5
_NO_CORPUS = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, InputError, RecursionError),
)
"""What reading a folder of the cache ends with that holds something else, or a damaged corpus."""


def open_snapshot(
    shadow: Shadow, commit: str, *, cache: Path, outliner: Outliner, rules: SnapshotRules
) -> Corpus:
    """Return the corpus of a commit, made in the cache when it is not there or not intact.

    Args:
        shadow: reads the repository.
        commit: full ID.
        cache: folder under which corpora are kept.
        outliner: parses what is not parsed yet.
        rules: which files belong to it.

    Raises:
        CorpusError: the cache cannot be written, or the snapshot holds no text file.
    """
    place = cache / f"{shadow.tree_id(commit)[:20]}-{rules.key}"
    corpus = _read(place)
    if corpus is None:
        try:
            if not _add_tables(place, outliner):
                _build(shadow, commit, place, outliner, rules)
        except (OSError, ResultsError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise CorpusError(
                f"{place}: the snapshot cannot be written ({reason}); free space, or set "
                "CODEBENCH_CACHE to another folder"
            ) from None
        corpus = _read(place)
    if corpus is None:
        raise CorpusError(f"{place}: the snapshot changed while it was made; run it again")
    if not corpus.tables:
        raise CorpusError(f"commit {commit[:12]} holds no text file; choose another snapshot")
    return corpus


def _build(
    shadow: Shadow, commit: str, place: Path, outliner: Outliner, rules: SnapshotRules
) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".making-", dir=place.parent))
    try:
        entries = {
            entry.path.decode(): entry.id
            for entry in shadow.tree(commit)
            if _is_file(entry) and is_safe(entry.path) and rules.takes(entry.path.decode())
        }
        _check_sizes(shadow, commit, entries)
        digests: dict[str, str] = {}
        blobs: dict[str, str] = {}
        outlines = outliner.known({(blob, language_of(path)) for path, blob in entries.items()})
        fresh = _write_files(shadow, entries, scratch / "files", digests, blobs, outlines.keys())
        outlines |= dict(outliner.parse(fresh))
        tables = tables_of(blobs, outlines)
        write_tables([tables[path] for path in sorted(tables)], scratch / _tables_name())
        about = {"digest": corpus_digest(digests), "files": digests}
        (scratch / "corpus.json").write_text(json.dumps(about, sort_keys=True), "utf-8")
        _seal(scratch / "files")
        put(scratch, place, lambda: _read(place) is not None)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def put(scratch: Path, place: Path, is_whole: Callable[[], bool]) -> None:
    """Rename a finished corpus into its place; one of a run beside that is whole stays there.

    Raises:
        OSError: it cannot be renamed.
    """
    for tries_left in reversed(range(_TRIES)):
        try:
            scratch.rename(place)
        except OSError as error:
            if not tries_left or error.errno not in _TAKEN:
                raise
        else:
            return
        if is_whole():
            return
        _remove(place)  # and a run beside may put a whole one there before this one does


def _remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)


def _add_tables(place: Path, outliner: Outliner) -> bool:
    """Write this version's tables beside the files of a corpus; False where it is not whole.

    It stays where it is: another version, or a retriever, may be reading it.
    """
    try:
        about = _about(place)
        corpus = open_directory(place / "files", outliner)
    except (*_NO_CORPUS, CorpusError):
        return False
    if corpus.digest != about["digest"]:
        return False
    part = place / f".making-{secrets.token_hex(6)}"
    try:
        write_tables(sorted(corpus.tables, key=lambda table: table.path), part)
        os.replace(part, place / _tables_name())  # noqa: PTH105  # the same call
    finally:
        part.unlink(missing_ok=True)
    return True


def _check_sizes(shadow: Shadow, commit: str, entries: Mapping[str, str]) -> None:
    """Refuse a snapshot that lacks files, and one that would fill the disk.

    A few kilobytes can name one blob a million times.
    """
    sizes = [size for _, size in shadow.sizes(entries.values())]
    missing = sum(size is None for size in sizes)
    if missing:
        raise CorpusError(
            f"the repository lacks {missing} of the {len(sizes)} files of commit {commit[:12]}; "
            "it is a partial clone or damaged: clone it again as a whole, without --filter"
        )
    total = sum(size for size in sizes if size is not None and size <= MAX_FILE_BYTES)
    if total > MAX_CORPUS_BYTES:
        raise CorpusError(
            f"commit {commit[:12]} holds {total >> 20:,} MB of files, more than "
            f"{MAX_CORPUS_BYTES >> 20:,} MB; leave some out (--include, --exclude)"
        )


def _write_files(
    shadow: Shadow,
    entries: Mapping[str, str],
    root: Path,
    digests: dict[str, str],
    blobs: dict[str, str],
    known: Iterable[tuple[str, str]],
) -> Iterator[tuple[tuple[str, str], bytes]]:
    """Write the text files, note their digests, and yield those that are not parsed yet."""
    root.mkdir()
    seen = set(known)
    for (path, blob), (_, data) in zip(
        entries.items(), shadow.blobs(entries.values(), MAX_FILE_BYTES), strict=True
    ):
        if data is None or not is_text(data) or not _write_new(root / PurePosixPath(path), data):
            continue
        digests[path] = hashlib.sha256(data).hexdigest()
        blobs[path] = blob
        key = (blob, language_of(path))
        if key not in seen:
            seen.add(key)
            yield key, data


def _write_new(path: Path, data: bytes) -> bool:
    """Write a file that must not exist.

    Twins collide on a file system that folds case; a damaged tree has a file and a folder of one
    name.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except (FileExistsError, NotADirectoryError):
        return False
    return True


def _read(place: Path) -> Corpus | None:
    """Return a cached corpus, or None when it is not there or not what it says."""
    try:
        about = _about(place)
        for path, digest in about["files"].items():
            if hashlib.sha256((place / "files" / path).read_bytes()).hexdigest() != digest:
                return None
        if corpus_digest(about["files"]) != about["digest"]:
            return None
        tables = tuple(read_tables(place / _tables_name()))
    except _NO_CORPUS:
        return None
    return Corpus(place / "files", about["digest"], tables)


def _about(place: Path) -> Any:
    return json.loads((place / "corpus.json").read_text("utf-8"))


def _tables_name() -> str:
    return f"tables-{CHUNKER_VERSION}.jsonl.gz"


def _seal(root: Path) -> None:
    for folder, _, files in os.walk(root, topdown=False):
        for name in files:
            Path(folder, name).chmod(0o444)


def _is_file(entry: TreeEntry) -> bool:
    return entry.mode.startswith("100")
