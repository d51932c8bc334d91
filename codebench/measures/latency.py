"""Latency: percentiles with censored values and intervals, load curves, ratios between runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from codebench.model import Answer

    Ints = NDArray[Any]

N = TypeVar("N", int, float)

TIMED = ("ok", "timeout", "invalid_output")
"""Statuses whose latency is a search's: one that crashed or failed early says nothing of speed."""

SHARES = (50, 90, 95, 99)
RESAMPLES = 1000
_WORK = 50_000_000
"""Calls times resamples, at most: with very many calls the interval is narrow anyway."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Latencies in nanoseconds, over every timed call (repeats too).

    Attributes:
        n: how many calls.
        mean, p50, p90, p95, p99: None without a call. A percentile is the smallest latency that
            at least that share of the calls does not exceed (nearest rank).
        censored: timeouts, counted at their limit: what is at the limit is at least that.
        untimed: calls left out because they crashed or failed.
        intervals: 95 % intervals of `mean`, `p50`, … by name, where there are two queries: the
            percentiles of resamples in which whole queries are drawn with replacement, with all
            their repeats, as a query's repeats are alike (percentile bootstrap, Efron 1979).
    """

    n: int
    mean: float | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    censored: int
    untimed: int
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)


def latency_summary(answers: Iterable[Answer]) -> Latency:
    """Summarise the latencies of a retriever's answers, every repeat among them."""
    import numpy as np  # noqa: PLC0415  # importing this module must stay cheap

    times: list[int] = []
    names: list[str] = []
    censored = untimed = 0
    for answer in answers:
        if answer.status not in TIMED or answer.latency_ns is None:
            untimed += 1
            continue
        times.append(answer.latency_ns)
        names.append(answer.query)
        censored += answer.status == "timeout"
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    queries = np.array([numbers[name] for name in names], np.int64)
    return summary_of(np.array(times, np.int64), queries, censored, untimed)


def summary_of(times: Ints, queries: Ints, censored: int, untimed: int, seed: int = 0) -> Latency:
    """Summarise latencies in columns.

    Args:
        times: (n,) nanoseconds, timeouts at their limit.
        queries: (n,) the number of the query that each belongs to, in the order of their IDs.
        censored: how many are timeouts.
        untimed: how many calls are not among them.
        seed: of the resamples.
    """
    import numpy as np  # noqa: PLC0415

    if not len(times):
        return Latency(0, None, None, None, None, None, censored, untimed)
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    at = [_nearest(share, len(ordered)) for share in SHARES]
    p50, p90, p95, p99 = (int(value) for value in ordered[at])
    intervals = _intervals(ordered, queries[order], seed)
    mean = float(np.mean(ordered))
    return Latency(len(times), mean, p50, p90, p95, p99, censored, untimed, intervals)


def _intervals(ordered: Ints, queries: Ints, seed: int) -> Mapping[str, tuple[float, float]]:
    """Return bootstrap intervals of ascending times; `queries` are theirs."""
    import numpy as np  # noqa: PLC0415

    _, own = np.unique(queries, return_inverse=True)
    count = int(own.max()) + 1
    if count < 2:
        return {}
    source = np.random.default_rng(seed)
    resamples = max(200, min(RESAMPLES, _WORK // len(ordered)))
    found = np.empty((resamples, len(SHARES) + 1))
    for row in found:
        drawn = np.bincount(source.integers(0, count, count), minlength=count)[own]
        upto = np.cumsum(drawn)
        wanted = [-(-share * int(upto[-1]) // 100) for share in SHARES]
        row[0] = (ordered @ drawn) / upto[-1]
        row[1:] = ordered[np.searchsorted(upto, wanted)]
    low, high = np.percentile(found, (2.5, 97.5), axis=0, method="inverted_cdf")
    names = ("mean", *(f"p{share}" for share in SHARES))
    return {name: (float(low[at]), float(high[at])) for at, name in enumerate(names)}


@dataclass(frozen=True, slots=True)
class LoadStep:
    """One step of load, as it was measured.

    Attributes:
        concurrency: clients of a closed loop; 0 for an open loop.
        rate: searches a second of an open loop; 0 for a closed one.
        seconds: how long it took.
        latencies_ns: of each search that came back, as its client saw it; in an open loop from
            the moment at which it was due.
        failed: how many of them were failures.
        censored: searches that had not come back when the step was broken off at its limit.
    """

    concurrency: int
    rate: float
    seconds: float
    latencies_ns: tuple[int, ...]
    failed: int = 0
    censored: int = 0


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """One point of a load curve.

    Attributes:
        concurrency, rate: what was offered; one of them is 0.
        throughput: good answers a second.
        n: searches that came back.
        p50, p90, p95, p99: nanoseconds; None where none came back, or where so many are
            outstanding that the percentile is not known.
        failed, censored: as in the step.
    """

    concurrency: int
    rate: float
    throughput: float
    n: int
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    failed: int
    censored: int


def load_curve(steps: Iterable[LoadStep]) -> tuple[LoadPoint, ...]:
    """Return throughput and latency by load: closed loops first, each by what was offered.

    A search that never came back is later than all that did: it moves the percentiles.
    """
    points = []
    for step in sorted(steps, key=lambda step: (step.rate, step.concurrency)):
        times = sorted(step.latencies_ns)
        total = len(times) + step.censored
        places = [_nearest(share, total) for share in SHARES]
        p50, p90, p95, p99 = (times[at] if at < len(times) else None for at in places)
        good = len(times) - step.failed
        throughput = good / step.seconds if step.seconds > 0 else 0.0
        points.append(
            LoadPoint(
                step.concurrency,
                step.rate,
                throughput,
                len(times),
                *(p50, p90, p95, p99),
                step.failed,
                step.censored,
            )
        )
    return tuple(points)


def _nearest(share: int, count: int) -> int:
    """Return the place of a nearest-rank percentile among so many ascending values."""
    return max(0, -(-share * count // 100) - 1)


def percentile(ordered: Sequence[N], share: int) -> N:
    """Return the nearest-rank percentile of ascending values: no value that was not seen."""
    return ordered[_nearest(share, len(ordered))]


def by_query(answers: Iterable[Answer]) -> dict[str, float]:
    """Return each query's median latency over its repeats, in nanoseconds, timeouts at limit."""
    times: dict[str, list[int]] = {}
    for answer in answers:
        if answer.status in TIMED and answer.latency_ns is not None:
            times.setdefault(answer.query, []).append(answer.latency_ns)
    return {query: float(median(own)) for query, own in sorted(times.items())}


@dataclass(frozen=True, slots=True)
class Ratio:
    """A percentile of one run over that of another, with its 95 % bootstrap interval.

    Attributes:
        share: 50 for the median, 95 for p95.
        ratio: above 1 is slower; None where nothing can be divided.
        low, high: percentile interval over resampled queries.
        n: queries that both runs timed.
        upper: one-sided 95 % upper bound, of the same resamples.
    """

    share: int
    ratio: float | None
    low: float | None
    high: float | None
    n: int
    upper: float | None = None


def latency_ratio(
    before: Mapping[str, float],
    after: Mapping[str, float],
    share: int,
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> Ratio:
    """Compare two runs' latencies by query, paired, on the same machine.

    Queries are drawn with replacement, the same for both runs; only those that both timed count.
    """
    import numpy as np  # noqa: PLC0415  # a summary alone needs no numpy

    both = sorted(before.keys() & after.keys())
    old = np.array([before[query] for query in both])
    new = np.array([after[query] for query in both])
    at = _nearest(share, len(both))
    if not both or np.sort(old)[at] <= 0:
        return Ratio(share, None, None, None, len(both))
    ratio = float(np.sort(new)[at] / np.sort(old)[at])
    if len(both) < 2:
        return Ratio(share, ratio, None, None, len(both))
    source = np.random.default_rng(seed)
    ratios = []
    for _ in range(resamples):
        drawn = source.integers(0, len(both), len(both))
        below = np.partition(old[drawn], at)[at]
        ratios.append(np.partition(new[drawn], at)[at] / below if below > 0 else np.inf)
    ratios.sort()
    low, high = ratios[int(0.025 * resamples)], ratios[math.ceil(0.975 * resamples) - 1]
    upper = ratios[math.ceil(0.95 * resamples) - 1]
    bounds = [float(value) if math.isfinite(value) else None for value in (high, upper)]
    return Ratio(share, ratio, float(low), bounds[0], len(both), bounds[1])
