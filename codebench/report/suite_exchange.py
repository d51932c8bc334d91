"""What `codebench suite import` and `codebench suite export` tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.reading import counted
from codebench.report.text import escaped, json_text, lines, queries

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.gold.exporting import Exported
    from codebench.gold.judgments import Imported


def imported(found: Imported, folder: Path, form: str) -> str:
    """Return what was imported as `table`, `markdown` or `json`."""
    count = sum(len(one.queries) for one in found.members)
    targets = sum(len(query.targets) for one in found.members for query in one.queries)
    if form == "json":
        return json_text(
            {
                "folder": str(folder),
                "members": len(found.members),
                "queries": count,
                "targets": targets,
                "documents": found.documents,
                "notes": list(found.notes),
            }
        )
    markdown = form == "markdown"
    several = f" of {len(found.members)} snapshots" if len(found.members) > 1 else ""
    documents = f", {counted(found.documents, 'document')}" if found.documents else ""
    named = escaped(str(folder), markdown=markdown)
    title = f"{named}: {queries(count)}{several}, {counted(targets, 'target')}{documents}"
    blocks = [title, lines(list(found.notes), markdown=markdown)]
    if not markdown:
        blocks.append(f"next: codebench run {escaped(str(folder), markdown=False)}")
    return ("\n\n" if markdown else "\n").join(block for block in blocks if block)


def exported(found: Exported, folder: Path) -> str:
    """Return what was exported, as lines."""
    count = queries(len(found.suite.queries))
    named = escaped(str(folder), markdown=False)
    documents = counted(found.documents, "document")
    title = f"{named}: {count}, {documents}, {counted(len(found.files), 'file')}"
    files = [escaped(name, markdown=False) for name in found.files]
    return "\n".join([title, lines([f"files: {', '.join(files)}", *found.notes], markdown=False)])
