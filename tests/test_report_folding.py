"""Tables on a terminal that is narrower than they are."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from codebench.report.folding import folded
from codebench.report.terminal import for_terminal
from codebench.report.text import table

if TYPE_CHECKING:
    import pytest

HEADERS = ["retriever", "RR@10", "nDCG-exp@10", "p50 ms", "failed"]
ROWS = [
    ["bm25", "*0.807 ±.158", "0.649 ±.141", "0.13", "0"],
    ["floors", "", "", "", ""],
    ["検索", "0.129 ±.087", "0.136 ±.044", "-", "0"],
]
WHOLE = f"a title\n\n{table(HEADERS, ROWS, markdown=False)}\n\na note\n\n\n    code"

FOLDED = """\
a title

retriever           RR@10
-----------  ------------
bm25         *0.807 ±.158
floors
検索          0.129 ±.087

retriever      nDCG-exp@10
-----------  -------------
bm25           0.649 ±.141
floors
検索           0.136 ±.044

retriever      p50 ms    failed
-----------  --------  --------
bm25             0.13         0
floors
検索                -         0

the table is folded to the terminal's 35 columns

a note


    code"""


def test_columns_are_shared_out_and_nothing_is_lost() -> None:
    assert folded(WHOLE, 35) == FOLDED
    assert folded(WHOLE, 66) == WHOLE
    assert folded(WHOLE, 10).count("-----------  ") == 4


def test_columns_on_the_left_say_whose_row_it_is_in_every_part() -> None:
    slices = table(
        ["leak", "queries", "retriever", "R@10", "nDCG-exp@10"],
        [["none", "12", "bm25", "0.5 ±.11", "0.4 ±.12"]],
        markdown=False,
        left=3,
    )
    parts = folded(slices, 54).split("\n\n")
    assert [part.split()[:3] for part in parts[:2]] == [["leak", "queries", "retriever"]] * 2
    # Where they would leave no room, and where all columns stand on the left, one is enough.
    assert [part.split()[:2] for part in folded(slices, 44).split("\n\n")[1:2]] == [
        ["leak", "nDCG-exp@10"]
    ]
    listed = table(["name", "what", "why"], [["x" * 9, "y" * 20, "z" * 20]], markdown=False, left=3)
    assert [part.split()[:2] for part in folded(listed, 40).split("\n\n")[:2]] == [
        ["name", "what"],
        ["name", "why"],
    ]


@given(
    st.lists(st.lists(st.text(max_size=12), min_size=3, max_size=3), min_size=1, max_size=4),
    st.integers(1, 60),
)
def test_every_cell_is_still_there(rows: list[list[str]], width: int) -> None:
    whole = table(["one", "two", "three"], rows, markdown=False)
    words = [word for word in whole.split() if word.strip("-")]
    after = folded(whole, width).split()
    assert all(after.count(word) >= words.count(word) for word in words)


def test_only_a_terminal_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "35")
    assert for_terminal(WHOLE) == WHOLE
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert for_terminal(WHOLE) == FOLDED
