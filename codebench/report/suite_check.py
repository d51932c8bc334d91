"""What `codebench suite check` tells: counts, the ceiling, what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.report.text import digits_of, escaped, json_text, lines, number, queries, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codebench.gold.check import Checked


def checked(found: Checked, form: str) -> str:
    """Return what was found as `table`, `markdown` or `json`; the faults in JSON only."""
    if form == "json":
        return json_text(_as_data(found))
    markdown = form == "markdown"
    members = f" in {found.members} members" if found.members > 1 else ""
    title = (
        f"{escaped(found.named, markdown=markdown)}: "
        f"{queries(found.census.queries)}{members}; {_verdict(found)}"
    )
    if not found.census.queries:
        return title
    counts = table(["count", "value"], _counts(found), markdown=markdown, left=2)
    names = [measure.short for measure in found.ceiling]
    values = [number(one.value, digits_of(measure)) for measure, one in found.ceiling.items()]
    best = table(["ceiling", *names], [["perfect retriever", *values]], markdown=markdown)
    excluded = [
        f"{measure.short}: {queries(one.excluded)} without gold at that level left out"
        for measure, one in found.ceiling.items()
        if one.excluded
    ]
    blocks = [title, counts, best, lines([*excluded, *found.notes], markdown=markdown)]
    if not found.faults and not markdown:
        blocks.append(f"next: codebench run {escaped(found.named, markdown=False)}")
    return "\n\n".join(block for block in blocks if block)


def _verdict(found: Checked) -> str:
    if not found.faults:
        return "nothing is wrong"
    return "1 thing is wrong" if len(found.faults) == 1 else f"{len(found.faults)} things are wrong"


def _counts(found: Checked) -> list[list[str]]:
    census = found.census
    rows = [
        ["targets a query", f"mean {census.targets_mean:.2f}, median {census.targets_median:g}"],
        ["targets in a single file", f"{census.single_file:.0%} of queries"],
        ["related modules a query", f"mean {census.related_mean:.2f}"],
        ["leak", _by(census.leaks)],
        ["language", _by(census.languages)],
    ]
    return [*rows, ["split", _by(census.splits)]] if census.splits else rows


def _by(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _as_data(found: Checked) -> dict[str, Any]:
    census = found.census
    return {
        "suite": found.named,
        "members": found.members,
        "readable": found.readable,
        "queries": census.queries,
        "targets_mean": census.targets_mean,
        "targets_median": census.targets_median,
        "single_file": census.single_file,
        "related_mean": census.related_mean,
        "leak": dict(census.leaks),
        "language": dict(census.languages),
        "split": dict(census.splits),
        "notes": list(found.notes),
        "ceiling": {str(measure): one.value for measure, one in found.ceiling.items()},
        "faults": [
            {
                "file": fault.file,
                "line": fault.line,
                "field": fault.field,
                "value": fault.value,
                "problem": fault.problem,
                "mend": fault.mend,
            }
            for fault in found.faults
        ],
    }
