"""Several suites, one after the other, under one roof."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from codebench.results import read_ends
from codebench.results.several import MEMBERS, read_several, write_several
from codebench.runner.record import new_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Ask = Callable[[str, Path], Path]


def run_several(
    name: str, members: Sequence[str], results: Path, ask: Ask, *, resume: bool = False
) -> Path:
    """Ask each suite in turn, and return the folder of them all.

    Args:
        name: of the suite of several.
        members: their names.
        results: the folder of runs.
        ask: runs one member into a folder of runs, and returns the run's folder.
        resume: whether the newest run of the same members is gone on with; each member then
            decides for itself what can be kept.

    Raises:
        ResultsError: the folder cannot be written.
    """
    folder = _newest(results, name, members) if resume else None
    folder = folder or new_folder(results, name, datetime.now(UTC))
    write_several(folder, name, members, ended=False)
    for member in members:
        path = ask(member, folder / MEMBERS / member)
        manifest, _ = read_ends(path)
        if not manifest["complete"]:
            return folder  # it was interrupted: nothing more is begun
    write_several(folder, name, members, ended=True)
    return folder


def _newest(results: Path, name: str, members: Sequence[str]) -> Path | None:
    for path in sorted(results.glob("*"), reverse=True):
        manifest = read_several(path)
        if manifest and manifest["name"] == name and manifest["members"] == list(members):
            return path
    return None
