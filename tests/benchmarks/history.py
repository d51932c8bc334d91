"""Labelling commits beside PyDriller's changed methods and bare `git log -p -U0`.

    python tests/benchmarks/history.py REPOSITORY [--commits 400] [--jobs 2]

The same newest commits without merges for all sides, each in a process of its own; PyDriller
has to be installed (`pip install pydriller`). Prints commits per second and ratios.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def codebench(repository: str, commits: list[str], jobs: int, *, everything: bool) -> float:
    """Return seconds to read the history, to judge the commits, and to label those that are kept.

    With `everything` also those that message and paths would have dropped unread.
    """
    from codebench.gold import filters
    from codebench.gold.history import read_history
    from codebench.gold.recipe import Recipe
    from codebench.gold.workshop import workshop

    wanted = set(commits)
    start = time.perf_counter()
    with workshop(lambda *_: None, jobs) as shop, shop.repository(repository) as source:
        history = [one for one in read_history(source.shadow, source.tip()) if one.id in wanted]
        verdicts, _ = filters.cheap_verdicts(history, Recipe())
        kept = [one for one in history if not verdicts[one.id]]
        source.labeller.label(kept, lambda *_: None)
        if everything:
            source.labeller.label(history, lambda *_: None)
    return time.perf_counter() - start


def pydriller(repository: str, commits: list[str]) -> float:
    """Return seconds to ask PyDriller for the changed methods of the commits."""
    from pydriller import Repository  # type: ignore[import-untyped,import-not-found,unused-ignore]

    start = time.perf_counter()
    for commit in Repository(repository, only_commits=commits).traverse_commits():
        for file in commit.modified_files:
            _ = file.changed_methods
    return time.perf_counter() - start


def log(repository: str, commits: list[str]) -> float:
    """Return seconds for `git log -p -U0` over the commits."""
    start = time.perf_counter()
    subprocess.run(
        ["git", "-C", repository, "log", "--no-walk", "-p", "-U0", "--stdin"],
        input="\n".join(commits).encode(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - start


def main() -> None:
    """Run all sides and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository")
    parser.add_argument("--commits", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    listed = subprocess.run(
        [
            *("git", "-C", arguments.repository, "rev-list", "--no-merges"),
            *(f"--max-count={arguments.commits}", "HEAD"),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    commits = listed.stdout.split()
    if arguments.side:
        sides = {
            "mine": lambda: codebench(
                arguments.repository, commits, arguments.jobs, everything=False
            ),
            "label": lambda: codebench(
                arguments.repository, commits, arguments.jobs, everything=True
            ),
            "pydriller": lambda: pydriller(arguments.repository, commits),
            "git log -p -U0": lambda: log(arguments.repository, commits),
        }
        print(sides[arguments.side]())
        return
    with tempfile.TemporaryDirectory() as cache:
        rates = {}
        for name, side in (
            ("mined, cold cache", "mine"),
            ("mined, warm cache", "mine"),
            ("all labelled, cold cache", "label"),
            ("all labelled, warm cache", "label"),
            ("git log -p -U0", "git log -p -U0"),
            ("PyDriller", "pydriller"),
        ):
            folder = f"{cache}/{side}"
            done = subprocess.run(
                [
                    *(sys.executable, str(Path(__file__)), arguments.repository),
                    *(f"--commits={arguments.commits}", f"--jobs={arguments.jobs}"),
                    f"--side={side}",
                ],
                env={**os.environ, "CODEBENCH_CACHE": folder},
                check=True,
                capture_output=True,
                text=True,
            )
            rates[name] = len(commits) / float(done.stdout)
    print(f"{len(commits)} commits of {arguments.repository}, {arguments.jobs} processes")
    for name, rate in rates.items():
        print(f"{name:26}{rate:10.1f} commits/s {rate / rates['PyDriller']:9.1f} x PyDriller")


if __name__ == "__main__":
    main()
