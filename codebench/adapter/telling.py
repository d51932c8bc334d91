"""What others' code raised, in one line with its place."""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING

from codebench.reading import plain_line

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.adapter.contract import Retriever

LONGEST = 300
"""Characters of an exception with its place: what `plain_line` leaves of it on its way."""


def line_in(file: Path, error: BaseException) -> str:
    """Return a file with the line at which an exception left it."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return f"{file}:{lines[-1]}" if lines else str(file)


def one_line(error: BaseException) -> str:
    """Return an exception as one line of at most 300 characters: its type and message."""
    try:
        message = str(error).strip()
    except Exception:  # noqa: BLE001  # an adapter's exception may do anything
        message = ""
    name = type(error).__name__
    return plain_line(f"{name}: {message}" if message else name)


def told(error: BaseException, file: str) -> str:
    """Return an exception as `one_line` does, and where it left an adapter's file.

    `KeyError: 'boom' at mine.py:42 in search`: the innermost call that lies in the file; the
    message is cut before the place is. An exception of codebench's own says all itself.

    Args:
        error: what was raised.
        file: the adapter's file, as `file_of` tells it.
    """
    line = one_line(error)
    place = "" if str(type(error).__module__).startswith("codebench.") else _place(error, file)
    room = LONGEST - len(place)
    return (line if len(line) <= room else line[: room - 3] + "...") + place


def _place(error: BaseException, file: str) -> str:
    found = ""
    trace = vars(BaseException)["__traceback__"].__get__(error)  # no subclass may mend it
    while trace is not None:
        code = trace.tb_frame.f_code
        if file and code.co_filename == file:
            name, where = os.path.basename(file)[-60:], code.co_name[:40]  # noqa: PTH119
            found = plain_line(f"at {name}:{trace.tb_lineno} in {where}")
        trace = trace.tb_next
    return f" {found}" if found else ""


def file_of(kind: type[Retriever]) -> str:
    """Return the file that a retriever's class stands in; empty where none is known."""
    return getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
