"""Which paths and contents may be part of a corpus, and what identifies them."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_FILE_BYTES = 1 << 20
"""A larger file is data or generated: it is no part of a corpus and gives no gold."""

_LFS = b"version https://git-lfs.github.com/spec/"
_SNIFF = 8000


def is_text(data: bytes) -> bool:
    """Tell text from binary by content, as git does, and from a pointer to a large file."""
    return b"\0" not in data[:_SNIFF] and not data.startswith(_LFS)


def is_safe(path: bytes) -> bool:
    """Tell whether a path of a tree can be written under a folder and named in JSON."""
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError:
        return False
    parts = text.split("/")
    if len(path) > 1000 or len(parts) > 100 or any(len(part.encode()) > 255 for part in parts):
        return False
    if os.sep == "\\" and ("\\" in text or ":" in text):
        return False
    return not any(part in {"", ".", ".."} or is_dot_git(part) for part in parts)


def is_dot_git(part: str) -> bool:
    """Tell whether a part of a path is `.git`, on any file system."""
    return part.rstrip(". ").casefold() in {".git", "git~1"}


def is_bytecode(path: str) -> bool:
    """Tell what Python's installers and imports put beside a source, in a folder of its own."""
    folder, _, name = path.rpartition("/")
    return name.endswith(".pyc") and folder.rpartition("/")[2] == "__pycache__"


def blob_id(data: bytes) -> str:
    """Return the ID that git gives to contents, in a repository that names them by SHA-1."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()  # noqa: S324  # git's own


def corpus_digest(digests: Mapping[str, str]) -> str:
    """Return `sha256:…` over paths and the SHA-256 of their contents, by the paths' bytes."""
    digest = hashlib.sha256()
    for path in sorted(digests, key=str.encode):
        digest.update(path.encode() + b"\0" + digests[path].encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"
