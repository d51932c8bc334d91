"""What `codebench suite build --questions` tells."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from codebench.reading import counted
from codebench.report.text import escaped, json_text, lines, queries

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.model import Suite


def asked(suite: Suite, folder: Path, form: str) -> str:
    """Return what was built of questions as `table`, `markdown` or `json`."""
    grades = Counter(one.grade for query in suite.queries for one in query.targets)
    judged = sum(len(query.not_relevant) for query in suite.queries)
    leaks = Counter(query.tags["leak"] for query in suite.queries)
    kinds = Counter(query.tags.get("kind", "") for query in suite.queries)
    if form == "json":
        return json_text(
            {
                "folder": str(folder),
                "name": suite.name,
                "repository": suite.repository,
                "snapshot": suite.snapshot,
                "queries": len(suite.queries),
                "targets": {str(grade): count for grade, count in sorted(grades.items())},
                "judged_not_relevant": judged,
                "leak": dict(sorted(leaks.items())),
                "kind": {name: count for name, count in sorted(kinds.items()) if name},
            }
        )
    markdown = form == "markdown"
    counts = [f"{count} of grade {grade}" for grade, count in sorted(grades.items(), reverse=True)]
    notes = [
        f"targets: {', '.join(counts)}; {counted(judged, 'place')} judged not relevant",
        f"leak: {_by(leaks)}",
        *([f"kind: {_by(kinds)}"] if any(kinds) else []),
    ]
    where = suite.snapshot[:12] or suite.repository
    title = f"{escaped(str(folder), markdown=markdown)}: {queries(len(suite.queries))} of {where}"
    blocks = [title, lines(notes, markdown=markdown)]
    if not markdown:
        blocks.append(f"next: codebench suite check {escaped(str(folder), markdown=False)}")
    return ("\n\n" if markdown else "\n").join(blocks)


def _by(counts: Counter[str]) -> str:
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{name or 'none'} {count}" for name, count in ranked)
