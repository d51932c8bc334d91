"""Latency: percentiles with censored values, and ratios between two runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codebench.model import Answer

TIMED = ("ok", "timeout", "invalid_output")
"""Statuses whose latency is a search's: one that crashed or failed early says nothing of speed."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Latencies in nanoseconds, over every timed call (repeats too).

    Attributes:
        n: how many calls.
        mean, p50, p90, p95, p99: None without a call. A percentile is the smallest latency that
            at least that share of the calls does not exceed (nearest rank).
        censored: timeouts, counted at their limit: what is at the limit is at least that.
        untimed: calls left out because they crashed or failed.
    """

    n: int
    mean: float | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    censored: int
    untimed: int


def latency_summary(answers: Iterable[Answer]) -> Latency:
    """Summarise the latencies of a retriever's answers, every repeat among them."""
    times: list[int] = []
    censored = untimed = 0
    for answer in answers:
        if answer.status not in TIMED or answer.latency_ns is None:
            untimed += 1
            continue
        times.append(answer.latency_ns)
        censored += answer.status == "timeout"
    times.sort()
    if not times:
        return Latency(0, None, None, None, None, None, censored, untimed)
    p50, p90, p95, p99 = (percentile(times, share) for share in (50, 90, 95, 99))
    return Latency(len(times), math.fsum(times) / len(times), p50, p90, p95, p99, censored, untimed)


def percentile(ordered: Sequence[int], share: int) -> int:
    """Return the nearest-rank percentile of ascending values: no value that was not seen."""
    return ordered[max(0, -(-share * len(ordered) // 100) - 1)]


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
    """

    share: int
    ratio: float | None
    low: float | None
    high: float | None
    n: int


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
    at = max(0, -(-share * len(both) // 100) - 1)
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
    bound = float(high) if math.isfinite(high) else None
    return Ratio(share, ratio, float(low), bound, len(both))
