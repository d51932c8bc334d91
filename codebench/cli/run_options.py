"""What `codebench run` takes beside its target: how retrievers are measured."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from typing import TYPE_CHECKING, Any

from codebench.cli.options import add_query_timeout, add_seed, count, positive
from codebench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from codebench.runner.cluster import Cluster
    from codebench.runner.plan import RunSettings

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SMALLEST = 10**6
"""No process fits in less: who writes that forgot a unit."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", re.IGNORECASE)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add what a retriever may take, and how often it may fall."""
    group = parser.add_argument_group("limits")
    add_query_timeout(group)
    group.add_argument(
        "--index-timeout",
        type=positive(float),
        default=1800.0,
        metavar="SECONDS",
        help="that an index may take (default: 1800)",
    )
    group.add_argument(
        "--memory-limit",
        type=size,
        default=0,
        metavar="SIZE",
        help="of a retriever's processes together, as 4G or 500M (default: none)",
    )
    group.add_argument(
        "--max-restarts",
        type=count,
        default=3,
        metavar="N",
        help="crashes in a row before a retriever is given up (default: 3)",
    )
    group.add_argument(
        "--rate-limit-wait",
        type=positive(float),
        default=300.0,
        metavar="SECONDS",
        help="that a query may wait for a service that says 429 (default: 300)",
    )


def add_measuring(parser: argparse.ArgumentParser) -> None:
    """Add how often and how hard is asked, and by how many at once."""
    group = parser.add_argument_group("measuring")
    group.add_argument(
        "--repeats",
        type=positive(int),
        default=3,
        metavar="N",
        help="times each query is asked, for its latency (default: 3)",
    )
    add_seed(group, "of every random choice")
    group.add_argument(
        "--concurrency",
        type=several(positive(int)),
        default=(),
        metavar="N,…",
        help="ask under load, too: so many clients at once",
    )
    group.add_argument(
        "--rate",
        type=several(positive(float)),
        default=(),
        metavar="Q,…",
        help="ask under load, too: so many queries a second, whatever happens",
    )
    group.add_argument(
        "--check-determinism",
        action="store_true",
        help="ask a sample again after a restart, and count the answers that changed",
    )
    group.add_argument(
        "--updates",
        action="store_true",
        help="in a suite of several snapshots: what bringing an index from one to the next costs",
    )
    group.add_argument(
        "--jobs",
        type=positive(int),
        default=1,
        metavar="N",
        help="retrievers beside each other; their latency is marked (default: 1)",
    )
    group.add_argument(
        "--executor",
        default="local",
        metavar="WHERE",
        help="local, dask (worker processes here) or dask=tcp://HOST:PORT (default: local)",
    )


def add_keeping(parser: argparse.ArgumentParser) -> None:
    """Add what of earlier runs is used again."""
    group = parser.add_argument_group("earlier runs")
    group.add_argument(
        "--resume",
        action="store_true",
        help="go on with the newest run of this suite, where all that could change it is the same",
    )
    group.add_argument(
        "--retry-errors",
        action="store_true",
        help="as --resume, and ask again what failed",
    )
    group.add_argument(
        "--keep-index",
        action="store_true",
        help="keep indexes in the cache, and take them from there (adapters with save and restore)",
    )


def settings_of(arguments: argparse.Namespace) -> RunSettings:
    """Return how the run is made.

    Raises:
        UsageError: two of the arguments do not go together.
    """
    from codebench.runner.plan import RunSettings  # noqa: PLC0415  # `--help` needs none of it

    kind = arguments.executor.partition("=")[0]
    if kind != "local" and (arguments.concurrency or arguments.rate):
        raise UsageError(
            "--concurrency and --rate measure one machine; leave --executor out for them"
        )
    return RunSettings(
        depth=arguments.depth,
        query_timeout=arguments.timeout,
        index_timeout=arguments.index_timeout,
        repeats=arguments.repeats,
        seed=arguments.seed,
        max_restarts=arguments.max_restarts,
        memory_limit=arguments.memory_limit,
        rate_limit_wait=arguments.rate_limit_wait,
        concurrency=arguments.concurrency,
        rates=arguments.rate,
        check_determinism=arguments.check_determinism,
        keep_index=arguments.keep_index,
        jobs=arguments.jobs,
        executor=kind,
    )


@contextlib.contextmanager
def executor_of(arguments: argparse.Namespace) -> Iterator[Cluster | None]:
    """Open the cluster that was asked for, if one was.

    Raises:
        UsageError: there is no such executor, or it cannot be reached.
    """
    if arguments.executor == "local":
        yield None
        return
    from codebench.runner.cluster import open_cluster  # noqa: PLC0415

    workers = arguments.jobs if arguments.jobs > 1 else os.cpu_count() or 1
    with open_cluster(arguments.executor, workers) as cluster:
        yield cluster


def size(text: str) -> int:
    """Read a number of bytes, as `4G`, `500M` or `1000000`."""
    match = _SIZE.fullmatch(text.strip())
    found = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if not 0 < found < 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write 4G or 500M")
    if found < _SMALLEST:
        meant = "4G or 500M" if match and match[2] else f"{text.strip()}M"
        raise argparse.ArgumentTypeError(
            f"{text!r} is {found:,} bytes, in which no process fits; write {meant} (M is a million)"
        )
    return found


def several(kind: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    """Return an argparse type: values between commas, each once, ascending."""

    def read(text: str) -> tuple[Any, ...]:
        return tuple(sorted({kind(part) for part in text.split(",")}))

    return read
