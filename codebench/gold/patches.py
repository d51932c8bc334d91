"""Unified diffs, read without git, and put onto the text that they were made from.

Where a hunk ends is told by its header's counts, so that a removed line that looks like a header is
none. A hunk that is not where its header says is looked for nearby, as patch does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(r'\\([0-7]{3}|["\\abfnrtv])')
_LETTERS = dict(zip('"\\abfnrtv', '"\\\a\b\f\n\r\t\v', strict=True))
_MOST_DIGITS = 8


class PatchError(ValueError):
    """A patch cannot be read, or does not fit its file."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that are replaced.

    Attributes:
        start: 1-based first line of `old` in the old file; with no old line, the line before.
        old: context and removed lines, without newlines.
        new: context and added lines.
    """

    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to one file.

    Attributes:
        old_path, new_path: empty for a file that it adds, or deletes.
        hunks: in file order; none for a pure rename or a change of mode.
        binary: whether the contents are not shown.
    """

    old_path: str
    new_path: str
    hunks: tuple[Hunk, ...]
    binary: bool = False


def read_patch(text: str) -> tuple[FilePatch, ...]:
    """Read a unified diff, as git or diff -u writes it.

    Raises:
        PatchError: with what is wrong and the line.
    """
    reader = _Reader(text.replace("\r\n", "\n").split("\n"))
    files = []
    while (found := reader.file()) is not None:
        files.append(found)
    if not files:
        raise PatchError("holds no file")
    return tuple(files)


class _Reader:
    """Goes through the lines of a diff."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def file(self) -> FilePatch | None:
        """Return the next file; None at the end."""
        while self._at < len(self._lines) and not self._begins():
            self._at += 1
        if self._at >= len(self._lines):
            return None
        old, new, binary = self._header()
        hunks = []
        while self._at < len(self._lines) and _HUNK.match(self._lines[self._at]):
            hunks.append(self._hunk())
            while self._at < len(self._lines) and self._lines[self._at].startswith("\\"):
                self._at += 1
        return FilePatch(old, new, tuple(hunks), binary)

    def _begins(self) -> bool:
        line = self._lines[self._at]
        if line.startswith("diff --git "):
            return True
        following = self._lines[self._at + 1 : self._at + 2]
        return line.startswith("--- ") and bool(following) and following[0].startswith("+++ ")

    def _header(self) -> tuple[str, str, bool]:
        old = new = ""
        binary = False
        if self._lines[self._at].startswith("diff --git "):
            old, new = _git_paths(self._lines[self._at].removeprefix("diff --git "))
            self._at += 1
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if _HUNK.match(line) or line.startswith("diff --git "):
                break
            if line.startswith("--- "):
                if not self._begins():
                    break
                old = _path(line.removeprefix("--- "), "a/")
                new = _path(self._lines[self._at + 1].removeprefix("+++ "), "b/")
                self._at += 2
                break
            for word, side in (("rename from ", 0), ("rename to ", 1), ("copy to ", 1)):
                if line.startswith(word):
                    named = _unquoted(line.removeprefix(word))
                    old, new = (named, new) if side == 0 else (old, named)
            old = "" if line.startswith("new file mode") else old
            new = "" if line.startswith("deleted file mode") else new
            binary |= line.startswith(("Binary files ", "GIT binary patch"))
            self._at += 1
        return old, new, binary

    def _hunk(self) -> Hunk:
        header = _HUNK.match(self._lines[self._at])
        assert header is not None  # noqa: S101  # the caller looked
        where = self._at + 1
        if any(len(number or "") > _MOST_DIGITS for number in header.groups()):
            raise PatchError(f"line {where}: has a hunk of absurd size")
        start, olds, news = int(header[1]), _count(header[2]), _count(header[4])
        self._at += 1
        old: list[str] = []
        new: list[str] = []
        while len(old) < olds or len(new) < news:
            if self._at >= len(self._lines):
                raise PatchError(f"line {where}: has a hunk that is cut off")
            line = self._lines[self._at]
            # Mail and editors take the blank of an empty context line away.
            mark, content = (line[0], line[1:]) if line else (" ", "")
            if mark not in " +-\\":
                raise PatchError(f"line {self._at + 1}: is no line of a hunk: {line[:40]!r}")
            if mark in " -":
                old.append(content)
            if mark in " +":
                new.append(content)
            self._at += 1
        if len(old) != olds or len(new) != news:
            raise PatchError(f"line {where}: has a hunk with other lines than its header counts")
        return Hunk(start, tuple(old), tuple(new))


def _count(text: str | None) -> int:
    return 1 if text is None else int(text)


def _git_paths(rest: str) -> tuple[str, str]:
    """Read `a/x b/y`; unquoted names with blanks can only be told where both are one."""
    quoted = re.fullmatch(r'("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)', rest)
    if quoted:
        return _path(quoted[1], "a/"), _path(quoted[2], "b/")
    middle = len(rest) // 2
    return _path(rest[:middle], "a/"), _path(rest[middle + 1 :], "b/")


def _path(text: str, prefix: str) -> str:
    quoted = re.match(r'"(?:[^"\\]|\\.)*"', text)
    name = _unquoted(quoted[0]) if quoted else text.split("\t", maxsplit=1)[0].rstrip()
    return "" if name == "/dev/null" else name.removeprefix(prefix)


def _unquoted(text: str) -> str:
    if not (len(text) > 1 and text.startswith('"') and text.endswith('"')):
        return text
    pieces = _ESCAPE.split(text[1:-1])
    data = b"".join(
        piece.encode()
        if number % 2 == 0
        else (_LETTERS[piece].encode() if piece in _LETTERS else bytes([int(piece, 8) & 0xFF]))
        for number, piece in enumerate(pieces)
    )
    return data.decode("utf-8", "replace")


def patched(text: str, hunks: tuple[Hunk, ...]) -> str:
    """Return a file's text with hunks put onto it.

    Raises:
        PatchError: a hunk's old lines are not there.
    """
    lines = text.split("\n")
    plain = [line.rstrip() for line in lines]
    shift = 0
    least = 0
    for number, hunk in enumerate(hunks, start=1):
        wanted = hunk.start - 1 + shift if hunk.old else hunk.start + shift
        at = _find(plain, [line.rstrip() for line in hunk.old], wanted, least)
        if at is None:
            raise PatchError(f"hunk {number} does not fit the file")
        lines[at : at + len(hunk.old)] = hunk.new
        plain[at : at + len(hunk.old)] = [line.rstrip() for line in hunk.new]
        shift += at - wanted + len(hunk.new) - len(hunk.old)
        least = at + len(hunk.new)
    return "\n".join(lines)


def _find(lines: list[str], old: list[str], wanted: int, least: int) -> int | None:
    """Return the place of lines that is nearest to where they should be."""
    if not old:
        return min(max(wanted, least), len(lines))
    last = len(lines) - len(old)
    for distance in range(max(wanted - least, last - wanted, 0) + 1):
        for at in dict.fromkeys((wanted - distance, wanted + distance)):
            if least <= at <= last and lines[at : at + len(old)] == old:
                return at
    return None
