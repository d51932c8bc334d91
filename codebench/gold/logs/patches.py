"""Patches in the two notations that agents write -> changes by file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from codebench.gold.logs.record import Change, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CONTEXT = 3
_HEAD = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.*\S)\s*$")


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to one file.

    Attributes:
        path: before the patch; after it for a file that it creates.
        changes: in file order; none for a deletion.
        created, deleted: whether the file is new, or goes.
    """

    path: str
    changes: tuple[Change, ...]
    created: bool = False
    deleted: bool = False


def unified(text: str) -> tuple[FilePatch, ...]:
    """Read a unified diff, as `git diff` prints it; what is no diff gives nothing."""
    found: list[FilePatch] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not (lines[at].startswith("--- ") and lines[at + 1 : at + 2]):
            at += 1
            continue
        old, new = _path(lines[at]), _path(lines[at + 1])
        changes, at = _hunks(lines, at + 2)
        if old or new:
            found.append(FilePatch(old or new, tuple(changes), created=not old, deleted=not new))
    return tuple(found)


def hunks(text: str) -> tuple[Change, ...]:
    """Read the hunks of one file, with or without the lines that name it."""
    lines = text.split("\n")
    at = next((number for number, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return tuple(_hunks(lines, at)[0])


def between(old: str, new: str) -> tuple[Change, ...]:
    """Return what makes one text the other: hunks with lines around them to be found by."""
    before, after = old.split("\n"), new.split("\n")
    groups = SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT)
    return tuple(
        Change(
            "\n".join(before[group[0][1] : group[-1][2]]),
            "\n".join(after[group[0][3] : group[-1][4]]),
            group[0][1] + 1,
        )
        for group in groups
    )


def apply_patch(text: str) -> tuple[FilePatch, ...]:
    """Read a `*** Begin Patch` envelope, as Codex writes it."""
    found: list[FilePatch] = []
    heading: tuple[str, str] | None = None
    body: list[str] = []
    for line in [*text.split("\n"), "*** End Patch"]:
        head = _FILE.match(line)
        if not head and line.strip() != "*** End Patch":
            body.append(line)
            continue
        if heading is not None:
            found.append(_envelope(*heading, body))
        heading = (head[1], head[2]) if head else None
        body = []
    return tuple(found)


def _envelope(verb: str, path: str, body: Sequence[str]) -> FilePatch:
    if verb == "Add":
        text = "".join(f"{line[1:]}\n" for line in body if line.startswith("+"))
        return FilePatch(path, (Change(None, text),), created=True)
    if verb == "Delete":
        return FilePatch(path, (), deleted=True)
    pieces: list[list[str]] = [[]]
    for line in body:
        if line.startswith("@@"):
            pieces.append([])
        elif not line.startswith("*** "):
            pieces[-1].append(line)
    return FilePatch(path, tuple(change for piece in pieces for change in _changes(piece, None)))


def _path(line: str) -> str:
    """Return the path of a `---` or `+++` line; empty for /dev/null."""
    name = line[4:].split("\t", maxsplit=1)[0].strip().strip('"')
    return "" if name == "/dev/null" else re.sub(r"^[abciow]/", "", name)


def _hunks(lines: Sequence[str], at: int) -> tuple[list[Change], int]:
    changes: list[Change] = []
    while at < len(lines) and lines[at].startswith("@@"):
        head = _HEAD.match(lines[at])
        start = whole_number(head[1], 0) if head else None
        if head and start is not None and head[2] == "0":  # what is inserted goes after it
            start += 1
        body: list[str] = []
        at += 1
        while at < len(lines) and (lines[at][:1] in {" ", "+", "-", "\\"} or lines[at] == ""):
            if (
                lines[at].startswith("--- ")
                and lines[at + 1 : at + 2]
                and lines[at + 1][:4] == "+++ "
            ):
                break
            if lines[at] == "" and at + 1 == len(lines):
                break
            body.append(lines[at])
            at += 1
        while body and body[-1] == "":
            body.pop()
        changes += _changes(body, start)
    return changes, at


def _changes(body: Sequence[str], start: int | None) -> Iterator[Change]:
    """Yield a hunk as one change; its unchanged lines are what it is found by."""
    old = "".join(f"{line[1:]}\n" for line in body if line[:1] in {" ", "-", ""})
    new = "".join(f"{line[1:]}\n" for line in body if line[:1] in {" ", "+", ""})
    if old != new:
        yield Change(old, new, start)
