"""A reference -> where the adapter is, without running any of its code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.adapter.references import IN_FILE, builtin_names
from codebench.errors import AdapterError
from codebench.home import builtin
from codebench.reading import alike, beside, near

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

ENTRY_POINTS = "codebench.adapters"
"""The group under which an installed package names its adapters."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where an adapter's class is.

    Attributes:
        file: the Python file, absolute; None for an installed entry point.
        attribute: the class's name; empty for a file's only retriever.
        entry: the entry point's name, or empty.
    """

    file: Path | None
    attribute: str = ""
    entry: str = ""


def find(reference: str, folder: Path | None = None) -> Source:
    """Find a reference without running any of its code.

    Args:
        reference: a built-in name, an entry point's name, or `file.py[:Class]`.
        folder: what a relative file is relative to; the current directory by default.

    Raises:
        AdapterError: there is no such file, built-in adapter or entry point.
    """
    match = IN_FILE.fullmatch(reference)
    if match:
        file = ((folder or Path.cwd()) / Path(match["file"]).expanduser()).absolute()
        if not file.is_file():
            hint = _near_file(file)
            raise AdapterError(f"{reference}: there is no file {match['file']!r}{hint}")
        return Source(file, match["name"] or "")
    known = builtin_names()
    if reference in known:
        return Source(builtin("adapters") / f"{reference.replace('-', '_')}.py")
    installed = entry_points().names
    if reference in installed:
        return Source(None, entry=reference)
    meant = meant_file(reference, folder or Path.cwd())
    if meant:
        raise AdapterError(f"{reference!r} is no retriever; did you mean {meant}?")
    names = {*known, *installed}
    several = [part.strip() for part in reference.split(",")]
    if len(several) > 1 and names.issuperset(several):
        calls = " ".join(f"-r {name}" for name in several)
        raise AdapterError(f"{reference!r} is several retrievers; -r may be repeated: {calls}")
    hint = near(reference.lower(), names)
    raise AdapterError(
        f"{reference!r} is no retriever; {hint} (a file of your own is file.py:Class)"
    )


def meant_file(text: str, folder: Path) -> str:
    """Return `mine.py:Mine` for `mine:Mine` where that file is there; else nothing.

    A module's name is understood too: `tools.mine:Mine` is `tools/mine.py:Mine`.
    """
    head, colon, tail = text.partition(":")
    for stem in (head, head.replace(".", "/")):
        if re.fullmatch(r"[\w./-]{1,200}", stem) and (folder / f"{stem}.py").is_file():
            return f"{stem}.py{colon}{tail}"
    return ""


def _near_file(file: Path) -> str:
    """Return `; did you mean mine.py?` for `mien.py` where that one lies in the folder."""
    close = alike(
        file.stem, (Path(one).stem for one in beside(file, folders=False) if one.endswith(".py")), 1
    )
    return f"; did you mean {close[0]}.py?" if close else ""


def entry_points() -> EntryPoints:
    """Return the installed adapters."""
    from importlib import metadata  # noqa: PLC0415  # reads every installed package

    return metadata.entry_points(group=ENTRY_POINTS)
