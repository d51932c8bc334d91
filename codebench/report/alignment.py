"""Correlations of measures with online figures, as a table, Markdown, JSON or CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.measures.correlation import FEWEST, smallest_told
from codebench.measures.names import parse
from codebench.report.data import finite
from codebench.report.text import NONE, csv_text, json_text, lines, table

if TYPE_CHECKING:
    from codebench.judging.alignment import Aligned, Alignment
    from codebench.measures.correlation import Correlation

_KINDS = ("kendall", "spearman", "pearson")
_ROUGH = 10


def alignment_text(alignment: Alignment, form: str) -> str:
    """Return correlations as `table`, `markdown`, `json` or `csv`."""
    if form == "json":
        return json_text(_data(alignment))
    if form == "csv":
        return _csv(alignment)
    markdown = form == "markdown"
    headers = ["measure", "online", "verdict", "tau", "rho", "r", "p", "runs"]
    rows = [
        [
            parse(one.measure).short,
            one.online,
            one.verdict,
            *(_cell(getattr(one, kind)) for kind in _KINDS),
            f"{one.p_adjusted:.3f}",
            str(one.n),
        ]
        for one in alignment.rows
    ]
    return "\n\n".join(
        [
            table(headers, rows, markdown=markdown, left=3),
            lines(_notes(alignment), markdown=markdown),
        ]
    )


def _cell(one: Correlation) -> str:
    if one.value is None:
        return NONE
    if one.low is None or one.high is None:
        return f"{one.value:+.2f}"
    return f"{one.value:+.2f} ({one.low:+.2f} to {one.high:+.2f})"


def _notes(alignment: Alignment) -> list[str]:
    most = max(one.n for one in alignment.rows)
    legend = (
        "tau Kendall, rho Spearman, r Pearson, each with its 95 % interval (Fisher's z); above 0: "
        "better scores went with higher figures"
    )
    family = f"adjusted for {len(alignment.rows)} rows (Holm)"
    notes = [legend, f"p is of tau, {family}; aligned or opposed: p <= 0.05"]
    least = smallest_told(most)
    if least is None:
        notes.append(
            f"{most} runs are too few to tell anything: with fewer than {FEWEST} no order of runs "
            "is surprising; add runs that differ"
        )
    else:
        notes.append(
            f"with {most} runs a single tau is told from 0 where it is about {least:.2f} or more"
        )
        if most < _ROUGH:
            notes.append(f"fewer than {_ROUGH} runs: the intervals are rough")
    notes.append(
        "versions of one retriever are alike, so their number overstates what is known; and what "
        "goes together need not cause each other"
    )
    return notes


def _data(alignment: Alignment) -> dict[str, Any]:
    return {
        "rows": [_row_data(one) for one in alignment.rows],
        "points": [
            {
                "run": str(row.run),
                "retriever": row.retriever,
                "measures": {name: finite(value) for name, value in values.items()},
                "online": dict(row.figures),
            }
            for row, values in alignment.points
        ],
        "notes": _notes(alignment),
    }


def _row_data(one: Aligned) -> dict[str, Any]:
    return {
        "measure": one.measure,
        "online": one.online,
        "verdict": one.verdict,
        "n": one.n,
        **{
            kind: {name: finite(getattr(getattr(one, kind), name)) for name in _PARTS}
            for kind in _KINDS
        },
        "p": one.p,
        "p_adjusted": one.p_adjusted,
    }


_PARTS = ("value", "low", "high")


def _csv(alignment: Alignment) -> str:
    headers = ["measure", "online", "verdict", "n"]
    headers += [
        f"{kind}{'' if part == 'value' else f'_{part}'}" for kind in _KINDS for part in _PARTS
    ]
    rows = [
        [
            *(one.measure, one.online, one.verdict, one.n),
            *(getattr(getattr(one, kind), part) for kind in _KINDS for part in _PARTS),
            *(one.p, one.p_adjusted),
        ]
        for one in alignment.rows
    ]
    return csv_text([*headers, "p", "p_adjusted"], rows)
