"""Writing a file that somebody named: whole, or as it was before."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_file(path: Path, text: str) -> None:
    """Write a text file; the one that is there is replaced when all of it is written.

    A link keeps pointing where it points, and who may read the file stays as it was. A device or
    a pipe is written to: it is never replaced by a file.

    Raises:
        OSError: it cannot be written; a file that was there is as it was.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    place = path.resolve()
    scratch = place.with_name(f".{place.name[:100]}-{secrets.token_hex(6)}")
    try:
        scratch.write_text(text, encoding="utf-8")
        if place.exists():
            shutil.copymode(place, scratch)
        os.replace(scratch, place)  # noqa: PTH105  # says that what is there is replaced
    except BaseException:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise
