"""Suite folders: reading, writing, digest."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codebench.errors import InputError, SuiteError
from codebench.home import builtin
from codebench.model import Query, Related, Suite, Target
from codebench.suite import QUERIES_FILE, SUITE_FILE, read_suite, suite_digest, write_suite

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "name: s\nrepository: corpus\ncorpus_digest: sha256:1\n"
GOOD_ROW = {"id": "a", "text": "t", "targets": [{"chunk": "p.py::f"}]}


def folder_with(tmp_path: Path, *rows: Any, head: str = HEAD) -> Path:
    (tmp_path / SUITE_FILE).write_text(head)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (tmp_path / QUERIES_FILE).write_text("\n".join(lines) + "\n")
    return tmp_path


def faults_of(tmp_path: Path, *rows: Any, head: str = HEAD) -> str:
    with pytest.raises(InputError) as caught:
        read_suite(folder_with(tmp_path, *rows, head=head))
    return str(caught.value)


def test_a_small_suite_is_read_with_its_defaults(tmp_path: Path) -> None:
    suite = read_suite(folder_with(tmp_path, GOOD_ROW))
    assert suite == Suite(
        "s", "corpus", "", "sha256:1", (Query("a", "t", (Target("p.py", "p.py::f"),)),)
    )


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)
words = texts.filter(lambda text: bool(text.strip()))
ids = words.filter(lambda text: text == text.strip() and text.isprintable())
weights = st.floats(1e-6, 1e6)
targets = st.builds(
    lambda path, name, grade, weight, document: Target(
        path, f"{path}::{name}" if name and not document else path, grade, weight, document
    ),
    words, st.text("abc", max_size=2), st.integers(1, 3), weights, st.booleans(),
)  # fmt: skip
related = st.builds(Related, words, words, st.integers(0, 9), st.just(("test",)))
queries = st.builds(
    Query,
    id=ids, text=words, source=words, origin=st.text("xyz"), time=st.text("xyz"), weight=weights,
    tags=st.dictionaries(st.text("abc"), st.text("abc")),
    targets=st.lists(
        targets, min_size=1, max_size=3, unique_by=lambda t: (t.path, t.chunk)
    ).map(tuple),
    related=st.lists(related, max_size=2).map(tuple),
    not_relevant=st.lists(words, max_size=2).map(tuple),
)  # fmt: skip
suites = st.builds(
    Suite,
    name=words, repository=words, snapshot=st.sampled_from(["", "0123456", "1e10"]),
    corpus_digest=st.just("sha256:1"),
    queries=st.lists(queries, min_size=1, max_size=3, unique_by=lambda q: q.id).map(
        lambda found: tuple(sorted(found, key=lambda q: q.id))
    ),
    recipe=st.just({"mode": "frozen", "since": "2024-01-01", "n": 3, "parts": [1.5, None, "x"]}),
    funnel=st.just((("commits", 10), ("merge", 3))),
)  # fmt: skip


@given(suite=suites)
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_back(
    suite: Suite, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("suite")
    write_suite(suite, folder)
    assert read_suite(folder) == suite
    assert suite_digest(read_suite(folder)) == suite_digest(suite)
    before = [(folder / name).read_bytes() for name in (SUITE_FILE, QUERIES_FILE)]
    write_suite(read_suite(folder), folder)
    assert [(folder / name).read_bytes() for name in (SUITE_FILE, QUERIES_FILE)] == before


def test_all_faults_are_reported_at_once_with_line_and_field(tmp_path: Path) -> None:
    said = faults_of(
        tmp_path,
        GOOD_ROW,
        "{not json",
        {**GOOD_ROW, "id": "b", "wieght": 2},
        {"id": "a", "text": " ", "targets": []},
        {**GOOD_ROW, "id": "c", "weight": 0},
        '{"id": "d", "text": "t", "weight": NaN, "targets": [{"chunk": "p"}]}',
        '{"id": "e", "text": "t", "weight": 1e999, "targets": [{"chunk": "p"}]}',
        {**GOOD_ROW, "id": "f", "targets": [{"chunk": "p.py::f", "grade": 4}, {"chunk": 3}, "x"]},
        {**GOOD_ROW, "id": "g", "targets": [{"chunk": "p.py::f"}, {"chunk": "p.py::f"}]},
        {**GOOD_ROW, "id": "h", "targets": [{"chunk": "p.py::f", "path": "q.py"}]},
        [],
        head=HEAD + "nmae: x\nfunnel: {merge: -1}\n",
    ).splitlines()
    q = str(tmp_path / QUERIES_FILE)
    wanted = [
        f"{tmp_path / SUITE_FILE}: funnel.merge: '-1' is not from 0 to 1000000000000",
        f'{tmp_path / SUITE_FILE}: nmae: is not a field here; did you mean "name"?',
        f"{q}:2: is not JSON",
        f'{q}:3: wieght: is not a field here; did you mean "weight"?',
        f"{q}:4: text: is empty",
        f"{q}:4: targets: is empty; a query needs at least one target",
        f"{q}:4: id: 'a' is also the query of line 1",
        f"{q}:5: weight: '0' is not a finite number above 0",
        f"{q}:6: holds NaN, which JSON does not have",
        f"{q}:7: holds 1e999, which is too large for a number",
        f"{q}:8: targets[1].grade: '4' is not from 1 to 3",
        f"{q}:8: targets[2].chunk: '3' is not text",
        f"{q}:8: targets[3]: '\"x\"' is not an object",
        f"{q}:9: targets: holds the same target twice",
        f"{q}:10: targets[1].chunk: 'p.py::f' is neither the path nor begins with it",
        f"{q}:11: '[]' is not an object",
    ]
    for fault in wanted:
        assert any(line.startswith(fault) for line in said), (fault, said)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"text": "t", "targets": [{"chunk": "p"}]}, "id: is missing"),
        ({"id": "a", "targets": [{"chunk": "p"}]}, "text: is missing"),
        ({"id": "a", "text": "t"}, "targets: is missing"),
        ({**GOOD_ROW, "id": " a"}, "white space"),
        ({**GOOD_ROW, "id": "a\nb"}, "control character"),
        ({**GOOD_ROW, "tags": {"kind": 3}}, "tags.kind: '3' is not text"),
        ({**GOOD_ROW, "tags": []}, "tags: '[]' is not an object"),
        ({**GOOD_ROW, "not_relevant": [1]}, "not_relevant: '1' is not text"),
        ({**GOOD_ROW, "related": [{"path": "p", "of": "q", "score": 1.5}]}, "related[1].score"),
        ({**GOOD_ROW, "targets": [{"chunk": "p", "document": 1}]}, "is not true or false"),
        ('{"id": "a", "id": "b", "text": "t", "targets": [{"chunk": "p"}]}', "key 'id' twice"),
        ('{"id": "a", "text": "\\ud800", "targets": [{"chunk": "p"}]}', "half of a character"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": ' + "9" * 5000 + "}", ":1: "),
        (GOOD_ROW | {"weight": True}, "weight: 'true' is not a number"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, row: Any, said: str) -> None:
    assert said in faults_of(tmp_path, row)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("name: &x s\nrepository: *x\n", ":1: holds the anchor or alias 'x'"),
        ("name: !!python/object:os.system x\n", ":1: holds the tag"),
        ("name: s\nname: t\n", ":2: holds the key 'name' twice"),
        ("name: s\nrecipe: " + "[" * 50 + "]" * 50 + "\n", "is nested more than 40 deep"),
        ("name: [\n", "is not YAML"),
        ("- 1\n", "is not a mapping"),
        ("", "suite.yaml: is empty"),
        ("name: s\nsnapshot: 123\n", "snapshot: '123' is not text; put it in quotes"),
        ("name: s\n--- \nname: t\n", "is not YAML"),
        ("repository: x\n", "name: is missing"),
        ("name: \x07\n", "is not YAML"),
        ("name: " + "9" * 5000 + "\n", "holds a number of 5000 characters"),
        ("name: s\nrecipe: {? [1] : 2}\n", "key that is not text"),
    ],
)
def test_a_wrong_head_is_named(tmp_path: Path, head: str, said: str) -> None:
    assert said in faults_of(tmp_path, GOOD_ROW, head=head)


def test_a_folder_that_is_no_suite_and_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"is no suite folder; it holds no suite\.yaml"):
        read_suite(tmp_path)
    (tmp_path / SUITE_FILE).write_text(HEAD)
    with pytest.raises(InputError, match=r"queries\.jsonl: No such file"):
        read_suite(tmp_path)
    (tmp_path / QUERIES_FILE).write_bytes(b"\n")
    with pytest.raises(InputError, match="holds no query"):
        read_suite(tmp_path)
    (tmp_path / QUERIES_FILE).write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(InputError, match="1: 'byte 9' is not UTF-8"):
        read_suite(tmp_path)


def test_a_line_without_end_is_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codebench.reading.records.MAX_LINE_BYTES", 1000)
    assert "1: is longer than 1000 bytes" in faults_of(tmp_path, {**GOOD_ROW, "text": "x" * 2000})


def test_many_faults_are_cut_short(tmp_path: Path) -> None:
    said = faults_of(tmp_path, *["{"] * 300).splitlines()
    assert len(said) == 101
    assert said[-1].endswith("and 200 more")


def test_windows_line_ends_and_a_byte_order_mark_are_no_faults(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, GOOD_ROW)
    for name in (SUITE_FILE, QUERIES_FILE):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
    assert read_suite(folder).queries[0].id == "a"


def test_writing_where_nothing_can_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SuiteError, match="the suite cannot be written"):
        write_suite(read_suite(folder_with(tmp_path, GOOD_ROW)), tmp_path / "file" / "suite")


def test_the_digest_depends_on_what_scores_depend_on_and_nothing_else() -> None:
    suite = read_suite(builtin("suites") / "tiny")
    digest = suite_digest(suite)
    first, *rest = suite.queries

    def with_first(**changes: Any) -> str:
        changed = dataclasses.replace(first, **changes)
        return suite_digest(dataclasses.replace(suite, queries=(*rest, changed)))

    same = [
        suite_digest(dataclasses.replace(suite, name="x", repository="y", recipe={"a": 1})),
        suite_digest(dataclasses.replace(suite, snapshot="x", funnel=(("a", 1),))),
        with_first(),
        with_first(tags={}, source="log", origin="x", time="2024-01-01T00:00:00Z", weight=1),
        with_first(related=first.related[::-1], targets=first.targets[::-1]),
    ]
    assert set(same) == {digest}
    target = first.targets[0]
    changed = [
        suite_digest(dataclasses.replace(suite, corpus_digest="sha256:2")),
        suite_digest(dataclasses.replace(suite, queries=tuple(rest))),
        with_first(id="zzz"),
        with_first(text="other"),
        with_first(weight=2.0),
        with_first(related=()),
        with_first(not_relevant=("x",)),
        with_first(targets=(dataclasses.replace(target, grade=2),)),
        with_first(targets=(dataclasses.replace(target, weight=2.0),)),
        with_first(targets=(dataclasses.replace(target, chunk=target.path),)),
    ]
    assert len({digest, *changed}) == 1 + len(changed)
