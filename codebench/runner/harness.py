"""What the harness itself costs, measured with the null retriever."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.measures.latency import percentile
from codebench.model import Candidate
from codebench.runner import null
from codebench.runner.events import Answered
from codebench.runner.record import AnswerWriter
from codebench.runner.scratch import scratch
from codebench.runner.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.runner.session import Bench

WARM = 20
_REFERENCE = f"{Path(null.__file__).resolve()}:Null"


def null_candidate(hits: int = 10) -> Candidate:
    """Return the null retriever."""
    return Candidate("null", _REFERENCE, (("hits", hits),))


def harness_cost(bench: Bench, texts: Sequence[str]) -> dict[str, Any]:
    """Ask the null retriever as any other, and return what that took.

    The memory limit is the retrievers': under one that Python itself does not fit in, the harness
    costs what it costs.

    Args:
        bench: what every retriever of the run is given.
        texts: what to ask, over and over until `settings.null_asks` are asked.

    Returns:
        `start_seconds` (process start), and of the asks: how many, `latency_p50_ns` and
        `latency_p95_ns` (what is added to a recorded latency), `wall_p50_ns` (from one question
        to the next, with the answer checked and written).

    Raises:
        GaveUp: it cannot be started or asked.
    """
    bench = dataclasses.replace(bench, settings=dataclasses.replace(bench.settings, memory_limit=0))
    asks = bench.settings.null_asks
    latencies: list[int] = []
    walls: list[int] = []
    session = Session(bench, null_candidate())
    try:
        start_seconds = session.make()
        session.timed({"op": "index"}, start_seconds)
        with scratch() as place:
            writer = AnswerWriter(place / "null.jsonl", compare=False)
            for number in range(WARM + asks):
                start = time.perf_counter_ns()
                answer = session.search(texts[number % len(texts)], f"{number}")
                writer.answer(answer)
                bench.events(Answered("", answer, number))
                if number >= WARM and answer.latency_ns is not None:
                    walls.append(time.perf_counter_ns() - start)
                    latencies.append(answer.latency_ns)
                if session.fallen:
                    break
            writer.close()
        session.close()
    finally:
        session.end()
    if not walls:
        return {}
    latencies.sort()
    walls.sort()
    return {
        "asks": len(walls),
        "start_seconds": start_seconds,
        "latency_p50_ns": percentile(latencies, 50),
        "latency_p95_ns": percentile(latencies, 95),
        "wall_p50_ns": percentile(walls, 50),
    }
