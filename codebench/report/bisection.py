"""A bisection as a table, Markdown or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.report.text import NONE, digits_of, escaped, json_text, lines, table

if TYPE_CHECKING:
    from codebench.bisecting.bisection import Bisection, End

_SHORT = 12
_LISTED = 10


def bisection_text(found: Bisection, form: str) -> str:
    """Return a bisection as `table`, `markdown` or `json`."""
    if form == "json":
        return json_text(_data(found))
    markdown = form == "markdown"
    title = escaped(
        f"query {found.query.id} of {found.retriever} by {found.measure.short}: "
        f"{_value(found, found.good.value)} at {found.good.commit[:_SHORT]}, "
        f"{_value(found, found.bad.value)} at {found.bad.commit[:_SHORT]}; {found.query.text}",
        markdown=markdown,
    )
    rows = [
        [step.commit[:_SHORT], step.outcome, _value(found, step.value), step.reason or NONE]
        for step in found.steps
    ]
    return "\n\n".join(
        [
            f"### {title}" if markdown else title,
            table(
                ["commit", "outcome", found.measure.short, "reason"],
                rows,
                markdown=markdown,
                left=2,
            ),
            lines(_notes(found), markdown=markdown),
        ]
    )


def _notes(found: Bisection) -> list[str]:
    notes = []
    if len(found.found) > 1:
        notes.append(
            f"the first bad commit is one of {len(found.found)}: those between could not be judged"
        )
    for commit in found.found:
        head = "first bad commit" if len(found.found) == 1 else "perhaps"
        notes.append(f"{head}: {commit.id}, {commit.time}, {commit.subject}")
        more = f", … ({len(commit.files)} in all)" if len(commit.files) > _LISTED else ""
        notes.append(f"it changed: {', '.join(commit.files[:_LISTED])}{more}")
    notes.append(
        f"{len(found.steps)} of {found.commits + 1} commits were asked; a value nearer to the bad "
        "run's than to the good run's is bad"
    )
    notes += [
        f"the {name} run had changes of the adapter that no commit has"
        for name, end in (("good", found.good), ("bad", found.bad))
        if end.dirty
    ]
    return notes


def _value(found: Bisection, value: float | None) -> str:
    return NONE if value is None else f"{value:.{digits_of(found.measure)}f}"


def _data(found: Bisection) -> dict[str, Any]:
    return {
        "query": {"id": found.query.id, "text": found.query.text},
        "measure": str(found.measure),
        "retriever": found.retriever,
        "file": found.file,
        "good": _end(found.good),
        "bad": _end(found.bad),
        "commits": found.commits,
        "steps": [
            {
                "commit": step.commit,
                "outcome": step.outcome,
                "value": step.value,
                "reason": step.reason,
            }
            for step in found.steps
        ],
        "first_bad": found.found[0].id if len(found.found) == 1 else None,
        "found": [
            {"id": one.id, "time": one.time, "subject": one.subject, "files": list(one.files)}
            for one in found.found
        ],
        "notes": _notes(found),
    }


def _end(end: End) -> dict[str, Any]:
    return {
        "run": str(end.run),
        "commit": end.commit,
        "value": end.value,
        "dirty": end.dirty,
    }
