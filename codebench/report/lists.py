"""Lists of what can be named on a command line, as a table, Markdown, JSON or CSV."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from codebench.measures.catalogue import ALIASES, KINDS
from codebench.measures.names import DEFAULT, parse
from codebench.report.text import NONE, csv_text, json_text, printable, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.listing import ListedRetriever, ListedRun, ListedSuite
    from codebench.measures.catalogue import Kind

Row = dict[str, Any]

_WIDTH = 96
_SHORT_DIGEST = 19


def retriever_rows(listed: Sequence[ListedRetriever]) -> list[Row]:
    """Return retrievers as rows."""
    return [
        {
            "retriever": one.name,
            "runs_here": not one.missing,
            "by_default": one.default,
            "origin": one.origin,
            "version": one.version,
            "what": one.words,
            "missing": one.missing,
        }
        for one in listed
    ]


def suite_rows(listed: Sequence[ListedSuite]) -> list[Row]:
    """Return suites as rows."""
    return [
        {
            "suite": one.name,
            "queries": None if one.problem else one.queries,
            "targets": None if one.problem else one.targets,
            "tags": list(one.tags),
            "digest": one.digest,
            "problem": one.problem,
        }
        for one in listed
    ]


def run_rows(listed: Sequence[ListedRun]) -> list[Row]:
    """Return stored runs as rows."""
    return [
        {
            "run": str(one.path),
            "started": one.started,
            "suite": one.suite,
            "digest": one.digest,
            "queries": None if one.problem else one.queries,
            "retrievers": list(one.retrievers),
            "state": "broken" if one.problem else "complete" if one.complete else "incomplete",
            "problem": one.problem,
        }
        for one in listed
    ]


def measure_rows() -> list[Row]:
    """Return every family of measures as a row."""
    return [
        {
            "measure": _written(kind),
            "formula": kind.words,
            "use": kind.use,
            "aliases": [alias for alias, name in ALIASES.items() if name == kind.name],
            "by_default": [str(one.bind(2)) for one in DEFAULT if one.name == kind.name],
            "needs": "places judged not relevant" if kind.needs_judged else "",
        }
        for kind in KINDS
    ]


def _written(kind: Kind) -> str:
    """Return how a family is written, e.g. `F(rel=L, beta=1)@K`; brackets hold what may lack."""
    inside = ["rel=L"] if kind.has_rel else []
    inside += [f"{name}={_default(value)}" for name, value in kind.parameters]
    parameters = f"[({', '.join(inside)})]" if inside else ""
    cut = {"required": "@K", "optional": "[@K]", "none": ""}[kind.cutoff]
    tokens = " or @Ntokens" if kind.by_tokens else ""
    return f"{kind.name}{parameters}{cut}{tokens}"


def _default(value: object) -> str:
    if value is None:
        return "{grade:value}"
    return f"{value:g}" if isinstance(value, float) else repr(value)


def listed_text(what: str, rows: Sequence[Row], form: str) -> str:
    """Return rows as `table`, `markdown`, `json` or `csv`; `what` is their plural."""
    if form == "json":
        return json_text({what: list(rows)})
    if form == "csv":
        headers = list(rows[0]) if rows else [what]
        return csv_text(headers, [[_plain(value) for value in row.values()] for row in rows])
    if not rows:
        return f"there are no {what}"
    if what == "measures":
        rows = [
            {**row, "by_default": [parse(name).short for name in row["by_default"]]} for row in rows
        ]
    if form == "table" and what == "measures":
        return _paragraphs(rows)
    # A column without a word in it, such as `problem`, is left out.
    shown = [name for name in rows[0] if any(row[name] not in ("", []) for row in rows)]
    cells = [[_cell(name, row[name]) for name in shown] for row in rows]
    headers = [name.replace("_", " ") for name in shown]
    return table(headers, cells, markdown=form == "markdown", left=len(headers))


def _plain(value: Any) -> str | int | None:
    if isinstance(value, list):
        return "; ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if value is None or isinstance(value, int) else str(value)


def _cell(name: str, value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or NONE
    text = NONE if value is None else str(_plain(value))
    return text[:_SHORT_DIGEST] if name == "digest" else text


def _paragraphs(rows: Sequence[Row]) -> str:
    """Return measures as paragraphs: their formulas are too long for a table in a terminal."""
    blocks = []
    for row in rows:
        named = [f"also {', '.join(row['aliases'])}"] if row["aliases"] else []
        named += [f"by default {', '.join(row['by_default'])}"] if row["by_default"] else []
        named += [f"needs {row['needs']}"] if row["needs"] else []
        beside = f"  ({'; '.join(named)})" if named else ""
        lines = [f"{row['measure']}{beside}", _indented(row["formula"])]
        blocks.append("\n".join([*lines, _indented(f"for: {row['use']}")]))
    return "\n\n".join([*blocks, _LEGEND])


def _indented(text: str) -> str:
    return fill(printable(text), _WIDTH, initial_indent="    ", subsequent_indent="    ")


_LEGEND = """\
What stands in brackets may be left out. L is the level that is read: 3 exact symbols, 2 right
files, 1 their neighbourhood; it is 2 by default for suites and 1 for TREC and BEIR judgments.
A query's gold at a level is n units, first reached at ranks r1 <= r2 <= ...; cj = max(rj, j).
A query that failed scores the worst value; the mean is over all queries."""
