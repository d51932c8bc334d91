from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

import pytest

from codebench.grading import canonical_path, compile_gold, reach, reaches, read_bytes, trace
from codebench.grading.files import MOST_LOOKED, File, look
from codebench.model import MODULE, Chunk, FileTable, Hit, Query, Related, Target

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.grading import Gold


def explain(gold: Gold, hit: Hit) -> str:
    """Say in words what a hit reaches, e.g. `shows a.py::f (3), its file (2)`, or `nothing`."""
    words = []
    for unit in reaches(gold, hit):
        if unit.kind == "target":
            words.append(f"shows {unit.name} ({unit.level})")
        elif unit.kind == "file":
            words.append(f"its file ({unit.level})")
        elif unit.name != hit.path:
            words.append(f"related to {unit.name} ({unit.level})")
        elif not words:
            words.append(f"its file ({unit.level})")
    return ", ".join(words) or "nothing"


def chunk(name: str, *spans: tuple[int, int], path: str = "a.py", ordinal: int = 1) -> Chunk:
    return Chunk(path, name, ordinal, "function", spans, "", "", 1)


def table(path: str, lines: int, *chunks: Chunk) -> FileTable:
    return FileTable(path, "python", (10,) * lines, chunks)


# A class owns its header (11) and an attribute (30); its methods own the rest.
A = table(
    "a.py",
    400,
    chunk(MODULE, (1, 10), (101, 400)),
    chunk("Cache", (11, 11), (30, 30)),
    chunk("Cache.get", (12, 19)),
    chunk("Cache.put", (20, 29)),
    chunk("Store.get", (31, 40)),
    chunk("load", (41, 50)),
    chunk("load", (51, 90), ordinal=2),
    chunk("tiny", (91, 91)),
    chunk("INDEX", (92, 92)),
)
B = table("b.py", 20, chunk(MODULE, (1, 20), path="b.py"))
M = table("m.py", 20, chunk(MODULE, (1, 20), path="m.py"))
TABLES = {own.path: own for own in (A, B, M)}


def query(
    *targets: Target, related: tuple[Related, ...] = (), zeros: tuple[str, ...] = ()
) -> Query:
    return Query("q", "text", targets, related=related, not_relevant=zeros)


def target(name: str, grade: int = 3, path: str = "a.py") -> Target:
    return Target(path, f"{path}::{name}" if name else path, grade)


def level(name: str, hit: Hit, grade: int = 3) -> int:
    """The highest level of a unit that a hit reaches for one target; 0 for none."""
    found = reaches(compile_gold(query(target(name, grade)), TABLES), hit)
    return max((unit.level for unit in found), default=0)


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ((12, 19), True),
        ((12, 15), True),  # half of its own lines
        ((12, 14), True),  # fewer, and all of the hit's lines are its own
        ((19, 19), True),  # a sliver
        ((17, 22), False),  # 3 of 8 own lines, 3 of 6 lines of the hit: not more than half
        ((16, 31), True),  # 4 of 8, though most of the hit is not its own
        ((17, 31), False),  # 3 of 8
        ((1, 40), True),  # one screen
        ((1, 64), True),  # 8 times its own 8 lines
        ((1, 65), False),  # a line more
        ((1, 400), False),
    ],
)
def test_lines_show_a_symbol_by_overlap_and_only_when_narrow(
    lines: tuple[int, int], *, shown: bool
) -> None:
    assert level("Cache.get", Hit("a.py", *lines)) == (3 if shown else 2)


def test_a_screen_is_narrow_for_a_symbol_of_one_line() -> None:
    assert level("tiny", Hit("a.py", 60, 99)) == 3
    assert level("tiny", Hit("a.py", 59, 99)) == 2


def test_a_symbol_without_lines_of_its_own_is_shown_by_its_name_alone() -> None:
    tables = {"c.py": table("c.py", 9, chunk("Bare", path="c.py"), chunk("f", (1, 9), path="c.py"))}
    gold = compile_gold(query(target("Bare", path="c.py")), tables)
    assert [unit.level for unit in reaches(gold, Hit("c.py", 1, 9))] == [2, 1]
    assert [unit.level for unit in reaches(gold, Hit("c.py", symbol="Bare"))] == [3, 2, 1]


def test_lines_that_the_file_does_not_have_do_not_count() -> None:
    assert level(MODULE, Hit("b.py", 1, 10**9), grade=3) == 0
    gold = compile_gold(query(target(MODULE, path="b.py")), TABLES)
    assert max(unit.level for unit in reaches(gold, Hit("b.py", 1, 10**9))) == 3
    assert read_bytes(gold, Hit("b.py", 1, 10**9)) == 200
    assert level("Cache.get", Hit("a.py", 500, 510)) == 2
    assert level("Cache.get", Hit("a.py", 19, 12)) == 2
    assert level("Cache.get", Hit("a.py", -5, 19)) == 3
    assert level("Cache.get", Hit("a.py", 15)) == 3


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("Cache.get", "Cache.get"),
        ("Cache::get", "Cache.get"),
        ("Cache#get", "Cache.get"),
        ("a.py::Cache.get", "Cache.get"),
        (" Cache.get() ", "Cache.get"),
        ("(*Cache).get", "Cache.get"),
        ("put", "Cache.put"),
        (".put.", "Cache.put"),
        ("::INDEX", "INDEX"),
        ("tiny(a, b)", "tiny"),
        ("load", "load"),
        ("load", "load~2"),
        ("load~2", "load~2"),
        ("get", "Cache.get"),
        ("get", "Store.get"),
        (MODULE, MODULE),
    ],
)
def test_a_symbol_is_resolved_by_name_inside_its_file(symbol: str, name: str) -> None:
    assert level(name, Hit("a.py", symbol=symbol)) == 3


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("Cache", "Cache.get"),
        ("et", "Cache.get"),
        ("cache.get", "Cache.get"),
        ("load~1", "load~2"),
        ("load~3", "load~2"),
        ("", "tiny"),
        ("()", "tiny"),
        ("missing", "tiny"),
    ],
)
def test_another_name_is_a_hit_on_the_file(symbol: str, name: str) -> None:
    assert level(name, Hit("a.py", symbol=symbol)) == 2


def test_among_several_of_a_name_the_lines_choose() -> None:
    assert level("load", Hit("a.py", 41, 50, "load")) == 3
    assert level("load~2", Hit("a.py", 41, 50, "load")) == 2
    both = Hit("a.py", 41, 90, "load")
    assert (level("load", both), level("load~2", both)) == (3, 3)
    # The lines show neither: the one with most lines in common.
    assert level("load~2", Hit("a.py", 45, 400, "load")) == 3
    assert level("load", Hit("a.py", 45, 400, "load")) == 2
    # They touch neither: the name is unresolved, and the lines decide.
    assert level("load", Hit("a.py", 12, 19, "load")) == 2
    assert level("Cache.get", Hit("a.py", 12, 19, "load")) == 3


def test_a_name_that_does_not_resolve_falls_back_to_the_lines() -> None:
    assert level("Cache.get", Hit("a.py", 12, 19, "missing")) == 3
    assert level("Cache.get", Hit("a.py", 12, 19, "Store.get")) == 2


def test_a_path_alone_is_a_hit_on_the_file_and_shows_a_file_target() -> None:
    assert level("Cache.get", Hit("a.py")) == 2
    assert [level("", Hit("a.py"), grade) for grade in (3, 2, 1)] == [3, 2, 1]
    assert level("", Hit("a.py", 200, 210)) == 3
    assert level("Cache.get", Hit("b.py")) == 0


@pytest.mark.parametrize("path", ["./a.py", "A.py", "nowhere.py", "", "a.py/"])
def test_unknown_paths_reach_nothing(path: str) -> None:
    gone = (target("", path="nowhere.py"), target("f", path="nowhere.py"))
    gold = compile_gold(query(target("Cache.get"), *gone), TABLES)
    assert reaches(gold, Hit(path, 12, 19)) == ()
    assert read_bytes(gold, Hit(path)) == 0
    assert explain(gold, Hit(path)) == "nothing"


def test_grades_two_and_one() -> None:
    assert [level("tiny", Hit("a.py", 91, 91), grade) for grade in (3, 2, 1)] == [3, 2, 1]
    assert [level("tiny", Hit("a.py"), grade) for grade in (3, 2, 1)] == [2, 1, 0]
    assert level("tiny", Hit("a.py", 91, 91), grade=4) == 3  # no level is above an exact symbol


def test_a_target_of_no_grade_and_a_document_leave_the_others_their_units() -> None:
    document = Target("a.doc", "a.doc", grade=2, document=True)
    targets = (document, target("load", 0), target("tiny"))
    found = {(unit.level, unit.name) for unit in compile_gold(query(*targets), TABLES).units}
    assert found == {(2, "a.doc"), (1, "a.doc"), (3, "a.py::tiny"), (2, "a.py"), (1, "a.py")}


def test_a_target_named_twice_keeps_its_best_grade_and_weight() -> None:
    light, heavy = (Target("a.py", "a.py::tiny", 3, weight=weight) for weight in (1.0, 2.0))
    for targets in itertools.permutations((light, heavy, target("tiny", 2))):
        (place,) = compile_gold(query(*targets), TABLES).places
        assert (place.name, place.grade, place.weight) == ("a.py::tiny", 3, 2.0)


def test_modules_belong_to_one_target_file_and_never_to_themselves() -> None:
    related = (
        Related("m.py", "a.py", 2),
        Related("m.py", "b.py", 3),
        Related("b.py", "a.py", 9),
        Related("m.py", "elsewhere.py", 99),
    )
    targets = (target("tiny"), target(MODULE, path="b.py"))
    for order in itertools.permutations(related):
        gold = compile_gold(query(*targets, related=order), TABLES)
        found = reaches(gold, Hit("m.py"))
        assert [(unit.level, unit.name) for unit in found] == [(1, "b.py")]
    assert explain(gold, Hit("m.py", 1, 2)) == "related to b.py (1)"
    assert {unit.name for unit in reaches(gold, Hit("b.py"))} == {"b.py"}
    even = (Related("m.py", "b.py", 2), Related("m.py", "a.py", 2))
    gold = compile_gold(query(target("tiny"), target(MODULE, path="b.py"), related=even), TABLES)
    assert [unit.name for unit in reaches(gold, Hit("m.py"))] == ["a.py"]


@pytest.mark.parametrize(("grade", "names"), [(0, {"a.py"}), (1, {"b.py::<module>"})])
def test_the_file_of_a_target_of_any_grade_is_nobodys_module(grade: int, names: set[str]) -> None:
    targets = (target("tiny"), target(MODULE, grade, "b.py"))
    gold = compile_gold(query(*targets, related=(Related("b.py", "a.py", 2),)), TABLES)
    assert {unit.name for unit in reaches(gold, Hit("b.py", 1, 20))} == names


def test_a_unit_pays_once_and_the_ranks_are_kept() -> None:
    gold = compile_gold(query(target("Cache.get"), target("Cache.put")), TABLES)
    hits = [Hit("b.py"), Hit("a.py", 200, 201), Hit("a.py", 12, 29), Hit("a.py", 12, 19)]
    found = reach(gold, hits)
    assert {own: (at.units, at.ranks) for own, at in found.levels.items()} == {
        1: (1, (2,)),
        2: (1, (2,)),
        3: (2, (3, 3)),
    }
    assert found.returned == 4
    assert [place.rank for place in found.places] == [3, 3]


def test_the_order_of_targets_changes_nothing() -> None:
    one, two = target("Cache.get"), target("tiny", 2)
    hits = [Hit("a.py"), Hit("a.py", 91, 91)]
    assert reach(compile_gold(query(one, two), TABLES), hits) == reach(
        compile_gold(query(two, one, one), TABLES), hits
    )


def test_a_target_that_the_corpus_does_not_have_keeps_its_unit() -> None:
    found = reach(compile_gold(query(target("gone")), TABLES), [Hit("a.py", symbol="gone")])
    assert (found.levels[3].units, found.levels[3].ranks) == (1, ())
    assert found.levels[2].ranks == (1,)


def test_documents_have_their_own_grade_and_no_file_level() -> None:
    document = Target("d", "d", grade=2, document=True)
    found = reach(compile_gold(query(document), {}), [Hit("x"), Hit("d"), Hit("d")])
    assert {own: (at.units, at.ranks) for own, at in found.levels.items()} == {
        1: (1, (2,)),
        2: (1, (2,)),
    }
    assert [(place.grade, place.rank) for place in found.places] == [(2, 2)]


def test_documents_beside_files_keep_their_own_grade() -> None:
    document = Target("b.py", "b.py", grade=2, document=True)
    gold = compile_gold(query(document, target("tiny")), TABLES)
    found = reach(gold, [Hit("m.py"), Hit("b.py", 1, 2), Hit("a.py", 91, 91)])
    assert {own: (at.units, at.ranks) for own, at in found.levels.items()} == {
        1: (2, (2, 3)),
        2: (2, (2, 3)),
        3: (1, (3,)),
    }
    assert [(place.grade, place.rank) for place in found.places] == [(3, 3), (2, 2)]
    assert found.bytes_read == 200 + 200 + 10


def test_a_trace_tells_hit_by_hit_what_is_reached_and_where_it_was_first() -> None:
    gold = compile_gold(query(target("tiny"), zeros=("b.py", "a.py::load")), TABLES)
    hits = [
        Hit("b.py", 1, 2),
        Hit("gone.py"),
        Hit("a.py", 41, 91),
        Hit("a.py", 91, 91),
        Hit("m.py"),
    ]
    steps = [
        (
            [(unit.level, unit.name, rank) for unit, rank in step.units],
            [(place.name, place.grade) for place in step.zeros],
            step.known,
        )
        for step in trace(gold, hits)
    ]
    assert steps == [
        ([], [("b.py", 0)], True),
        ([], [], False),
        ([(2, "a.py", 3), (1, "a.py", 3)], [("a.py::load", 0)], True),
        ([(3, "a.py::tiny", 4), (2, "a.py", 3), (1, "a.py", 3)], [], True),
        ([], [], True),
    ]
    document = compile_gold(query(Target("d", "d", 1, document=True)), {})
    assert [step.known for step in trace(document, [Hit("d"), Hit("e")])] == [True, False]


def test_judged_zeros_are_places() -> None:
    gold = compile_gold(query(target("tiny"), zeros=("a.py::load", "b.py", "a.py::tiny")), TABLES)
    found = reach(gold, [Hit("b.py", 1, 2), Hit("a.py", 41, 50)])
    assert [(place.grade, place.rank) for place in found.places] == [(3, None), (0, 2), (0, 1)]
    assert [(place.name, place.grade, place.weight) for place in gold.places] == [
        ("a.py::tiny", 3, 1.0),
        ("a.py::load", 0, 0.0),
        ("b.py", 0, 0.0),
    ]
    unknown = compile_gold(query(target("tiny"), zeros=("gone.py::f", "a.py::gone")), TABLES)
    assert [place.rank for place in reach(unknown, [Hit("a.py", 91, 91)]).places] == [1, None, None]
    below = Target("a.py", "a.py::tiny", grade=-1)
    assert [place.grade for place in compile_gold(query(below), TABLES).places] == [0]


@pytest.mark.parametrize("name", ["odd::one.py::f", "one.py::operator::f"])
def test_a_judged_zero_is_found_whichever_part_of_its_id_is_the_path(name: str) -> None:
    path = name[: name.index(".py") + 3]
    own = chunk(name.removeprefix(f"{path}::"), (1, 5), path=path)
    gold = compile_gold(query(target("tiny"), zeros=(name,)), {**TABLES, path: table(path, 9, own)})
    found = reach(gold, [Hit(path, 9, 9), Hit(path, 1, 5)])
    assert [(place.grade, place.rank) for place in found.places] == [(3, None), (0, 2)]


def test_a_judged_zero_may_be_a_file_whose_name_looks_like_a_chunk_of_another() -> None:
    tables = {name: table(name, 9) for name in ("x", "x::y")}
    gold = compile_gold(query(target("", path="x"), zeros=("x::y",)), tables)
    assert [place.rank for place in reach(gold, [Hit("x"), Hit("x::y")]).places] == [1, 2]


def test_what_a_hit_makes_one_read() -> None:
    gold = compile_gold(query(target("tiny")), TABLES)

    def lines(hit: Hit) -> int:
        return read_bytes(gold, hit) // 10

    assert lines(Hit("a.py")) == 400
    assert lines(Hit("a.py", symbol="Cache.get")) == 8
    assert lines(Hit("a.py", symbol="Cache")) == 2
    assert lines(Hit("a.py", symbol="load")) == 50
    assert lines(Hit("a.py", symbol="missing")) == 400
    assert lines(Hit("a.py", 15, 15)) == 8  # a sliver costs its chunk
    assert lines(Hit("a.py", 12, 40)) == 29
    assert lines(Hit("a.py", 38, 45)) == 13  # most are of load, which is read to its end
    assert lines(Hit("a.py", 101, 102)) == 310  # the module's own lines
    assert lines(Hit("a.py", 12, 40, "Cache.get")) == 29
    assert lines(Hit("a.py", 41, 41)) == 10  # its first line
    assert lines(Hit("a.py", 15, 22)) == 11  # most are of get, which is read from its start
    assert lines(Hit("a.py", 17, 22)) == 11  # as many of get as of put: the first
    assert lines(Hit("a.py", 19, 12)) == lines(Hit("a.py", 500, 510)) == 400
    found = reach(gold, [Hit("a.py", 12, 19), Hit("nowhere"), Hit("a.py", 91, 91)])
    assert found.levels[3].bytes_read == (90,)
    assert found.bytes_read == 90


def test_what_a_hit_makes_one_read_where_chunks_have_gaps() -> None:
    outer = chunk("Outer", (1, 3), (8, 12), path="g.py")
    tables = {
        "g.py": table("g.py", 20, outer, chunk("Outer.get", (4, 7), path="g.py")),
        "n.txt": table("n.txt", 20),
    }
    gold = compile_gold(query(), tables)

    def lines(hit: Hit) -> int:
        return read_bytes(gold, hit) // 10

    assert lines(Hit("g.py", 1, 10)) == 12  # 6 of Outer in two parts, 4 of its method
    assert lines(Hit("g.py", 13, 14)) == 2  # beside Outer, nobody's
    assert lines(Hit("g.py", 14, 14, "Outer")) == 9  # the line between them is not read
    assert lines(Hit("n.txt", 3, 4)) == 2
    assert lines(Hit("n.txt", 20, 20)) == 1


def test_what_was_looked_at_is_remembered_up_to_a_limit() -> None:
    file = File(A)
    assert look(file, Hit("a.py", 12, 19))[0] is look(file, Hit("a.py", 12, 19))[0]
    for start in range(1, MOST_LOOKED + 2):
        look(file, Hit("a.py", start))
        assert len(file.looked) <= MOST_LOOKED


def test_explanations() -> None:
    related = (Related("m.py", "a.py", 2),)
    gold = compile_gold(query(target("tiny"), target("load", 2), related=related), TABLES)
    assert explain(gold, Hit("a.py", 91, 91)) == "shows a.py::tiny (3), its file (2)"
    assert explain(gold, Hit("a.py", 41, 50)) == "its file (2), shows a.py::load (2)"
    assert explain(gold, Hit("a.py")) == "its file (2)"
    assert explain(gold, Hit("m.py")) == "related to a.py (1)"
    assert explain(gold, Hit("b.py")) == "nothing"
    gold = compile_gold(query(target("tiny", 2)), TABLES)
    assert explain(gold, Hit("a.py")) == "its file (1)"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/b.py", "a/b.py"),
        ("./a//b.py", "a/b.py"),
        ("a/../b.py", "b.py"),
        ("/root/a.py", "a.py"),
        ("//root/a.py", "a.py"),
        ("/root/../root/a.py", "a.py"),
        ("..", None),
        ("../x", None),
        ("a/../../x", None),
        ("/root", None),
        ("/rootless/a.py", None),
        ("/root/../etc/passwd", None),
        (".", None),
        ("", None),
        ("a\0b", None),
        ("...", "..."),
        ("..a/b", "..a/b"),
    ],
)
def test_canonical_paths(path: str, expected: str | None) -> None:
    assert canonical_path(path, "/root") == expected
    assert canonical_path(path, "/root/") == expected


@pytest.mark.skipif(os.name == "nt", reason="a backslash separates there")
def test_a_backslash_is_a_letter_elsewhere() -> None:
    assert canonical_path("a\\b.py", "/root") == "a\\b.py"
    assert canonical_path("/ro\\ot/b.py", "/ro\\ot") == "b.py"


@pytest.mark.parametrize("root", ["/", "/X", "/with space "])
def test_roots_of_any_name(root: str) -> None:
    assert canonical_path(f"{root.rstrip('/')}/a.py", root) == "a.py"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a\\b.py", "a/b.py"),
        ("C:\\root\\a\\b.py", "a/b.py"),
        ("c:/root/a.py", None),
        ("C:\\else\\a.py", None),
        ("/root/a.py", None),
    ],
)
def test_a_backslash_separates_on_windows(
    path: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        found = canonical_path(path, "C:\\root")
    assert found == expected


def test_a_root_through_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    assert canonical_path(str(link / "a.py"), link) == "a.py"
    assert canonical_path(str(real.resolve() / "a.py"), link) == "a.py"
