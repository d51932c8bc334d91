"""What lies beside a file or folder that is not there, and was probably meant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from codebench.reading.words import alike

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST = 2_000
"""So many entries are looked at."""


def meant_file(missing: Path, endings: Iterable[str] = ()) -> str:
    """Return `did you mean mine.yaml?` where a file beside has such a name; else nothing.

    Args:
        missing: what is not there.
        endings: those that the file may have, as `.yaml`; any where none is named.
    """
    wanted = frozenset(endings)
    near = [
        Path(one).name
        for one in beside(missing, folders=False)
        if not wanted or Path(one).suffix.lower() in wanted
    ]
    same = [name for name in near if Path(name).stem == missing.stem]
    close = (same or alike(missing.name, near))[:1]
    return f"did you mean {close[0]}?" if close else ""


def meant_folder(missing: Path) -> str:
    """Return `did you mean results/shop?` where a folder beside has such a name; else nothing."""
    close = alike(str(missing), beside(missing, folders=True), 1)
    return f"did you mean {close[0]}?" if close else ""


def beside(missing: Path, *, folders: bool) -> list[str]:
    """Return the folders, or files, beside what is missing, named as it was; no hidden ones."""
    found: list[str] = []
    try:
        for entry in missing.parent.iterdir():
            wanted = entry.is_dir() if folders else entry.is_file()
            if wanted and not entry.name.startswith("."):
                found.append(str(entry))
            if len(found) >= _MOST:
                break
    except (OSError, ValueError):  # of a place that cannot be read, and of NUL
        return []
    return sorted(found)
