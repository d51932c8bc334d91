"""A stored run by what a person calls it: its folder, a folder of runs, its name, or `latest`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

from codebench.errors import ResultsError
from codebench.reading import is_file, is_folder, near, parse_json, read_text
from codebench.results.layout import MANIFEST, MAX_MANIFEST_BYTES

LATEST = "latest"
"""The newest run in the results folder."""

_STAMP = re.compile(r"\d{8}T\d{6}Z")


def find_run(named: Path, results: Path) -> Path:
    """Return the folder of a run.

    Args:
        named: the run's folder; or a folder of runs, whose newest counts, complete or not; or,
            where nothing has that path, a run's name in `results`, or `latest`.
        results: where runs are kept.

    Raises:
        ResultsError: there is no such run.
    """
    if is_file(named / MANIFEST):
        return named
    if is_folder(named):
        return _newest(named) or _refuse(f"{named}: is no run; it holds no {MANIFEST}", results)
    alone = named == Path(named.name)
    if alone and is_file(results / named / MANIFEST):
        return results / named
    if alone and named.name == LATEST:
        return _newest(results) or _refuse(f"{LATEST}: {results} holds no run yet", results)
    return _refuse(f"{named}: is no run, and no run in {results} has that name", results, named)


def _newest(folder: Path) -> Path | None:
    try:
        runs = [path for path in folder.iterdir() if is_file(path / MANIFEST)]
    except OSError:
        return None
    return max(runs, key=lambda path: (_started(path), path.name), default=None)


def _started(run: Path) -> str:
    """Return when a run began, as `20240501T120000Z`; by its name, or else by its manifest."""
    stamp = _STAMP.match(run.name)
    if stamp:
        return stamp[0]
    try:
        data = parse_json(read_text(run / MANIFEST, MAX_MANIFEST_BYTES))
    except (OSError, ValueError):
        return ""  # who reads it says what is wrong with it
    started = data.get("started") if isinstance(data, dict) else None
    return re.sub("[:-]", "", started)[:15] + "Z" if isinstance(started, str) else ""


def _refuse(problem: str, results: Path, named: Path | None = None) -> NoReturn:
    try:
        there = sorted(path.name for path in results.iterdir() if is_file(path / MANIFEST))
    except OSError:
        there = []
    hint = near(named.name, there) if named else ""
    meant = f"; {hint}" if hint.startswith("did you mean") else ""
    raise ResultsError(f"{problem}{meant}; `codebench list runs` names those in {results}")
