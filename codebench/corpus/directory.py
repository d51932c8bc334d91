"""A pinned directory as a corpus."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.corpus.contents import (
    MAX_FILE_BYTES,
    blob_id,
    corpus_digest,
    is_bytecode,
    is_dot_git,
    is_safe,
    is_text,
)
from codebench.corpus.languages import language_of
from codebench.corpus.outliner import Outliner, tables_of
from codebench.errors import CorpusError
from codebench.model import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CORPUS_BYTES = 4 << 30
"""No code base has more text; the whole of Chromium has about as much."""


def open_directory(folder: Path, outliner: Outliner) -> Corpus:
    """Return a pinned directory as a corpus.

    Raises:
        CorpusError: the directory cannot be read or holds no text file.
    """
    contents: dict[str, bytes] = {}
    try:
        _read_files(folder, contents)
    except OSError as error:
        raise CorpusError(
            f"{error.filename or folder}: cannot be read ({error.strerror or error}); the suite "
            "names its folder as its corpus"
        ) from None
    if not contents:
        raise CorpusError(f"{folder}: no text file in it; is it the corpus folder?")
    blobs = {path: blob_id(data) for path, data in contents.items()}
    wanted = {(blob, language_of(path)) for path, blob in blobs.items()}
    outlines = outliner.known(wanted)
    outlines |= dict(
        outliner.parse(
            ((blob, language_of(path)), contents[path])
            for path, blob in blobs.items()
            if (blob, language_of(path)) not in outlines
        )
    )
    tables = tables_of(blobs, outlines)
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in contents.items()}
    return Corpus(folder, corpus_digest(digests), tuple(tables[path] for path in blobs))


def _read_files(folder: Path, contents: dict[str, bytes]) -> None:
    """Read the text files of a directory, by their paths."""
    total = 0
    for path in sorted(_walk(folder)):
        relative = path.relative_to(folder).as_posix()
        if is_bytecode(relative) or not is_safe(os.fsencode(relative)):
            continue
        if path.stat().st_size > MAX_FILE_BYTES:
            continue
        data = path.read_bytes()
        if is_text(data):
            contents[relative] = data
            total += len(data)
        if total > MAX_CORPUS_BYTES:
            raise CorpusError(
                f"{folder}: holds more than {MAX_CORPUS_BYTES >> 20:,} MB of text; name the folder "
                "of one code base"
            )


def _walk(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise CorpusError(f"{folder}: no such folder; the suite names it as its corpus")
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_dot_git(name))
        for name in files:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path
