"""Files of any size, piece by piece: lines of JSON, and the items of one JSON document."""

from __future__ import annotations

import json
import re
from typing import IO, TYPE_CHECKING, Any

from codebench.errors import InputError
from codebench.reading import Faults, open_file, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codebench.gold.logs.skipped import Skipped

MAX_ITEM_BYTES = 32_000_000
"""A longer line or item holds a screenshot or a dump, and nothing to search for."""

_CHUNK = 1 << 20
_STRUCTURE = re.compile(rb'["\[\]{},:]')
_IN_STRING = re.compile(rb'["\\]')


def json_lines(path: Path, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) of a JSON Lines file; what is no object is counted.

    Raises:
        InputError: the file cannot be opened.
    """
    for number, text in text_lines(path, skipped):
        try:
            data = parse_json(text)
        except ValueError as error:
            skipped.line(path.name, number, str(error))
            continue
        if isinstance(data, dict):
            yield number, data
        else:
            skipped.line(path.name, number, "is not an object")


def text_lines(path: Path, skipped: Skipped) -> Iterator[tuple[int, str]]:
    """Yield a file's lines that are not blank; one that is too long is counted and passed over.

    Raises:
        InputError: the file cannot be read.
    """
    with _opened(path) as file:
        number = 0
        while data := file.readline(MAX_ITEM_BYTES + 1):
            number += 1
            if len(data) > MAX_ITEM_BYTES:
                skipped.line(path.name, number, f"is longer than {MAX_ITEM_BYTES} bytes")
                while data and not data.endswith(b"\n"):
                    data = file.readline(_CHUNK)
                continue
            try:
                text = data.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                skipped.line(path.name, number, f"is not UTF-8 at byte {error.start + 1}")
                continue
            if text.strip():
                yield number, text


def json_items(path: Path, skipped: Skipped) -> Iterator[tuple[int, str, Any]]:
    """Yield (number, member, value) of one JSON document, without ever holding all of it.

    Of a list, each item, with an empty member; of an object, each member's value, and where that
    is a list, each of its items. A document that ends early is counted.

    Raises:
        InputError: the file cannot be read.
    """
    with _opened(path) as file:
        number = 0
        for number, (member, text) in enumerate(_Splitter(file).items(), 1):
            if isinstance(text, str):
                skipped.line(path.name, number, text)
                continue
            try:
                yield number, member, parse_json(text.decode("utf-8-sig"))
            except ValueError as error:
                reason = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
                skipped.line(path.name, number, f"item {reason}")
        if not number:
            skipped.line(path.name, 1, "holds no JSON list or object")


def first_character(path: Path) -> str:
    """Return a file's first character that is not white space; empty where there is none.

    Raises:
        InputError: the file cannot be read.
    """
    with _opened(path) as file:
        return file.read(_CHUNK).decode("utf-8-sig", "replace").lstrip()[:1]


def word(value: object) -> str:
    """Return a text as it is, and anything else as an empty one."""
    return value if isinstance(value, str) else ""


def _opened(path: Path) -> IO[bytes]:
    try:
        return open_file(path)
    except OSError as error:
        faults = Faults(path)
        faults.add(error.strerror or str(error))
        raise InputError(faults.found) from None


class _Splitter:
    """Cuts a JSON document into the texts of its items.

    Args:
        file: the document.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._item = bytearray()
        self._too_long = False
        self._open: list[bytes] = []
        self._split = 0
        self._member = ""

    def items(self) -> Iterator[tuple[str, bytes | str]]:
        """Yield (member, text); what is wrong, as `str`, of an item that has no text."""
        in_string = False
        while chunk := self._file.read(_CHUNK):
            at = 0
            while at < len(chunk):
                if in_string:
                    at, in_string = self._string(chunk, at)
                    continue
                found = _STRUCTURE.search(chunk, at)
                end = found.start() if found else len(chunk)
                self._keep(chunk[at:end])
                at = end + 1
                if found and found[0] == b'"':
                    self._keep(b'"')
                    in_string = True
                elif found:
                    yield from self._mark(found[0])
        if self._open:
            yield self._member, "the document ends in this item"

    def _string(self, chunk: bytes, at: int) -> tuple[int, bool]:
        """Go on inside a string; return where it was left, and whether it goes on."""
        found = _IN_STRING.search(chunk, at)
        end = found.end() if found else len(chunk)
        self._keep(chunk[at:end])
        if not found or found[0] == b'"':
            return end, not found
        if end == len(chunk):  # the escaped character is the first of the next chunk
            self._keep(self._file.read(1))
            return end, True
        self._keep(chunk[end : end + 1])
        return end + 1, True

    def _mark(self, mark: bytes) -> Iterator[tuple[str, bytes | str]]:
        depth = len(self._open)
        if mark in b"[{":
            self._begin(mark)
        elif mark in b"]}" and depth:
            self._open.pop()
            if depth > self._split:
                self._keep(mark)
            else:
                yield from self._finished()
                self._split -= 1
        elif mark == b":" and depth == self._split == 1 and self._open[0] == b"{":
            self._member = _name(bytes(self._item))
            self._item.clear()
        elif mark == b"," and depth == self._split:
            yield from self._finished()
        else:
            self._keep(mark)

    def _begin(self, mark: bytes) -> None:
        """Open a list or object: to be split into items, or as a part of one."""
        lists = mark == b"[" and self._open == [b"{"] and not self._item.strip()
        splits = not self._open or lists
        self._open.append(mark)
        if splits:
            self._split = len(self._open)
            self._item.clear()
            if len(self._open) == 1:
                self._member = ""
        else:
            self._keep(mark)

    def _finished(self) -> Iterator[tuple[str, bytes | str]]:
        if self._too_long:
            yield self._member, f"item is longer than {MAX_ITEM_BYTES} bytes"
        elif self._item.strip():
            yield self._member, bytes(self._item)
        self._item.clear()
        self._too_long = False

    def _keep(self, data: bytes) -> None:
        if len(self._item) + len(data) > MAX_ITEM_BYTES:
            self._too_long = True
            self._item.clear()
        elif not self._too_long:
            self._item += data


def _name(key: bytes) -> str:
    try:
        name = json.loads(key)
    except ValueError:
        return ""
    return name if isinstance(name, str) else ""
