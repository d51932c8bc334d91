"""Limits, waits, kept indexes, load, determinism and updates, with real processes."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codebench.adapter import RateLimited, retry_after
from codebench.corpus.tables import write_tables
from codebench.model import Candidate, Corpus, FileTable, Hit
from codebench.results import read_run
from codebench.runner import keeper
from codebench.runner.candidates import candidates
from codebench.runner.events import Answered, Noted
from codebench.runner.harness import harness_cost
from codebench.runner.process import WorkerProcess
from codebench.runner.session import Bench, GaveUp
from codebench.runner.update import changed_paths, measure_update
from tests.misbehaving import ADAPTERS, QUICK, Lab, sleepers

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_what_leaks_over_the_memory_limit_costs_one_answer(lab: Lab) -> None:
    settings = dataclasses.replace(QUICK, memory_limit=120_000_000, query_timeout=20)
    start = time.monotonic()
    found = lab.run("Leaks", ["one", "leak", "two"], settings).retrievers[0]
    assert time.monotonic() - start < 15
    by_query = {answer.query: answer for answer in found.answers}
    assert [by_query[f"q{n:03}"].status for n in range(3)] == ["ok", "crashed", "ok"]
    assert by_query["q001"].error == "its process was ended over the memory limit of 120 MB"
    assert [fall.reason for fall in found.falls] == [by_query["q001"].error]


def test_who_blocks_is_a_timeout_within_twice_the_limit(lab: Lab) -> None:
    settings = dataclasses.replace(QUICK, query_timeout=1.0)
    found = lab.run("Blocks", ["one", "block", "two"], settings).retrievers[0]
    assert sorted(answer.status for answer in found.answers) == ["ok", "ok", "timeout"]
    assert found.state == "complete"
    assert not sleepers("614.2")
    asked = [event for event in lab.heard if isinstance(event, Answered)]
    at = next(n for n, event in enumerate(asked) if event.answer.status == "timeout")
    assert asked[at].answer.latency_ns == 1_000_000_000
    assert lab.times[id(asked[at])] - lab.times[id(asked[at - 1])] < 2 if at else True


def test_daemons_that_leave_session_group_and_environment_are_ended(lab: Lab) -> None:
    found = lab.run("LeavesDaemons", ["one", "exit", "two"]).retrievers[0]
    assert not sleepers("613.7")
    assert found.state == "complete"
    ends = [found.left, *(fall.left for fall in found.falls)]
    assert ends in ([0, 2], [2, 2])  # the one that exits may be asked last


def test_index_cost_holds_children_and_daemons(lab: Lab) -> None:
    cost = lab.run("Busy", ["x"]).retrievers[0].index
    assert cost is not None
    assert 0.75 <= cost.cpu_seconds < 2.5
    assert 90_000_000 < cost.peak_rss_bytes < 300_000_000


DRIVER = """
import sys
from pathlib import Path
from codebench.runner.process import WorkerProcess
place = Path(sys.argv[1])
worker = WorkerProcess(place)
worker.send({"op": "make", "reference": sys.argv[2], "folder": "/", "options": {}}, 1e9)
print("made", worker._process.pid, flush=True)
worker.receive(1e9)
worker.ask({"op": "index", "root": "/", "digest": "", "tables": sys.argv[3]}, 60)
print("indexed", flush=True)
worker.ask({"op": "search", "text": "hang", "k": 5}, 60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux adopts daemons")
@pytest.mark.parametrize("victim", ["supervisor", "keeper", "both"])
def test_nothing_survives_a_kill_of_the_run(tmp_path: Path, victim: str) -> None:
    (tmp_path / "small.py").write_text(
        ADAPTERS + "\nclass Both(LeavesDaemons):\n    def search(self, text, k): time.sleep(60)\n"
    )
    write_tables((), tmp_path / "tables.gz")
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path / "w"), f"{tmp_path}/small.py:Both",
         str(tmp_path / "tables.gz")],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
    ) as child:  # fmt: skip
        assert child.stdout is not None
        watchdog = threading.Timer(20, child.kill)
        watchdog.start()
        keeper_id = int(child.stdout.readline().split()[1])
        assert child.stdout.readline() == "indexed\n"
        assert len(sleepers("613.7")) == 2
        below = keeper.descendants(keeper.processes(), keeper_id, -1)
        assert len(below) == 3
        if victim in {"keeper", "both"}:
            os.kill(keeper_id, signal.SIGKILL)
        if victim in {"supervisor", "both"}:
            child.kill()
        child.wait(10)
        watchdog.cancel()
    deadline = time.monotonic() + 5
    workers = below - {int(pid) for pid in sleepers("613.7")}
    while time.monotonic() < deadline and _alive(below if victim == "supervisor" else workers):
        time.sleep(0.05)
    assert not _alive(below if victim == "supervisor" else workers)
    if victim == "supervisor":
        while time.monotonic() < deadline and (tmp_path / "w").exists():
            time.sleep(0.05)
        assert not (tmp_path / "w").exists()
    for pid in sleepers("613.7"):  # their keeper was killed first: nobody is left to end them
        assert victim != "supervisor"
        os.kill(int(pid), signal.SIGKILL)


def _alive(pids: set[int]) -> set[int]:
    seen = keeper.processes()
    return {pid for pid in pids if pid in seen and not seen[pid].ended}


def test_ps_tells_the_same_processes_as_proc() -> None:
    with subprocess.Popen(["sleep", "20"]) as child:
        told = keeper.from_ps()
        assert told[child.pid].parent == os.getpid()
        assert told[os.getpid()].rss > 10_000_000
        assert child.pid in keeper.descendants(told, os.getpid(), -1)
        child.kill()


def test_a_service_that_refuses_is_waited_for_outside_the_latency(lab: Lab) -> None:
    found = lab.run("Limited:refusals=2,wait='0.3'", ["limited", "x"]).retrievers[0]
    limited, plain = sorted(found.answers, key=lambda answer: answer.query)
    assert limited.status == "ok"
    assert limited.repairs == {"rate limited": 2}
    assert limited.waited_ns == 600_000_000
    assert limited.latency_ns is not None
    assert limited.latency_ns < 200_000_000
    assert limited.server_ns == 250_000_000
    assert (plain.waited_ns, plain.repairs) == (0, {})
    assert found.waited_seconds == 0.6
    assert not found.falls


def test_a_servers_time_is_a_number(lab: Lab) -> None:
    wrong, right = lab.run("Claims", ["soon", "x"], QUICK).retrievers[0].answers
    if wrong.status == "ok":
        wrong, right = right, wrong
    assert (wrong.status, wrong.error) == (
        "invalid_output",
        "server_seconds is a str, not seconds",
    )
    assert wrong.latency_ns is not None
    assert right.server_ns == 500_000_000


def test_waits_double_and_are_bounded(lab: Lab) -> None:
    settings = dataclasses.replace(QUICK, rate_limit_wait=0.5)
    start = time.monotonic()
    found = lab.run("Limited:wait=none", ["limited", "x"], settings).retrievers[0]
    assert time.monotonic() - start < 10
    limited = min(found.answers, key=lambda answer: answer.query)
    assert (limited.status, limited.latency_ns) == ("error", None)
    assert limited.error.startswith("rate limited: it was waited for 0 s, and wants 1 s more")
    assert found.state == "complete"


def test_retry_after_is_seconds_or_a_date() -> None:
    assert retry_after("120") == 120
    assert retry_after("-3") == 0
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT", now=1445412460.0) == 20
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT", now=2e9) == 0
    assert retry_after("soon") is None
    assert RateLimited("7").seconds == 7
    assert RateLimited().seconds is None


def test_what_answers_otherwise_after_a_restart_is_counted(lab: Lab) -> None:
    settings = dataclasses.replace(QUICK, check_determinism=True)
    turns, healthy = lab.run("Turns Healthy", ["turns", "a", "b"], settings).retrievers
    assert (turns.checked, turns.changed) == (3, ("q000",))
    assert (healthy.checked, healthy.changed) == (3, ())
    assert (turns.restarts, turns.state) == (0, "complete")


def test_an_index_is_kept_and_taken_up(lab: Lab, own_cache: Path) -> None:
    settings = dataclasses.replace(QUICK, keep_index=True)
    first = lab.run("Keeps:word=keep", ["x"], settings, cache=own_cache).retrievers[0]
    assert first.index is not None
    assert (first.index.seconds > 0.29, first.index.built_seconds) == (True, None)
    for _ in range(2):  # a tool that writes into what it took up changes a copy
        again = lab.run("Keeps:word=keep", ["x"], settings, cache=own_cache).retrievers[0]
        assert again.index is not None
        assert again.index.seconds < 0.2
        assert again.index.built_seconds == first.index.seconds
        assert again.answers[0].hits == (Hit("a.py", symbol="keep"),)
    other = lab.run("Keeps:word=other", ["x"], settings, cache=own_cache).retrievers[0]
    assert other.answers[0].hits == (Hit("a.py", symbol="other"),)
    refused = lab.run("Keeps:word=other,refuse=true", ["x"], settings, cache=own_cache)
    refused = lab.run("Keeps:word=other,refuse=true", ["x"], settings, cache=own_cache)
    assert refused.retrievers[0].index is not None
    assert refused.retrievers[0].index.built_seconds is None
    text = (lab.folder / "small.py").read_text()
    (lab.folder / "small.py").write_text(text + "\n# another adapter\n")
    rebuilt = lab.run("Keeps:word=keep", ["x"], settings, cache=own_cache).retrievers[0]
    assert rebuilt.index is not None
    assert rebuilt.index.built_seconds is None
    lab.run("Healthy", ["x"], settings, cache=own_cache)
    notes = [event.text for event in lab.heard if isinstance(event, Noted)]
    assert notes == [
        "its index is built anew: its adapter refused it",
        "its index is not kept: its adapter does not offer it",
    ]


def test_a_damaged_or_refused_kept_index_is_built_anew(lab: Lab, tmp_path: Path) -> None:
    settings = dataclasses.replace(QUICK, keep_index=True)

    def built(name: str) -> bool:
        (found,) = lab.run(name, ["x"], settings, cache=tmp_path).retrievers
        assert found.index is not None
        assert found.state == "complete"
        return found.index.built_seconds is None

    assert built("Keeps:word=keep")
    (words,) = tmp_path.glob("indexes/*/data/words.json")
    words.write_text("[")
    assert [built("Keeps:word=keep"), built("Keeps:word=keep")] == [True, False]
    assert built("Keeps:word=other,refuse=true")
    assert built("Keeps:word=other,refuse=true")
    notes = [event.text for event in lab.heard if isinstance(event, Noted)]
    assert notes[0].startswith("its index is built anew: taking up its kept index raised JSOND")
    assert notes[1:] == ["its index is built anew: its adapter refused it"]
    assert not [*tmp_path.glob("indexes/.*")]
    lab.run("Keeps:word=dies", ["x"], settings, cache=tmp_path)
    (dead,) = lab.run("Keeps:word=dies", ["x"], settings, cache=tmp_path).retrievers
    assert dead.state == "failed"
    assert "taking up its kept index, its process" in dead.reason
    assert dead.reason.endswith("it was dropped, and the next run builds it")
    assert built("Keeps:word=dies")


def test_a_closed_loop_shows_what_clients_wait_for_each_other(lab: Lab) -> None:
    settings = dataclasses.replace(QUICK, concurrency=(1, 4))
    alone, beside = lab.run("Sleeps SleepsBeside", ["x"] * 20, settings).retrievers
    assert [(step.concurrency, len(step.latencies_ns)) for step in alone.loads] == [
        (1, 20),
        (4, 20),
    ]
    one, four = (sorted(step.latencies_ns)[10] / 1e9 for step in alone.loads)
    assert one >= 0.02
    assert four > 2.5 * one  # three others stand before each
    one, four = (sorted(step.latencies_ns)[10] / 1e9 for step in beside.loads)
    assert four < 2 * one
    assert beside.loads[1].seconds < 0.6 * beside.loads[0].seconds


def test_an_open_loop_counts_a_stall_for_all_that_it_held_up(lab: Lab) -> None:
    settings = dataclasses.replace(QUICK, rates=(25.0,))
    texts = ["stall" if number == 5 else "x" for number in range(20)]
    step = lab.run("Sleeps", texts, settings).retrievers[0].loads[0]
    assert step.rate == 25
    late = [latency for latency in step.latencies_ns if latency > 50_000_000]
    assert len(late) > 6  # a closed loop would have seen one slow search
    assert step.seconds > 0.75


def test_failures_and_hangs_under_load_are_counted(lab: Lab) -> None:
    settings = dataclasses.replace(QUICK, concurrency=(2,), query_timeout=0.5)
    texts = ["x", "raise", "x", "x", "hang", "x"]
    found = lab.run("SleepsBeside", texts, settings).retrievers[0]
    (step,) = found.loads
    assert step.failed <= 1
    assert step.censored >= 1
    assert len(step.latencies_ns) + step.censored == 6
    assert found.state == "complete"
    assert "under load, no answer within 0.5 s" in [fall.reason for fall in found.falls]


def test_an_update_is_measured_beside_the_rebuild(lab: Lab) -> None:
    after_place = lab.folder / "after"
    after_place.mkdir()
    (after_place / "a.py").write_text("def f():\n    pass\n")
    (after_place / "sub").mkdir()
    (after_place / "sub" / "c.py").write_text("x = 1\n")
    tables = (
        lab.corpus.tables[0],
        FileTable("sub/c.py", "python", (6,), ()),
    )
    after = Corpus(after_place, "sha256:2", tables)
    assert changed_paths(lab.corpus, after) == ["b.py", "sub/c.py"]

    def bench(corpus: Corpus) -> Bench:
        place = lab.folder / f"{corpus.digest[-1]}.gz"
        write_tables(corpus.tables, place)
        return Bench(corpus, place, lab.folder, QUICK)

    benches = bench(lab.corpus), bench(after)
    cost = measure_update(*benches, candidate_of(lab, "Follows"), ["x", "y"])
    assert (cost.changed, cost.asked, cost.different) == (2, 2, 0)
    assert cost.update is not None
    assert cost.update.seconds < 0.1 < cost.rebuild.seconds
    assert measure_update(*benches, candidate_of(lab, "Follows:wrong=true"), ["x"]).different == 1
    assert measure_update(*benches, candidate_of(lab, "Healthy"), ["x"]).update is None


def candidate_of(lab: Lab, name: str) -> Candidate:
    return candidates([f"small.py:{name}"], lab.folder)[0]


def test_secrets_of_options_and_environment_reach_no_file(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOL_TOKEN", "swordfish-in-a-variable")
    found = lab.run("Secretive:api_key=opensesame1234", ["x"])
    (one,) = found.retrievers
    assert one.candidate.name == "small.py:Secretive:api_key=***"
    assert one.candidate.options == (("api_key", "***"),)
    assert one.answers[0].error.startswith("ValueError: 401 for *** and *** at small.py:")
    import gzip

    for file in found.path.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            for text in (data, gzip.decompress(data) if file.suffix == ".gz" else b""):
                assert b"opensesame" not in text
                assert b"swordfish" not in text


def test_a_checkouts_commit_and_dirt_are_in_the_manifest(lab: Lab) -> None:
    def git(*what: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *what],
            cwd=lab.folder, check=True, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    def state() -> object:
        return lab.run("Healthy", ["x"]).manifest["retrievers"][0].get("checkout")

    assert state() is None
    git("init", "-q")
    git("add", "small.py")
    git("commit", "-qm", "x")
    commit = git("rev-parse", "HEAD")
    assert state() == {"commit": commit, "dirty": False}
    (lab.folder / "small.py").write_text(ADAPTERS + "\n")
    assert state() == {"commit": commit, "dirty": True}


def test_the_harness_costs_little(lab: Lab) -> None:
    write_tables(lab.corpus.tables, lab.folder / "tables.gz")
    bench = Bench(
        lab.corpus, lab.folder / "tables.gz", lab.folder, dataclasses.replace(QUICK, null_asks=200)
    )
    best: Callable[[str], float] = lambda name: min(run[name] for run in runs)  # noqa: E731
    runs = [harness_cost(bench, ["x", "y"]) for _ in range(3)]
    assert runs[0]["asks"] == 200
    assert best("latency_p50_ns") < 5_000
    assert best("wall_p50_ns") < 1_000_000  # the benchmark says what it is on a quiet machine


def test_a_runs_manifest_says_what_the_harness_cost(lab: Lab) -> None:
    found = lab.run("Healthy", ["x"], dataclasses.replace(QUICK, null_asks=20))
    assert found.manifest["harness"]["asks"] == 20
    assert read_run(found.path).retrievers[0].candidate.name == "small.py:Healthy"


def test_the_memory_limit_is_not_the_harness_own(lab: Lab) -> None:
    settings = dataclasses.replace(QUICK, null_asks=5, memory_limit=1_500_000)
    found = lab.run("Healthy", ["x"], settings)
    assert found.manifest["harness"]["asks"] == 5
    assert "over the memory limit of 1.5 MB" in found.retrievers[0].reason


def test_a_harness_that_cannot_be_measured_costs_its_figure_only(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise GaveUp("starting, its process ended with status 1")

    monkeypatch.setattr("codebench.runner.run.harness_cost", fail)
    found = lab.run("Healthy", ["x"], dataclasses.replace(QUICK, null_asks=5))
    assert "harness" not in found.manifest
    assert found.retrievers[0].state == "complete"
    said = [event.text for event in lab.heard if isinstance(event, Noted)]
    assert said == [
        "the harness's own cost was not measured: starting, its process ended with status 1"
    ]


def test_retrievers_beside_each_other_are_marked(lab: Lab) -> None:
    settings = dataclasses.replace(QUICK, jobs=2)
    found = lab.run("Healthy Turns", ["x"] * 5, settings)
    assert [one.latency_doubt for one in found.retrievers] == [
        "taken while other retrievers ran beside"
    ] * 2
    assert [len(one.answers) for one in found.retrievers] == [5, 5]
    assert lab.run("Healthy", ["x"]).retrievers[0].latency_doubt == ""


def test_a_worker_is_told_what_its_tree_used(tmp_path: Path) -> None:
    worker = WorkerProcess(tmp_path / "w")
    try:
        assert worker.ask({"op": "close"}, 20) == {}
        use = worker.use()
        assert 5_000_000 < use.peak_bytes < 100_000_000
        assert use.cpu_seconds == 0
    finally:
        assert worker.kill() == 0


JOBS = """
import sys
from pathlib import Path
from codebench.runner.events import Answered
from codebench.runner.candidates import candidates
from codebench.runner.run import run
from codebench.results import read_run
from tests.misbehaving import QUICK, corpus_in, suite_of
import dataclasses
here = Path(sys.argv[1])
asked = candidates(["small.py:Sleeps", "small.py:SleepsBeside"], here)
settings = dataclasses.replace(QUICK, jobs=2, query_timeout=100)
said = []
def heard(event):
    if isinstance(event, Answered) and not said:
        said.append(print("one", flush=True))
path = run(suite_of(["x"] * 9 + ["hang"] * 9), corpus_in(here), asked, here / "out", settings,
           folder=here, events=heard)
print([one.state for one in read_run(path).retrievers], read_run(path).complete, flush=True)
"""


def test_an_interrupt_ends_all_that_run_beside_each_other(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(ADAPTERS)
    with subprocess.Popen(
        [sys.executable, "-c", JOBS, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "one\n"
        time.sleep(0.5)
        below = keeper.descendants(keeper.processes(), child.pid, -1)
        assert len(below) == 4
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "['stopped', 'stopped'] False\n"
        assert child.wait(10) == 0
    assert not _alive(below)
