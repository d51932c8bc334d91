"""What a person probably meant by a TARGET that is neither folder, suite nor repository."""

from __future__ import annotations

from pathlib import Path

from codebench.home import builtin
from codebench.reading import alike, beside, is_file, is_name
from codebench.suite import SUITE_FILE


def meant(target: str) -> str:
    """Return what a target probably means, as the end of a message; empty where nothing is near.

    It may be the name of a recipe, which is built before it is run, a built-in suite's, or that of
    a folder beside it.
    """
    suites = builtin("suites")
    if is_name(target) and is_file(suites / "recipes" / f"{target}.yaml"):
        return f"; it is a recipe: codebench suite build --recipe {target} -o suites/{target}"
    known = {folder.parent.name for folder in suites.glob(f"*/{SUITE_FILE}")}
    close = alike(target, sorted(known | set(beside(Path(target), folders=True))), 1)
    return f"; did you mean {close[0]}?" if close else ""
