"""Programs that adapters run: whether they are there, and what they print."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_COMPLAINTS = 300


class ProgramError(RuntimeError):
    """A program failed; the message holds its status and the end of what it complained."""


def find_program(name: str) -> str | None:
    """Return where a program is: on the path, or beside this Python (an environment's own)."""
    return shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))


def missing_program(name: str, install: str) -> str | None:
    """Return that a program is not there and what installs it; None where it is."""
    return None if find_program(name) else why_missing(name, install)


def why_missing(name: str, install: str) -> str:
    """Say why a program was not found, and the mend; a name with a folder is looked at itself."""
    if os.sep in name and os.path.isfile(name):  # noqa: PTH113  # a text that may be no path
        return f"the program {name} is there but not executable; chmod +x it"
    return f"the program {name} is not there; {install}"


def missing_package(names: Sequence[str], install: str) -> str | None:
    """Return that distributions are not installed and what installs them; None where all are."""
    absent = [name for name in names if not _is_installed(name)]
    if not absent:
        return None
    are = "package {} is" if len(absent) == 1 else "packages {} are"
    return f"the {are.format(', '.join(absent))} not installed; {install}"


def _is_installed(distribution: str) -> bool:
    """Ask by the distribution: an adapter's file may be called as the module that it wraps."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  # slow to import

    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def run_program(
    argv: Sequence[str],
    *,
    cwd: Path,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
    good: Sequence[int] = (0, 1),
) -> bytes:
    """Run a program without a shell and return what it prints.

    Args:
        argv: the program's name and its arguments.
        cwd: where it runs.
        stdin: what it reads.
        environment: added to this process's own.
        good: statuses that are no failure (1 is a search's "nothing found").

    Raises:
        ProgramError: it ends with another status.
    """
    done = subprocess.run(
        [find_program(argv[0]) or argv[0], *argv[1:]],
        cwd=cwd,
        input=stdin.encode("utf-8", "replace"),
        env={**os.environ, **(environment or {})},
        capture_output=True,
        check=False,
    )
    if done.returncode not in good:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[-_MOST_COMPLAINTS:]
        raise ProgramError(
            f"{argv[0]} ended with status {done.returncode}" + (f": {said}" if said else "")
        )
    return done.stdout


def version_of(*argv: str) -> str:
    """Return the first line that a program prints of itself."""
    shown = run_program(argv, cwd=Path("/"))
    return shown.decode("utf-8", "replace").strip().partition("\n")[0].strip()
