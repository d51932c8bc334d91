"""What `codebench suite carry` tells: what became of the targets and queries, and by which rule."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING

from codebench.report.text import NONE, escaped, json_text, lines, number, queries, table

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.gold.move import Moved


def carried(moved: Moved, folder: Path, form: str) -> str:
    """Return what became of a suite as `table`, `markdown` or `json`."""
    rows = _rows(moved)
    before, after = len(moved.old.queries), len(moved.suite.queries)
    if form == "json":
        return json_text(
            {
                "folder": str(folder),
                "from": moved.old.snapshot,
                "to": moved.suite.snapshot,
                "queries_before": before,
                "queries": after,
                "past": moved.past,
                "targets": [
                    {"fate": fate, "rule": rule, "targets": len(alike), "similarity": _mean(alike)}
                    for fate, rule, alike in rows
                ],
            }
        )
    markdown = form == "markdown"
    start = moved.old.snapshot[:12] or "its folder"
    title = (
        f"{escaped(str(folder), markdown=markdown)}: {after} of {queries(before)} carried from "
        f"{start} to {moved.suite.snapshot[:12]}"
    )
    cells = [
        [fate, rule or NONE, str(len(alike)), number(_mean(alike))] for fate, rule, alike in rows
    ]
    shown = table(["fate", "rule", "targets", "similarity"], cells, markdown=markdown, left=2)
    blocks = [title, shown, lines(_notes(moved, before - after), markdown=markdown)]
    if not markdown:
        blocks.append(f"next: codebench suite check {escaped(str(folder), markdown=False)}")
    return "\n\n".join(block for block in blocks if block)


def _rows(moved: Moved) -> list[tuple[str, str, list[float]]]:
    """Return (fate, rule, similarities), what was carried first."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in moved.journeys:
        key = (one.fate, one.found.rule if one.found else "")
        found[key].append(one.found.similarity if one.found else 0.0)
    return [(*key, found[key]) for key in sorted(found, key=lambda key: (key[0] != "carried", key))]


def _mean(alike: list[float]) -> float:
    return round(fmean(alike), 3)


def _notes(moved: Moved, dropped: int) -> list[str]:
    notes = []
    if dropped:
        notes.append(f"{queries(dropped)} left, with no target of the highest grade at that commit")
    if moved.past:
        notes.append(
            f"warning: {queries(moved.past)} from commits that this snapshot holds: the code that "
            "is asked contains the answers (their tag `age` is `past`)"
        )
    return notes
