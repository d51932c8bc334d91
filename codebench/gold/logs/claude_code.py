"""Sessions of Claude Code: JSON Lines of messages that name their parent.

One file a session (`~/.claude/projects/…/<session>.jsonl`; a sub-agent's own is `agent-….jsonl`).
A `user` line holds what a person typed, as a string or a list of blocks, or `tool_result` blocks;
an `assistant` line holds `tool_use` blocks; `toolUseResult` beside a result has its parts. Who goes
back in a conversation and asks again leaves the abandoned turns in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codebench.gold.logs.patches import between
from codebench.gold.logs.record import Change, Place, lines_of
from codebench.gold.logs.streams import json_lines, word
from codebench.gold.logs.swe_agent import text_of
from codebench.gold.logs.times import seconds_of
from codebench.gold.logs.tracing import FILES, Tracer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codebench.gold.logs.record import Record
    from codebench.gold.logs.skipped import Skipped

ENDINGS = (".jsonl",)

_USED = frozenset({"Read", "Grep", "Glob", "Edit", "MultiEdit", "Write", "Bash", "NotebookRead"})
_TAG = re.compile(r"<(/?)([a-z][a-z-]*)>")
_NOT_ASKED = (
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being continued",
)
_SILENT = frozenset({"system", "summary", "file-history-snapshot", "progress", "queue-operation"})


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """Yield the records of one session file, without the turns that were rolled back."""
    session = _Session(path.stem)
    for line, data in json_lines(path, skipped):
        kind = word(data.get("type"))
        if kind in {"user", "assistant"}:
            message = data.get("message")
            if not isinstance(message, dict):
                skipped.line(path.name, line, "has no message")
                continue
            session.take(line, data, message, skipped)
        elif kind in _SILENT:
            session.place(data)
        else:
            skipped.ignore(kind)
            session.place(data)
    yield from session.records()


@dataclass
class _Turn:
    """What one prompt of a person led to; a later turn from the same place replaces it."""

    parent: int | None
    records: list[Record] = field(default_factory=list)
    gone: bool = False


@dataclass
class _Use:
    """A tool call that waits for its result."""

    line: int
    time: float | None
    name: str
    arguments: dict[str, Any]
    turn: int
    root: str


class _Session:
    """One session, in memory until its end: only then is known which turns count."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._turns: list[_Turn] = []
        self._turn_of: dict[str, int | None] = {}
        self._uses: dict[str, _Use] = {}
        self._tracer = Tracer(name)

    def records(self) -> Iterator[Record]:
        """Yield what counts, in the order in which it was done."""
        for turn in self._turns:
            if not turn.gone and not self._lost(turn):
                yield from turn.records
        if any(not turn.gone and turn.records for turn in self._turns):
            self._tracer.records.clear()
            self._tracer.ended()
            yield from self._tracer.records

    def place(self, data: dict[str, Any]) -> int | None:
        """Return the turn that a line belongs to, by its parent, and note it for its children."""
        parent = data.get("parentUuid") or data.get("logicalParentUuid")
        latest = len(self._turns) - 1 if self._turns else None
        turn = self._turn_of.get(parent, latest) if isinstance(parent, str) else latest
        if parent is None and data.get("type") == "user" and not data.get("isSidechain"):
            turn = None
        name = data.get("uuid")
        if isinstance(name, str):
            self._turn_of[name] = turn
        return turn

    def take(
        self, line: int, data: dict[str, Any], message: dict[str, Any], skipped: Skipped
    ) -> None:
        """Take a message of the person or of the agent."""
        turn = self.place(data)
        # A sub-agent's own file names the session that it worked for: they are put together.
        self._name = word(data.get("sessionId")) or self._name
        self._tracer.at(line, seconds_of(data.get("timestamp")))
        root = data.get("cwd") if isinstance(data.get("cwd"), str) else ""
        content = message.get("content")
        listed = content if isinstance(content, list) else []
        blocks = [one for one in listed if isinstance(one, dict)]
        if data["type"] == "assistant":
            for block in blocks:
                if block.get("type") == "tool_use":
                    self._use(line, block, turn, str(root), skipped)
            return
        results = [one for one in blocks if one.get("type") == "tool_result"]
        for block in results:
            self._result(block, data.get("toolUseResult"))
        if not results and not any(data.get(flag) for flag in ("isMeta", "isCompactSummary")):
            self._asked(data, turn, text_of(content), str(root))

    def _asked(self, data: dict[str, Any], parent: int | None, said: str, root: str) -> None:
        text = _without_tagged(said).strip()
        if not text or text.startswith(_NOT_ASKED):
            return
        name = data.get("uuid")
        if data.get("isSidechain"):
            # An agent wrote this prompt for another: its work belongs to the turn under way.
            if isinstance(name, str) and self._turns:
                self._turn_of[name] = len(self._turns) - 1
            return
        for one in self._turns:
            if one.parent == parent:
                one.gone = True
        turn = _Turn(parent)
        self._turns.append(turn)
        if isinstance(name, str):
            self._turn_of[name] = len(self._turns) - 1
        self._write(turn, root)
        self._tracer.asked(text)

    def _use(
        self, line: int, block: dict[str, Any], turn: int | None, root: str, skipped: Skipped
    ) -> None:
        name, key, arguments = word(block.get("name")), block.get("id"), block.get("input")
        if name not in _USED or not isinstance(key, str) or not isinstance(arguments, dict):
            skipped.ignore(f"tool {name}")
            return
        if turn is None:  # a sub-agent's own file begins with no prompt of a person
            if not self._turns:
                self._turns.append(_Turn(None))
            turn = len(self._turns) - 1
        self._uses[key] = _Use(line, self._tracer.base.time, name, arguments, turn, root)

    def _result(self, block: dict[str, Any], parts: Any) -> None:
        use = self._uses.pop(str(block.get("tool_use_id")), None)
        if use is None:
            return
        output = text_of(block.get("content"))
        ok = block.get("is_error") is not True and not output.startswith("<tool_use_error>")
        self._tracer.at(use.line, use.time)
        self._write(self._turns[use.turn], use.root)
        self._done(use, output, parts if isinstance(parts, dict) else {}, ok=ok)

    def _write(self, turn: _Turn, root: str) -> None:
        """Let what is traced next belong to a turn."""
        line, time = self._tracer.base.line, self._tracer.base.time
        self._tracer = Tracer(self._name, root)
        self._tracer.at(line, time)
        self._tracer.records = turn.records

    def _done(self, use: _Use, output: str, parts: dict[str, Any], *, ok: bool) -> None:
        words = {key: value for key, value in use.arguments.items() if isinstance(value, str)}
        path = words.get("file_path") or words.get("notebook_path") or ""
        if use.name == "Bash":
            self._tracer.ran(words.get("command", ""), output, ok=ok)
        elif use.name == "Grep":
            only = Place(words["path"]) if re.search(r"\.\w+$", words.get("path", "")) else None
            self._tracer.searched(words.get("pattern", ""), output, "grep", ok=ok, only=only)
        elif use.name == "Glob":
            self._tracer.searched(words.get("pattern", ""), output, FILES, ok=ok)
        elif use.name in {"Read", "NotebookRead"} and path:
            self._tracer.read(_viewed(path, use.arguments, parts), output, ok=ok)
        elif path:
            created = parts.get("type") == "create" or (
                use.name == "Write" and "has been created" in output
            )
            changes = _changes(use.name, use.arguments, parts)
            self._tracer.edited(path, changes, ok=ok, created=created)

    def _lost(self, turn: _Turn) -> bool:
        """Tell whether a turn that this one follows was rolled back."""
        seen = 0
        while turn.parent is not None and seen <= len(self._turns):
            turn = self._turns[turn.parent]
            if turn.gone:
                return True
            seen += 1
        return False


def _without_tagged(text: str) -> str:
    """Return a text with a blank in place of each tag that is closed, and of all that it holds."""
    tags = list(_TAG.finditer(text))
    closed: list[re.Match[str] | None] = []
    following: dict[str, re.Match[str]] = {}
    for tag in reversed(tags):
        closed.append(None if tag[1] else following.get(tag[2]))
        if tag[1]:
            following[tag[2]] = tag
    kept, at = [], 0
    for tag, end in zip(tags, reversed(closed), strict=True):
        if end is not None and tag.start() >= at:
            kept += [text[at : tag.start()], " "]
            at = end.end()
    return "".join([*kept, text[at:]])


def _viewed(path: str, arguments: dict[str, Any], parts: dict[str, Any]) -> Place:
    file = parts.get("file")
    shown = file if isinstance(file, dict) else {}
    start = shown.get("startLine", arguments.get("offset"))
    count = shown.get("numLines", arguments.get("limit"))
    whole = shown.get("totalLines") is not None and shown.get("totalLines") == count
    if whole or (start is None and count is None):
        return Place(path)
    first = start if isinstance(start, int) and start > 0 else 1
    last = first + count - 1 if isinstance(count, int) and count > 0 else 10**8
    return Place(path, *lines_of(first, last))


def _changes(name: str, arguments: dict[str, Any], parts: dict[str, Any]) -> list[Change]:
    if name == "Write":
        new, old = arguments.get("content"), parts.get("originalFile")
        text = new if isinstance(new, str) else ""
        return list(between(old, text)) if isinstance(old, str) else [Change(None, text)]
    pieces = arguments.get("edits") if name == "MultiEdit" else [arguments]
    return [
        Change(one["old_string"], one["new_string"], every=one.get("replace_all") is True)
        for one in (pieces if isinstance(pieces, list) else [])
        if isinstance(one, dict)
        and isinstance(one.get("old_string"), str)
        and isinstance(one.get("new_string"), str)
    ]
