"""Weighted kappa by hand and by definition; labellers compared place by place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codebench.cli.main import main
from codebench.errors import InputError, NothingMeasured
from codebench.gold.agreement import agreement, compare, figures, weighted_kappa
from codebench.report.suite_agree import agreed

if TYPE_CHECKING:
    from pathlib import Path


def test_a_table_worked_out_by_hand() -> None:
    # Ten places. Disagreement observed: one of 1 grade, one of 2, one of 3: 1 + 4 + 9 = 14.
    pairs = [(3, 3)] * 4 + [(0, 0)] * 2 + [(2, 2)] + [(3, 2), (1, 3), (0, 3)]
    # Margins: A has 0:3, 1:1, 2:1, 3:5; B has 0:2, 2:2, 3:6.
    # Expected, times 10: 0 against 2 and 3: 3*(4*2 + 9*6) = 186; 1: 1*(1*2 + 1*2 + 4*6) = 28;
    # 2: 1*(4*2 + 1*6) = 14; 3: 5*(9*2 + 1*2) = 100; together 328.
    found = figures(pairs)
    assert found.kappa == pytest.approx(1 - 14 / 32.8)
    assert found.exact == 0.7
    assert found.within_one == 0.8
    assert found.places == 10
    assert found.table[3][2] == 1
    assert found.table[2][3] == 0


def test_full_agreement_chance_and_the_opposite() -> None:
    assert figures([(0, 0), (3, 3)]).kappa == 1
    assert figures([(0, 3), (3, 0)]).kappa == -1
    assert figures([(0, 0), (0, 3), (3, 0), (3, 3)]).kappa == 0
    assert figures([(3, 3), (3, 3)]).kappa is None  # chance alone gives this
    assert figures([]).kappa is None
    assert figures([]).exact is None


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60))
def test_it_is_the_definition_pair_by_pair(pairs: list[tuple[int, int]]) -> None:
    """The expected disagreement is the mean over all pairs of one's grade and the other's."""
    count = len(pairs)
    observed = sum((a - b) ** 2 for a, b in pairs) / count
    expected = sum((a - b) ** 2 for a, _ in pairs for _, b in pairs) / count**2
    found = figures(pairs)
    if expected == 0:
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx(1 - observed / expected, abs=1e-12)
        turned = weighted_kappa(list(zip(*found.table, strict=True)))
        assert turned == pytest.approx(found.kappa, abs=1e-12)
    assert found.exact is not None
    assert found.within_one is not None
    assert found.exact <= found.within_one <= 1


def test_silence_is_told_from_a_judged_zero() -> None:
    first = {"q1": {"a.py::f": 3, "a.py::g": 0, "b.py": 2}, "only": {"x": 3}}
    second = {"q1": {"a.py::f": 2, "a.py::g": 0, "c.py::h": 1}, "other": {"x": 3}}
    found = compare(first, second, "A and B")
    assert found.queries == 1
    assert found.only_first == ("only",)
    assert found.only_second == ("other",)
    assert found.both.places == 2
    assert found.named.places == 4
    assert [(one.place, one.first, one.second) for one in found.disagreements] == [
        ("b.py", 2, None),
        ("a.py::f", 3, 2),
        ("c.py::h", None, 1),
    ]


def test_a_place_without_its_path_is_matched_by_its_symbol() -> None:
    found = compare({"q": {"f": 3}}, {"q": {"a.py::f": 3}}, "A and B")
    assert found.both.places == 1
    assert not found.disagreements
    doubtful = compare({"q": {"f": 3}}, {"q": {"a.py::f": 3, "b.py::f": 3}}, "A and B")
    assert doubtful.both.places == 0


def test_a_place_that_one_labeller_judges_twice_is_reported() -> None:
    other = {"q": {"a.py::f": 3}}
    for own in ({"f": 3, "a.py::f": 0}, {"a.py::f": 0, "f": 3}):
        with pytest.raises(InputError, match=r"'a.py::f' is judged twice, as 'f' too"):
            compare({"q": own}, other, "A and B")
    assert compare({"q": {"f": 3, "a.py::f": 3}}, other, "A and B").both.places == 1


def test_names_are_escaped_once_in_markdown() -> None:
    found = compare({"q": {}, "only_a": {}}, {"q": {}}, "A and B")
    assert agreed(found, "markdown").endswith(r"only in A: only\_a")


def test_nothing_in_common_is_said() -> None:
    with pytest.raises(NothingMeasured, match="no question has the same id in both"):
        compare({"a": {}}, {"b": {}}, "A and B")


FIRST = """\
questions:
  - id: q1
    question: where is the tax added
    targets:
      - {symbol: total, path: shop.py, why: adds it}
      - {symbol: Cart, path: shop.py, grade: 1}
    not_relevant: ["shop.py::subtotal"]
"""


def test_files_and_suites_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(FIRST)
    second.write_text(FIRST.replace("grade: 1", "grade: 3"))
    assert main(["suite", "agree", str(first), str(second)]) == 0
    out = capsys.readouterr().out
    assert "1 question in both" in out
    assert "shop.py::Cart" in out
    assert main(["suite", "agree", str(first), str(second), "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["judged_by_both"]["exact"] == pytest.approx(2 / 3)
    # Grades (3, 3), (1, 3), (0, 0): observed 4 / 3; expected (4 + 4 + 1 + 9 * 3 + 1) / 9.
    pairs = [(3, 3), (1, 3), (0, 0)]
    expected = sum((a - b) ** 2 for a, _ in pairs for _, b in pairs) / 9
    assert data["judged_by_both"]["weighted_kappa"] == pytest.approx(1 - (4 / 3) / expected)
    assert main(["suite", "agree", "tiny", "tiny", "--format", "markdown"]) == 0
    assert "| judged by both" in capsys.readouterr().out
    assert agreement("tiny", "tiny").named.exact == 1


def test_a_wrong_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("questions:\n  - id: q\n    question: x\n    targets:\n      - {grade: 7}\n")
    with pytest.raises(InputError, match=r"a\.yaml:5: q: targets\[1\]\.grade: '7'"):
        agreement(str(file), "tiny")
