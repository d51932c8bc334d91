"""Where the built-in adapters and suites lie, and the cache."""

from __future__ import annotations

import os
from pathlib import Path

from codebench.errors import CodebenchError

_PACKAGE = Path(__file__).resolve().parent


def builtin(room: str) -> Path:
    """Return the folder of built-in `adapters` or `suites`.

    A wheel carries them inside the package; a checkout and an editable install have them
    beside it.
    """
    packaged = _PACKAGE / "_builtin" / room
    return packaged if packaged.is_dir() else _PACKAGE.parent / room


def cache_dir() -> Path:
    """Return the cache folder: CODEBENCH_CACHE, else codebench under the user's cache folder.

    It is not created here.

    Raises:
        CodebenchError: no home folder can be found, and no variable names a cache.
    """
    chosen = os.environ.get("CODEBENCH_CACHE")
    if chosen:
        return Path(chosen).absolute()
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if xdg.startswith("/"):
        return Path(xdg) / "codebench"
    try:
        return Path.home() / ".cache" / "codebench"
    except RuntimeError:
        raise CodebenchError(
            "no home folder can be found for the cache; set CODEBENCH_CACHE to a folder"
        ) from None
