"""One `git log` stream -> commits with their changed paths, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codebench.git import Shadow

FORM = "%x01%H%x00%P%x00%ct%x00%an%x00%ae%x00%B%x00"
"""Fields end with NUL, which no message can hold, so no message can forge a field."""

_LAST_SECOND = 253_402_300_799
"""The end of the year 9999: a later time is a damaged or a forged one, and no calendar has it."""


@dataclass(frozen=True, slots=True)
class Change:
    """A path that a commit touched.

    Attributes:
        status: `A`, `C`, `D`, `M`, `R`, `T` or `U`, as git names it.
        old_path, path: the same unless renamed or copied. Bytes that are not UTF-8 become
            lone surrogates.
        old_id, new_id: blob IDs; zeros for what is not there.
        regular: both sides that exist are regular files (no symlink, no submodule).
    """

    status: str
    old_path: str
    path: str
    old_id: str
    new_id: str
    regular: bool


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as history tells it.

    Attributes:
        id: full object ID.
        parents: their IDs; none for a root or a shallow boundary.
        time: committer's, in seconds since the epoch.
        author, email: as recorded; never stored in a suite.
        message: its first 16 KiB, undecodable bytes replaced.
        changes: against the first parent; empty for merges unless first parents are followed.
    """

    id: str
    parents: tuple[str, ...]
    time: int
    author: str
    email: str
    message: str
    changes: tuple[Change, ...]


def read_history(shadow: Shadow, tip: str, *, first_parent: bool = False) -> list[Commit]:
    """Return every commit reachable from `tip`, newest first, children before parents.

    A partial clone lacks the blobs that inexact renames need, and git ends half way: the walk
    is then repeated with exact renames only.

    Raises:
        GitError: the history cannot be read to its end.
    """
    try:
        return list(parse_log(shadow.log(tip, FORM, first_parent=first_parent)))
    except GitError:
        return list(parse_log(shadow.log(tip, FORM, first_parent=first_parent, renames=False)))


def parse_log(tokens: Iterable[bytes]) -> Iterator[Commit]:
    """Turn the NUL-separated tokens of `git log -z --raw` with `FORM` into commits."""
    stream = iter(tokens)
    token = next(stream, None)
    while token is not None:
        head = [_text(token).removeprefix("\x01"), *(_text(next(stream)) for _ in range(5))]
        changes = []
        token = next(stream, None)
        while token is not None and not token.startswith(b"\x01"):
            raw = token.lstrip(b"\n")
            if raw.startswith(b":"):
                changes.append(_change(raw, stream))
            token = next(stream, None)
        commit_id, parents, time, author, email, message = head
        yield Commit(
            commit_id, tuple(parents.split()), _time(time), author, email, message, tuple(changes)
        )


def _change(raw: bytes, stream: Iterator[bytes]) -> Change:
    old_mode, new_mode, old_id, new_id, status = raw[1:].decode().split(" ")
    old_path = _path(next(stream))
    path = _path(next(stream)) if status[0] in "RC" else old_path
    regular = all(mode.startswith("100") or mode == "000000" for mode in (old_mode, new_mode))
    return Change(status[0], old_path, path, old_id, new_id, regular)


def _time(text: str) -> int:
    """Return seconds; 0 where a damaged commit names no time."""
    return min(int(text), _LAST_SECOND) if text.isascii() and text.isdigit() else 0


def _text(token: bytes) -> str:
    return token.decode("utf-8", "replace")


def _path(token: bytes) -> str:
    return token.decode("utf-8", "surrogateescape")
