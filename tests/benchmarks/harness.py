"""What the harness adds to an in-process search, beside the same call timed in a bare loop.

Prints the latency that is recorded of a retriever that does nothing, and the wall time from one
question to the next with the answer checked and written, for several numbers of hits.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from codebench.corpus.tables import write_tables
from codebench.model import Chunk, Corpus, FileTable, Hit
from codebench.runner.harness import null_candidate
from codebench.runner.plan import RunSettings
from codebench.runner.record import AnswerWriter
from codebench.runner.session import Bench, Session

FILES = 200


def made_corpus(folder: Path) -> Corpus:
    """Make a corpus of small files."""
    place = folder / "corpus"
    place.mkdir()
    tables = []
    for number in range(FILES):
        path = f"module_{number:03}.py"
        (place / path).write_text("def f():\n    pass\n")
        chunk = Chunk(path, "f", 1, "function", ((1, 2),), "", "", 9)
        tables.append(FileTable(path, "python", (9, 9), (chunk,)))
    return Corpus(place, "sha256:1", tuple(tables))


def bare(hits: int, asks: int) -> float:
    """Return the median nanoseconds of the same call timed in a plain loop."""
    found = [Hit(f"module_{number:03}.py", 1, 2, "f", 1.0) for number in range(hits)]

    def search(text: str, k: int) -> list[Hit]:
        return found

    times = []
    for _ in range(asks):
        start = perf_counter_ns()
        search("text", 50)
        times.append(perf_counter_ns() - start)
    return statistics.median(times)


def measured(hits: int, asks: int, folder: Path) -> dict[str, Any]:
    """Return what the harness records of the null retriever, and what it takes."""
    corpus = made_corpus(folder)
    write_tables(corpus.tables, folder / "tables.gz")
    bench = Bench(corpus, folder / "tables.gz", folder, RunSettings(depth=50))
    session = Session(bench, null_candidate(hits))
    latencies, walls = [], []
    try:
        session.timed({"op": "index"}, session.make())
        writer = AnswerWriter(folder / "answers.jsonl", compare=False)
        for number in range(asks + 200):
            start = time.perf_counter_ns()
            answer = session.search("where is the parser", f"q{number}")
            writer.answer(answer)
            walls.append(time.perf_counter_ns() - start)
            latencies.append(answer.latency_ns or 0)
        writer.close()
    finally:
        session.end()
    latencies, walls = latencies[200:], walls[200:]
    return {
        "hits": hits,
        "added_us_p50": statistics.median(latencies) / 1e3,
        "added_us_p95": sorted(latencies)[int(0.95 * asks)] / 1e3,
        "bare_us_p50": bare(hits, asks) / 1e3,
        "wall_us_p50": statistics.median(walls) / 1e3,
        "wall_us_p95": sorted(walls)[int(0.95 * asks)] / 1e3,
    }


def main() -> None:
    """Measure, print, and say whether the limits hold."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--asks", type=int, default=3000)
    asks = parser.parse_args().asks
    good = True
    for hits in (0, 10, 50):
        with tempfile.TemporaryDirectory() as folder:
            found = measured(hits, asks, Path(folder))
        good &= found["added_us_p50"] <= 5 and (hits == 50 or found["wall_us_p50"] <= 200)
        print(json.dumps({name: round(value, 2) for name, value in found.items()}))
    print("within the limits (5 µs added, 200 µs of wall time)" if good else "over the limits")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
