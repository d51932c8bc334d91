"""Questions by hand: read strictly, resolved at the snapshot, near misses offered."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from codebench.cli.main import main
from codebench.corpus.rules import SnapshotRules
from codebench.errors import InputError
from codebench.gold.asking import build_from_questions
from codebench.suite import read_suite
from tests.repositories import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.model import Suite

SHOP = """\
def total(prices):
    return sum(prices) * 1.2


class Cart:
    limit = 10

    def add(self, price):
        self.prices.append(price)
"""
TILL = "from shop.shop import Cart\n\n\ndef pay(cart):\n    return cart.add(1)\n"

GOOD = """\
questions:
  - id: q1
    question: where is the tax
      put on top
    asked_by: support
    kind: decision
    targets:
      - {symbol: total, path: shop/shop.py, why: times 1.2}
      - {symbol: pay}
      - {symbol: Cart.add, path: shop/shop.py, grade: 0}
    not_relevant: ["shop/shop.py::Cart"]
    notes: asked twice
  - id: q2
    question: limits of a purchase
    targets:
      - {path: shop/till.py, grade: 2}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "shop")
    made.commit("First", {"shop/shop.py": SHOP, "shop/till.py": TILL})
    made.commit("Together", {"shop/shop.py": SHOP + "\n", "shop/till.py": TILL + "\n"})
    return made


def built(repository: Repository, text: str, tmp_path: Path, snapshot: str = "") -> Suite:
    file = tmp_path / "questions.yaml"
    file.write_text(text, "utf-8")
    return build_from_questions(
        str(repository.path),
        file,
        tmp_path / "suite",
        lambda *_: None,
        snapshot=snapshot,
        rules=SnapshotRules(),
        jobs=1,
        force=True,
    )


def test_symbols_become_targets_with_fingerprints_relations_and_tags(
    repository: Repository, tmp_path: Path
) -> None:
    suite = built(repository, GOOD, tmp_path)
    assert read_suite(tmp_path / "suite") == suite
    first, second = suite.queries
    assert first.text == "where is the tax put on top"
    assert [(one.chunk, one.grade) for one in first.targets] == [
        ("shop/shop.py::total", 3),
        ("shop/till.py::pay", 3),
    ]
    assert all(one.fingerprint for one in first.targets)
    assert set(first.not_relevant) == {"shop/shop.py::Cart", "shop/shop.py::Cart.add"}
    assert first.tags["asked_by"] == "support"
    assert first.tags["kind"] == "decision"
    assert first.tags["leak"] == "none"
    assert not first.related  # both files are targets' own
    assert second.targets[0].chunk == "shop/till.py"
    assert [(one.path, one.of) for one in second.related] == [("shop/shop.py", "shop/till.py")]
    assert (tmp_path / "suite" / "questions.yaml").read_text("utf-8") == GOOD
    assert main(["suite", "check", str(tmp_path / "suite")]) == 0


def test_every_fault_comes_at_once_with_its_line_and_what_was_meant(
    repository: Repository, tmp_path: Path
) -> None:
    text = GOOD.replace("symbol: total", "symbol: totals").replace("symbol: pay", "symbol: pays")
    text = text.replace("path: shop/till.py", "path: till.py")
    with pytest.raises(InputError) as caught:
        built(repository, text, tmp_path)
    faults = [str(one).removeprefix(f"{tmp_path}/") for one in caught.value.faults]
    assert len(faults) == 3
    assert faults[0].startswith("questions.yaml:8: q1: targets[1]: 'shop/shop.py::totals' is not")
    assert "did you mean shop/shop.py::total?" in faults[0]
    assert "did you mean pay?" in faults[1]
    assert faults[2].startswith("questions.yaml:16: q2: targets[1]: 'till.py'")
    assert "shop/till.py" in faults[2]
    assert not (tmp_path / "suite").exists()


FAULTY = """\
questions:
  - id: q1
    question: where is the tax put on top
    targets:
      - {symbol: totals}
      - symbol: pay
        why: it pays
        grade: "three"
      - {symbol: Crat, grade: 0}
  - id: q2
    question: how is it paid
    targets:
      - symbol: pays
        grade: 7
      - {symbols: total}
      - {why: none}
    not_relevant: [shop/shop.py::totl]
  - question: of nobody
    id: 7
    asked: today
    targets: [{path: shop/shop.py}]
"""


def test_each_fault_stands_alone_and_under_its_own_field(
    repository: Repository, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        built(repository, FAULTY, tmp_path)
    told = [f"{one.line}: {one.field}: {one.problem}" for one in caught.value.faults]
    assert told == [
        "8: q1: targets[2].grade: is not a whole number from 0 to 3",
        "14: q2: targets[1].grade: is not from 0 to 3",
        "15: q2: targets[2].symbols: is not a field here",
        "16: q2: targets[3].symbol: is missing, and path too",
        "19: questions[3].id: is not text",
        "20: questions[3].asked: is not a field here",
        "5: q1: targets[1]: is not at the snapshot",
        "9: q1: targets[3]: is not at the snapshot",
        "13: q2: targets[1]: is not at the snapshot",
        "17: q2: not_relevant[1]: is not at the snapshot",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("questions: []\n", "holds no question"),
        ("questions:\n  - {id: a, question: b, targets: []}\n", "targets: is empty"),
        ("questions:\n  - {id: a, question: b}\n", "targets: is missing"),
        ("questions:\n  - {id: a, question: b, targets: [{path: x}], about: c}\n", "not a field"),
        ("questions:\n  - {id: a, question: 3, targets: [{path: x}]}\n", "is not text"),
        ("queries: []\n", "known: questions"),
        ("- a\n", 'is not a mapping with text keys; begin with "questions:"'),
        ("# to come\n", 'q.yaml: is empty; begin with "questions:"'),
        ("questions: [\n", "is not YAML"),
        ("questions:\n  - 7\n", "is not an object"),
        (
            "questions:\n  - &a {id: a, question: b, targets: [{path: x}]}\n  - *a\n",
            "anchor or alias",
        ),
    ],
)
def test_what_is_no_question_is_told(
    text: str,
    problem: str,
    repository: Repository,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, folder = tmp_path / "q.yaml", tmp_path / "s"
    file.write_text(text, "utf-8")
    words = ["suite", "build", str(repository.path), "--questions", str(file), "-o", str(folder)]
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert not out
    assert problem in err
    assert "Traceback" not in err


def test_two_questions_of_one_id_and_one_place_judged_twice(
    repository: Repository, tmp_path: Path
) -> None:
    text = GOOD.replace("id: q2", "id: q1").replace("Cart.add, path", "total, path")
    with pytest.raises(InputError) as caught:
        built(repository, text, tmp_path)
    assert "is also the question of line 2" in str(caught.value)
    assert "'shop/shop.py::total' is judged twice" in str(caught.value)


def test_an_older_snapshot_is_asked(repository: Repository, tmp_path: Path) -> None:
    repository.commit("Rename", {"shop/shop.py": SHOP.replace("total", "amount")})
    with pytest.raises(InputError, match="is not at the snapshot"):
        built(repository, GOOD, tmp_path)
    suite = built(repository, GOOD, tmp_path, snapshot="HEAD~1")
    assert suite.snapshot == repository.git("rev-parse", "HEAD~1").strip()


def test_a_symbol_of_several_files_needs_its_path(repository: Repository, tmp_path: Path) -> None:
    repository.commit("Copy", {"shop/other.py": "def pay():\n    return 1\n"})
    with pytest.raises(InputError, match=r"is in 2 files; add the path: shop/other.py, shop/til"):
        built(repository, GOOD, tmp_path)


def test_a_method_without_its_class_is_offered_with_each_that_has_it(
    repository: Repository, tmp_path: Path
) -> None:
    other = (
        "def test_add():\n    return 1\n\n\nclass Basket:\n    def add(self):\n        return 2\n"
    )
    repository.commit("Another", {"shop/basket.py": other})
    with pytest.raises(InputError) as caught:
        built(repository, GOOD.replace("symbol: pay", "symbol: add"), tmp_path)
    assert str(caught.value).endswith("; did you mean Basket.add or Cart.add?")
    text = GOOD.replace("symbol: total, path: shop/shop.py", "symbol: add, path: shop/shop.py")
    with pytest.raises(InputError, match=r"mean shop/shop.py::Cart.add or shop/basket.py::Basket"):
        built(repository, text, tmp_path)


def test_a_symbol_may_be_written_behind_its_path(repository: Repository, tmp_path: Path) -> None:
    plain = built(repository, GOOD, tmp_path)
    text = GOOD.replace("symbol: pay", 'symbol: "shop/till.py::pay"')
    text = text.replace("symbol: total,", 'symbol: "shop/shop.py::total",')
    assert built(repository, text, tmp_path).queries == plain.queries
    with pytest.raises(InputError, match=r"'shop/till.py::pya' is .* mean shop/till.py::pay\?$"):
        built(repository, text.replace("py::pay", "py::pya"), tmp_path)
    with pytest.raises(InputError, match=r"'shop/tlil.py::pay' is .* mean shop/till.py::pay\?$"):
        built(repository, text.replace("till.py::pay", "tlil.py::pay"), tmp_path)


@pytest.mark.parametrize("lines", [":6-9", ":9", "#L6-L9"])
def test_lines_are_no_target(lines: str, repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        built(
            repository, GOOD.replace("path: shop/till.py", f"path: 'shop/shop.py{lines}'"), tmp_path
        )
    (fault,) = caught.value.faults
    assert fault.problem.startswith("names lines, which move")
    assert fault.mend.startswith("path: shop/shop.py, symbol: Cart")
    assert "Cart.add" in fault.mend


def test_from_the_command_line_in_all_formats(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "q.yaml"
    file.write_text(GOOD, "utf-8")
    folder = tmp_path / "made"
    words = ["suite", "build", str(repository.path), "--questions", str(file), "-o", str(folder)]
    for form, expected in (
        ("table", "targets: 2 of grade 3, 1 of grade 2; 2 places judged not relevant"),
        ("markdown", "- kind: none 1, decision 1"),
        ("json", '"judged_not_relevant": 2'),
    ):
        assert main([*words, "--format", form]) == 0
        assert expected in capsys.readouterr().out
        shutil.rmtree(folder)
    assert main([*words, "--dry-run"]) == 2
    assert main([*words, str(tmp_path)]) == 2
    assert main([*words, "--recipe", "flask"]) == 2
