"""A chunk is found again in another snapshot, or said to be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.corpus.carry import Carried, Find, Renames, carry
from codebench.corpus.chunks import file_table

if TYPE_CHECKING:
    from codebench.model import Chunk

LONG = """def {name}(order):
    paid = sum(item.price * item.count for item in order.items)
    return paid - order.discount
"""


def chunk_of(path: str, source: str, name: str) -> Chunk:
    table = file_table(path, source.encode())
    return next(chunk for chunk in table.chunks if chunk.name == name)


def find(files: dict[str, str], *, whole: bool = True) -> Find:
    tables = {path: file_table(path, source.encode()) for path, source in files.items()}
    return Find(tables, whole=whole)


def carried(found: Carried | None) -> tuple[str, str] | None:
    return None if found is None else (found.chunk.id, found.rule)


HERE = [("path and name", "a.py")]


def test_by_path_and_name_through_an_edit() -> None:
    chunk = chunk_of("a.py", "def f():\n    return 1\n", "f")
    where = find({"a.py": "def f():\n    return 2\n"})
    assert carried(carry(chunk, HERE, where)) == ("a.py::f", "path and name")


def test_by_the_path_that_a_rename_names() -> None:
    chunk = chunk_of("new.py", "def f():\n    return 1\n", "f")
    where = find({"old.py": "def f():\n    return 1\n"})
    paths = [("path and name", "new.py"), ("rename", "old.py")]
    assert carried(carry(chunk, paths, where)) == ("old.py::f", "rename")


def test_by_fingerprint_where_the_name_changed() -> None:
    chunk = chunk_of("a.py", LONG.format(name="total"), "total")
    where = find({"b.py": "import os\n\n\n" + LONG.format(name="sum_up")})
    assert carried(carry(chunk, HERE, where)) == ("b.py::sum_up", "fingerprint")


def test_a_fingerprint_that_is_not_unique_identifies_nothing() -> None:
    chunk = chunk_of("a.py", LONG.format(name="total"), "total")
    where = find({"b.py": LONG.format(name="x"), "c.py": LONG.format(name="y")})
    assert carry(chunk, HERE, where) is None


def test_a_short_body_identifies_nothing() -> None:
    chunk = chunk_of("a.py", "def f():\n    return 1\n", "f")
    assert carry(chunk, HERE, find({"b.py": "def g():\n    return 1\n"})) is None


def test_a_part_of_the_snapshot_cannot_tell_what_is_unique() -> None:
    chunk = chunk_of("a.py", LONG.format(name="total"), "total")
    where = find({"b.py": LONG.format(name="sum_up")}, whole=False)
    assert carry(chunk, HERE, where) is None


def test_repeats_are_told_apart_by_fingerprint_then_order() -> None:
    source = "if A:\n    def f():\n        return 1\nelse:\n    def f():\n        return 2\n"
    table = file_table("a.py", source.encode())
    first, second = (chunk for chunk in table.chunks if chunk.name == "f")
    swapped = find({"a.py": source.replace("1", "9").replace("2", "1").replace("9", "2")})
    assert carried(carry(first, HERE, swapped)) == ("a.py::f~2", "path and name")
    changed = find({"a.py": source.replace("1", "7").replace("2", "8")})
    assert carried(carry(second, HERE, changed)) == ("a.py::f~2", "path and name")


def test_renames_are_followed_through_the_window_only() -> None:
    renames = Renames([(3, "b.py", "c.py"), (7, "a.py", "b.py"), (9, "z.py", "c.py")])
    assert renames.back("c.py", 0, lambda _: True) == "a.py"
    assert renames.back("c.py", 0, lambda position: position < 5) == "b.py"
    assert renames.back("c.py", 3, lambda _: True) == "z.py"
    assert renames.back("other.py", 0, lambda _: True) == "other.py"
