"""A scored run as plain data: the shape of `--format json`, which every other format reads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from codebench.evaluation import aggregate
from codebench.model import STATUSES
from codebench.report.measuring import harness_data, intervals_data, measuring_data

if TYPE_CHECKING:
    from codebench.evaluation import Evaluation, How
    from codebench.judging.scored import Scored, ScoredRun
    from codebench.measures.statistics import Figure

_MS = 1e6


def run_data(scored: ScoredRun, how: How = "macro") -> dict[str, Any]:
    """Return a scored run as strict JSON data: no NaN, no infinity.

    Where one retriever alone is scored, its measures stand at the top too.
    """
    retrievers = [_retriever(one, how) for one in scored.retrievers]
    own = [one["measures"] for one in retrievers if not one["floor"]] or [
        one["measures"] for one in retrievers
    ]
    words = next(
        aggregate(one.evaluation, how).words for one in scored.retrievers if one.evaluation
    )
    return {
        "queries": len(scored.suite.queries),
        **({"measures": own[0]} if len(own) == 1 else {}),
        "suite": {
            "name": scored.suite.name,
            "digest": scored.digest,
            "queries": len(scored.suite.queries),
        },
        "run": str(scored.run.path),
        "complete": scored.run.complete,
        "machine": scored.run.manifest.get("machine", {}),
        "harness": harness_data(scored),
        **({"updates": updates} if (updates := scored.run.manifest.get("updates")) else {}),
        "aggregate": words,
        "retrievers": retrievers,
    }


def figure_data(figure: Figure) -> dict[str, Any]:
    """Return a figure as JSON data."""
    return {
        "value": finite(figure.value),
        "low": finite(figure.low),
        "high": finite(figure.high),
        "n": figure.n,
        **({"excluded": figure.excluded} if figure.excluded else {}),
    }


def measures_data(evaluation: Evaluation, how: How = "macro") -> dict[str, Any]:
    """Return an evaluation's figures by the measures' printed names."""
    figures = aggregate(evaluation, how).figures
    return {name: figure_data(figure) for name, figure in figures.items()}


def finite(number: float | None) -> float | None:
    """Return a number as strict JSON can hold it."""
    return number if number is not None and math.isfinite(number) else None


def _retriever(one: Scored, how: How) -> dict[str, Any]:
    candidate, index = one.run.candidate, one.run.index
    return {
        "name": one.name,
        "floor": one.floor,
        "version": candidate.version,
        "state": one.run.state,
        **({"reason": one.run.reason} if one.run.reason else {}),
        "measures": measures_data(one.evaluation, how) if one.evaluation else {},
        "answers": answer_counts(one),
        "latency_ms": None if one.floor else _latency(one),
        "index": None
        if index is None
        else {
            "seconds": index.seconds,
            "cpu_seconds": index.cpu_seconds,
            "start_seconds": index.start_seconds,
            "bytes": index.bytes,
            "peak_rss_bytes": index.peak_rss_bytes,
            **({"built_seconds": index.built_seconds} if index.built_seconds is not None else {}),
        },
        **({} if one.floor else measuring_data(one)),
    }


def answer_counts(one: Scored) -> dict[str, int]:
    """Count the scored answers by status; a query without an answer is `unanswered`."""
    counts: dict[str, int] = dict.fromkeys(STATUSES, 0)
    for status in one.evaluation.statuses if one.evaluation else ():
        counts[status] = counts.get(status, 0) + 1
    return counts


def _latency(one: Scored) -> dict[str, Any]:
    latency = one.latency
    figures = {name: getattr(latency, name) for name in ("p50", "p90", "p95", "p99", "mean")} | {
        "first": one.run.first_ns
    }
    return {
        **{name: None if value is None else value / _MS for name, value in figures.items()},
        "intervals": intervals_data(one),
        "calls": latency.n,
        "censored": latency.censored,
    }
