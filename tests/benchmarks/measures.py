"""Nine measures over many queries beside pytrec_eval, ir_measures and ranx, in one run.

Every side loads its own input first; only the measuring is timed. Each size and side runs in a
process of its own, so that its peak memory is its own. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

HITS = 100
JUDGED = 10
SEED = 7

OURS = [
    "RR@10", "R@10", "P@10", "F1@10", "AP@100", "nDCG@10", "nDCG(dcg='exp-log2')@10", "Success@5",
    "Rprec",
]  # fmt: skip
TREC = {
    "recip_rank", "recall.10", "P.10,5", "map_cut.100", "ndcg_cut.10,100", "success.5", "Rprec",
}  # fmt: skip
IR = [
    "RR", "R@10", "P@10", "P@5", "AP@100", "nDCG@10", "nDCG@100", "Success@5", "Rprec",
]  # fmt: skip
RANX = [
    "mrr@10", "recall@10", "precision@10", "f1@10", "map@100", "ndcg@10", "ndcg_burges@10",
    "hit_rate@5", "r-precision",
]  # fmt: skip

LIMITS = {"pytrec_eval": 1_000_000, "ir_measures": 1_000_000, "ranx": 100_000}


def _world(queries: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return (queries, 10) ranks and grades of judged documents; half of them are returned.

    A rank above 100 was not returned. Grades are 0 to 3.
    """
    source = np.random.default_rng(SEED)
    start = source.integers(0, 2 * HITS, queries)
    step = 1 + 2 * source.integers(0, 10, queries)
    places = (start[:, None] + step[:, None] * np.arange(JUDGED)) % (2 * HITS) + 1
    return places.astype(np.int32), source.integers(0, 4, (queries, JUDGED), dtype=np.int32)


def _dicts(queries: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    places, grades = _world(queries)
    names = [f"d{rank}" for rank in range(1, 2 * HITS + 1)]
    scores = [float(HITS - at) for at in range(HITS)]
    listed = dict(zip(names[:HITS], scores, strict=True))
    qrels = {
        f"q{query}": {names[place - 1]: grade for place, grade in zip(*row, strict=True)}
        for query, row in enumerate(zip(places.tolist(), grades.tolist(), strict=True))
    }
    return qrels, {query: dict(listed) for query in qrels}


def _codebench(queries: int) -> Callable[[], Any]:
    from codebench.measures.formulas import compute
    from codebench.measures.names import parse_all
    from codebench.measures.plain import from_columns
    from codebench.measures.ranks import UNREACHED
    from codebench.measures.statistics import mean

    places, grades = _world(queries)
    ranks = np.where(places <= HITS, places, UNREACHED).astype(np.int32)
    rows = np.repeat(np.arange(queries), JUDGED)
    returned = np.full(queries, HITS, np.int64)
    columns = from_columns(rows, ranks.ravel(), grades.ravel(), returned)
    measures = parse_all(OURS, 1)

    def measure() -> dict[str, float]:
        found = {str(own): compute(own, columns) for own in measures}
        kept = {name: values[~np.isnan(values)] for name, values in found.items()}
        return {name: mean(values, np.ones_like(values)) for name, values in kept.items()}

    return measure


def _codebench_dicts(queries: int) -> Callable[[], Any]:
    from codebench import evaluate

    qrels, run = _dicts(queries)
    return lambda: evaluate(qrels, run, OURS).values


def _pytrec_eval(queries: int) -> Callable[[], Any]:
    oracle = importlib.import_module("pytrec_eval")
    qrels, run = _dicts(queries)
    evaluator = oracle.RelevanceEvaluator(qrels, TREC)
    return lambda: evaluator.evaluate(run)


def _ir_measures(queries: int) -> Callable[[], Any]:
    oracle = importlib.import_module("ir_measures")
    qrels, run = _dicts(queries)
    evaluator = oracle.evaluator([oracle.parse_measure(name) for name in IR], qrels)
    return lambda: evaluator.calc_aggregate(run)


def _ranx(queries: int) -> Callable[[], Any]:
    oracle = importlib.import_module("ranx")
    qrels, run = _dicts(queries)
    # It compiles when it is first called; that is not counted.
    small = ({"q": {"d1": 1}}, {"q": {"d1": 1.0, "d2": 0.5}})
    oracle.evaluate(oracle.Qrels(small[0]), oracle.Run(small[1]), RANX)
    judged = {query: {d: max(g, 0) for d, g in own.items()} for query, own in qrels.items()}
    loaded = oracle.Qrels(judged), oracle.Run(run)
    return lambda: oracle.evaluate(*loaded, RANX)


SIDES = {
    "codebench": _codebench,
    "codebench, from dicts": _codebench_dicts,
    "pytrec_eval": _pytrec_eval,
    "ir_measures": _ir_measures,
    "ranx": _ranx,
}


def _one(side: str, queries: int) -> dict[str, float]:
    """Load one side's input, measure (the best of up to five), and return seconds and peak MB."""
    measure = SIDES[side](queries)
    measure() if queries <= 100_000 and side.startswith("codebench") else None
    best = float("inf")
    for _ in range(5 if side == "codebench" or queries < 10_000 else 1):
        started = time.perf_counter()
        measure()
        best = min(best, time.perf_counter() - started)
    unit = 1024**2 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return {"seconds": best, "peak_mb": peak}


def _table(sizes: list[int], python: dict[str, str]) -> None:
    print(f"{'':24}{'queries':>10}{'seconds':>12}{'peak MB':>10}{'times':>8}")
    for size in sizes:
        ours = None
        for side in SIDES:
            if size > LIMITS.get(side, size):
                continue
            command = [python.get(side, sys.executable), __file__, "--side", side, str(size)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                print(f"{side:24}{size:>10}  not measured: {reason}")
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            ours = found["seconds"] if side == "codebench" else ours
            times = f"{found['seconds'] / ours:8.1f}" if ours else ""
            print(f"{side:24}{size:>10}{found['seconds']:12.4f}{found['peak_mb']:10.0f}{times}")


def main() -> None:
    """Print a table, or (with --side) one side's figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000, 100_000])
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--ranx-python", help="an interpreter that has ranx")
    words = parser.parse_args()
    if words.side:
        print(json.dumps(_one(words.side, words.sizes[0])))
        return
    _table(words.sizes, {"ranx": words.ranx_python} if words.ranx_python else {})


if __name__ == "__main__":
    main()
