"""A chunk is found again in another snapshot, or said to be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.corpus.carry import Origin, Place, Renames, similarity
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


def place(files: dict[str, str], *, whole: bool = True) -> Place:
    tables = {path: file_table(path, source.encode()) for path, source in files.items()}

    def text(chunk: Chunk) -> str:
        lines = files[chunk.path].split("\n")
        return "\n".join(line for start, end in chunk.spans for line in lines[start - 1 : end])

    return Place(tables, text, whole=whole)


def carried(
    source: str, name: str, where: Place, *, path: str = "a.py", renamed: str = ""
) -> tuple[str, str, float] | None:
    chunk = chunk_of(path, source, name)
    lines = source.split("\n")
    text = "\n".join(line for start, end in chunk.spans for line in lines[start - 1 : end])
    found = where.find(Origin(chunk, lambda: text, renamed or path))
    return None if found is None else (found.chunk.id, found.rule, round(found.similarity, 2))


SHORT = "def f():\n    return 1\n"


def test_by_path_and_name_through_an_edit() -> None:
    where = place({"a.py": "def f():\n    return 2\n"})
    assert carried(SHORT, "f", where) == ("a.py::f", "path and name", 0.86)


def test_by_the_path_that_a_rename_names() -> None:
    where = place({"old.py": SHORT})
    assert carried(SHORT, "f", where, path="new.py", renamed="old.py") == (
        "old.py::f",
        "rename",
        1.0,
    )


def test_by_fingerprint_where_the_name_changed() -> None:
    where = place({"b.py": "import os\n\n\n" + LONG.format(name="sum_up")})
    found = carried(LONG.format(name="total"), "total", where)
    assert found is not None
    assert found[:2] == ("b.py::sum_up", "fingerprint")


def test_a_fingerprint_that_is_not_unique_identifies_nothing() -> None:
    where = place({"b.py": LONG.format(name="x"), "c.py": LONG.format(name="y")})
    assert carried(LONG.format(name="total"), "total", where) is None


def test_a_short_body_identifies_nothing() -> None:
    assert carried(SHORT, "f", place({"b.py": "def g():\n    return 1\n"})) is None


def test_a_part_of_the_snapshot_cannot_tell_what_is_unique() -> None:
    where = place({"b.py": LONG.format(name="sum_up")}, whole=False)
    assert carried(LONG.format(name="total"), "total", where) is None


def test_by_a_unique_qualified_name_elsewhere_that_is_alike() -> None:
    changed = LONG.format(name="total").replace("discount", "rebate")
    found = carried(LONG.format(name="total"), "total", place({"z.py": changed}))
    assert found is not None
    assert found[:2] == ("z.py::total", "qualified name")
    other = "def total(a, b):\n    while a < b:\n        a <<= 2\n    raise Stop[a:b]\n"
    assert carried(LONG.format(name="total"), "total", place({"z.py": other})) is None


METHOD = """class {0}:
    x = 1

    def total(self):
        paid = sum(self.items)
        return paid - {1}
"""


def test_by_likeness_in_the_file_where_the_class_was_renamed_and_the_code_edited() -> None:
    old, new = METHOD.format("Old", "self.rebate"), METHOD.format("New", "self.discount")
    found = carried(old, "Old.total", place({"a.py": new}))
    assert found is not None
    assert found[:2] == ("a.py::New.total", "similar")
    far = METHOD.format("New", "min(self.discount, other(1, 2, 3), key=lambda: [4, 5, 6])")
    assert carried(old, "Old.total", place({"b.py": far})) is None, "elsewhere it must be 0.75"


def test_what_has_another_meaning_by_now_has_drifted() -> None:
    body = "\n".join(f"    while a{n} < b{n}: a{n} <<= {n + 2}" for n in range(20))
    other = f"def f(a, b):\n{body}\n"
    chunk = chunk_of("a.py", SHORT, "f")
    found = place({"a.py": other}).find(Origin(chunk, lambda: SHORT, "a.py"))
    assert found is not None
    assert found.drifted


def test_repeats_are_told_apart_by_fingerprint_then_order() -> None:
    source = "if A:\n    def f():\n        return 1\nelse:\n    def f():\n        return 2\n"
    table = file_table("a.py", source.encode())
    first, second = (chunk for chunk in table.chunks if chunk.name == "f")
    swapped = place({"a.py": source.replace("1", "9").replace("2", "1").replace("9", "2")})
    changed = place({"a.py": source.replace("1", "7").replace("2", "8")})
    for chunk, where in ((first, swapped), (second, changed)):
        found = where.find(Origin(chunk, lambda: "", "a.py"))
        assert found is not None
        assert found.chunk.id == "a.py::f~2"


def test_likeness_is_the_share_of_common_tokens() -> None:
    assert similarity("a b c", "c b a") == 1.0
    assert similarity("a b", "a c") == 0.5
    assert similarity("", "") == 1.0
    assert similarity("a", "") == 0.0


def test_renames_are_followed_through_the_window_only() -> None:
    renames = Renames([(3, "b.py", "c.py"), (7, "a.py", "b.py"), (9, "z.py", "c.py")])
    assert renames.back("c.py", 0, lambda _: True) == "a.py"
    assert renames.back("c.py", 0, lambda position: position < 5) == "b.py"
    assert renames.back("c.py", 3, lambda _: True) == "z.py"
    assert renames.back("other.py", 0, lambda _: True) == "other.py"
