"""The process's standard streams, in whatever state its caller left them.

A reader that went away (`| head`), a full disk behind `>`, a stream that is closed or of another
encoding: none of them may cut short what a verb does, or change how it ends.
"""

from __future__ import annotations

import io
import os
import select
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Stream(io.FileIO):
    """A standard stream that never fails: what cannot be written any more goes nowhere.

    Attributes:
        failure: why that is so; None for a reader that went away, which is no failure.
    """

    failure: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, waiting where another program left the stream as one that does not wait."""
        try:
            while (written := super().write(data)) is None:
                select.select([], [self], [])
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.failure = error
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self.fileno())
            os.close(nothing)
            return memoryview(data).nbytes
        return written


def settle() -> Stream:
    """Make the three streams usable, and return the one behind `sys.stdout`."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # else the next file that is opened would be taken for the stream
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115  # a number, open to the end
    out = Stream(1, "w", closefd=False)
    # A terminal or file of another encoding shows what it lacks as an escape.
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(out),
        encoding=sys.stdout.encoding if sys.stdout else "utf-8",
        errors="backslashreplace",
        line_buffering=out.isatty(),
    )
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(Stream(2, "w", closefd=False)),
        encoding=sys.stderr.encoding if sys.stderr else "utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
    return out


def speak_utf8() -> None:
    """Start again in UTF-8 mode where the locale has another encoding.

    Paths of a repository, names and questions are UTF-8 whatever the terminal shows; Python does
    so by itself in the locales C and POSIX unless it is told not to.
    """
    if sys.getfilesystemencoding() == "utf-8" or os.environ.get("PYTHONUTF8") == "1":
        return
    shown = sys.stdout.encoding if sys.stdout else "utf-8"
    environment = {"PYTHONIOENCODING": shown, **os.environ, "PYTHONUTF8": "1"}
    words = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
    os.execve(sys.executable, words, environment)  # noqa: S606  # it is this very program
