"""Scored runs of several suites -> one: what the table of a suite of several is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codebench.evaluation import merge
from codebench.judging.scored import Scored, ScoredRun
from codebench.measures.latency import LoadStep, latency_summary
from codebench.model import IndexCost, Query, Suite
from codebench.results import RetrieverRun, Run
from codebench.results.several import several_digest
from codebench.results.tally import Tally, tally_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from codebench.results.retriever import State

    Part = tuple[str, ScoredRun]


def union(path: Path, own: Mapping[str, Any], parts: Sequence[Part], *, whole: bool) -> ScoredRun:
    """Put the scored runs of several suites into one.

    Queries become `MEMBER/QUERY`. A retriever counts where every suite was asked of it; costs
    are sums, and its state is the worst that it came to.

    Args:
        path: the folder of them all.
        own: the manifest of the run over them all.
        parts: each member's name and scored run, of the same measures.
        whole: whether every member was asked.
    """
    first = parts[0][1]
    name = own["name"]
    names = [one.name for one in first.retrievers]
    common = [
        one for one in names if all(one in {r.name for r in part.retrievers} for _, part in parts)
    ]
    return ScoredRun(
        run=_run(path, own, parts, whole=whole),
        suite=_suite(name, parts),
        digest=several_digest((member, part.digest) for member, part in parts),
        measures=first.measures,
        retrievers=tuple(_retriever(one, parts) for one in common),
        members=tuple(parts),
    )


def _run(path: Path, own: Mapping[str, Any], parts: Sequence[Part], *, whole: bool) -> Run:
    runs = [part.run for _, part in parts]
    corpora = [run.manifest.get("corpus", {}) for run in runs]
    manifest = {
        **runs[0].manifest,
        "suite": {"name": own["name"]},
        "updates": own.get("updates", []),
        "corpus": {
            what: sum(corpus.get(what, 0) for corpus in corpora) for what in ("files", "chunks")
        },
        "complete": whole and all(run.manifest.get("complete") for run in runs),
    }
    return Run(
        path=path,
        manifest=manifest,
        retrievers=(),
        depth=min(run.depth for run in runs),
        complete=whole and all(run.complete for run in runs),
    )


def _suite(name: str, parts: Sequence[Part]) -> Suite:
    queries = tuple(
        _prefixed(member, query) for member, part in parts for query in part.suite.queries
    )
    return Suite(name, "", "", "", queries)


def _prefixed(member: str, query: Query) -> Query:
    return replace(query, id=f"{member}/{query.id}", tags={**query.tags, "member": member})


def _retriever(name: str, parts: Sequence[Part]) -> Scored:
    own = [
        (member, next(one for one in part.retrievers if one.name == name)) for member, part in parts
    ]
    evaluated = [(member, one.evaluation) for member, one in own if one.evaluation is not None]
    run = _retriever_run(own)
    return Scored(
        name=name,
        floor=own[0][1].floor,
        run=run,
        evaluation=merge(evaluated) if len(evaluated) == len(own) else None,
        latency=latency_summary(run.answers),
        tally=_tally(run, [one.tally for _, one in own if one.tally]),
    )


def _tally(run: RetrieverRun, tallies: Sequence[Tally]) -> Tally:
    """Count over all members' answers; what is no file of its corpus, a member knows."""
    first = next((one for one in tallies if one.stray), Tally())
    return replace(tally_of(run.answers, ()), stray=first.stray, meant=first.meant)


def _retriever_run(own: Sequence[tuple[str, Scored]]) -> RetrieverRun:
    runs = [(member, one.run) for member, one in own]
    worst = min(runs, key=lambda one: _WORST_FIRST.index(one[1].state))
    costs = [run.index for _, run in runs if run.index is not None]
    return RetrieverRun(
        candidate=worst[1].candidate,
        answers=tuple(
            replace(answer, query=f"{member}/{answer.query}")
            for member, run in runs
            for answer in run.answers
        ),
        index=_sum(costs) if len(costs) == len(runs) else None,
        first_ns=runs[0][1].first_ns,
        restarts=sum(run.restarts for _, run in runs),
        state=worst[1].state,
        reason=f"{worst[0]}: {worst[1].reason}" if worst[1].reason else "",
        falls=tuple(fall for _, run in runs for fall in run.falls),
        left=sum(run.left for _, run in runs),
        loads=_joined([step for _, run in runs for step in run.loads]),
        checked=sum(run.checked for _, run in runs),
        changed=tuple(f"{member}/{query}" for member, run in runs for query in run.changed),
        beside=any(run.beside for _, run in runs),
        machines=tuple(sorted({machine for _, run in runs for machine in run.machines})),
    )


_WORST_FIRST: tuple[State, ...] = ("failed", "stopped", "skipped", "complete")


def _sum(costs: Sequence[IndexCost]) -> IndexCost:
    sizes = [cost.bytes for cost in costs if cost.bytes is not None]
    built = [cost.built_seconds for cost in costs if cost.built_seconds is not None]
    return IndexCost(
        start_seconds=sum(cost.start_seconds for cost in costs),
        seconds=sum(cost.seconds for cost in costs),
        cpu_seconds=sum(cost.cpu_seconds for cost in costs),
        peak_rss_bytes=max(cost.peak_rss_bytes for cost in costs),
        bytes=sum(sizes) if len(sizes) == len(costs) else None,
        built_seconds=sum(cost.to_build for cost in costs) if built else None,
    )


def _joined(steps: Sequence[LoadStep]) -> tuple[LoadStep, ...]:
    """Put the searches that were made under the same load together."""
    loads: dict[tuple[int, float], list[LoadStep]] = {}
    for step in steps:
        loads.setdefault((step.concurrency, step.rate), []).append(step)
    return tuple(
        LoadStep(
            concurrency=concurrency,
            rate=rate,
            seconds=sum(step.seconds for step in own),
            latencies_ns=tuple(ns for step in own for ns in step.latencies_ns),
            failed=sum(step.failed for step in own),
            censored=sum(step.censored for step in own),
        )
        for (concurrency, rate), own in loads.items()
    )
