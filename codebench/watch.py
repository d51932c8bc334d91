"""A child process under watch: how much memory it may take, how long it may be silent.

What it reads is untrusted, and a file that is a pipe, or a few bytes that unpack to gigabytes,
must not hold up or fill the machine.
"""

from __future__ import annotations

import math
import os
import select
import time
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import Popen

_LAST_WORDS = 4096
_TICK_SECONDS = 0.5


class Watch:
    """Keeps what a process says on its error pipe, and ends it when it hangs.

    Args:
        process: with a pipe for stderr, which nobody else reads.
        memory_bytes: of its own, mapped files apart; where the system can limit that.
        silence_seconds: for which it may be waited for before it counts as hanging.

    Attributes:
        hung: whether it was ended for its silence.
    """

    def __init__(self, process: Popen[bytes], *, memory_bytes: int, silence_seconds: float) -> None:
        self.hung = False
        self._process = process
        self._silence = silence_seconds
        self._since = math.inf
        self._words = b""
        _limit_memory(process.pid, memory_bytes)
        self._thread = Thread(target=self._listen, daemon=True)
        self._thread.start()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count its silence inside the block: there it is being waited for."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._since = math.inf

    def last_words(self) -> str:
        """Return the end of what an ended process said on its error pipe."""
        self._thread.join()
        return self._words.decode("utf-8", "replace").strip()

    def _listen(self) -> None:
        pipe = self._process.stderr
        if pipe is None:
            return
        while True:
            ready, _, _ = select.select([pipe], [], [], _TICK_SECONDS)
            if ready:
                block = os.read(pipe.fileno(), _LAST_WORDS)
                if not block:
                    return
                self._words = (self._words + block)[-_LAST_WORDS:]
            elif self._process.poll() is not None:
                return
            elif time.monotonic() - self._since > self._silence:
                self.hung = True
                self._process.kill()
                return


def _limit_memory(pid: int, most: int) -> None:
    try:
        from resource import RLIMIT_DATA, prlimit  # noqa: PLC0415  # Linux alone has it
    except ImportError:
        return
    try:
        prlimit(pid, RLIMIT_DATA, (most, most))
    except (OSError, ValueError):
        return  # it has ended already, or runs under a lower limit
