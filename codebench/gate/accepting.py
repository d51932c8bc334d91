"""Making a run the baseline: its folder is copied, whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from codebench.errors import NothingMeasured, ResultsError
from codebench.gold.whereabouts import portable
from codebench.judging.scoring import score_run
from codebench.measures.names import parse
from codebench.results import MANIFEST
from codebench.results.layout import SUITE
from codebench.results.several import member_runs
from codebench.suite import read_suite, write_suite

RESULTS = Path("results")
"""Where accepted runs are kept where nothing is said."""


def accept(run: Path, target: Path | None = None, *, force: bool = False) -> Path:
    """Copy a run's folder to where the baseline is; the one before is replaced at the end.

    Args:
        run: the run's folder.
        target: where; by default `results/SUITE`.
        force: whether an incomplete run will do, too.

    Returns:
        where it is now.

    Raises:
        NothingMeasured: the run answered nothing.
        ResultsError: the run is incomplete, the target is not a run, or cannot be written.
        InputError: the run is damaged.
    """
    scored = score_run(run, [parse("RR@1")])
    asked = [one for one in scored.retrievers if not one.floor]
    if not any("ok" in one.evaluation.statuses for one in asked if one.evaluation):
        raise NothingMeasured(f"{run}: no retriever answered anything; it cannot be a baseline")
    if not scored.run.complete and not force:
        raise ResultsError(f"{run}: the run is incomplete; finish it, or accept it with --force")
    target = target or place(scored.suite.name)
    own, there = run.resolve(), target.resolve()
    if own == there or own in there.parents or there in own.parents:
        raise ResultsError(f"{target}: cannot hold a copy of {run}; name another place with -o")
    if target.exists() and not (target / MANIFEST).is_file():
        raise ResultsError(f"{target}: is there and is no run; name another place with -o")
    try:
        _replace(run, target)
    except shutil.Error as error:
        raise ResultsError(f"{target}: cannot be written ({error.args[0][0][2]})") from None
    except OSError as error:
        raise ResultsError(f"{target}: cannot be written ({error.strerror or error})") from None
    return target


def place(suite: str) -> Path:
    """Return where the baseline of a suite is kept where nothing is said: `results/SUITE`."""
    return RESULTS / (re.sub(r"[^A-Za-z0-9._-]+", "-", suite).strip("-.") or "baseline")


def _replace(run: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    try:
        shutil.copytree(run, fresh, ignore=_no_links)
        _settle(fresh)
        if target.exists():
            target.rename(old)
        try:
            fresh.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _settle(run: Path) -> None:
    """Let the suites of a baseline find the repository that it is committed to from wherever."""
    for _, path in member_runs(run):
        suite = read_suite(path / SUITE)
        there = portable(suite, path / SUITE)
        if there is not suite:
            write_suite(there, path / SUITE)


def _no_links(folder: str, names: list[str]) -> list[str]:
    """Refuse links: a run that somebody sent must not bring this machine's files with it."""
    for name in names:
        if (Path(folder) / name).is_symlink():
            raise ResultsError(f"{Path(folder) / name}: is a link; a run holds none")
    return []
