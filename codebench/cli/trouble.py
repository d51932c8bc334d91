"""What the machine does to a verb: a signal that ends it, a system call that fails."""

from __future__ import annotations

import errno
import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MENDS = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.ENFILE: "close some programs",
    errno.EROFS: "name another place",
}


class Ended(KeyboardInterrupt):
    """A signal other than Ctrl-C ends the program; what is being done is cleaned up as then."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind what is going on, as Ctrl-C does; not under nohup."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> None:  # noqa: ARG001  # a handler's shape
        raise Ended(number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [getattr(signal, name) for name in names]
    mine = [number for number in numbers if signal.getsignal(number) == signal.SIG_DFL]
    for number in mine:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, signal.SIG_DFL)


def told(error: OSError) -> str:
    """Return on one line what failed, where, and what to do."""
    try:
        os.getcwd()  # noqa: PTH109  # pathlib would hide what failed
    except OSError:
        return "the current folder is gone; change to another"
    reason = error.strerror or str(error)
    where = f"{os.fsdecode(error.filename)}: " if error.filename else ""
    mend = f"; {_MENDS[error.errno]}" if error.errno in _MENDS else ""
    return f"{where}{reason}{mend}"
