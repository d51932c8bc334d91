"""Code that is on every machine: a folder of the running Python, as a pinned corpus.

The files are copied into the cache, so that a retriever sees what the rules take and nothing else,
and so that an upgrade of Python changes no corpus that is being asked.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.corpus.contents import MAX_FILE_BYTES, corpus_digest, is_safe, is_text
from codebench.corpus.directory import open_directory
from codebench.corpus.snapshot import put
from codebench.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from codebench.corpus.outliner import Outliner
    from codebench.corpus.rules import SnapshotRules
    from codebench.model import Corpus

SCHEME = "sysconfig:"
"""`sysconfig:stdlib` names the folder that `sysconfig.get_path("stdlib")` gives."""


def is_installed(repository: str) -> bool:
    """Tell whether a suite's repository is a folder of the running Python."""
    return repository.startswith(SCHEME)


def open_installed(
    repository: str, *, cache: Path, outliner: Outliner, rules: SnapshotRules
) -> Corpus:
    """Return a folder of the running Python as a corpus, copied into the cache where it is not.

    Args:
        repository: `sysconfig:` and the name of a path that `sysconfig` knows.
        cache: folder under which corpora are kept.
        outliner: parses what is not parsed yet.
        rules: which files belong to it.

    Raises:
        CorpusError: Python has no such folder, no file in it is taken, or the cache cannot be
            written.
    """
    root = _folder(repository)
    try:
        contents = dict(_contents(root, rules))
        digests = {path: hashlib.sha256(data).hexdigest() for path, data in contents.items()}
        if not contents:
            raise CorpusError(f"{root}: holds none of the files that the suite is asked of")
        place = cache / f"installed-{corpus_digest(digests).partition(':')[2][:20]}"
        if not (place / "corpus.json").is_file():
            _write(contents, digests, place, (place / "corpus.json").is_file)
        corpus = open_directory(place / "files", outliner)
        if corpus.digest != corpus_digest(digests):  # somebody edited the copy
            _write(contents, digests, place, lambda: _holds(place, outliner, digests))
            corpus = open_directory(place / "files", outliner)
    except OSError as error:
        raise CorpusError(
            f"{error.filename or cache}: the corpus cannot be copied ({error.strerror or error}); "
            "free space, or set CODEBENCH_CACHE to another folder"
        ) from None
    return corpus


def _holds(place: Path, outliner: Outliner, digests: Mapping[str, str]) -> bool:
    """Tell whether a copy is sound: a run beside may have mended it by now."""
    try:
        return open_directory(place / "files", outliner).digest == corpus_digest(digests)
    except CorpusError:
        return False


def _folder(repository: str) -> Path:
    name = repository.removeprefix(SCHEME)
    try:
        return Path(sysconfig.get_path(name))
    except KeyError:
        known = ", ".join(sysconfig.get_path_names())
        raise CorpusError(f"{repository}: Python knows no such folder; known: {known}") from None


def _contents(root: Path, rules: SnapshotRules) -> Iterator[tuple[str, bytes]]:
    """Yield the text files that the rules take, sorted by path; links are not followed."""
    for place, folders, files in os.walk(root):
        inside = Path(place).relative_to(root).as_posix().removeprefix(".")
        folders[:] = sorted(
            name
            for name in folders
            if name != "__pycache__" and not _left_out(f"{inside}/{name}/".lstrip("/"), rules)
        )
        for name in sorted(files):
            path = Path(place, name)
            relative = path.relative_to(root).as_posix()
            if not rules.takes(relative) or not is_safe(os.fsencode(relative)):
                continue
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_FILE_BYTES:
                data = path.read_bytes()
                if is_text(data):
                    yield relative, data


def _left_out(folder: str, rules: SnapshotRules) -> bool:
    """Tell whether nothing below a folder is taken, so that it need not be walked."""
    return any(glob.endswith("*") and fnmatch.fnmatchcase(folder, glob) for glob in rules.exclude)


def _write(
    contents: Mapping[str, bytes],
    digests: Mapping[str, str],
    place: Path,
    is_whole: Callable[[], bool],
) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".making-", dir=place.parent))
    try:
        for path, data in contents.items():
            file = scratch / "files" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            file.chmod(0o444)
        about = {"digest": corpus_digest(digests), "files": dict(digests)}
        # The digest stands first: who looks for a corpus reads no more of the others.
        (scratch / "corpus.json").write_text(json.dumps(about, sort_keys=True), "utf-8")
        put(scratch, place, is_whole)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
