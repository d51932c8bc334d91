"""What a person probably meant by a TARGET that is neither folder, suite nor repository."""

from __future__ import annotations

import shlex
from pathlib import Path

from codebench.errors import InputError
from codebench.home import builtin
from codebench.reading import Faults, alike, beside, is_file, is_name, read_yaml
from codebench.suite import QUERIES_FILE, SUITE_FILE

_NO_TARGET = "is a file; name a suite folder, a repository or a built-in suite"


def mistaken(file: Path) -> str:
    """Return what a file is that was named in the place of a suite or a repository."""
    if file.name in {SUITE_FILE, QUERIES_FILE}:
        return f"is a file of a suite; name its folder: {shlex.quote(str(file.parent))}"
    if file.suffix.lower() not in {".yaml", ".yml"}:
        return _NO_TARGET
    try:
        found = read_yaml(file, Faults(file)).data
    except InputError:
        return _NO_TARGET
    own = shlex.quote(str(file))
    if "questions" in found:
        out = shlex.quote(f"suites/{file.stem}")
        return f"is a questions file: codebench suite build . --questions {own} -o {out}"
    if "retrievers" in found:
        return f"is a file of retrievers: codebench run . -r {own}"
    return _NO_TARGET


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
