"""A long run of the null retriever: the supervisor's memory, the folder's size, scoring again.

    python tests/benchmarks/long_run.py --queries 200000 --hits 50

Each part runs in a process of its own, so that its peak memory is its own. The suite itself is
made and read outside of what is measured, as it is in every run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

from codebench.judging.scoring import score_run
from codebench.model import Corpus, Query, Suite, Target
from codebench.runner.harness import null_candidate
from codebench.runner.plan import RunSettings
from codebench.runner.run import run

sys.path.append(str(Path(__file__).parent))

MEASURES = ["RR(rel=2)@10", "R(rel=2)@10", "R(rel=3)@10", "nDCG@10", "nDCG(dcg='exp-log2')@10"]


def made_suite(queries: int, files: int) -> Suite:
    """Return a suite of so many queries."""
    made = []
    for number in range(queries):
        path = f"module_{number % files:03}.py"
        made.append(
            Query(f"q{number:06}", f"where is thing {number}", (Target(path, f"{path}::f"),))
        )
    return Suite("long", "", "", "sha256:1", tuple(made))


def peak() -> float:
    """Return the peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ask(folder: Path, queries: int, hits: int) -> None:
    """Run, and print what it took."""
    harness = import_module("harness")  # beside this file

    corpus: Corpus = harness.made_corpus(folder)
    suite = made_suite(queries, harness.FILES)
    before = peak()
    settings = RunSettings(depth=hits, repeats=1, floors=(), null_asks=0)
    start = time.perf_counter()
    path = run(suite, corpus, [null_candidate(hits)], folder / "out", settings)
    print(json.dumps({
        "part": "run", "seconds": round(time.perf_counter() - start, 1),
        "peak_mb": round(peak()), "peak_mb_with_the_suite_alone": round(before),
        "folder_mb": round(sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) / 1e6, 1),
        "path": str(path),
    }))  # fmt: skip


def again(path: Path) -> None:
    """Score the run, and print what that took."""
    start = time.perf_counter()
    scored = score_run(path, MEASURES)
    figures = {
        name: figure.value
        for one in scored.retrievers
        if one.evaluation
        for name, figure in one.evaluation.figures.items()
    }
    took = time.perf_counter() - start
    print(json.dumps({
        "part": "score", "seconds": round(took, 2), "peak_mb": round(peak()), "figures": figures,
        "from_columns": scored.run.asked is not None,
    }))  # fmt: skip


def main() -> None:
    """Do one part, or both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries", type=int, default=200_000)
    parser.add_argument("--hits", type=int, default=50)
    parser.add_argument("--part", choices=("run", "score"))
    parser.add_argument("--folder", type=Path)
    own = parser.parse_args()
    if own.part == "run":
        ask(own.folder, own.queries, own.hits)
    elif own.part == "score":
        again(own.folder)
    else:
        with tempfile.TemporaryDirectory() as folder:
            words = [
                sys.executable,
                __file__,
                "--queries",
                str(own.queries),
                "--hits",
                str(own.hits),
            ]
            ran = part([*words, "--part", "run", "--folder", folder])
            scored = part([*words, "--part", "score", "--folder", str(ran["path"])])
        good = float(str(ran["peak_mb"])) < 500 and float(str(scored["seconds"])) < 5
        print("within the limits (500 MB, 5 s)" if good else "over the limits")
        raise SystemExit(0 if good else 1)


def part(words: list[str]) -> dict[str, object]:
    """Run one part and return what it printed."""
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    print(done.stdout.strip())
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
