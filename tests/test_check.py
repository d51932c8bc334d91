"""Checking a suite: dangling places and where they went, the ceiling, the counts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codebench import home
from codebench.corpus.chunks import file_table
from codebench.errors import InputError, SuiteError
from codebench.gold.ceiling import ceiling, evaluate_ideal, ideal_hits
from codebench.gold.census import census_of, row_of
from codebench.gold.check import Checked, check
from codebench.gold.dangling import Places, Wrong, query_faults
from codebench.measures.names import parse
from codebench.model import Corpus, Query, Related, Suite, Target
from tests.repositories import grown
from tests.suites import Rows, edit, made_suite

if TYPE_CHECKING:
    from collections.abc import Sequence

STORE = """\
class Shelf:
    def take(self, order, customer):
        limit = self.limit_of(customer) + order.bonus
        return [item for item in self.items if item.rank > limit]

    def put(self, item):
        self.items.append(item)
"""
CLOCK = "def elapsed(start):\n    return now() - start\n\n\ndef now():\n    return 42\n"


def corpus(**files: str) -> Corpus:
    tables = [
        file_table(name.replace("__", "/") + ".py", source.encode())
        for name, source in sorted(files.items())
    ]
    return Corpus(Path(), "sha256:0", tuple(tables))


BOTH = corpus(shop__store=STORE, shop__clock=CLOCK)


def query(
    *targets: Target | str, related: Sequence[Related] = (), judged: tuple[str, ...] = ()
) -> Query:
    made = tuple(
        Target(one.partition("::")[0], one) if isinstance(one, str) else one for one in targets
    )
    return Query("q", "a text", made, related=tuple(related), not_relevant=judged)


def faults(one: Query, there: Corpus = BOTH) -> list[Wrong]:
    return list(query_faults(one, Places(there)))


def prints(name: str) -> tuple[str, str]:
    chunk = next(chunk for chunk in BOTH.chunks() if chunk.id == name)
    return chunk.fingerprint, chunk.masked


TAKE = "shop/store.py::Shelf.take"


def target(name: str, of: str = TAKE) -> Target:
    fingerprint, masked = prints(of)
    return Target(name.partition("::")[0], name, fingerprint=fingerprint, masked=masked)


def test_what_is_there_is_no_fault() -> None:
    good = query(
        target(TAKE),
        "shop/clock.py",
        related=[Related("shop/clock.py", "shop/store.py", 2)],
        judged=("shop/clock.py::now", "shop/store.py"),
    )
    assert faults(good) == []


def test_the_same_code_under_another_name_or_path_is_found() -> None:
    (moved,) = faults(query(target("shop/old.py::Shelf.take")))
    assert (moved.field, moved.problem) == ("targets[1]", "is in no file of the corpus")
    assert moved.value == "shop/old.py::Shelf.take"
    assert moved.mend == f"the same code is {TAKE}"
    there = corpus(shop__store=STORE.replace("def take", "def remove"))
    (renamed,) = faults(query(target(TAKE)), there)
    assert renamed.problem == "is no chunk of its file"
    assert renamed.mend == "renamed to shop/store.py::Shelf.remove"


def test_edited_code_is_not_what_the_fingerprint_says() -> None:
    there = corpus(shop__store=STORE.replace("order.bonus", "order.malus"))
    (fault,) = faults(query(target(TAKE)), there)
    assert fault.problem == "is other code in the corpus than its fingerprint says"
    without = Target("shop/store.py", TAKE)
    assert faults(query(without), there) == []


def test_a_short_body_is_no_evidence() -> None:
    """`return 42` stands in too many places to say that it moved there."""
    (fault,) = faults(query(target("shop/gone.py::later", of="shop/clock.py::now")))
    assert "shop/clock.py::now" not in fault.mend


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("shop/store.py::Shelf.tak", f"did you mean {TAKE}"),
        ("shop/store.py::elapsed", "did you mean shop/clock.py::elapsed?"),
        ("shop/stor.py::Shelf.take", f"did you mean {TAKE}?"),
        ("store.py::Shelf.vanished", "did you mean a place in shop/store.py?"),
        ("shop/clock.py::zzz", "shop/clock.py has elapsed or now"),
        ("z/y/x.py::zzz", "nothing there is named like it"),
        ("shop/store.p", "did you mean a place in shop/store.py?"),
    ],
)
def test_near_names(name: str, mend: str) -> None:
    (fault,) = faults(query(name))
    assert fault.mend.startswith(mend)


def test_related_modules_and_judged_places_are_checked_too() -> None:
    odd = query(
        TAKE,
        related=[
            Related("shop/clck.py", "shop/store.py", 2),
            Related("shop/clock.py", "shop/other.py", 2),
        ],
        judged=("shop/clock.py::noww",),
    )
    assert [(fault.field, fault.value) for fault in faults(odd)] == [
        ("related[1].path", "shop/clck.py"),
        ("related[2].of", "shop/other.py"),
        ("not_relevant[1]", "shop/clock.py::noww"),
    ]
    assert [fault.mend for fault in faults(odd)] == [
        "did you mean a place in shop/clock.py?",
        "write shop/store.py",
        "did you mean shop/clock.py::now?",
    ]


def test_documents_and_whole_files() -> None:
    assert faults(query(Target("shop/clock.py", "shop/clock.py", document=True))) == []
    (document,) = faults(query(Target("d1", "d1", document=True)))
    assert document.problem == "is in no document of the corpus"
    (file,) = faults(query("shop/gone.py"))
    assert file.problem == "is in no file of the corpus"


MEASURES = [
    parse(name).bind(2) for name in ("R(rel=3)@10", "R(rel=2)@10", "nDCG@10", "RR(rel=2)@10")
]


def best(*queries: Query, there: Corpus = BOTH) -> list[float | None]:
    suite = Suite("s", "", "", "", tuple(queries))
    ideal = evaluate_ideal(suite, there.by_path, MEASURES)
    return [figure.value for figure in ceiling([ideal]).values()]


def test_a_perfect_answer_scores_one() -> None:
    both = query(
        TAKE,
        "shop/store.py::Shelf.put",
        "shop/clock.py::now",
        Target("shop/clock.py", "shop/clock.py", 2),
    )
    assert best(both) == [1, 1, 1, 1]
    hits = [(hit.path, hit.symbol) for hit in ideal_hits(both, BOTH.by_path)]
    assert hits == [
        ("shop/clock.py", "now"),
        ("shop/store.py", "Shelf.put"),
        ("shop/store.py", "Shelf.take"),
        ("shop/clock.py", None),
    ]


def test_repeated_names_and_own_lines_can_be_reached() -> None:
    there = corpus(a="import os\n\nif os:\n    def f(): return 1\nelse:\n    def f(): return 2\n")
    assert best(query("a.py::f", "a.py::f~2", "a.py::<module>"), there=there) == [1, 1, 1, 1]


def test_what_dangles_cannot_be_reached() -> None:
    assert best(query(TAKE, "shop/store.py::Shelf.gone"))[0] == 0.5
    assert best(query("gone.py::f")) == [0, 0, 0, 0]


def test_more_targets_than_the_cutoff_cannot_all_be_reached() -> None:
    there = corpus(
        a="".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(20))
    )
    names = [f"a.py::f{number}" for number in range(20)]
    assert best(query(*names), there=there) == [0.5, 1, 1, 1]


def test_the_ceiling_is_weighted_over_members() -> None:
    def ideal(*queries: Query) -> object:
        return evaluate_ideal(Suite("s", "", "", "", queries), BOTH.by_path, MEASURES)

    heavy = Query("h", "text", query(TAKE).targets, weight=3)
    figures = ceiling([ideal(heavy), ideal(query("gone.py::f"))])  # type: ignore[list-item]
    assert [figure.value for figure in figures.values()] == [0.75] * 4
    assert ceiling([]) == {}


def test_counts() -> None:
    one = row_of(query(TAKE), "python")
    two = row_of(
        Query(
            "r",
            "now or never",
            query("shop/clock.py::now", TAKE, "x").targets,
            tags={"split": "dev"},
        ),
        "go",
    )
    census = census_of([one, two, one])
    assert (census.queries, census.targets_median, census.targets_mean) == (3, 1, 5 / 3)
    assert census.single_file == 2 / 3
    assert census.languages == {"python": 2, "go": 1}
    assert census.leaks == {"word": 1, "none": 2}
    assert census.splits == {"dev": 1, "none": 2}
    assert census_of([one]).splits == {}
    assert census_of([]).queries == 0


def run(folder: Path) -> Checked:
    return check(str(folder), lambda *_: None, jobs=1)


def test_a_built_suite_is_whole(tmp_path: Path) -> None:
    found = run(made_suite(grown(tmp_path / "shop"), tmp_path / "s"))
    assert found.faults == ()
    assert found.census.queries == 6
    assert {figure.value for figure in found.ceiling.values()} == {1}


def test_a_suite_edited_by_hand_has_every_fault_found_at_once(tmp_path: Path) -> None:
    folder = made_suite(grown(tmp_path / "shop"), tmp_path / "s")

    def change(rows: Rows) -> None:
        rows[0]["targets"][0]["chunk"] += "x"
        rows[2]["related"][0]["path"] = "shop/nowhere.py"
        rows[4]["targets"].append({"chunk": "shop/clock.py"})

    edit(folder, change)
    yaml = (folder / "suite.yaml").read_text()
    (folder / "suite.yaml").write_text(
        yaml.replace("corpus_digest: sha256:", "corpus_digest: sha256:0")
    )
    found = run(folder)
    assert [(Path(fault.file).name, fault.line, fault.field) for fault in found.faults] == [
        ("suite.yaml", None, "corpus_digest"),
        ("queries.jsonl", 1, "targets[1]"),
        ("queries.jsonl", 3, "related[1].path"),
    ]
    assert found.census.targets_mean == 7 / 6


def test_lines_are_counted_past_blank_ones(tmp_path: Path) -> None:
    folder = made_suite(grown(tmp_path / "shop"), tmp_path / "s")
    edit(
        folder,
        lambda rows: rows[1]["targets"][0].update(chunk=rows[1]["targets"][0]["chunk"] + "z"),
    )
    file = folder / "queries.jsonl"
    file.write_text("\n\n" + file.read_text())
    (fault,) = run(folder).faults
    assert fault.line == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r"corpus_digest", "#corpus_digest", "corpus_digest: is missing; write sha256:"),
        ("repository: /", "repository: /nowhere/", "is not on this machine; write its URL"),
        ("repository: ", "#repository: ", "repository: is missing"),
        ("snapshot: ", "snapshot: ffff", "the corpus cannot be opened: "),
        ("  corpus: {}", "  corpus: {inclde: []}", "recipe.corpus:"),
        ("name: ", "nam: ", "nam: is not a field here"),
    ],
)
def test_what_is_wrong_with_the_corpus(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = made_suite(grown(tmp_path / "shop"), tmp_path / "s")
    text = (folder / "suite.yaml").read_text()
    assert old in text
    (folder / "suite.yaml").write_text(text.replace(old, new, 1))
    faults = [str(fault) for fault in run(folder).faults]
    assert any(message in fault for fault in faults), faults
    assert all("\n" not in fault for fault in faults)


def test_one_broken_member_does_not_hide_the_others(tmp_path: Path) -> None:
    folder = made_suite(grown(tmp_path / "shop"), tmp_path / "s", mode="epochs", epochs=3)
    (folder / "epoch-1/queries.jsonl").write_text("{}\n[]\n")
    edit(
        folder / "epoch-3",
        lambda rows: rows[0]["targets"][0].update(chunk=rows[0]["targets"][0]["chunk"] + "z"),
    )
    found = run(folder)
    assert (found.members, found.readable) == (3, 2)
    files = [Path(fault.file).parent.name for fault in found.faults]
    assert files.count("epoch-1") >= 2
    assert files.count("epoch-3") == 1
    assert found.census.queries == 4


def test_a_pinned_folder_that_changed(tmp_path: Path) -> None:
    shutil.copytree(home.builtin("suites") / "tiny", tmp_path / "mine")
    assert run(tmp_path / "mine").faults == ()
    (tmp_path / "mine/corpus/inventory/pricing.py").unlink()
    found = run(tmp_path / "mine")
    assert found.faults[0].field == "corpus_digest"
    assert any("inventory/pricing.py" in fault.value for fault in found.faults[1:])
    assert any((figure.value or 0) < 1 for figure in found.ceiling.values())


def test_no_suite(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="is no suite; name a folder"):
        run(tmp_path)
    (tmp_path / "suite.yaml").write_text("name: x\nmembers: [a, ../b]\n")
    with pytest.raises(InputError, match=r"holds no suite\.yaml"):
        run(tmp_path)
