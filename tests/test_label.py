"""Which symbols a commit edited."""

from __future__ import annotations

from textwrap import dedent

import pytest

from codebench.corpus.chunks import file_table
from codebench.gold import filters
from codebench.gold.label import FilePair, Label, diff_symbols, label_commit


def pair(old: str | None, new: str | None, path: str = "a.py", new_path: str = "") -> FilePair:
    return FilePair(
        None if old is None else file_table(path, dedent(old).encode()),
        None if new is None else file_table(new_path or path, dedent(new).encode()),
    )


def names(label: Label) -> list[str]:
    return [chunk.name for chunk in label.targets]


BASE = """
import os

LIMIT = 3


class Shelf:
    size = 1

    def take(self):
        return 1

    def put(self):
        return 2


def free():
    def inner():
        return 3
    return inner
"""


@pytest.mark.parametrize(
    ("old", "new", "targets"),
    [
        ("return 1", "return 10", ["Shelf.take"]),
        ("size = 1", "size = 2", ["Shelf"]),
        ("return 3", "return 4", ["free"]),
        ("        return 2\n", "        log()\n        return 2\n", ["Shelf.put"]),
    ],
)
def test_an_edit_belongs_to_its_innermost_symbol(old: str, new: str, targets: list[str]) -> None:
    assert names(label_commit([pair(BASE, BASE.replace(old, new))])) == targets


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("return 1", "return 1  # why", filters.UNCHANGED),
        ("return 1", "return (\n            1\n        )", None),
        ("\n\nclass", "\n\n\n\nclass", filters.UNCHANGED),
        ("class Shelf:\n", 'class Shelf:\n    """Doc."""\n', filters.UNCHANGED),
        ("import os", "import sys", filters.TOP_LEVEL),
        ("LIMIT = 3", "LIMIT = 4", filters.TOP_LEVEL),
        ("def free", "def released", filters.MOVED),
        ("class Shelf", "class Rack", filters.MOVED),
        ("\n\ndef free", "\n\ndef fresh():\n    return 9\n\n\ndef free", filters.NEW),
        (BASE[BASE.index("    def put") : BASE.index("def free")], "\n", filters.DELETED),
    ],
)
def test_what_edits_no_symbol_gives_no_query(old: str, new: str, verdict: str | None) -> None:
    label = label_commit([pair(BASE, BASE.replace(old, new))])
    if verdict is None:
        assert names(label) == ["Shelf.take"]
    else:
        assert (names(label), label.verdict) == ([], verdict)


def test_what_is_deleted_beside_an_edit_is_gold_the_outermost_only() -> None:
    without = BASE[: BASE.index("class Shelf")] + BASE[BASE.index("def free") :]
    label = label_commit([pair(BASE, without.replace("return 3", "return 4"))])
    assert names(label) == ["Shelf", "free"]


def test_what_moved_to_another_file_is_not_gold() -> None:
    method = BASE[BASE.index("def free") :]
    old = pair(BASE, BASE.replace(method, "").replace("return 1", "return 7"))
    label = label_commit([old, pair("x = 1\n", "x = 1\n\n\n" + method, path="b.py")])
    assert names(label) == ["Shelf.take"]


def test_a_renamed_file_keeps_the_old_path() -> None:
    label = label_commit([pair(BASE, BASE.replace("return 1", "return 8"), new_path="moved.py")])
    assert [chunk.id for chunk in label.targets] == ["a.py::Shelf.take"]


def test_repeats_are_paired_by_fingerprint_before_order() -> None:
    old = "if A:\n    def f():\n        return 1\nelse:\n    def f():\n        return 2\n"
    new = "if A:\n    def f():\n        return 2\nelse:\n    def f():\n        return 3\n"
    diff = diff_symbols(pair(old, new))
    assert [(chunk.id, chunk.start_line) for chunk, _ in diff.edited] == [("a.py::f", 2)]


def test_crlf_and_reformatting_give_no_query() -> None:
    crlf = BASE.replace("\n", "\r\n")
    assert label_commit([pair(BASE, crlf)]).verdict == filters.UNCHANGED


def test_a_file_with_syntax_errors_gives_no_symbol() -> None:
    broken = BASE.replace("def put(self):", "def put(self:")
    label = label_commit([pair(broken, broken.replace("return 1", "return 10"))])
    assert (names(label), label.verdict) == ([], filters.UNSOUND)


def test_more_than_ten_targets_are_no_query() -> None:
    old = "".join(f"def f{number}():\n    return 1\n\n\n" for number in range(11))
    label = label_commit([pair(old, old.replace("return 1", "return 2"))])
    assert (names(label), label.verdict) == ([], filters.MANY_TARGETS)


def test_a_message_about_a_new_name_does_not_ask_for_where_the_old_one_was_used() -> None:
    use = "def use():\n    return {}()\n"
    name = "def {}():\n    return [item for item in range(100)]\n\n\n" + use
    pairs = [pair(name.format("old", "old"), name.format("new", "new"))]
    assert names(label_commit(pairs)) == ["use"]
    assert label_commit(pairs, renames=True).verdict == filters.MOVED


def test_code_that_is_added_beside_edited_data_is_the_substance() -> None:
    new = BASE.replace("size = 1", "size = 2")
    assert names(label_commit([pair(BASE, new)])) == ["Shelf"]
    more = new.replace("    def put", "    def fill(self):\n        return 5\n\n    def put")
    assert label_commit([pair(BASE, more)]).verdict == filters.NEW
