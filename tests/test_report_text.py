"""How figures and foreign text are printed."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codebench.measures.names import PRIMARY, parse
from codebench.measures.statistics import Figure
from codebench.reading import counted
from codebench.report.summary import funnel_line
from codebench.report.text import (
    csv_text,
    escaped,
    figure_cell,
    json_text,
    lines,
    milliseconds,
    printable,
    size,
    table,
)

FUNNELS = {
    (("commits", 1), ("queries", 1)): "1 commit after the snapshot = 1 query",
    (("commits", 9), ("no code", 7), ("queries", 2)): (
        "9 commits after the snapshot - 7 no code = 2 queries"
    ),
    (("candidates", 1), ("vague", 1), ("queries", 0)): "1 candidate - 1 vague = 0 queries",
}
HOSTILE = "a\x1b[31mb\nc\u202ed|e\ud800\u200bf\x9b"


def test_printable_shows_what_would_move_the_cursor() -> None:
    assert printable(HOSTILE) == "a\\u001b[31mb\\u000ac\\u202ed|e\\ud800\\u200bf\\u009b"
    assert printable("naïve 日本 🙂 עברית") == "naïve 日本 🙂 עברית"


def test_one_is_singular() -> None:
    told = [counted(count, "line") for count in (0, 1, 2, "?")]
    assert told == ["0 lines", "1 line", "2 lines", "? lines"]
    assert [counted(count, "query", "queries") for count in (1, 2)] == ["1 query", "2 queries"]
    assert {funnel: funnel_line(funnel) for funnel in FUNNELS} == FUNNELS


@given(st.text(st.characters(exclude_categories=())))
def test_json_is_ascii_safe_where_it_matters_and_loses_nothing(text: str) -> None:
    written = json_text({"text": [text]})
    assert json.loads(written) == {"text": [text]}
    assert all(printable(line) == line for line in written.split("\n"))
    written.encode("utf-8")


def test_json_refuses_what_is_not_finite() -> None:
    with pytest.raises(ValueError, match="JSON"):
        json_text({"x": float("nan")})


def test_csv_runs_no_formula_and_keeps_numbers() -> None:
    texts = ["=cmd()", "+1", "-1", "@x", " =x", "\t=x", "\uff1dx", "plain", 'a "b", c']
    head, row = csv.reader(
        io.StringIO(csv_text(["=h", *"bcdefghi", "n", "m"], [[*texts, -1.5, None]]))
    )
    assert head[0] == "'=h"
    assert row == [
        "'=cmd()",
        "'+1",
        "'-1",
        "'@x",
        "' =x",
        "\\u0009=x",
        "'\uff1dx",
        "plain",
        'a "b", c',
        "-1.5",
        "",
    ]


@given(st.lists(st.text(st.characters(exclude_categories=())), min_size=1, max_size=4))
def test_csv_is_read_back_row_by_row(cells: list[str]) -> None:
    (row,) = csv.reader(io.StringIO(csv_text(cells, [])))
    assert [cell.removeprefix("'") for cell in row] == [
        printable(c).removeprefix("'") for c in cells
    ]
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in row)


def test_markdown_is_text_and_nothing_else() -> None:
    assert escaped("<script>[a](b)*_`|~\\", markdown=True) == (
        "\\<script\\>\\[a\\](b)\\*\\_\\`\\|\\~\\\\"
    )
    assert escaped("<b>|", markdown=False) == "<b>|"
    rows = table(["a|b", "n"], [[HOSTILE, "1"]], markdown=True).split("\n")
    assert len(rows) == 3
    assert all(row.replace("\\|", "").count("|") == 3 for row in rows)
    assert lines(["a", "b|c"], markdown=True) == "- a\n- b\\|c"


def test_wide_characters_keep_the_columns() -> None:
    _, _, one, two = table(["name", "n"], [["日本", "1"], ["abcd", "22"]], markdown=False).split(
        "\n"
    )
    assert one.index("1") + len("日本") == two.index("22") + 1
    assert table(["name"], [], markdown=False).startswith("name")


def test_figures() -> None:
    assert figure_cell(Figure(0.5, 0.4, 0.75, 9), PRIMARY) == "0.500 ±.250"
    assert figure_cell(Figure(0.5, None, None, 1), PRIMARY) == "0.500"
    assert figure_cell(Figure(None, None, None, 0), PRIMARY) == "-"
    assert figure_cell(Figure(87.6, 60.0, 100.0, 9), parse("Tokens@32000")) == "88 ±28"
    assert [milliseconds(x) for x in (None, 0.123, 45.67, 1234.5)] == ["-", "0.12", "45.7", "1234"]
    assert [size(x) for x in (None, 999, 1500, 25_000, 5e12)] == [
        "-",
        "999 B",
        "1.5 kB",
        "25 kB",
        "5000 GB",
    ]
