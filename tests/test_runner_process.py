"""A worker process that lies, dies or hangs, as its parent sees it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codebench.runner import process
from codebench.runner.process import WorkerDied, WorkerProcess, WorkerTimeout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Start = Callable[[str], WorkerProcess]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Return what starts a worker whose program is a text; `ask` and `say` are its pipes."""
    begun: list[WorkerProcess] = []

    def started(text: str) -> WorkerProcess:
        pipes = "import os, sys, time; ask, say = map(int, sys.argv[2:4])\n"
        monkeypatch.setattr(process, "_BOOT", pipes + text)
        begun.append(WorkerProcess(tmp_path / str(len(begun))))
        return begun[-1]

    yield started
    for one in begun:
        one.kill()


def ask(worker: WorkerProcess, text: str = "", seconds: float = 20) -> dict[str, object]:
    return worker.ask({"text": text}, seconds)


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("os.write(say, b'no JSON\\n')", "its reply was overwritten"),
        ("os.write(say, b'[1]\\n')", "its reply was overwritten"),
        ("os.write(say, b'[' * 4900 + b'\\n')", "its reply was overwritten"),
        ("while True: os.write(say, b'x' * 999)", "its reply is longer than 5000 bytes"),
        ("os.close(say)", "it closed its pipe"),
        ("print('why it', 'ends', flush=True); os._exit(3)", "ended with status 3: why it ends"),
        ("os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
        ("os.kill(os.getpid(), 40)", "was ended by signal 40"),
    ],
)
def test_what_a_reply_that_never_comes_is_told_by(
    start: Start, monkeypatch: pytest.MonkeyPatch, does: str, said: str
) -> None:
    monkeypatch.setattr(process, "MAX_REPLY_BYTES", 5000)
    worker = start(f"os.read(ask, 100)\n{does}\ntime.sleep(60)")
    with pytest.raises(WorkerDied, match=f"^{said}$"):
        ask(worker)


def test_a_worker_that_hangs_costs_its_time_alone(start: Start) -> None:
    worker = start("time.sleep(60)")
    begun = time.monotonic()
    with pytest.raises(WorkerTimeout):
        ask(worker, seconds=0.2)
    assert time.monotonic() - begun < 10


def test_a_request_larger_than_a_pipe_arrives_whole(start: Start) -> None:
    worker = start(
        "data = b''\n"
        "while not data.endswith(b'\\n'):\n"
        "    time.sleep(0.002)\n"
        "    data += os.read(ask, 1 << 16)\n"
        "os.write(say, b'{\"size\": %d}\\n' % len(data))\n"
        "time.sleep(60)"
    )
    text = "é" * 300_000
    assert ask(worker, text) == {"size": len('{"text": ""}\n') + 6 * len(text)}


def test_a_request_that_is_not_taken_is_broken_off(start: Start) -> None:
    worker = start("time.sleep(60)")
    with pytest.raises(WorkerTimeout):
        ask(worker, "x" * 1_000_000, seconds=0.3)
    closed = start("os.close(ask); os.write(say, b'{}\\n'); time.sleep(60)")
    assert closed.receive(time.monotonic() + 20) == {}
    with pytest.raises(WorkerDied, match="it closed its pipe"):
        ask(closed, "x" * 1_000_000)


def test_what_a_worker_leaves_is_ended_though_its_keeper_was_killed(
    start: Start,
) -> None:
    worker = start(
        "child = os.fork()\n"
        "if not child:\n"
        "    os.setsid(); time.sleep(60); os._exit(0)\n"
        'os.write(say, b\'{"pid": %d, "keeper": %d}\\n\' % (child, os.getppid()))\n'
        "time.sleep(60)"
    )
    told = worker.receive(time.monotonic() + 20)
    os.kill(int(told["keeper"]), signal.SIGKILL)
    with pytest.raises(WorkerDied, match="was ended together with its keeper"):
        worker.receive(time.monotonic() + 20)
    worker.kill()
    for _ in range(500):  # whoever adopted it takes it up
        try:
            os.kill(int(told["pid"]), 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    assert Path(f"/proc/{told['pid']}/stat").read_text(encoding="ascii").split()[2] == "Z"
