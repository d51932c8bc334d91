"""What `codebench suite agree` tells: figures, the table of grades, and where labellers differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.report.text import NONE, json_text, lines, number, table

if TYPE_CHECKING:
    from codebench.gold.agreement import Agreement, Figures

_MOST = 50
"""More disagreements than this are read in JSON."""

_SILENT = "says nothing"


def agreed(found: Agreement, form: str) -> str:
    """Return how far labellers agree as `table`, `markdown` or `json`."""
    if form == "json":
        return json_text(_as_data(found))
    markdown = form == "markdown"
    questions = "1 question" if found.queries == 1 else f"{found.queries} questions"
    blocks = [
        f"{questions} in both",
        table(
            ["places", "count", "weighted kappa", "exact", "within one"],
            [_row("judged by both", found.both), _row("judged by either", found.named)],
            markdown=markdown,
        ),
        _grades(found.named, markdown=markdown),
    ]
    if found.disagreements:
        rows = [
            [one.query, one.place, _grade(one.first), _grade(one.second)]
            for one in found.disagreements[:_MOST]
        ]
        headers = ["question", "place", "A", "B"]
        blocks.append(table(headers, rows, markdown=markdown, left=2))
    notes = ["judged by either: who says nothing of a place gives it 0"]
    if len(found.disagreements) > _MOST:
        notes.append(f"{len(found.disagreements) - _MOST} more in --format json")
    for name, only in (("A", found.only_first), ("B", found.only_second)):
        if only:
            named = ", ".join(only[:10])
            more = f" and {len(only) - 10} more" if len(only) > 10 else ""
            notes.append(f"only in {name}: {named}{more}")
    return "\n\n".join([*blocks, lines(notes, markdown=markdown)])


def _row(name: str, own: Figures) -> list[str]:
    share = [NONE if one is None else f"{one:.0%}" for one in (own.exact, own.within_one)]
    return [name, str(own.places), number(own.kappa, 3), *share]


def _grades(own: Figures, *, markdown: bool) -> str:
    grades = range(len(own.table))
    rows = [[f"A {grade}", *(str(own.table[grade][other]) for other in grades)] for grade in grades]
    return table(["grade", *(f"B {grade}" for grade in grades)], rows, markdown=markdown)


def _grade(grade: int | None) -> str:
    return _SILENT if grade is None else str(grade)


def _as_data(found: Agreement) -> dict[str, Any]:
    return {
        "queries": found.queries,
        "only_first": list(found.only_first),
        "only_second": list(found.only_second),
        "judged_by_both": _figures(found.both),
        "judged_by_either": _figures(found.named),
        "disagreements": [
            {"query": one.query, "place": one.place, "first": one.first, "second": one.second}
            for one in found.disagreements
        ],
    }


def _figures(own: Figures) -> dict[str, Any]:
    return {
        "places": own.places,
        "weighted_kappa": own.kappa,
        "exact": own.exact,
        "within_one": own.within_one,
        "table": [list(row) for row in own.table],
    }
