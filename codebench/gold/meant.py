"""What a person probably meant by a TARGET that is neither folder, suite nor repository."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from codebench.home import builtin
from codebench.reading import is_file, is_name
from codebench.suite import SUITE_FILE

_MOST = 2_000
"""So many folders are looked at beside the one that is missing."""


def meant(target: str) -> str:
    """Return what a target probably means, as the end of a message; empty where nothing is near.

    It may be the name of a recipe, which is built before it is run, a built-in suite's, or that of
    a folder beside it.
    """
    suites = builtin("suites")
    if is_name(target) and is_file(suites / "recipes" / f"{target}.yaml"):
        return f"; it is a recipe: codebench suite build --recipe {target} -o suites/{target}"
    known = {folder.parent.name for folder in suites.glob(f"*/{SUITE_FILE}")}
    close = get_close_matches(target, sorted(known | set(_beside(Path(target)))), 1)
    return f"; did you mean {close[0]}?" if close else ""


def _beside(missing: Path) -> list[str]:
    """Return the folders beside a missing one, named as it was; hidden ones are nobody's suite."""
    found: list[str] = []
    try:
        for entry in missing.parent.iterdir():
            if not entry.name.startswith(".") and entry.is_dir():
                found.append(str(entry))
            if len(found) >= _MOST:
                break
    except (OSError, ValueError):
        return []
    return found
