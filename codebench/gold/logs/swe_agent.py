"""Trajectories of SWE-agent: one `.traj` a task, `trajectory`, `history`, `info`, `replay_config`.

The steps hold `action` and `observation`; `info.submission` is the patch against the base commit,
which is the net difference itself. Steps carry no time. SWE-agent 1.x, sweagent/types.py.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codebench.gold.logs.patches import unified
from codebench.gold.logs.record import Change, Place, lines_of, whole_number
from codebench.gold.logs.streams import json_items
from codebench.gold.logs.tracing import FILES, Tracer, within
from codebench.reading import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codebench.gold.logs.record import Record
    from codebench.gold.logs.skipped import Skipped

ENDINGS = (".traj",)

_WINDOW = re.compile(r"\[File: (?P<path>\S+) \((?P<total>\d+) lines total\)\]")
_NUMBERED = re.compile(r"^(\d+):", re.MULTILINE)
_TAGS = ("pr_description", "issue")
_ISSUE = re.compile(r"ISSUE:[^\S\n]*\n")
_INSTRUCTIONS = re.compile(r"^[^\S\n]*INSTRUCTIONS:", re.MULTILINE)
_RANGE = re.compile(r"^\s*edit\s+(\d+):(\d+)(?:[^\S\n]*\n)++(.*?)\n?end_of_edit", re.DOTALL)
_FAILED = re.compile(
    r"\A\s*(?:error\b|usage:|invalid|file \S+ (?:not found|does not exist)|no file open|"
    r"no replacement was performed|traceback \(most recent|the path \S+ does not exist|"
    r"ls: cannot|cat: )|your proposed edit has introduced|your edit was not applied|"
    r"no replacement was performed",
    re.IGNORECASE,
)
_UNDONE = "undo_edit"


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """Yield the records of one trajectory."""
    run = _Run(path.name.removesuffix(".traj"))
    for line, member, value in json_items(path, skipped):
        if member == "trajectory":
            if isinstance(value, dict) and isinstance(value.get("action"), str):
                run.step(line, value)
            else:
                skipped.line(path.name, line, "is no step: it has no action")
        elif member == "history" and isinstance(value, dict):
            run.message(value)
        elif member == "info" and isinstance(value, dict):
            run.info(value)
        elif member == "replay_config":
            run.config(value)
    if run.empty:
        skipped.line(path.name, 1, "holds no step of a trajectory")
        return
    yield from run.records()


class _Run:
    """One trajectory, whose task and base commit are only known at its end."""

    def __init__(self, session: str) -> None:
        self._tracer = Tracer(session)
        self._open = ""
        self._task = ""
        self._said = ""
        self._commit = ""
        self._repository = ""
        self._patch = ""
        self.empty = True

    def message(self, data: dict[str, Any]) -> None:
        """Take the first thing that a user said, which no demonstration is."""
        if data.get("role") != "user" or data.get("is_demo") or self._said:
            return
        text = text_of(data.get("content"))
        self._said = within(text, _TAGS) or _issue(text) or text

    def info(self, data: dict[str, Any]) -> None:
        """Take the patch that was submitted."""
        submission = data.get("submission")
        if isinstance(submission, str):
            self._patch = submission

    def config(self, value: Any) -> None:
        """Take the task and the commit from the configuration, which may be JSON in a string."""
        try:
            data = parse_json(value) if isinstance(value, str) else value
        except ValueError:
            return
        data = data if isinstance(data, dict) else {}
        problem = _inner(data, "problem_statement")
        text = problem.get("text") or problem.get("problem_statement")
        self._task = text if isinstance(text, str) else ""
        place = _inner(_inner(data, "env"), "repo")
        commit = place.get("base_commit")
        self._commit = commit if isinstance(commit, str) and commit != "HEAD" else ""
        name = place.get("repo_name") or place.get("github_url") or ""
        self._repository = name if isinstance(name, str) else ""

    def records(self) -> Iterator[Record]:
        """Yield the task, its steps, and the net difference."""
        tracer = self._tracer
        steps, tracer.records = tracer.records, []
        tracer.base = replace(tracer.base, repository=self._repository, commit=self._commit)
        tracer.asked(self._task or self._said)
        patch = unified(self._patch)
        tracer.records += [
            replace(one, repository=self._repository, commit=self._commit) for one in steps
        ]
        tracer.patched(patch, final=True)
        tracer.ended()
        yield from tracer.records

    def step(self, line: int, data: dict[str, Any]) -> None:
        """Add what one step did."""
        self.empty = False
        state = data.get("state")
        if isinstance(state, str):
            try:
                state = parse_json(state)
            except ValueError:
                state = None
        folder = state.get("working_dir") if isinstance(state, dict) else None
        self._tracer.at(line, None)
        if isinstance(folder, str) and folder.startswith("/"):
            self._tracer.base = replace(self._tracer.base, root=folder)
        action, output = data["action"].strip(), text_of(data.get("observation"))
        ranged = _RANGE.match(action)
        if ranged:
            first, last = whole_number(ranged[1]), whole_number(ranged[2])
            change = Change("", f"{ranged[3]}\n", first, until=last)
            known = first is not None and last is not None
            self._tracer.edited(self._open, [change], ok=known and not _failed(output))
            return
        try:
            words = shlex.split(action)
        except ValueError:
            words = action.split()
        if words:
            self._act(words, action, output)

    def _act(self, words: list[str], action: str, output: str) -> None:
        name, rest = words[0], words[1:]
        ok = not _failed(output)
        if name in {"open", "goto", "scroll_down", "scroll_up"}:
            self._shown(rest[0] if name == "open" and rest else self._open, output)
        elif name in {"search_dir", "search_file"} and rest:
            only = rest[1] if len(rest) > 1 else self._open if name == "search_file" else ""
            place = Place(only) if name == "search_file" and only else None
            self._tracer.searched(rest[0], _with_lines(output), name, ok=ok, only=place)
        elif name == "find_file" and rest:
            self._tracer.searched(rest[0], output, FILES, ok=ok)
        elif name == "create" and rest:
            self._open = rest[0]
            self._tracer.edited(rest[0], [Change(None, "")], ok=ok, created=True)
        elif name == "edit" and len(rest) >= 2:
            change = Change(rest[0], rest[1], every="replace-all" in rest[2:])
            self._tracer.edited(self._open, [change], ok=ok)
        elif name == "insert" and rest:
            after = whole_number(rest[1], 0) if rest[1:] else None
            self._tracer.edited(self._open, [_inserted(rest[0], after)], ok=ok)
        elif name == "str_replace_editor" and len(rest) >= 2:
            self._editor(rest[0], rest[1], _flags(rest[2:]), output, ok=ok)
        else:
            self._tracer.ran(action, output, ok=ok)

    def _editor(
        self, verb: str, path: str, flags: dict[str, list[str]], output: str, *, ok: bool
    ) -> None:
        first = {name: values[0] if values else "" for name, values in flags.items()}
        if verb == "view":
            span = flags.get("view_range", [])
            start, end = lines_of(*span) if len(span) == 2 else (None, None)
            self._tracer.read(Place(path, start, end), output, ok=ok)
        elif verb == "create":
            change = Change(None, first.get("file_text", ""))
            self._tracer.edited(path, [change], ok=ok, created=True)
        elif verb == "str_replace":
            change = Change(first.get("old_str", ""), first.get("new_str", ""))
            self._tracer.edited(path, [change], ok=ok)
        elif verb == "insert":
            after = whole_number(first.get("insert_line"), 0)
            change = _inserted(first.get("new_str", ""), after)
            self._tracer.edited(path, [change], ok=ok)
        elif verb == _UNDONE and ok:
            self._undo(path)

    def _undo(self, path: str) -> None:
        """Take the last edit of a file back."""
        records = self._tracer.records
        for at in range(len(records) - 1, -1, -1):
            place = records[at].place
            if records[at].kind == "edit" and place is not None and place.path == path:
                del records[at]
                return

    def _shown(self, path: str, output: str) -> None:
        window = _WINDOW.search(output)
        self._open = window["path"] if window else path
        numbers = _NUMBERED.findall(output)
        start, end = lines_of(numbers[0], numbers[-1]) if numbers else (None, None)
        self._tracer.read(Place(self._open, start, end), output, ok=bool(window))


def _issue(text: str) -> str:
    """Return what stands between the headings of a prompt; empty where it has none."""
    begins = _ISSUE.search(text)
    ends = _INSTRUCTIONS.search(text, begins.end()) if begins else None
    return text[begins.end() : ends.start()].strip() if begins and ends else ""


def _inserted(text: str, after: int | None) -> Change:
    """Return the insertion of lines after a line; 0 is the beginning of the file."""
    return Change("", f"{text}\n", None if after is None else after + 1)


def _failed(output: str) -> bool:
    return bool(_FAILED.search(output[:400]))


def _with_lines(output: str) -> str:
    """Rewrite `Line 12:text` of search_file, and `path (3 matches)` of search_dir."""
    text = re.sub(r"^Line (\d+):", r"\1:", output, flags=re.MULTILINE)
    return re.sub(r"^(\S+) \(\d+ match(?:es)?\)$", r"\1", text, flags=re.MULTILINE)


def _flags(words: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    name = ""
    for word in words:
        if re.fullmatch(r"--[a-z_]+", word):
            name = word[2:]
            found[name] = []
        elif name:
            found[name].append(word)
    return found


def text_of(content: Any) -> str:
    """Return the text of a content that is a string, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [one.get("text") for one in parts if isinstance(one, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _inner(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}
