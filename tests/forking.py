"""Runs Python code in a fork of a process that has imported the program, and measures it.

That is as good as an interpreter of its own where what is imported is not what is tested, and
spares the start of one.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import time as clock
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Timer

from tests.repositories import Ended


def in_fork(code: str, *arguments: object, cwd: Path, timeout: float = 300) -> Ended:
    """Run Python code in a fork; `sys` is imported.

    Raises:
        TimeoutError: it hangs.
    """
    server = _server()
    with TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        asked = [code, [str(one) for one in arguments], str(cwd), dict(os.environ)]
        assert server.stdin is not None
        began = clock.monotonic()
        server.stdin.write(json.dumps([*asked, [str(out), str(err)]]) + "\n")
        server.stdin.flush()
        pid = int(_line(server))
        hung = Event()

        def end() -> None:
            hung.set()
            os.killpg(pid, signal.SIGKILL)

        timer = Timer(timeout, end)
        timer.start()
        status, peak = map(int, _line(server).split())
        timer.cancel()
        if hung.is_set():
            raise TimeoutError(f"{code}: still running after {timeout} s")
        return Ended(
            status,
            out.read_text("utf-8", "replace"),
            err.read_text("utf-8", "replace"),
            clock.monotonic() - began,
            peak * (1 if sys.platform == "darwin" else 1024),
        )


def _line(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    return server.stdout.readline()


@cache
def _server() -> subprocess.Popen[str]:
    root = str(Path(__file__).parent.parent)
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root, "OPENBLAS_NUM_THREADS": "1"},
    )

    def end() -> None:
        for pipe in (server.stdin, server.stdout):
            if pipe is not None:
                pipe.close()
        server.wait()

    atexit.register(end)
    return server


_SERVER = """
import json, os, sys, traceback
import codebench.cli.asking, codebench.cli.run, codebench.gold.building, codebench.gold.target
import codebench.report.summary, codebench.judging.scoring, numpy
replies = os.dup(1)
os.set_inheritable(replies, False)
nothing = os.open(os.devnull, os.O_RDWR)
os.dup2(nothing, 1)
def tell(*words):
    os.write(replies, (" ".join(map(str, words)) + chr(10)).encode())
def child(code, arguments, cwd, environment, places):
    os.setsid()
    os.dup2(nothing, 0)
    for number, place in enumerate(places, 1):
        os.dup2(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    status = 0
    try:
        exec(code, {"__name__": "__main__", "sys": sys})
    except SystemExit as error:
        status = error.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
for line in iter(sys.stdin.readline, ""):
    pid = os.fork()
    if pid == 0:
        os.close(replies)
        child(*json.loads(line))
    tell(pid)
    _, status, usage = os.wait4(pid, 0)
    tell(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""
