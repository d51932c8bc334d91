"""Agents' logs in the older and rarer shapes that their formats have had."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codebench.gold.logs.formats import read_log
from codebench.gold.logs.skipped import Skipped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.gold.logs.record import Record

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch"


def codex(tmp_path: Path, *payloads: tuple[str, dict[str, Any]]) -> list[Record]:
    """Return the records of a session of one turn, without its beginning and end."""
    rows = [("session_meta", {"id": "s", "cwd": "/r"})]
    rows += [("event_msg", {"type": "user_message", "message": "mend it"}), *payloads]
    path = tmp_path / "rollout-s.jsonl"
    path.write_text(
        "".join(json.dumps({"type": kind, "payload": payload}) + "\n" for kind, payload in rows)
    )
    found = list(read_log(path, "codex", Skipped()))
    assert (found[0].kind, found[0].query, found[-1].kind) == ("query", "mend it", "end")
    return found[1:-1]


def called(arguments: str, output: object, **more: object) -> Sequence[tuple[str, dict[str, Any]]]:
    call = {"type": "function_call", "name": "shell", "call_id": "c", "arguments": arguments}
    done = {"type": "function_call_output", "call_id": "c", "output": output}
    return ("response_item", {**call, **more}), ("response_item", done)


@pytest.mark.parametrize(
    ("output", "ok"),
    [
        ({"content": "Done!", "success": True}, True),
        ({"content": [{"type": "output_text", "text": "no"}], "success": False}, False),
        (json.dumps({"output": "Done!", "metadata": {"exit_code": 0}}), True),
        (json.dumps({"output": "no such line", "metadata": {"exit_code": 1}}), False),
        (json.dumps({"output": "Done!"}), True),
        ("{cut off", True),
        ("Exit code: 2\nOutput:\nno", False),
    ],
)
def test_a_patch_given_to_a_shell_is_an_edit(tmp_path: Path, output: object, *, ok: bool) -> None:
    arguments = json.dumps({"command": ["apply_patch", PATCH]})
    (edit,) = codex(tmp_path, *called(arguments, output))
    assert edit.place is not None
    assert (edit.kind, edit.place.path, edit.ok) == ("edit", "a.py", ok)
    assert [(one.old, one.new) for one in edit.changes] == [("x = 1\n", "x = 2\n")]


def test_what_a_patch_did_is_read_with_its_kinds_as_keys_and_as_values(tmp_path: Path) -> None:
    diff = "@@ -1 +1 @@\n-a\n+b\n"
    changes: dict[str, Any] = {
        "new.py": {"add": {"content": "a\n"}},
        "gone.py": {"delete": {}},
        "old.py": {"update": {"unified_diff": diff}},
        "odd.py": {"update": 7},
        "late.py": {"type": "add", "content": "z\n"},
        "last.py": {"type": "delete"},
        "no.py": 3,
    }
    ended = {"type": "patch_apply_end", "call_id": "c", "success": True, "changes": changes}
    found = codex(tmp_path, ("event_msg", ended), ("event_msg", ended))
    told = [
        (one.place.path, one.created, [(own.old, own.new) for own in one.changes])
        for one in found
        if one.place
    ]
    assert told == [
        ("new.py", True, [(None, "a\n")]),
        ("gone.py", False, [(None, "")]),
        ("old.py", False, [("a\n", "b\n")]),
        ("odd.py", False, []),
        ("late.py", True, [(None, "z\n")]),
        ("last.py", False, [(None, "")]),
    ]


@pytest.mark.parametrize("arguments", ["{broken", "[" * 100_000, "7", json.dumps({"command": 7})])
def test_arguments_that_cannot_be_read_do_nothing(tmp_path: Path, arguments: str) -> None:
    assert codex(tmp_path, *called(arguments, "x")) == []


def openhands(tmp_path: Path, events: object) -> list[Record]:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(events))
    return list(read_log(path, "openhands", Skipped()))


EVENTS = [
    {"id": 1, "action": "grep", "args": {"pattern": "take("}},
    {"cause": 1, "observation": "grep", "content": "shop/store.py:3: take("},
    {"id": 2, "action": "glob", "args": {"pattern": "**/*.py"}},
    {"cause": 2, "observation": "glob", "content": "shop/store.py"},
    {"id": 3, "action": "read", "args": {"path": "shop/store.py", "start": 2, "end": 4}},
    {"cause": 3, "observation": "read", "content": "x"},
]


@pytest.mark.parametrize("member", ["events", "history", "trajectory", ""])
def test_events_may_stand_in_an_object(tmp_path: Path, member: str) -> None:
    found = openhands(tmp_path, {"version": 2, member: EVENTS} if member else EVENTS)
    grep, glob, read, end = found
    assert (grep.search, grep.query, grep.retriever) == (True, "take(", "grep")
    assert [(one.path, one.start) for one in grep.results] == [("shop/store.py", 3)]
    assert (glob.search, glob.query, glob.retriever) == (True, "**/*.py", "files")
    assert read.place is not None
    assert (read.place.path, read.place.start, read.place.end) == ("shop/store.py", 2, 4)
    assert end.kind == "end"


def test_a_file_may_hold_one_event(tmp_path: Path) -> None:
    said = {"id": 1, "action": "message", "source": "user", "args": {"content": "mend the shelf"}}
    found = openhands(tmp_path, said)
    assert [one.query for one in found if one.kind == "query"] == ["mend the shelf"]
    assert openhands(tmp_path, {"neither": 1}) == []
