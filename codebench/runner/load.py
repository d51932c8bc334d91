"""Inside the worker: many searches at once, timed as a client of the retriever sees them.

A closed loop has so many clients, each asking again as soon as it was answered: a search's
latency runs from the moment its client asked. An open loop asks at a steady rate, whatever
happens: a search's latency runs from the moment at which it was *due*, so that a stall is paid
by every search that it held up. Where an adapter's `search` may not be called by several threads
at once, the clients stand in line for it, and their latency holds the wait.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codebench.adapter import one_line
from codebench.runner.raw import is_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_THREADS = 64
"""Clients of an open loop: so many searches are under way at once, at most."""


@dataclass(frozen=True, slots=True)
class Load:
    """How hard a retriever is asked.

    Attributes:
        concurrency: clients of a closed loop; 0 for an open loop.
        rate: searches a second of an open loop; 0 for a closed one.
    """

    concurrency: int = 0
    rate: float = 0.0


class Driver:
    """Asks every text once, and reports each search when it is over.

    Args:
        search: the adapter's.
        concurrent: whether several threads may call it at once.
        report: told `{"number": …, "latency_ns": …}` of each search, with `error` where it
            raised; called from any thread, one at a time.
    """

    def __init__(
        self,
        search: Callable[[str, int], Any],
        *,
        concurrent: bool,
        report: Callable[[dict[str, Any]], None],
    ) -> None:
        self._search = search
        self._turn: contextlib.AbstractContextManager[Any] = (
            contextlib.nullcontext() if concurrent else threading.Lock()
        )
        self._report = report
        self._reporting = threading.Lock()
        self._next = 0
        self._begin = 0

    def drive(self, texts: Sequence[str], k: int, load: Load) -> int:
        """Ask, and return how long it took in nanoseconds."""
        clients = load.concurrency or min(MOST_THREADS, len(texts))
        threads = [
            threading.Thread(target=self._client, args=(texts, k, load), daemon=True)
            for _ in range(clients)
        ]
        self._begin = time.perf_counter_ns()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter_ns() - self._begin

    def _client(self, texts: Sequence[str], k: int, load: Load) -> None:
        while True:
            with self._reporting:
                number = self._next
                self._next += 1
            if number >= len(texts):
                return
            start = time.perf_counter_ns()
            if load.rate:
                due = self._begin + int(number * 1e9 / load.rate)
                if due > start:
                    time.sleep((due - start) / 1e9)
                start = due
            self._one(number, texts[number], k, start)

    def _one(self, number: int, text: str, k: int, start: int) -> None:
        row: dict[str, Any] = {"number": number}
        try:
            with self._turn:
                found = self._search(text, k)
            row["latency_ns"] = time.perf_counter_ns() - start
            if not is_list(found):
                row["error"] = f"search returned a {type(found).__name__}, not a list of hits"
        except BaseException as error:  # noqa: BLE001  # whatever it raises costs one answer
            row["latency_ns"] = time.perf_counter_ns() - start
            row["error"] = one_line(error)
        with self._reporting:
            self._report(row)
