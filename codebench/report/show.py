"""What `codebench show` prints: one query with its gold and each ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.measures.names import parse
from codebench.reading import counted
from codebench.report import hits as words
from codebench.report.columns import beside, wrapped
from codebench.report.data import finite
from codebench.report.text import (
    NONE,
    escaped,
    json_text,
    milliseconds,
    number,
    printable,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codebench.model import Query, Target
    from codebench.report.rankings import Questions, Ranking

MAX_LINES = 60
"""More of a target's code than this is cut, unless all is asked for."""

NARROWEST = 36
"""Cells that a ranking needs to stand beside others."""


def shown(
    lot: Questions, query: Query, form: str, *, top: int, width: int, whole: bool = False
) -> str:
    """Return a query with its gold and rankings as `table`, `markdown` or `json`.

    Args:
        lot: the queries that it is one of.
        query: the query.
        form: the format.
        top: how many hits of each ranking; JSON holds all.
        width: cells of the terminal: rankings stand beside each other where they fit.
        whole: whether all lines of a long target are printed.
    """
    rankings = lot.rankings(query)
    if form == "json":
        return json_text(query_data(lot, query, rankings))
    markdown = form == "markdown"
    blocks = ["\n".join(_head(lot, query, markdown=markdown))]
    blocks += [
        "\n".join(_target(lot, target, rankings, markdown=markdown, whole=whole))
        for target in query.targets
    ]
    if lot.code.missing:
        note = escaped(f"the code is not at hand: {lot.code.missing}", markdown=markdown)
        blocks.append(f"- {note}" if markdown else note)
    if markdown:
        blocks += [_markdown_ranking(one, query, top) for one in rankings]
    else:
        blocks.append(_columns(rankings, query, top, width))
    return "\n\n".join(blocks)


def _head(lot: Questions, query: Query, *, markdown: bool) -> Iterator[str]:
    mark, bullet = ("### ", "- ") if markdown else ("", "  ")
    yield mark + escaped(f"{query.id}: {query.text}", markdown=markdown)
    yield from [""] if markdown else []
    suite = lot.scored.suite
    at = f" at {suite.snapshot[:12]}" if suite.snapshot else ""
    facts = {
        "suite": f"{suite.name}{at}",
        "source": " ".join(part for part in (query.source, query.origin, query.time) if part),
        "weight": f"{query.weight:g}" if query.weight != 1 else "",
        "tags": ", ".join(f"{name} {value}" for name, value in sorted(query.tags.items())),
        "related": ", ".join(one.path for one in query.related),
        "not relevant": ", ".join(query.not_relevant),
    }
    for name, value in facts.items():
        if value:
            yield f"{bullet}{name}: {escaped(value, markdown=markdown)}"


def _target(
    lot: Questions,
    target: Target,
    rankings: Sequence[Ranking],
    *,
    markdown: bool,
    whole: bool,
) -> Iterator[str]:
    spans = lot.spans(target)
    chunk = lot.chunk(target)
    kind = chunk.kind if chunk else "file" if spans else "not in the corpus"
    if target.document:
        kind = "document"
    weight = f", weight {target.weight:g}" if target.weight != 1 else ""
    lines = ", ".join(f"{start}-{end}" for start, end in spans) if chunk else ""
    where = f"; lines {lines}" if lines else ""
    head = f"{target.chunk} ({kind}, grade {target.grade}{weight}{where})"
    yield f"**{escaped(head, markdown=True)}**" if markdown else printable(head)
    ranks = ", ".join(f"{one.label} {one.rank_of(target.chunk) or NONE}" for one in rankings)
    found = escaped(f"shown at rank: {ranks}", markdown=markdown)
    yield from ["", f"- {found}"] if markdown else [f"  {found}"]
    code = list(_code(lot, target, whole=whole))
    if code and markdown:
        fence = "`" * (3 + max(line.count("`") for line in code))
        code = ["", fence, *code, fence]
    yield from code


def _code(lot: Questions, target: Target, *, whole: bool) -> Iterator[str]:
    lines = lot.code.lines(target.path)
    numbers = [at for start, end in lot.spans(target) for at in range(start, end + 1)]
    if lines is None or not numbers:
        return
    kept = numbers if whole else numbers[:MAX_LINES]
    width = len(str(kept[-1]))
    before = kept[0] - 1
    for at in kept:
        if at > before + 1:
            yield f"{'…':>{width}}"
        before = at
        text = lines[at - 1] if at <= len(lines) else ""
        yield f"{at:>{width}}  {printable(text.rstrip().expandtabs(4))}".rstrip()
    if len(numbers) > len(kept):
        yield f"… {counted(len(numbers) - len(kept), 'more line')} (--all prints them)"


def _title(one: Ranking) -> list[str]:
    floor = " (floor)" if one.floor else ""
    values = [f"{parse(name).short} {number(value)}" for name, value in one.values.items()]
    latency = [f"{milliseconds(one.latency_ms)} ms"] if one.latency_ms is not None else []
    status = [f"{one.status}: {one.error}" if one.error else one.status]
    return [f"{one.label}{floor}", ", ".join((status if one.status != "ok" else latency) + values)]


def _rest(one: Ranking, top: int) -> str:
    """Say what stands below the hits that are printed."""
    below = len(one.hits) - top
    if not one.hits:
        return "no hit" if one.status == "ok" else ""
    return f"… {below} more (-k {len(one.hits)} shows them)" if below > 0 else ""


def _columns(rankings: Sequence[Ranking], query: Query, top: int, width: int) -> str:
    count = max(len(rankings), 1)
    own = (width - 2 * (count - 1)) // count
    if own >= NARROWEST:
        columns = [_column(one, query, top, own) for one in rankings]
        return "\n".join(_aligned(columns, own))
    return "\n\n".join(
        "\n".join(line for cell in _column(one, query, top, width) for line in cell)
        for one in rankings
    )


def _aligned(columns: Sequence[Sequence[list[str]]], width: int) -> list[str]:
    """Return cells of lines beside each other, equal ranks on one height."""
    rows: list[str] = []
    for at in range(max(map(len, columns))):
        rows += beside([cells[at] if at < len(cells) else [] for cells in columns], width)
    return rows


def _column(one: Ranking, query: Query, top: int, width: int) -> list[list[str]]:
    """Return a ranking as cells of lines: its title, and one for each hit."""
    title = [line for part in _title(one) for line in wrapped(printable(part), width)]
    cells = [[*title, "-" * min(width, 72)]]
    for rank, (hit, step) in enumerate(one.hits[:top], 1):
        mark = "*" if words.pays(step, rank) else " "
        first = f"{mark}{rank:>3}  {printable(words.place(hit))}"
        second = f"      {printable(words.reached(step, rank, hit, query))}"
        cells.append(
            [*wrapped(first, width, " " * 6), *wrapped(second, width, " " * 6)],
        )
    rest = _rest(one, top)
    return [*cells, wrapped(rest, width)] if rest else cells


def _markdown_ranking(one: Ranking, query: Query, top: int) -> str:
    name, facts = (escaped(part, markdown=True) for part in _title(one))
    rows = [
        [str(rank), words.place(hit), words.reached(step, rank, hit, query)]
        for rank, (hit, step) in enumerate(one.hits[:top], 1)
    ]
    blocks = [f"#### {name}", facts]
    blocks += [table(["rank", "hit", "reached"], rows, markdown=True, left=3)] if rows else []
    rest = _rest(one, top)
    return "\n\n".join([*blocks, *([escaped(rest, markdown=True)] if rest else [])])


def query_data(lot: Questions, query: Query, rankings: Sequence[Ranking]) -> dict[str, Any]:
    """Return a query with everything behind its scores as JSON data."""
    return {
        "id": query.id,
        "text": query.text,
        "member": lot.member,
        "suite": lot.scored.suite.name,
        "snapshot": lot.scored.suite.snapshot,
        "source": query.source,
        "origin": query.origin,
        "time": query.time,
        "weight": query.weight,
        "tags": dict(sorted(query.tags.items())),
        "code_missing": lot.code.missing,
        "targets": [
            {
                "chunk": target.chunk,
                "path": target.path,
                "grade": target.grade,
                "weight": target.weight,
                "lines": [list(span) for span in lot.spans(target)],
                "code": _code_data(lot, target),
                "ranks": {one.label: one.rank_of(target.chunk) for one in rankings},
            }
            for target in query.targets
        ],
        "related": [
            {"path": one.path, "of": one.of, "score": one.score, "flags": list(one.flags)}
            for one in query.related
        ],
        "not_relevant": list(query.not_relevant),
        "retrievers": [_ranking_data(one, query) for one in rankings],
    }


def _code_data(lot: Questions, target: Target) -> list[dict[str, Any]]:
    lines = lot.code.lines(target.path)
    if lines is None:
        return []
    return [
        {"line": at, "text": lines[at - 1]}
        for start, end in lot.spans(target)
        for at in range(start, min(end, len(lines)) + 1)
    ]


def _ranking_data(one: Ranking, query: Query) -> dict[str, Any]:
    return {
        "name": one.label,
        "floor": one.floor,
        "status": one.status,
        **({"error": one.error} if one.error else {}),
        "latency_ms": one.latency_ms,
        "measures": {name: finite(value) for name, value in one.values.items()},
        "hits": [
            {
                "rank": rank,
                "path": hit.path,
                "start_line": hit.start_line,
                "end_line": hit.end_line,
                "symbol": hit.symbol,
                "score": finite(hit.score),
                "reached": words.reached(step, rank, hit, query),
                "grade": words.grade(step),
                "paid": words.pays(step, rank),
                "units": [
                    {"level": unit.level, "kind": unit.kind, "name": unit.name, "first": first}
                    for unit, first in step.units
                ],
            }
            for rank, (hit, step) in enumerate(one.hits, 1)
        ],
    }
