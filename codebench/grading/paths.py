"""A path as the corpus names it."""

from __future__ import annotations

import os
import posixpath
import re

_DRIVE = re.compile(r"[A-Za-z]:/")


def canonical_path(path: str, root: str | os.PathLike[str]) -> str | None:
    r"""Return a path as the corpus names it: relative to the root, with `/`; None when outside.

    `./a`, `a//b` and `b/../a` are mended, an absolute path under the root is made relative (the
    root may be given through a link), and `\` is a separator on Windows only. A path that leaves
    the root, the root itself and what no file can be named give None. Nothing is looked up but,
    for an absolute path, where the root's links lead.
    """
    if not path or "\0" in path:
        return None
    windows = os.name == "nt"
    name = path.replace("\\", "/") if windows else path
    if posixpath.isabs(name) or (windows and _DRIVE.match(name)):
        inside = _under(name, os.fspath(root)) or _under(name, os.path.realpath(root))
        if inside is None:
            return None
        name = inside
    name = posixpath.normpath(name)
    return None if name in (".", "..") or name.startswith("../") else name


def _under(path: str, root: str) -> str | None:
    base = root.replace("\\", "/") if os.name == "nt" else root
    base = posixpath.normpath(base).rstrip("/") + "/"
    clean = posixpath.normpath(path)
    if clean.startswith("//"):  # POSIX lets two leading slashes mean something else; files do not
        clean = clean[1:]
    return clean.removeprefix(base) if clean.startswith(base) else None
