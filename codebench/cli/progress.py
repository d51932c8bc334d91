"""One line of progress on a terminal; silence elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codebench.runner.events import Event

_EVERY = 0.1


class Progress:
    """Draws progress on standard error.

    Args:
        shown: whether anything is drawn.
    """

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._last = 0.0
        self._asks = 0
        self._started = time.monotonic()

    def step(self, what: str, done: int, total: int) -> None:
        """Show a step of mining; a total of 0 is unknown."""
        if not done:
            self._asks, self._started = total, time.monotonic()
        shown = f"{what} {done}/{total}{self._left(done)}" if total else f"{what} …"
        self._draw(shown, force=not done)

    def event(self, event: Event) -> None:
        """Show what a run tells."""
        from codebench.runner.events import (  # noqa: PLC0415  # `--help` shows no progress
            Answered,
            Indexed,
            LoadMeasured,
            Noted,
            Restarting,
            RetrieverEnded,
            RetrieverStarted,
        )

        if isinstance(event, RetrieverStarted):
            self._asks = event.asks
            self._started = time.monotonic()
            self._draw(f"{event.name}: starting", force=True)
        elif isinstance(event, Indexed):
            self._draw(f"{event.name}: indexed in {event.cost.seconds:.1f} s", force=True)
        elif isinstance(event, Answered):
            self._draw(f"{event.name}: {event.done}/{self._asks}{self._left(event.done)}")
        elif isinstance(event, Restarting):
            self._draw(f"{event.name}: restarting ({event.reason})", force=True)
        elif isinstance(event, LoadMeasured):
            offered = f"{event.step.rate:g}/s" if event.step.rate else event.step.concurrency
            self._draw(f"{event.name}: asked under load ({offered})", force=True)
        elif isinstance(event, Noted):
            self.clear()
            print(
                f"codebench: {event.name}{': ' if event.name else ''}{event.text}", file=sys.stderr
            )
        elif isinstance(event, RetrieverEnded):
            self.clear()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)

    def _left(self, done: int) -> str:
        passed = time.monotonic() - self._started
        if passed < 2 or not 0 < done <= self._asks:
            return ""
        return f", {passed / done * (self._asks - done):.0f} s left"

    def _draw(self, text: str, *, force: bool = False) -> None:
        now = time.monotonic()
        if not self._shown or (not force and now - self._last < _EVERY):
            return
        self._last = now
        width = max(10, shutil.get_terminal_size().columns - 1)
        print(f"\r\x1b[2K{text[:width]}", end="", file=sys.stderr, flush=True)
