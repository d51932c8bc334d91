"""How a run was measured: the harness's own cost, load, waits, kept indexes, determinism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.measures.latency import load_curve
from codebench.report.oddities import oddity_data
from codebench.report.text import NONE, milliseconds, queries, table

if TYPE_CHECKING:
    from codebench.judging.scored import Scored, ScoredRun
    from codebench.measures.latency import LoadPoint

_MS = 1e6
_SHOWN = ("p50", "p95", "p99")


def measuring_notes(scored: ScoredRun) -> list[str]:
    """Return what a reader of latency and index time must know."""
    notes = []
    for one in scored.retrievers:
        run = one.run
        if run.index is not None and run.index.built_seconds is not None:
            notes.append(
                f"{one.name}: its index was kept; building it took {run.index.built_seconds:.2f} s"
            )
        if run.waited_seconds:
            notes.append(
                f"{one.name}: waited {run.waited_seconds:.0f} s for a service that refused for a "
                "while, beside all latency"
            )
        if run.checked:
            notes.append(
                f"{one.name}: {len(run.changed)} of {queries(run.checked)} had other hits when "
                "asked again after a restart"
            )
        if run.left:
            notes.append(f"{one.name}: left {run.left} processes running, which were ended")
    harness = harness_data(scored)
    if harness:
        notes.append(
            f"the harness itself adds {harness['latency_us_p50']:.1f} µs to a latency, and takes "
            f"{harness['wall_us_p50']:.0f} µs of wall time a query (a retriever that does nothing)"
        )
    return notes


def harness_data(scored: ScoredRun) -> dict[str, float]:
    """Return the harness's own cost as JSON data; empty where it was not measured."""
    stored = scored.run.manifest.get("harness")
    if not isinstance(stored, dict):
        return {}
    names = {
        "latency_us_p50": ("latency_p50_ns", 1e3),
        "latency_us_p95": ("latency_p95_ns", 1e3),
        "wall_us_p50": ("wall_p50_ns", 1e3),
        "start_seconds": ("start_seconds", 1.0),
    }
    found = {}
    for name, (own, unit) in names.items():
        value = stored.get(own)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return {}
        found[name] = value / unit
    return found


def load_table(scored: ScoredRun, *, markdown: bool) -> str:
    """Return throughput and latency by load; nothing where no load was asked for."""
    rows = [
        [
            one.name,
            _offered(point),
            f"{point.throughput:.1f}",
            *(_milliseconds(getattr(point, name)) for name in _SHOWN),
            str(point.failed + point.censored),
        ]
        for one in scored.retrievers
        for point in load_curve(one.run.loads)
    ]
    if not rows:
        return ""
    headers = ["under load", "offered", "answers/s", *(f"{name} ms" for name in _SHOWN), "failed"]
    return table(headers, rows, markdown=markdown)


def updates_table(scored: ScoredRun, *, markdown: bool) -> str:
    """Return what updates cost beside rebuilds; nothing where they were not measured."""
    rows = [
        [
            row["retriever"],
            f"{row['from']} to {row['to']}",
            str(row["changed"]),
            NONE if row["update_seconds"] is None else f"{row['update_seconds']:.2f}",
            f"{row['rebuild_seconds']:.2f}",
            NONE if row["update_seconds"] is None else f"{row['different']} of {row['asked']}",
        ]
        for row in scored.run.manifest.get("updates", ())
    ]
    if not rows:
        return ""
    headers = ["updates", "snapshots", "files", "update s", "rebuild s", "other hits"]
    return table(headers, rows, markdown=markdown)


def _offered(point: LoadPoint) -> str:
    if point.rate:
        return f"{point.rate:g}/s"
    return f"{point.concurrency} client{'' if point.concurrency == 1 else 's'}"


def _milliseconds(nanoseconds: int | None) -> str:
    return NONE if nanoseconds is None else milliseconds(nanoseconds / _MS)


def measuring_data(one: Scored) -> dict[str, Any]:
    """Return how a retriever was measured, as JSON data."""
    run = one.run
    data: dict[str, Any] = {"restarts": run.restarts, **oddity_data(one)}
    if run.latency_doubt:
        data["latency_doubt"] = run.latency_doubt
    if run.left:
        data["processes_left"] = run.left
    if run.waited_seconds:
        data["waited_seconds"] = run.waited_seconds
    if run.checked:
        data["determinism"] = {"checked": run.checked, "changed": list(run.changed)}
    if run.loads:
        data["load"] = [_point(point) for point in load_curve(run.loads)]
    return data


def _point(point: LoadPoint) -> dict[str, Any]:
    offered = {"rate": point.rate} if point.rate else {"concurrency": point.concurrency}
    times = {name: getattr(point, name) for name in ("p50", "p90", "p95", "p99")}
    return {
        **offered,
        "answers_per_second": point.throughput,
        "latency_ms": {
            name: None if value is None else value / _MS for name, value in times.items()
        },
        "calls": point.n,
        "failed": point.failed,
        "unanswered": point.censored,
    }


def intervals_data(one: Scored) -> dict[str, list[float]]:
    """Return the bootstrap intervals of a retriever's latency in milliseconds."""
    return {name: [low / _MS, high / _MS] for name, (low, high) in one.latency.intervals.items()}
