"""Event lists of OpenHands: actions, and observations that name their cause.

A JSON list (`trajectory.json`), one event a file, JSON Lines of events, or the `output.jsonl` of
an evaluation (`history`, `instance`, `test_result.git_patch`). OpenHands 0.x writes `action` and
`observation` as words; the 1.x SDK writes `kind: ActionEvent` with an `action` of its own kind.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codebench.gold.logs.patches import between, unified
from codebench.gold.logs.record import Change, Place, lines_of, whole_number
from codebench.gold.logs.streams import first_character, json_items, json_lines, word
from codebench.gold.logs.swe_agent import text_of
from codebench.gold.logs.times import seconds_of
from codebench.gold.logs.tracing import FILES, Tracer, within

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codebench.gold.logs.record import Record
    from codebench.gold.logs.skipped import Skipped

ENDINGS = (".json", ".jsonl")

_WORKSPACE = "/workspace"
_TAGS = ("issue_description", "pr_description", "uploaded_issue")
_KEPT = 2_000
"""Actions that wait for their observation; one that long without is never answered."""


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """Yield the records of one event list, or of each line of an evaluation."""
    whole = _Events(path.stem)
    if path.suffix == ".jsonl":
        for line, data in json_lines(path, skipped):
            if isinstance(data.get("history"), list):
                yield from _evaluated(line, data, path, skipped)
            else:
                yield from whole.take(line, data, path.name, skipped)
    elif first_character(path) == "{":
        event: dict[str, Any] = {}
        for line, member, value in json_items(path, skipped):
            if member in {"events", "history", "trajectory"}:
                yield from whole.take(line, value, path.name, skipped)
            else:
                event[member] = value
        if "action" in event or "observation" in event or "kind" in event:
            yield from whole.take(1, event, path.name, skipped)
    else:
        for line, _, value in json_items(path, skipped):
            yield from whole.take(line, value, path.name, skipped)
    yield from whole.finish()


def _evaluated(line: int, data: dict[str, Any], path: Path, skipped: Skipped) -> Iterator[Record]:
    """Yield one instance: its line knows the base commit, the statement and the net patch."""
    instance = _inner(data, "instance")
    name = data.get("instance_id") or instance.get("instance_id") or f"{path.stem}-{line}"
    events = _Events(str(name))
    tracer = events.tracer
    tracer.base = replace(
        tracer.base,
        repository=word(instance.get("repo")),
        commit=word(instance.get("base_commit")),
    )
    statement = word(instance.get("problem_statement"))
    if statement:
        tracer.at(line, None)
        tracer.asked(statement)
        events.asked = True
    for event in data["history"]:
        for one in event if isinstance(event, list) else [event]:
            yield from events.take(line, one, path.name, skipped)
    patch = word(_inner(data, "test_result").get("git_patch")) or word(data.get("git_patch"))
    yield from events.finish(patch)


class _Events:
    """Pairs actions with what came of them."""

    def __init__(self, session: str) -> None:
        self.tracer = Tracer(session, _WORKSPACE)
        self.asked = False
        self._waiting: dict[str, tuple[int, dict[str, Any]]] = {}
        self._taken = 0

    def take(self, line: int, event: Any, file: str, skipped: Skipped) -> Iterator[Record]:
        """Take an event; yield what it completes."""
        if not isinstance(event, dict):
            skipped.line(file, line, "is no event")
            return
        event = _plain(event)
        self.tracer.at(line, seconds_of(event.get("timestamp")))
        if isinstance(event.get("action"), str):
            self._action(line, event, skipped)
        elif isinstance(event.get("observation"), str):
            self._observation(event, skipped)
        else:
            skipped.line(file, line, "is neither an action nor an observation")
        yield from self._out()

    def finish(self, patch: str = "") -> Iterator[Record]:
        """Yield what is left: actions that nobody answered did not succeed."""
        self._waiting.clear()
        if self._taken or self.tracer.records:
            self.tracer.patched(unified(patch), final=True)
            self.tracer.ended()
            yield from self._out()

    def _out(self) -> Iterator[Record]:
        self._taken += len(self.tracer.records)
        yield from self.tracer.records
        self.tracer.records.clear()

    def _action(self, line: int, event: dict[str, Any], skipped: Skipped) -> None:
        name, arguments = event["action"], _inner(event, "args")
        if name == "message":
            if event.get("source") == "user" and not (self.asked and self._taken <= 1):
                said = text_of(arguments.get("content") or event.get("message"))
                self.tracer.asked(within(said, _TAGS) or said)
                self.asked = True
        elif name in {"run", "read", "edit", "write", "grep", "glob"}:
            if len(self._waiting) < _KEPT:
                self._waiting[str(event.get("id"))] = (line, event)
        else:
            skipped.ignore(f"action {name}")

    def _observation(self, event: dict[str, Any], skipped: Skipped) -> None:
        cause = self._waiting.pop(str(event.get("cause")), None)
        if cause is None:
            skipped.ignore(f"observation {event['observation']}")
            return
        _, action = cause
        output, extras = text_of(event.get("content")), _inner(event, "extras")
        ok = event["observation"] != "error" and event.get("success") is not False
        ok = ok and not output.startswith(("ERROR:", "Error"))
        self._done(action, output, extras, ok=ok)

    def _done(
        self, action: dict[str, Any], output: str, extras: dict[str, Any], *, ok: bool
    ) -> None:
        arguments = _inner(action, "args")
        path = word(arguments.get("path"))
        name = action["action"]
        if name == "run":
            self.tracer.ran(word(arguments.get("command")), output, ok=ok)
        elif name == "grep":
            self.tracer.searched(word(arguments.get("pattern")), output, "grep", ok=ok)
        elif name == "glob":
            self.tracer.searched(word(arguments.get("pattern")), output, FILES, ok=ok)
        elif name == "read" or arguments.get("command") == "view":
            self.tracer.read(_viewed(path, arguments), output, ok=ok)
        elif path:
            self._edit(path, arguments, extras, ok=ok)

    def _edit(
        self, path: str, arguments: dict[str, Any], extras: dict[str, Any], *, ok: bool
    ) -> None:
        old, new = extras.get("old_content"), extras.get("new_content")
        created = extras.get("prev_exist") is False or arguments.get("command") == "create"
        if isinstance(new, str) and isinstance(old, str) and not created:
            changes = list(between(old, new))
        elif isinstance(new, str):
            changes = [Change(None, new)]
        elif isinstance(arguments.get("old_str"), str):
            changes = [Change(arguments["old_str"], word(arguments.get("new_str")))]
        elif (after := whole_number(arguments.get("insert_line"), 0)) is not None:
            changes = [Change("", f"{word(arguments.get('new_str'))}\n", after + 1)]
        else:
            changes = [Change(None, _written(arguments))]
        self.tracer.edited(path, changes, ok=ok, created=created)


def _plain(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event of the 1.x SDK in the words of the older ones; any other as it is."""
    kind = word(event.get("kind"))
    if kind == "MessageEvent":
        message = _inner(event, "llm_message")
        text = text_of(message.get("content"))
        source = "user" if message.get("role") == "user" else "agent"
        return {**event, "action": "message", "source": source, "args": {"content": text}}
    if kind == "ActionEvent":
        inner = _inner(event, "action")
        name = _NAMES.get(word(inner.get("kind")), word(inner.get("kind")) or "unknown")
        name = "read" if name == "edit" and inner.get("command") == "view" else name
        key = event.get("tool_call_id") or event.get("id")
        return {**event, "id": key, "action": name, "args": inner}
    if kind in {"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"}:
        inner = _inner(event, "observation")
        failed = kind != "ObservationEvent" or inner.get("is_error") is True
        return {
            "timestamp": event.get("timestamp"),
            "observation": "error" if failed else "done",
            "cause": event.get("tool_call_id") or event.get("action_id"),
            "content": inner.get("content") or inner.get("output") or "",
            "extras": inner,
        }
    if kind:
        return {"timestamp": event.get("timestamp"), "action": kind}
    return event


_NAMES = {
    "TerminalAction": "run",
    "ExecuteBashAction": "run",
    "FileEditorAction": "edit",
    "StrReplaceEditorAction": "edit",
    "GrepAction": "grep",
    "GlobAction": "glob",
}


def _viewed(path: str, arguments: dict[str, Any]) -> Place:
    span = arguments.get("view_range")
    if isinstance(span, list) and len(span) == 2:
        start, end = lines_of(span[0], span[1] if span[1] != -1 else 10**8)
        return Place(path, start, end)
    start, end = arguments.get("start"), arguments.get("end")
    if isinstance(start, int) and isinstance(end, int) and 0 < start <= end:
        return Place(path, start, end)
    return Place(path)


def _written(arguments: dict[str, Any]) -> str:
    return word(arguments.get("file_text")) or word(arguments.get("content"))


def _inner(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}
