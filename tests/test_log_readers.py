"""Each format's records, from files with everything that goes wrong in them."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING, Any

import pytest

from codebench.errors import InputError, UsageError
from codebench.gold.logs import streams
from codebench.gold.logs.columns import read_columns
from codebench.gold.logs.formats import FORMATS, files_of, format_of, read_log
from codebench.gold.logs.record import Place, from_row, place_of, to_row
from codebench.gold.logs.skipped import MAX_LOCATED, Skipped
from tests.logs import DATA

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codebench.gold.logs.record import Record

LOGS = {
    "swe-agent": "swe-agent",
    "openhands": "openhands",
    "claude-code": "claude-code",
    "codex": "codex",
    "ubi": "ubi.jsonl",
    "jsonl": "events.jsonl",
    "csv": "events.csv",
}


def records(form: str) -> tuple[list[Record], Skipped]:
    skipped = Skipped()
    columns = read_columns(DATA / "columns.yaml") if form == "jsonl" else None
    found: list[Record] = []
    for path in files_of([DATA / LOGS[form]], form):
        found += read_log(path, form, skipped, columns)
    return found, skipped


def of_kind(found: list[Record], kind: str, *, search: bool = False) -> list[Record]:
    return [one for one in found if one.kind == kind and one.search == search]


def paths(found: list[Record]) -> list[str]:
    return [one.place.path for one in found if one.place]


def test_every_format_has_a_file_here() -> None:
    assert sorted(LOGS) == sorted(FORMATS)


@pytest.mark.parametrize("form", sorted(LOGS))
def test_a_truncated_last_line_is_counted_and_located(form: str) -> None:
    found, skipped = records(form)
    assert found
    assert skipped.lines >= 1
    assert any("cut-off" in one or "not JSON" in one or "not CSV" in one for one in skipped.located)


@pytest.mark.parametrize("form", ["swe-agent", "claude-code", "codex", "ubi", "csv"])
def test_the_format_is_told_by_the_files(form: str) -> None:
    assert format_of([DATA / LOGS[form]]) == form


def test_openhands_is_told_by_its_events() -> None:
    for name in ("trajectory.json", "events.jsonl", "output.jsonl"):
        assert format_of([DATA / "openhands" / name]) == "openhands"


def test_what_cannot_be_told_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text('{"a": 1}\n')
    with pytest.raises(UsageError, match="--format"):
        format_of([tmp_path / "x.log"])
    with pytest.raises(UsageError, match="no such file"):
        files_of([tmp_path / "none"], "ubi")
    with pytest.raises(UsageError, match=r"holds no file that ends in \.traj"):
        files_of([tmp_path], "swe-agent")


def test_swe_agent() -> None:
    found, skipped = records("swe-agent")
    (cut,) = (one for one in of_kind(found, "query") if "discount step" in one.query)
    (whole,) = (one for one in of_kind(found, "query") if "signed out" in one.query)
    assert cut.commit == ""  # its configuration was cut off
    assert cut.query == "The discount step starts one piece too early"  # out of its template
    assert whole.commit == "{{commit}}"
    assert whole.repository == "owner__shop"
    assert whole.time is None
    own = [one for one in found if one.session == "shop-17"]
    searched = [(one.query, one.retriever) for one in of_kind(own, "query", search=True)]
    assert searched == [
        ("*.py", "files"),
        ("expired token", "search_dir"),
        ("session is over", "search_dir"),
        ("check_token", "grep"),
    ]
    edits = of_kind(own, "edit")
    assert [one.place.path for one in edits if one.place and one.created] == [
        "reproduce.py",
        "docs/notes.md",
    ]
    assert [one.ok for one in edits].count(False) == 1  # old_str did not appear
    assert not any(
        change.new.startswith('raise Denied("bad token")')
        for one in edits
        for change in one.changes
    )  # undone
    assert [one.final for one in edits] == [False] * 5 + [True, True]
    reads = of_kind(own, "read")
    assert [(one.place.start, one.place.end) for one in reads if one.place] == [
        (21, 42),
        (14, 35),
        (20, 31),
        (None, None),
    ]
    assert skipped.lines == 2


def test_openhands() -> None:
    found, skipped = records("openhands")
    own = [one for one in found if one.session == "trajectory"]
    (task,) = of_kind(own, "query")
    assert task.query.startswith("A released reservation of zero pieces crashes")
    assert "uploaded_files" not in task.query
    edits = of_kind(own, "edit")
    assert [(one.ok, one.created) for one in edits] == [
        (True, True),
        (False, False),
        (True, False),
        (True, False),
        (True, False),  # an undone edit is a second one, the other way round
    ]
    assert [one.ok for one in of_kind(own, "read")] == [True, True, False, True]
    (net,) = (one for one in found if one.final)
    assert net.session == "owner__shop-3"
    assert net.commit.startswith("0123456789abcdef")
    sdk = [one for one in found if one.session == "events"]
    assert [one.query for one in sdk if one.kind == "query"] == [
        "Round prices down to whole cents for the tax office",
        "ROUND_HALF_UP",
    ]
    assert [one.ok for one in of_kind(sdk, "edit")] == [False, True]
    assert "trajectory.json:30: is no event" in skipped.located
    assert skipped.ignored["action delegate"] == 1


def test_claude_code() -> None:
    found, skipped = records("claude-code")
    asked = [one.query for one in of_kind(found, "query")]
    assert len(asked) == 2  # commands, notices and what a sub-agent was told are no questions
    assert asked[0].startswith("Where do we turn an exception into a status code?")
    assert asked[1] == "Reject a delivery of more than a thousand pieces"  # a list of blocks
    # The turn about levels was rolled back: its edit is gone.
    assert not any("sorted" in change.new for one in found for change in one.changes)
    searched = of_kind(found, "query", search=True)
    assert [one.query for one in searched] == ["except Denied", "**/*.py", "raise Denied"]
    assert searched[0].results == (Place("api/server.py", 37, 37, rank=1),)  # calls at once
    assert searched[2].results[0] == Place("/home/dev/code/shop/api/auth.py", 26, 26, rank=1)
    edits = of_kind(found, "edit")
    assert [(one.ok, one.created) for one in edits] == [
        (False, False),
        (True, False),
        (True, True),
        (True, False),
    ]
    reads = [one.place for one in of_kind(found, "read")]
    assert reads[0] == Place("/home/dev/code/shop/api/server.py", 28, 42)
    assert reads[1] == Place("/home/dev/code/shop/api/auth.py")  # the sub-agent's, whole
    assert reads[3] == Place("inventory/store.py", 30, 37)
    assert skipped.ignored == {"tool TodoWrite": 1}


def test_codex() -> None:
    found, _ = records("codex")
    asked = [one.query for one in of_kind(found, "query")]
    assert len(asked) == 2  # each stands there twice, as a message and as an event
    assert asked[0].startswith("Take fifteen percent off")
    assert asked[1] == "Show who owns a reservation when it is released"
    assert {one.commit for one in found} == {"{{commit}}"}  # the copied session_meta is another's
    assert {one.repository for one in found} == {"git@example.com:owner/shop.git"}
    edits = of_kind(found, "edit")
    assert [(one.place.path, one.ok, one.created) for one in edits if one.place] == [
        ("inventory/pricing.py", False, False),
        ("inventory/pricing.py", True, False),
        ("inventory/notes.py", True, True),
        ("inventory/store.py", True, False),  # the rolled-back one of the server is gone
    ]
    reads = of_kind(found, "read")
    assert [one.ok for one in reads] == [True, True, False]
    assert [one.query for one in of_kind(found, "query", search=True)] == [
        "discount|percent",
        "Reservation(",
    ]


@pytest.mark.parametrize("form", ["ubi", "jsonl", "csv"])
def test_logs_of_people_say_the_same(form: str) -> None:
    found, skipped = records(form)
    first, click = found[:2]
    assert first.query == "where is the price rounded"
    assert first.retriever == "prod-bm25"
    assert first.results[1] == Place("inventory/pricing.py", 27, 28, rank=2)
    assert first.results[3] == Place("inventory/store.py", rank=4)
    assert click.place is not None
    assert (click.place.start, click.place.end) == (27, 28)
    assert click.dwell == 65
    assert click.query_id == first.query_id
    assert click.time is not None
    assert first.time is not None
    assert click.time - first.time == 5
    assert found[3].place is not None
    assert found[3].place.symbol == "Store.release"
    assert found[3].dwell is None
    assert [one.kind for one in found].count("edit") == 1
    assert skipped.lines >= 3
    assert sum(skipped.ignored.values()) >= 6


def test_a_cell_may_hold_newlines() -> None:
    found, skipped = records("csv")
    assert "two\nlines in a cell" in [one.query for one in found]
    assert "events.csv:35: is not CSV (unexpected end of data)" in skipped.located


def test_a_wrong_column_map_says_all_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text("columns: {time: ts, user_id: u}\nkinds: {go: jump}\ndwell_unit: h\nextra: 1\n")
    with pytest.raises(InputError) as caught:
        read_columns(path)
    text = str(caught.value)
    for part in ("columns.user_id", "kinds.go", "dwell_unit", "extra"):
        assert part in text


def test_records_survive_their_row() -> None:
    for form in LOGS:
        for one in records(form)[0]:
            assert from_row(json.loads(json.dumps(to_row(one)))) == one


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a/b.py", Place("a/b.py")),
        ("a/b.py:7", Place("a/b.py", 7, 7)),
        ("a/b.py:7-9", Place("a/b.py", 7, 9)),
        ("a/b.py#L7-L9", Place("a/b.py", 7, 9)),
        ("a/b.py:9-7", Place("a/b.py", 9, 9)),
        ("a/b.py::C.m", Place("a/b.py", symbol="C.m")),
        ("C:\\x.py", Place("C:\\x.py")),
    ],
)
def test_places(text: str, place: Place) -> None:
    assert place_of(text) == place


@pytest.mark.parametrize("chunk", [1, 2, 7, 1 << 20])
def test_documents_are_cut_into_items_wherever_a_read_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(streams, "_CHUNK", chunk)
    path = tmp_path / "x.json"
    items = [1, {"b": [1, 'x,]}\\" é']}, [2, {"c": ":"}], "s", None]
    skipped = Skipped()
    path.write_text(json.dumps(items))
    assert [value for _, _, value in streams.json_items(path, skipped)] == items
    path.write_text(json.dumps({"a": items, "t": "y\\", "e": [], "n": {"q": [1]}}, indent=1))
    found = [(member, value) for _, member, value in streams.json_items(path, skipped)]
    assert found == [*(("a", item) for item in items), ("t", "y\\"), ("n", {"q": [1]})]
    assert skipped.lines == 0


def test_a_huge_line_or_item_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MAX_ITEM_BYTES", 100)
    monkeypatch.setattr(streams, "_CHUNK", 64)
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n{"a": "' + "x" * 500 + '"}\n{"a": 3}\n')
    skipped = Skipped()
    assert [line for line, _ in streams.json_lines(path, skipped)] == [1, 3]
    assert skipped.located == ["x.jsonl:2: is longer than 100 bytes"]
    path.write_text(json.dumps([1, "y" * 500, 3]))
    assert [value for _, _, value in streams.json_items(path, skipped)] == [1, 3]
    assert skipped.lines == 2


def test_a_thousand_bad_lines_are_counted_and_twenty_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("{\n" * 1000)
    skipped = Skipped()
    assert not list(streams.json_lines(path, skipped))
    assert skipped.lines == 1000
    assert len(skipped.located) == MAX_LOCATED


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to every value inside a value."""
    if at:
        yield at
    inner: dict[Any, Any] = value if isinstance(value, dict) else {}
    inner = dict(enumerate(value)) if isinstance(value, list) else inner
    for key, one in inner.items():
        yield from places(one, (*at, key))


def broken(value: Any, at: tuple[str | int, ...], wrong: object) -> Any:
    """Return a copy of a value in which another stands at one place."""
    copy = json.loads(json.dumps(value))
    inner = copy
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = wrong
    return copy


WRONG: tuple[object, ...] = (None, -1, 1e300, "x", "/", [], {}, [{}], [[1]], True, "\ud800")


@pytest.mark.parametrize("form", sorted(set(LOGS) - {"csv"}))
def test_anything_may_stand_anywhere(tmp_path: Path, form: str) -> None:
    """Values of good files, chosen by a seed, are replaced by others of every kind."""
    choose = random.Random(form)  # noqa: S311
    columns = read_columns(DATA / "columns.yaml") if form == "jsonl" else None
    read = 0
    for source in files_of([DATA / LOGS[form]], form):
        text = source.read_text("utf-8")
        lists = source.suffix == ".jsonl"
        if not lists and text.rstrip()[-1:] not in "]}":
            continue  # the one that is cut off
        value = (
            [json.loads(line) for line in text.split("\n")[:-1] if line[:1] == "{"]
            if lists
            else json.loads(text)
        )
        every = list(places(value))
        for at in choose.sample(every, min(len(every), 120)):
            made = broken(value, at, choose.choice(WRONG))
            rows = [json.dumps(one) for one in made] if lists else [json.dumps(made)]
            path = tmp_path / source.name
            path.write_text("\n".join(rows), "utf-8")
            read += sum(bool(to_row(one)) for one in read_log(path, form, Skipped(), columns))
    assert read  # what was not touched is still taken


MANY = "9" * 5_000


def _step(action: str, observation: str = "", state: object = "{}", **info: str) -> str:
    step = {"action": action, "observation": observation, "state": state}
    return json.dumps({"trajectory": [step], "history": [], "info": info})


_OPENHANDS = """
{"id": 1, "action": "edit", "args": {"path": "/x", "insert_line": N}}
{"observation": "edit", "cause": 1}
"""


@pytest.mark.parametrize(
    "number", [MANY, MANY[:4_300], MANY[:4_000], "²", "0", "-1"], ids=lambda one: ascii(one)[:9]
)
@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("swe-agent", _step("open x.py", "[File: x.py (3 lines total)]\nN:foo")),
        ("swe-agent", _step("edit N:N\nfoo\nend_of_edit")),
        ("swe-agent", _step("insert 'x' N")),
        ("swe-agent", _step("str_replace_editor insert /x.py --insert_line N --new_str a")),
        ("swe-agent", _step("head -n N x.py")),
        ("swe-agent", _step("tail -n +N x.py")),
        ("swe-agent", _step("grep -n a x.py", "N:a\nx.py:N:a")),
        ("swe-agent", _step("ls", submission="--- a/x\n+++ b/x\n@@ -N +1 @@\n-a\n+b\n")),
        ("swe-agent", _step("ls", state='{"working_dir": N}')),
        ("jsonl", '{"kind": "click", "path": "a.py", "rank": "N"}'),
        ("jsonl", '{"kind": "click", "path": "a.py", "lines": "N-N"}'),
        ("jsonl", '{"kind": "click", "path": "a.py:N"}'),
        ("jsonl", '{"kind": "click", "path": "a.py", "dwell": N}'),
        ("jsonl", '{"kind": "click", "path": "a.py", "time": N}'),
        ("openhands", _OPENHANDS),
    ],
)
def test_a_number_that_is_none_ends_nothing(
    form: str, text: str, number: str, tmp_path: Path
) -> None:
    path = tmp_path / ("x.traj" if form == "swe-agent" else "x.jsonl")
    path.write_text(text.replace("N", number), "utf-8")
    for record in read_log(path, form, Skipped()):
        assert from_row(json.loads(json.dumps(to_row(record)))) == record
        place = record.place
        assert place is None or place.start is None or 1 <= place.start <= 10**8


def test_a_bottomless_state_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.traj"
    path.write_text(_step("open x.py", state="[" * 200_000))
    assert [one.kind for one in read_log(path, "swe-agent", Skipped())] == ["read", "end"]


def test_an_edit_of_lines_begins_after_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.traj"
    path.write_text(_step("edit 2:3 \n\n \n    foo\n\nend_of_edit"))
    (edit,) = of_kind(list(read_log(path, "swe-agent", Skipped())), "edit")
    (change,) = edit.changes
    assert (change.line, change.until, change.new) == (2, 3, "    foo\n\n")


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("<issue>\n It fails. \n</issue> now", "It fails."),
        ("<issue>open <pr_description>It fails.</pr_description>", "It fails."),
        ("ISSUE: \n\nIt fails.\nBadly.\n\n  INSTRUCTIONS: mend it", "It fails.\nBadly."),
        ("ISSUE: It fails.", "ISSUE: It fails."),
        ("<issue> </issue> it fails", "<issue> </issue> it fails"),
    ],
)
def test_what_was_asked_stands_in_a_template(said: str, asked: str, tmp_path: Path) -> None:
    path = tmp_path / "x.traj"
    history = [{"role": "user", "content": said}]
    step = {"action": "ls", "observation": ""}
    path.write_text(json.dumps({"history": history, "trajectory": [step]}))
    (query,) = of_kind(list(read_log(path, "swe-agent", Skipped())), "query")
    assert query.query == asked


def test_what_a_program_put_into_a_prompt_was_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    said = "<a><b>noise</b></c> more</a>why <b>is<a> it <d></d>slow</a"
    path.write_text(json.dumps({"type": "user", "uuid": "1", "message": {"content": said}}))
    (query,) = of_kind(list(read_log(path, "claude-code", Skipped())), "query")
    assert query.query == "why <b>is<a> it  slow</a"


def test_a_here_document_ends_at_its_own_word(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Delete File: a.py \n*** End Patch"
    command = f"cd x && apply_patch <<'EOF'\n{patch}\nEOF\necho done\n"
    call = {"type": "function_call", "name": "shell", "call_id": "1"}
    call |= {"arguments": json.dumps({"command": ["bash", "-lc", command]})}
    output = {"type": "function_call_output", "call_id": "1", "output": "Exit code: 0"}
    path = tmp_path / "x.jsonl"
    path.write_text(
        "\n".join(json.dumps({"type": "response_item", "payload": one}) for one in (call, output))
    )
    (edit,) = of_kind(list(read_log(path, "codex", Skipped())), "edit")
    assert edit.place == Place("a.py")


SLOW = {
    "swe-agent": ["<issue>" + " " * 10**5, "ISSUE:" + "\n" * 10**5, "<issue>" * 10**5],
    "claude-code": [
        "<a>" * 10**5,
        "".join(f"<{'abcd'[n % 4]}-{'x' * (n % 300)}>" for n in range(10**4)),
    ],
    "codex": ["apply_patch <<A\n" * 10**5],
    "openhands": ["<pr_description>" * 10**5],
}


@pytest.mark.parametrize("form", sorted(SLOW))
def test_a_megabyte_of_marks_is_read_at_once(form: str, tmp_path: Path) -> None:
    for said in SLOW[form]:
        path = tmp_path / {"swe-agent": "x.traj", "openhands": "x.json"}.get(form, "x.jsonl")
        shell = {"type": "local_shell_call", "call_id": "1", "action": {"command": [said]}}
        made: dict[str, object] = {
            "swe-agent": {"history": [{"role": "user", "content": said}], "trajectory": []},
            "claude-code": {"type": "user", "uuid": "1", "message": {"content": said}},
            "codex": {"type": "response_item", "payload": shell},
            "openhands": [{"action": "message", "source": "user", "args": {"content": said}}],
        }
        rows = [made[form]]
        if form == "codex":
            output = {"type": "function_call_output", "call_id": "1", "output": ""}
            rows.append({"type": "response_item", "payload": output})
        path.write_text("\n".join(json.dumps(one) for one in rows))
        before = time.process_time()
        assert list(read_log(path, form, Skipped())) or form == "swe-agent"
        assert time.process_time() - before < 2


def test_a_list_of_ubi_is_told_by_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{"_source": {"user_query": "a", "query_id": "1"}}]))
    assert format_of([path]) == "ubi"
    path.write_text(json.dumps([{"action": "run", "args": {}}]))
    assert format_of([path]) == "openhands"


def test_only_a_newline_ends_a_row(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("kind,path,query\r\nquery,,hello\x0cworld\r\nquery,,a\u2028b\r\n".encode())
    found = [one.query for one in read_log(path, "csv", Skipped())]
    assert found == ["hello\x0cworld", "a\u2028b"]
