"""What `codebench suite show` tells: a query with its gold in context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.reading import counted
from codebench.report.text import escaped, json_text, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codebench.gold.context import InContext, Shown
    from codebench.model import Related

MAX_LINES = 60
"""More of a target's code than this is cut, unless all is asked for."""


def shown(found: Sequence[InContext], form: str, *, whole: bool) -> str:
    """Return queries with their gold as `table`, `markdown` or `json`.

    Args:
        found: the query, once for each member that has it.
        form: the format.
        whole: whether all lines of a long target are printed.
    """
    if form == "json":
        return json_text({"queries": [_as_data(one) for one in found]})
    markdown = form == "markdown"
    return "\n\n".join("\n".join(_lines(one, markdown=markdown, whole=whole)) for one in found)


def _lines(one: InContext, *, markdown: bool, whole: bool) -> Iterator[str]:
    query = one.query
    mark, bullet = ("### ", "- ") if markdown else ("", "  ")
    yield f"{mark}{escaped(query.id, markdown=markdown)}: {escaped(query.text, markdown=markdown)}"
    yield from [""] if markdown else []
    at = f" at {one.suite.snapshot[:12]}" if one.suite.snapshot else ""
    facts = {
        "suite": f"{one.suite.name}{at}",
        "member": one.member,
        "source": " ".join(part for part in (query.source, query.origin, query.time) if part),
        "weight": f"{query.weight:g}" if query.weight != 1 else "",
        "tags": ", ".join(f"{name} {value}" for name, value in sorted(query.tags.items())),
        "related": ", ".join(map(_related, query.related)),
        "not relevant": ", ".join(query.not_relevant),
    }
    for name, value in facts.items():
        if value:
            yield f"{bullet}{name}: {escaped(value, markdown=markdown)}"
    for target in one.targets:
        yield ""
        yield from _target(target, markdown=markdown, whole=whole)


def _related(one: Related) -> str:
    flags = f", {', '.join(one.flags)}" if one.flags else ""
    return f"{one.path} (of {one.of}, score {one.score}{flags})"


def _target(shown: Shown, *, markdown: bool, whole: bool) -> Iterator[str]:
    target = shown.target
    kind = shown.kind or "not in the corpus: `codebench suite check` says where it went"
    weight = f", weight {target.weight:g}" if target.weight != 1 else ""
    head = escaped(f"{target.chunk} ({kind}, grade {target.grade}{weight})", markdown=markdown)
    yield f"**{head}**" if markdown else head
    lines = list(_numbered(shown.lines if whole else shown.lines[:MAX_LINES]))
    cut = len(shown.lines) - MAX_LINES
    if cut > 0 and not whole:
        lines.append(f"… {counted(cut, 'more line')} (--all prints them)")
    if lines and markdown:
        fence = "`" * (3 + max((line.count("`") for line in lines), default=0))
        lines = ["", fence, *lines, fence]
    yield from lines


def _numbered(lines: Sequence[tuple[int, str]]) -> Iterator[str]:
    width = len(str(lines[-1][0])) if lines else 0
    before = lines[0][0] if lines else 0
    for number, text in lines:
        if number > before + 1:
            yield f"{'…':>{width}}"
        before = number
        yield f"{number:>{width}}  {printable(text.rstrip().expandtabs(4))}".rstrip()


def _as_data(one: InContext) -> dict[str, Any]:
    query = one.query
    return {
        "id": query.id,
        "member": one.member,
        "suite": one.suite.name,
        "snapshot": one.suite.snapshot,
        "text": query.text,
        "source": query.source,
        "origin": query.origin,
        "time": query.time,
        "weight": query.weight,
        "tags": dict(sorted(query.tags.items())),
        "targets": [
            {
                "chunk": shown.target.chunk,
                "grade": shown.target.grade,
                "weight": shown.target.weight,
                "kind": shown.kind,
                "lines": [{"line": at, "text": text.rstrip("\n")} for at, text in shown.lines],
            }
            for shown in one.targets
        ],
        "related": [
            {"path": each.path, "of": each.of, "score": each.score, "flags": list(each.flags)}
            for each in query.related
        ],
        "not_relevant": list(query.not_relevant),
    }
