"""How adapters keep their contract, as tables or JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.report.text import escaped, json_text, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.runner.conformance import Conformance


def conformance_text(checked: Sequence[Conformance], form: str) -> str:
    """Return what was found out, as `table`, `markdown` or `json`."""
    if form == "json":
        return json_text({"checked": [_data(one) for one in checked]})
    markdown = form == "markdown"
    return "\n\n".join(_block(one, markdown=markdown) for one in checked)


def _data(one: Conformance) -> dict[str, Any]:
    return {
        "retriever": one.candidate.name,
        "version": one.candidate.version,
        "sound": one.sound,
        "items": [
            {"item": item.name, "outcome": item.outcome, "detail": item.detail}
            for item in one.items
        ],
    }


def _block(one: Conformance, *, markdown: bool) -> str:
    failed = sum(item.outcome == "failed" for item in one.items)
    verdict = f"{failed} of {len(one.items)} failed" if failed else "keeps the contract"
    version = f" ({one.candidate.version})" if one.candidate.version else ""
    title = escaped(f"{one.candidate.name}{version}: {verdict}", markdown=markdown)
    rows = [[item.name, item.outcome, item.detail] for item in one.items]
    own = table(["item", "outcome", "detail"], rows, markdown=markdown, left=3)
    return f"### {title}\n\n{own}" if markdown else f"{title}\n\n{own}"
