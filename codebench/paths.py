"""One spelling for a path inside a corpus."""

from __future__ import annotations

import os


def canonical_path(path: str, root: str) -> str | None:
    """Return a path relative to the corpus root, with `/` and without `.`, `..` or `//`.

    Pure: nothing is looked up on disk. Case is kept. A backslash separates only on Windows,
    because elsewhere it may be part of a name.

    Args:
        path: as a tool printed it: relative to the root, or absolute under it.
        root: the absolute directory that the tool searched.

    Returns:
        None where the path is empty, is the root itself, or leaves the root.
    """
    if os.sep == "\\":
        path, root = path.replace("\\", "/"), root.replace("\\", "/")
    if "\0" in path:
        return None
    if path.startswith("/"):
        prefix = root.rstrip("/") + "/"
        if not path.startswith(prefix):
            return None
        path = path[len(prefix) :]
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts) or None
