"""Sharing a run out over a Dask cluster: retriever x snapshot x shard of queries.

Quality is what it is on one machine: the same questions, the same rows. Latency is not: it is
marked as taken beside others, and by the machines that it was taken on.
"""

from __future__ import annotations

import contextlib
import math
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.errors import UsageError
from codebench.model import Answer, Query
from codebench.reading import plain_line
from codebench.runner.events import Answered, Noted, RetrieverEnded, RetrieverStarted
from codebench.runner.plan import Ask, Plan
from codebench.runner.remote import CorpusMissing, Shard, ShardDone, fetch, pack, run_shard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codebench.model import Candidate
    from codebench.results import State
    from codebench.runner.record import AnswerWriter
    from codebench.runner.turns import Turns

DASK = "dask"
FEWEST = 10
"""Queries of a shard, at least: each shard builds its own index."""

CONNECT = "10s"
"""How long a cluster may take to answer."""

_WANTED = "Dask is not installed; pip install 'codebench-harness[dask]'"


@contextlib.contextmanager
def open_cluster(executor: str, workers: int) -> Iterator[Cluster]:
    """Open a cluster.

    Args:
        executor: `dask` for local worker processes, or `dask=ADDRESS` for a cluster that runs.
        workers: local worker processes.

    Raises:
        UsageError: Dask is not installed, there is no such executor, or no cluster at the address.
    """
    kind, _, address = executor.partition("=")
    if kind != DASK:
        raise UsageError(f"--executor {executor}: there are local, dask and dask=tcp://HOST:PORT")
    try:
        distributed: Any = import_module("distributed")  # an extra, and slow to import
    except ImportError:
        raise UsageError(_WANTED) from None
    with contextlib.ExitStack() as life:
        if address:
            try:
                client = life.enter_context(distributed.Client(address, timeout=CONNECT))
            except (OSError, ValueError) as error:
                what = str(error).partition("\n")[0] or type(error).__name__
                raise UsageError(f"--executor {executor}: no cluster answers ({what})") from None
        else:
            local = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
            )
            life.enter_context(local)
            client = life.enter_context(distributed.Client(local))
        yield Cluster(client)


@dataclass(slots=True)
class _Open:
    """A retriever whose shards are under way."""

    candidate: Candidate
    writer: AnswerWriter
    waiting: int
    done: int = 0
    left: int = 0
    state: State = "complete"
    reason: str = ""


class Cluster:
    """A Dask cluster, seen through its `concurrent.futures` executor.

    Args:
        client: a connected `distributed.Client`.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._executor = client.get_executor(pure=False)

    def run(self, turns: Turns, candidates: Sequence[Candidate], files: Mapping[str, str]) -> None:
        """Take the turns of all candidates; the floors and what is over are no work to share.

        A worker that is lost costs its shard once: Dask gives it to another. A shard that kills
        several workers in a row is not given to any more, and its retriever is marked as stopped.
        """
        for one in candidates:
            if one.floor or one.name in turns.missing:
                turns.take(one)
        own = [
            one
            for one in candidates
            if not one.floor and one.name not in turns.missing and not turns.is_over(one)
        ]
        archive = pack(turns.bench.corpus, turns.bench.tables)
        self._fetch(turns.bench.corpus.digest, archive)
        shards = {one.name: self._shards(turns, one, files.get(one.name, "")) for one in own}
        opened = {one.name: self._open(turns, one, len(shards[one.name])) for one in own}
        rounds = zip_longest(*shards.values())
        queue = [shard for round_ in rounds for shard in round_ if shard is not None]
        pending = {self._executor.submit(run_shard, shard): shard for shard in queue}
        try:
            for one in own:
                self._finish(turns, opened[one.name])
            while pending:
                done, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    shard = pending.pop(future)
                    again = self._take(turns, opened[shard.candidate.name], future)
                    if again:
                        self._fetch(turns.bench.corpus.digest, archive)
                        pending[self._executor.submit(run_shard, shard)] = shard
        except BaseException:
            for future in pending:
                future.cancel()
            raise
        finally:
            for open_ in opened.values():
                if open_.waiting:
                    open_.writer.end("stopped", "it was interrupted")
                open_.writer.close()

    def _fetch(self, digest: str, archive: bytes) -> None:
        """Have every machine of the cluster hold the corpus."""
        hosts = sorted({info["host"] for info in self.client.scheduler_info()["workers"].values()})
        futures = [
            self.client.submit(fetch, digest, archive, workers=[host], pure=False) for host in hosts
        ]
        self.client.gather(futures)

    def _shards(self, turns: Turns, one: Candidate, file: str) -> list[Shard]:
        plan = turns.plans[one.name]
        settings = turns.bench.settings
        slots = sum(self.client.nthreads().values()) or 1
        adapter = Path(file).read_bytes() if file else b""
        return [
            Shard(
                candidate=replace(one, reference=_absolute(one.reference, file)),
                adapter=adapter,
                name=Path(file).name,
                corpus=turns.bench.corpus.digest,
                settings=settings,
                plan=part,
                compare=settings.repeats > 1,
            )
            for part in cut(plan, slots)
        ]

    def _open(self, turns: Turns, one: Candidate, shards: int) -> _Open:
        turns.bench.events(RetrieverStarted(one.name, len(turns.plans[one.name].asks)))
        return _Open(one, turns.open(one), shards)

    def _take(self, turns: Turns, one: _Open, future: Future[ShardDone]) -> bool:
        """Write a shard's rows; True where it must be asked again elsewhere."""
        try:
            found = future.result()
        except CorpusMissing:
            return True
        except Exception as error:  # noqa: BLE001  # the cluster's own: a lost worker, a lost link
            one.state = "stopped"
            first = f"{type(error).__name__}: {error}".partition(". ")[0]
            one.reason = f"a shard was lost: {plain_line(first)}"
            turns.bench.events(Noted(one.candidate.name, one.reason))
        else:
            one.writer.resume()
            one.writer.context(beside=True, machine=found.machine)
            for row in found.rows:
                one.writer.write(row)
                if row["kind"] == "answer":
                    one.done += 1
                    status, latency = row.get("status", "ok"), row.get("latency_ns")
                    answer = Answer(row["query"], status, (), latency, row.get("repeat", 0))
                    turns.bench.events(Answered(one.candidate.name, answer, one.done))
            one.left += found.left
            if found.state != "complete":
                one.state, one.reason = found.state, found.reason
        one.waiting -= 1
        self._finish(turns, one)
        return False

    def _finish(self, turns: Turns, one: _Open) -> None:
        if not one.waiting:
            one.writer.end(one.state, one.reason, one.left)
            turns.bench.events(RetrieverEnded(one.candidate.name, one.state, one.reason))


def cut(plan: Plan, slots: int) -> list[Plan]:
    """Cut a plan into shards of whole queries, without their gold.

    A query's repeats stay together, so that the answers can be told from each other where they
    are asked. Load is not shared out: it measures one machine.
    """
    names = sorted({ask.query.id for ask in plan.asks})
    count = max(1, min(slots, math.ceil(len(names) / FEWEST)))
    place = {name: number % count for number, name in enumerate(names)}
    asks: list[list[Ask]] = [[] for _ in range(count)]
    for ask in plan.asks:
        bare = Query(ask.query.id, ask.query.text, ())
        asks[place[bare.id]].append(Ask(bare, ask.repeat, ask.again))
    shards = []
    for own in asks:
        queries = {ask.query.id for ask in own}
        sample = {query: text for query, text in plan.sample.items() if query in queries}
        shards.append(replace(plan, asks=own, known=(), loads=(), load_texts=(), sample=sample))
    return shards


def _absolute(reference: str, file: str) -> str:
    """Return a reference that does not hang on the current directory."""
    if not file or not (reference.endswith(".py") or ".py:" in reference):
        return reference
    attribute = reference.rpartition(".py:")[2] if ".py:" in reference else ""
    return f"{file}:{attribute}" if attribute else file
