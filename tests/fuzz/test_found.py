"""What fuzzing found, each in its smallest form."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import Mock

import numpy as np
import pytest

from codebench.adapter import load, make, parse_reference
from codebench.corpus.chunks import Outline, outline
from codebench.errors import AdapterError, CodebenchError, Fault, InputError
from codebench.gold.logs.formats import read_log
from codebench.gold.logs.skipped import Skipped
from codebench.measures.columns import (
    Asked,
    Columns,
    RanksBuilder,
    read_asked,
    read_columns,
    write_asked,
    write_columns,
)
from codebench.measures.names import parse
from codebench.plain_yaml import YamlError, parse_yaml
from codebench.protocols.output import PLACE, Found, ToolError, read_output
from codebench.protocols.places import common_folder
from codebench.protocols.vectors import Embedder, VectorCache
from codebench.reading import Faults, Fields, parse_json, shown
from codebench.results import MANIFEST, read_run
from codebench.runner.kept import IndexStore
from codebench.runner.resume import IDENTITY, find
from codebench.wire import table_from, table_row
from tests import runs
from tests.fuzz.readers import BEIR, read_beir_folder, read_online_figures, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codebench.protocols.web import Service

TABLE = table_row(runs.corpus(1).tables[0])
CHUNK = TABLE["chunks"][0]


@pytest.mark.parametrize(
    "change",
    [
        {"path": ["a"]},
        {"language": None},
        {"sound": "yes"},
        {"lines": ["1"]},
        {"lines": [1.5]},
        {"lines": [-1]},
        {"lines": 3},
        {"chunks": [[]]},
        {"chunks": [[None, *CHUNK[1:]]]},
        {"chunks": [[CHUNK[0], "1", *CHUNK[2:]]]},
        {"chunks": [[*CHUNK[:3], [], *CHUNK[4:]]]},
        {"chunks": [[*CHUNK[:3], [1, 99], *CHUNK[4:]]]},
        {"chunks": [[*CHUNK[:3], [0, 1], *CHUNK[4:]]]},
        {"chunks": [[*CHUNK[:3], [5, 4], *CHUNK[4:]]]},
        {"chunks": [[*CHUNK[:3], ["1", "2"], *CHUNK[4:]]]},
        {"chunks": [[*CHUNK[:3], 7, *CHUNK[4:]]]},
        {"chunks": [[*CHUNK[:4], {}, *CHUNK[5:]]]},
    ],
)
def test_a_table_of_other_types(change: dict[str, Any]) -> None:
    """Grading would end in the middle, with a traceback."""
    with pytest.raises(ValueError, match="not a file table"):
        table_from({**TABLE, **change})


@pytest.mark.parametrize("at", range(5))
def test_an_outline_of_other_types(at: int) -> None:
    row = outline("python", b"import x\n\n\ndef f():\n    return x\n").row()
    assert Outline.from_row(json.loads(json.dumps(row))).row() == row
    for wrong in (None, 7, ["x", 1], [[1, 2, 3, 4, 5, 6, 7]], {"a": 1}):
        broken = [*row[:at], wrong, *row[at + 1 :]]
        if not (at == 2 and wrong in ({"a": 1}, [])):  # iterating over it gives texts
            with pytest.raises(ValueError, match="not an outline"):
                Outline.from_row(broken)


def some_columns() -> Columns:
    return Columns(
        query=np.array([0, 1], np.int32),
        repeat=np.array([0, 0], np.int32),
        status=np.array([0, 0], np.uint8),
        latency_ns=np.array([5, -1], np.int64),
        ranks=RanksBuilder(0).ranks(judged=False),
        about={"rows": [], "first_ns": None},
    )


@pytest.mark.parametrize(
    "change",
    [
        {"query": np.array(["a", "b"])},
        {"query": np.array([[0, 1]], np.int32)},
        {"query": np.array(3, np.int32)},
        {"query": np.array([-1, 0], np.int32)},
        {"repeat": np.array([0.5, 0.5])},
        {"status": np.array([0, 250], np.uint8)},
        {"latency_ns": np.array([1j, 2j])},
        {"about": {"rows": 7, "first_ns": None}},
        {"about": {"rows": [], "first_ns": "x"}},
        {"about": {"rows": [], "first_ns": None, "waited_ns": "x"}},
        {"about": {"rows": [], "first_ns": None, "first_error": []}},
        {"about": {}},
    ],
)
def test_columns_of_other_types_count_as_missing(tmp_path: Path, change: dict[str, Any]) -> None:
    made = some_columns()
    made = replace(made, ranks=replace(made.ranks, queries=2, returned=np.zeros(2, np.int64)))
    none = np.zeros(2, np.int64)
    made = replace(made, ranks=replace(made.ranks, places=replace(made.ranks.places, ends=none)))
    write_columns(tmp_path / "x", "key", made)
    assert read_columns(tmp_path / "x", "key", 2) is not None
    write_columns(tmp_path / "x", "key", replace(made, **change))
    assert read_columns(tmp_path / "x", "key", 2) is None


@pytest.mark.parametrize(
    "change",
    [
        {"weights": np.array([np.nan])},
        {"weights": np.array(["x"])},
        {"queries": (3,)},
        {"clusters": (["x"],)},
        {"gold": 7},
    ],
)
def test_asked_columns_of_other_types_count_as_missing(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    asked = Asked(("q",), np.ones(1), ("c",), ("",), "g", "s")
    write_asked(tmp_path / "x", "key", asked)
    assert read_asked(tmp_path / "x", "key") == asked
    write_asked(tmp_path / "x", "key", replace(asked, **change))
    assert read_asked(tmp_path / "x", "key") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0x" + "f" * 5000, "a number of 5002 characters"),
        ("[" + "1" + ":1" * 300 + ".5]", "a number of 603 characters"),
        ("<<: {a: 1}", "merge key"),
    ],
)
def test_yaml_that_cannot_be_meant(text: str, said: str) -> None:
    with pytest.raises(YamlError, match=said):
        parse_yaml(text, 10)


def test_numbers_that_json_cannot_write_again() -> None:
    with pytest.raises(ValueError, match="holds 1e400, which is too large"):
        parse_json("[1e400]")


def test_nothing_is_too_large_to_be_shown() -> None:
    assert "cannot be shown" in shown(2**20_000)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert shown(deep) == "a list that cannot be shown"
    assert len(str(Fault("x" * 10**6, "f", 1, "y" * 10**6, "z" * 10**6, "m" * 10**6))) < 5000


def test_halves_of_characters_in_keys_and_lists() -> None:
    faults = Faults("f")
    fields = Fields({"tags": {"\ud800": "x"}, "names": ["\udfff"]}, faults)
    assert fields.mapping("tags") == {}
    assert fields.texts("names") == ()
    assert [fault.field for fault in faults.found] == ["tags", "names"]


@pytest.mark.parametrize(
    "line",
    [
        b"one,x," + b'"' + b"z" * 200_000 + b'",1\n',
        b"on\0e,x,1,1\n",
        b"/" + b"a" * 300 + b",x,1,1\n",
        b"one,x,1\r2,1\n",
    ],
)
def test_online_figures_that_are_no_rows(tmp_path: Path, line: bytes) -> None:
    write(tmp_path, {"online.csv": b"run,retriever,clicks,saves\n" + line})
    with pytest.raises(InputError, match=r"online\.csv:2: "):
        read_online_figures(tmp_path)


def test_documents_with_halves_of_characters(tmp_path: Path) -> None:
    row = rb'{"_id": "d\ud800", "text": "x"}' + b"\n" + rb'{"_id": "e", "text": "\udc00"}' + b"\n"
    write(tmp_path, {**BEIR, "corpus.jsonl": row})
    with pytest.raises(CodebenchError) as caught:
        read_beir_folder(tmp_path)
    assert str(caught.value).count("is not a text") == 2


@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b'{"data": [{"embedding": [1%b]}]}' % (b"0" * 400), b'{"data": {}}']
)
def test_embeddings_that_are_none(data: bytes) -> None:
    service = cast("Service", Mock(ask=lambda *_: data))
    with pytest.raises(ToolError, match="it replies with"):
        Embedder(service, "http://localhost", "m").vectors(["text"])


@pytest.mark.parametrize("kept", [None, "text", 7, b"", b"123"])
def test_vectors_that_were_not_kept_as_such_are_made_again(tmp_path: Path, kept: Any) -> None:
    made = np.ones((1, 2), np.float32)
    cache = VectorCache(tmp_path / "v.sqlite", "m")
    cache.all(["text"], lambda _: iter([made]))
    with contextlib.closing(sqlite3.connect(tmp_path / "v.sqlite")) as base, base:
        base.execute("UPDATE vectors SET vector = ?", (kept,))
    assert cache.all(["text"], lambda _: iter([made])).tolist() == made.tolist()
    cache.close()


@pytest.mark.parametrize(
    "about", ["[" * 100_000, '{"seconds": 1%s, "bytes": 1}' % ("0" * 400), '{"seconds": 1e999}']
)
def test_a_kept_index_that_says_nonsense_is_none(tmp_path: Path, about: str) -> None:
    (tmp_path / "k" / "data").mkdir(parents=True)
    (tmp_path / "k" / "about.json").write_text('{"seconds": 1, "bytes": null}', "utf-8")
    assert IndexStore(tmp_path).find("k") is not None
    (tmp_path / "k" / "about.json").write_text(about, "utf-8")
    assert IndexStore(tmp_path).find("k") is None


@pytest.mark.parametrize("text", ["a.py:" + "9" * 5000, "a.py:1-" + "9" * 12])
def test_lines_in_prose_that_are_none(text: str) -> None:
    faults = Faults("")
    output = read_output(Fields({"output": {"format": "pattern", "pattern": PLACE}}, faults))
    faults.check()
    with pytest.raises(ToolError, match=r"^a\.py:[\d-]+: .* is no line"):
        output.of_prose(text)


def test_a_place_is_looked_for_in_linear_time() -> None:
    faults = Faults("")
    output = read_output(Fields({"output": {"format": "pattern", "pattern": PLACE}}, faults))
    start = time.process_time()
    assert output.of_prose("a/." * 100_000 + " x.py:7") == [Found("x.py", 7)]
    assert time.process_time() - start < 20


def test_folders_without_number_are_not_all_looked_for() -> None:
    is_file = Mock(return_value=False)
    assert not common_folder(["a/" * 10_000 + "b.py"], is_file)
    assert is_file.call_count < 1000


def test_exit_statuses_that_are_none() -> None:
    options = {"argv": ["cat"], "stdin": "{query}", "statuses": [[1], "x"], "output": {}}
    with pytest.raises(AdapterError, match=r"statuses: .* holds what is no exit status"):
        make(load("command"), options)


def test_a_constructor_that_raises_is_told_in_short(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from codebench import Retriever\n\n\nclass Mine(Retriever):\n"
        "    def __init__(self, x: str = '') -> None:\n        raise KeyError(x[:1])\n"
        "    def index(self, corpus): ...\n    def search(self, text, k): return []\n",
        "utf-8",
    )
    with pytest.raises(AdapterError, match="KeyError") as caught:
        make(load(f"{file}:Mine"), {"x": "y" * 10**6})
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("dwell", ["1" + "0" * 400, "1" + "0" * 200, '"inf"', '"nan"', "-1"])
@pytest.mark.parametrize("form", ["ubi", "jsonl"])
def test_a_dwell_that_is_none(tmp_path: Path, form: str, dwell: str) -> None:
    row = {
        "ubi": '{"action_name": "click", "event_attributes": {"dwell": %s, "object": '
        '{"object_id": "a.py"}}}',
        "jsonl": '{"kind": "click", "path": "a.py", "dwell": %s}',
    }[form]
    (tmp_path / "x.jsonl").write_text(row % "1.5", "utf-8")
    assert [one.dwell for one in read_log(tmp_path / "x.jsonl", form, Skipped())] == [1.5]
    (tmp_path / "x.jsonl").write_text(row % dwell, "utf-8")
    found = [one.dwell for one in read_log(tmp_path / "x.jsonl", form, Skipped())]
    assert all(seconds is None or seconds < 1e201 for seconds in found)


@pytest.mark.parametrize("seconds", [5e-324, -1, 1e300])
def test_a_time_that_nobody_measured(tmp_path: Path, seconds: float) -> None:
    """What was answered in such a second cannot be written as JSON."""
    path = runs.made_run(tmp_path, {"one": runs.Row("s" * 12)})
    row = {"kind": "load", "concurrency": 1, "seconds": seconds, "latencies_ns": [1, 2]}
    with (path / "answers" / "0.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    with pytest.raises(InputError, match=r"seconds: .* is no time or rate"):
        read_run(path)


@pytest.mark.parametrize(
    "read",
    [
        lambda: parse("nDCG(g\n\nains={3:1})@10"),
        lambda: parse_reference("x.py:X:a\n\nb"),
        lambda: parse_reference("x.py:X:a=\n\n,a=1"),
    ],
)
def test_words_with_newlines_are_refused_on_one_line(read: Callable[[], object]) -> None:
    with pytest.raises(CodebenchError) as caught:
        read()
    assert "\n" not in str(caught.value)


def test_a_latency_that_no_column_holds(tmp_path: Path) -> None:
    path = runs.made_run(tmp_path, {"one": runs.Row("s" * 12)})
    row = {"kind": "answer", "query": "q00", "repeat": 1, "latency_ns": 2**63}
    with (path / "answers" / "0.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    with pytest.raises(InputError, match=r"latency_ns: .* is not from 0 to"):
        read_run(path)


@pytest.mark.parametrize("part", ["suite", "corpus", "machine", "settings", "harness", "updates"])
def test_a_part_of_a_manifest_of_another_type(tmp_path: Path, part: str) -> None:
    path = runs.made_run(tmp_path, {"one": runs.Row("s" * 12)})
    manifest = json.loads((path / MANIFEST).read_text("utf-8"))
    (path / MANIFEST).write_text(json.dumps({**manifest, part: 1.5}), "utf-8")
    with pytest.raises(InputError, match=rf"manifest\.json: {part}: "):
        read_run(path)


@pytest.mark.parametrize("name", ["../../x.jsonl", "/etc/x", "", "a\0b", 7])
def test_a_run_whose_answers_are_elsewhere_is_not_resumed(tmp_path: Path, name: object) -> None:
    """To resume unpacks the answers, and deletes what was packed."""
    path = runs.made_run(tmp_path / "results", {"one": runs.Row("s" * 12)})
    manifest = json.loads((path / MANIFEST).read_text("utf-8"))
    identity = {field: manifest.get(field) for field in IDENTITY} | {"suite": manifest["suite"]}
    assert find(tmp_path / "results", identity, manifest["retrievers"]).path == path
    manifest["retrievers"][0]["file"] = name
    (path / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    assert find(tmp_path / "results", identity, manifest["retrievers"]).path is None
