"""Sessions of Codex: `rollout-….jsonl`, each line a `timestamp`, a `type` and a `payload`.

`session_meta` names the session, its folder and the commit; `response_item` holds messages, tool
calls (their arguments are JSON in a string) and outputs (a string, a list of parts, or JSON in a
string); of `event_msg` only `user_message`, `patch_apply_end` and `thread_rolled_back` are read.
Codex, codex-rs/protocol. Lines of older versions stand without the envelope.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codebench.gold.logs.patches import FilePatch, apply_patch, hunks
from codebench.gold.logs.record import Change
from codebench.gold.logs.shell import unwrapped
from codebench.gold.logs.streams import json_lines, word
from codebench.gold.logs.swe_agent import text_of
from codebench.gold.logs.times import seconds_of
from codebench.gold.logs.tracing import Tracer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from codebench.gold.logs.record import Record
    from codebench.gold.logs.skipped import Skipped

ENDINGS = (".jsonl",)

_SHELLS = frozenset({"shell", "local_shell", "container.exec", "shell_command", "exec_command"})
_REQUEST = "## My request for Codex:"
_INJECTED = re.compile(
    r"^\s*(?:<(?:environment_context|user_instructions|permissions[^>]*|INSTRUCTIONS|turn_aborted|"
    r"skill|subagent_notification)\b|# AGENTS\.md instructions)"
)
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
_EXIT = re.compile(r"(?:Process exited with code|Exit code:)\s*(-?\d+)")
_BODY = re.compile(r"^(?:.*\n)*?Output:\n")
_HERE = re.compile(r"apply_patch\s+<<-?\s*['\"]?(\w+)['\"]?(?=\n)")


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """Yield the records of one session, without the turns that were rolled back."""
    session = _Session(path.stem)
    for line, data in json_lines(path, skipped):
        kind, payload = word(data.get("type")), data.get("payload")
        if not isinstance(payload, dict):
            payload, kind = data, "response_item" if "type" in data else "session_meta"
        session.at(line, seconds_of(data.get("timestamp")))
        if kind == "session_meta":
            session.meta(payload)
        elif kind == "turn_context":
            session.folder(payload.get("cwd"))
        elif kind == "response_item":
            session.item(payload, skipped)
        elif kind == "event_msg":
            session.event(payload, skipped)
        elif kind != "compacted":  # it repeats what is there already
            skipped.ignore(kind)
    yield from session.records()


class _Session:
    """One session, in memory until its end: only then is known which turns count."""

    def __init__(self, name: str) -> None:
        self._tracer = Tracer(name)
        self._turns: list[list[Record]] = []
        self._calls: dict[str, dict[str, Any]] = {}
        self._patched: dict[str, bool] = {}
        self._seen = False
        self._last = ""

    def at(self, line: int, time: float | None) -> None:
        """Say where and when what follows happened."""
        self._tracer.at(line, time)

    def meta(self, data: Mapping[str, Any]) -> None:
        """Take the session's own data; of several, the first is its own, the others' are copies."""
        if self._seen:
            return
        self._seen = True
        git = data.get("git") if isinstance(data.get("git"), dict) else {}
        words = {
            "session": data.get("id"),
            "root": data.get("cwd"),
            "commit": (git or {}).get("commit_hash"),
            "repository": (git or {}).get("repository_url"),
        }
        known = {name: value for name, value in words.items() if isinstance(value, str) and value}
        self._tracer.base = replace(self._tracer.base, **known)  # type: ignore[arg-type]  # texts

    def folder(self, root: object) -> None:
        """Take the folder that a turn works in."""
        if isinstance(root, str):
            self._tracer.base = replace(self._tracer.base, root=root)

    def records(self) -> Iterator[Record]:
        """Yield what counts."""
        for turn in self._turns:
            yield from turn
        if self._turns:
            self._tracer.records = []
            self._tracer.ended()
            yield from self._tracer.records

    def event(self, data: Mapping[str, Any], skipped: Skipped) -> None:
        """Take an event."""
        kind = data.get("type")
        if kind == "user_message":
            self._asked(str(data.get("message") or ""))
        elif kind == "patch_apply_end":
            self._applied(data)
        elif kind == "thread_rolled_back":
            count = data.get("num_turns")
            if isinstance(count, int) and count > 0:
                del self._turns[-count:]
                self._last = ""
        else:
            skipped.ignore(f"event {kind}")

    def item(self, data: Mapping[str, Any], skipped: Skipped) -> None:
        """Take a message, a call or an output."""
        kind = word(data.get("type"))
        if kind == "message":
            if data.get("role") == "user":
                self._asked(text_of(data.get("content")))
        elif kind in _CALLS and isinstance(data.get("call_id") or data.get("id"), str):
            self._calls[str(data.get("call_id") or data.get("id"))] = dict(data)
        elif kind in _OUTPUTS:
            call = self._calls.pop(str(data.get("call_id")), None)
            if call is not None:
                self._done(call, data.get("output"), skipped)
        else:
            skipped.ignore(kind)

    def _asked(self, said: str) -> None:
        """Begin a turn; a prompt stands in the file as a message and as an event."""
        text = said.partition(_REQUEST)[2] if _REQUEST in said else said
        if not text.strip() or _INJECTED.match(text) or text.strip() == self._last:
            return
        self._last = text.strip()
        self._turns.append([])
        self._tracer.records = self._turns[-1]
        self._tracer.asked(text)

    def _open(self) -> None:
        if not self._turns:
            self._turns.append([])
        self._tracer.records = self._turns[-1]

    def _done(self, call: Mapping[str, Any], said: Any, skipped: Skipped) -> None:
        self._open()
        self._last = ""
        output, ok = _output(said)
        name = str(call.get("name") or call.get("type"))
        arguments = _arguments(call)
        key = str(call.get("call_id"))
        if name == "apply_patch":
            text = arguments.get("input") or arguments.get("patch") or call.get("input")
            self._patch(key, str(text or ""), ok=ok)
        elif name in _SHELLS or call.get("type") == "local_shell_call":
            command = arguments.get("command") or arguments.get("cmd") or ""
            vector = command if isinstance(command, list) else []
            if vector[:1] == ["apply_patch"] and len(vector) > 1:
                self._patch(key, str(vector[1]), ok=ok)
                return
            line = unwrapped(vector) if vector else str(command)
            here = _here(line)
            if here:
                self._patch(key, here, ok=ok)
                return
            root = arguments.get("workdir") or arguments.get("working_directory")
            before = self._tracer.base
            self.folder(root)
            self._tracer.ran(line, output, ok=ok)
            self._tracer.base = before
        else:
            skipped.ignore(f"tool {name}")

    def _patch(self, key: str, text: str, *, ok: bool) -> None:
        if key not in self._patched:
            self._patched[key] = ok
            self._tracer.patched(apply_patch(text), ok=ok)

    def _applied(self, data: Mapping[str, Any]) -> None:
        """Take what a patch really did, unless its output came first."""
        self._open()
        changes, key = data.get("changes"), str(data.get("call_id"))
        if not isinstance(changes, dict) or key in self._patched:
            return
        self._patched[key] = data.get("success") is True
        patches = [
            _applied_to(path, one)
            for path, one in changes.items()
            if isinstance(path, str) and isinstance(one, dict)
        ]
        self._tracer.patched(patches, ok=self._patched[key])


def _here(line: str) -> str:
    """Return the here-document that a shell line gives to apply_patch; empty for any other."""
    begins = _HERE.search(line)
    ends = line.find(f"\n{begins[1]}", begins.end() + 1) if begins else -1
    return line[begins.end() + 1 : ends] if begins and ends >= 0 else ""


def _applied_to(path: str, change: Mapping[str, Any]) -> FilePatch:
    """Read one file's part of `patch_apply_end`, whose kind older versions write as a key."""
    kind = change.get("type")
    body = change
    if kind is None and len(change) == 1:
        (kind, inner) = next(iter(change.items()))
        body = inner if isinstance(inner, dict) else {}
    if kind == "add":
        return FilePatch(path, (Change(None, str(body.get("content") or "")),), created=True)
    if kind == "delete":
        return FilePatch(path, (), deleted=True)
    return FilePatch(path, hunks(str(body.get("unified_diff") or "")))


def _arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    action = call.get("action")
    if isinstance(action, dict):
        return action
    said = call.get("arguments")
    if isinstance(said, dict):
        return said
    try:
        data = json.loads(said) if isinstance(said, str) else {}
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _output(said: Any) -> tuple[str, bool]:
    """Return what a tool printed, and whether it succeeded."""
    if isinstance(said, dict):
        text = said.get("content")
        return text_of(text), said.get("success") is not False
    text = text_of(said)
    if text.startswith("{"):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict) and isinstance(data.get("output"), str):
            about = data.get("metadata")
            code = about.get("exit_code") if isinstance(about, dict) else 0
            return data["output"], code is None or code == 0
    found = _EXIT.search(text[:500])
    return _BODY.sub("", text, count=1), not found or found[1] == "0"
