"""A run shared out over a real Dask cluster of three local worker processes."""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from codebench.errors import UsageError
from codebench.judging.scoring import score_run
from codebench.model import Query, Target
from codebench.runner.cluster import FEWEST, cut, open_cluster
from codebench.runner.events import Answered
from codebench.runner.plan import RunSettings, plan_of
from codebench.runner.remote import CorpusMissing, Shard, fetch, pack, run_shard
from tests.misbehaving import QUICK, Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codebench.runner.cluster import Cluster

pytest.importorskip("distributed")

SETTINGS = dataclasses.replace(QUICK, repeats=2, warmups=1, executor="dask")
TEXTS = ["raise" if number % 5 == 0 else f"query {number}" for number in range(60)]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    os.environ["CODEBENCH_CACHE"] = str(tmp_path_factory.getbasetemp() / "cache")
    with open_cluster("dask", 3) as opened:
        yield opened


def figures(path: Path) -> dict[str, Any]:
    scored = score_run(path, ["R(rel=3)@5", "nDCG@5", "RR@5"])
    return {
        one.name: (one.evaluation.values, one.evaluation.failures)
        for one in scored.retrievers
        if one.evaluation
    }


def test_shards_are_whole_queries_without_their_gold() -> None:
    queries = [Query(f"q{n:02}", f"t{n}", (Target("a.py", "a.py::f"),)) for n in range(35)]
    settings = RunSettings(repeats=2, check_determinism=True)
    plan = plan_of(queries, settings, ["w"])
    shards = cut(plan, 3)
    asked = [{ask.query.id for ask in shard.asks} for shard in shards]
    assert [len(one) for one in asked] == [12, 12, 11]
    assert not asked[0] & asked[1]
    assert sum(len(shard.asks) for shard in shards) == 70
    assert all(ask.query.targets == () for shard in shards for ask in shard.asks)
    assert all(set(shard.sample) <= own for shard, own in zip(shards, asked, strict=True))
    assert len(cut(plan, 100)) == -(-35 // FEWEST)
    assert len(cut(plan_of(queries[:1], settings, []), 8)) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_a_cluster_that_loses_a_worker_gives_the_same_quality(lab: Lab, cluster: Cluster) -> None:
    local = lab.run("Sleeps Healthy", TEXTS, SETTINGS)
    killed: list[int] = []
    pids = cluster.client.run(os.getpid)

    def kill_one() -> None:
        time.sleep(1.0)  # its shard takes about 1.5 s
        pid = min(pids.values())
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    killer = threading.Thread(target=kill_one)
    killer.start()
    shared = lab.run("Sleeps Healthy", TEXTS, SETTINGS, cluster=cluster)
    killer.join()
    assert killed
    assert shared.complete
    assert figures(shared.path) == figures(local.path)
    for one, other in zip(shared.retrievers, local.retrievers, strict=True):
        asked = sorted((a.query, a.repeat, a.status, a.hits) for a in one.answers)
        assert asked == sorted((a.query, a.repeat, a.status, a.hits) for a in other.answers)
        assert one.latency_doubt == "taken while other retrievers ran beside"
        assert len(one.machines) == 1
        assert one.restarts == 0
    done = [event.done for event in lab.heard if isinstance(event, Answered)][-240:]
    assert max(done) == 120


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_shard_that_gives_up_fails_its_retriever_alone(lab: Lab, cluster: Cluster) -> None:
    text = (lab.folder / "small.py").read_text()
    (lab.folder / "small.py").write_text(
        text + "\nclass Never(Healthy):\n    def index(self, corpus): raise OSError('no room')\n"
    )
    found = lab.run("Never Healthy", TEXTS, SETTINGS, cluster=cluster)
    never, healthy = found.retrievers
    assert never.state == "failed"
    assert never.reason.startswith("indexing raised OSError: no room at small.py:")
    assert (healthy.state, len(healthy.answers)) == ("complete", 120)


def test_a_corpus_is_fetched_once_a_machine(lab: Lab, own_cache: Path) -> None:
    from codebench.corpus.tables import write_tables

    tables = lab.folder / "tables.gz"
    write_tables(lab.corpus.tables, tables)
    archive = pack(lab.corpus, tables)
    digest = f"sha256:{lab.folder.name}"
    plan = plan_of([Query("q", "x", ())], QUICK, [])
    from codebench.runner.supervise import describe
    from tests.test_runner_measuring import candidate_of

    known, _, file = describe(candidate_of(lab, "Healthy"), lab.folder, QUICK)
    shard = Shard(known, b"", "small.py", digest, QUICK, plan, compare=False)
    with pytest.raises(CorpusMissing):
        run_shard(shard)
    assert fetch(digest, archive) is True
    assert fetch(digest, archive) is False
    (lab.folder / "small.py").rename(lab.folder / "elsewhere.txt")
    sent = dataclasses.replace(shard, adapter=(lab.folder / "elsewhere.txt").read_bytes())
    done = run_shard(sent)
    assert done.state == "complete", done.reason
    assert [row["kind"] for row in done.rows] == ["start", "index", "answer"]
    assert file.endswith("small.py")
    assert any((own_cache / "fetched").glob("adapter-*/small.py"))


@pytest.mark.parametrize(
    ("executor", "said"),
    [
        ("dusk", "there are local, dask and dask=tcp://HOST:PORT"),
        ("dask=tcp://127.0.0.1:9", "no cluster answers"),
        ("dask=nonsense://x", "no cluster answers"),
    ],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_an_executor_that_is_not_there_is_one_line(
    executor: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codebench.runner.cluster.CONNECT", "1s")
    with pytest.raises(UsageError, match=said) as caught, open_cluster(executor, 1):
        raise AssertionError
    assert "\n" not in str(caught.value)
