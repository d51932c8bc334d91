"""Several retrievers beside each other on this machine."""

from __future__ import annotations

from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.model import Candidate
    from codebench.runner.turns import Turns


def turns_beside(turns: Turns, candidates: Sequence[Candidate]) -> None:
    """Take the turns of all candidates, `jobs` of them at a time.

    A thread waits for each retriever's process; what is measured runs in those processes. The
    floors come first and alone, as they are cheap.
    """
    for floor in candidates:
        if floor.floor:
            turns.take(floor)
    own = [one for one in candidates if not one.floor]
    with ThreadPoolExecutor(turns.bench.settings.jobs) as pool:
        futures = [pool.submit(turns.take, one, beside=True) for one in own]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
        except BaseException:
            for future in futures:
                future.cancel()
            turns.interrupt()
            raise
