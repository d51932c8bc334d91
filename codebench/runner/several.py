"""Several suites, one after the other, under one roof."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from codebench.results import TABLES, read_ends
from codebench.results.several import MEMBERS, member_runs, read_several, write_several
from codebench.runner.record import new_folder
from codebench.runner.session import Bench, GaveUp
from codebench.runner.update import measure_update

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from codebench.model import Candidate, Corpus
    from codebench.runner.plan import RunSettings
    from codebench.runner.update import UpdateCost

    Ask = Callable[[str, Path], Path]
    Updates = Callable[[Path], Sequence[Mapping[str, Any]]]


def run_several(
    name: str,
    members: Sequence[str],
    results: Path,
    ask: Ask,
    *,
    resume: bool = False,
    updates: Updates | None = None,
) -> Path:
    """Ask each suite in turn, and return the folder of them all.

    Args:
        name: of the suite of several.
        members: their names.
        results: the folder of runs.
        ask: runs one member into a folder of runs, and returns the run's folder.
        resume: whether the newest run of the same members is gone on with; each member then
            decides for itself what can be kept.
        updates: measures, at the end, what it costs to bring indexes from one member's corpus to
            the next; given the folder of them all.

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
    write_several(folder, name, members, ended=True, updates=updates(folder) if updates else ())
    return folder


def update_costs(
    folder: Path,
    corpora: Sequence[tuple[str, Corpus]],
    candidates: Sequence[Candidate],
    settings: RunSettings,
    texts: Sequence[str],
    *,
    beside: Path,
) -> list[dict[str, Any]]:
    """Measure, for each retriever, the update from each member's corpus to the next.

    Args:
        folder: of the run; the members' chunk tables are read from it.
        corpora: each member's name and corpus, in the order of time.
        candidates: who is measured; one whose index cannot be built is left out.
        settings: of the run.
        texts: questions that the updated index and the new one are asked.
        beside: what a relative adapter file is relative to.
    """
    runs = dict(member_runs(folder))
    benches = [
        (name, Bench(corpus, runs[name] / TABLES, beside, settings)) for name, corpus in corpora
    ]
    rows = []
    for candidate in candidates:
        for (earlier, before), (later, after) in pairwise(benches):
            try:
                cost = measure_update(before, after, candidate, texts)
            except GaveUp:
                continue
            rows.append(update_row(candidate.name, earlier, later, cost))
    return rows


def update_row(retriever: str, earlier: str, later: str, cost: UpdateCost) -> dict[str, Any]:
    """Return what an update cost, for the manifest; no seconds where it is not offered."""
    return {
        "retriever": retriever,
        "from": earlier,
        "to": later,
        "changed": cost.changed,
        "update_seconds": None if cost.update is None else cost.update.seconds,
        "rebuild_seconds": cost.rebuild.seconds,
        "asked": cost.asked,
        "different": cost.different,
    }


def _newest(results: Path, name: str, members: Sequence[str]) -> Path | None:
    for path in sorted(results.glob("*"), reverse=True):
        manifest = read_several(path)
        if manifest and manifest["name"] == name and manifest["members"] == list(members):
            return path
    return None
