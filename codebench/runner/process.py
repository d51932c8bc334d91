"""A worker process seen from its parent: talk to it, within a time, and end it whole."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import signal
import site
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codebench.reading import plain_line
from codebench.runner import keeper

_ROUNDS = 20
"""A process that starts another while it is looked for is found in the next round."""

MAX_REPLY_BYTES = 64_000_000
TAIL_BYTES = 4_000

_TOKEN = "CODEBENCH_WORKER"  # noqa: S105  # the name of a variable
_POLL_SECONDS = 0.2
_READS = 64
"""Of what was printed, at a time: who prints without end must not keep the parent from a reply."""

_KEEPER_SECONDS = keeper.KILL_SECONDS + 3

_BOOT = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from codebench.runner.worker import serve; serve(int(sys.argv[1]), int(sys.argv[2]))"
)


class WorkerTimeout(Exception):  # noqa: N818  # it names an outcome
    """No reply came in time."""


class WorkerDied(Exception):  # noqa: N818  # it names an outcome
    """The process ended, or broke the pipe; the message says how and what it printed last."""


@dataclass(frozen=True, slots=True)
class TreeUse:
    """What a worker's process tree used.

    Attributes:
        cpu_seconds: of all processes but the worker itself, since their start.
        peak_bytes: the largest sum of their resident memory since the last look, as sampled.
    """

    cpu_seconds: float
    peak_bytes: int


class WorkerProcess:
    """A child in a session of its own, under a keeper, with folders of its own.

    Attributes:
        folder: the child's current directory is `work` in it; `home` and `tmp` are beside it.
        started: `time.perf_counter()` just before the start.
    """

    def __init__(self, folder: Path, memory_limit: int = 0) -> None:
        self.folder = folder
        self.token = secrets.token_hex(16)
        self._limit = memory_limit
        self._tail = b""
        self._pending = b""
        self._told = b""
        self._exit: dict[str, Any] | None = None
        theirs: list[int] = []
        self._requests = self._replies = self._output = self._control = self._status = -1
        self._selector = selectors.DefaultSelector()
        self.started = time.perf_counter()
        try:
            requests, self._requests = _pipe(theirs, 0)
            self._replies, replies = _pipe(theirs, 1)
            self._output, output = _pipe(theirs, 1)
            control, self._control = _pipe(theirs, 0)
            self._status, status = _pipe(theirs, 1)
            self._process = subprocess.Popen(  # it is ended in `kill`
                [
                    *(sys.executable, "-I", "-S", keeper.__file__),
                    *(str(control), str(status), str(memory_limit), f"{requests},{replies}"),
                    str(folder),
                    *(sys.executable, "-P", "-c", _BOOT, str(Path(__file__).resolve().parents[2])),
                    *(str(requests), str(replies)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=_made(folder / "work"),
                env=self._environment(),
                pass_fds=(requests, replies, control, status),
                start_new_session=True,
            )
        except BaseException:
            self._close()
            raise
        finally:
            for pipe in theirs:
                os.close(pipe)
        for pipe in (self._requests, self._replies, self._output, self._control, self._status):
            os.set_blocking(pipe, False)
        for pipe in (self._replies, self._output, self._status):
            self._selector.register(pipe, selectors.EVENT_READ)

    def _environment(self) -> dict[str, str]:
        home, tmp = _made(self.folder / "home"), _made(self.folder / "tmp")
        own: dict[str, object] = {
            "HOME": home,
            "TMPDIR": tmp,
            "TMP": tmp,
            "TEMP": tmp,
            _TOKEN: self.token,
        }
        for kind in ("CACHE", "CONFIG", "DATA", "STATE"):
            own[f"XDG_{kind}_HOME"] = home / f".{kind.lower()}"
        own["XDG_RUNTIME_DIR"] = tmp
        if site.ENABLE_USER_SITE:  # what was installed for the user hangs on the home folder
            own["PYTHONUSERBASE"] = Path(site.getuserbase())
        roots = os.environ.get("PYTHONPATH")
        if roots:  # the child's current directory is another
            own["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, roots.split(os.pathsep)))
        return os.environ | {name: str(value) for name, value in own.items()}

    def ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and return its reply.

        Raises:
            WorkerTimeout: no whole reply came within the time.
            WorkerDied: the process is gone, or replied with something else.
        """
        deadline = time.monotonic() + seconds
        self.send(message, deadline)
        return self.receive(deadline)

    def send(self, message: dict[str, Any], deadline: float) -> None:
        """Send a request; `deadline` is on the monotonic clock."""
        data = self._write(memoryview(json.dumps(message).encode() + b"\n"))
        if not data:
            return
        self._selector.register(self._requests, selectors.EVENT_WRITE)
        try:
            while data:
                if self._wait(deadline):
                    data = self._write(data)
        finally:
            self._selector.unregister(self._requests)

    def receive(self, deadline: float) -> dict[str, Any]:
        """Return the next reply; as `ask`."""
        while b"\n" not in self._pending:
            self._wait(deadline)
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict):
            raise WorkerDied("its reply was overwritten")
        return reply

    def use(self) -> TreeUse:
        """Return what the process tree used so far, and begin a new peak."""
        with contextlib.suppress(OSError):
            os.write(self._control, b"m")
        deadline = time.monotonic() + _KEEPER_SECONDS
        while time.monotonic() < deadline and self._exit is None:
            told = self._line()
            if told is None:
                with contextlib.suppress(WorkerDied, WorkerTimeout):
                    self._wait(deadline)
            elif "peak" in told:
                return TreeUse(float(told["cpu"]), int(told["peak"]))
        return TreeUse(0.0, 0)

    def _wait(self, deadline: float) -> bool:
        """Take in what comes; True when a request can be written."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise WorkerTimeout
        writable = False
        for key, _ in self._selector.select(min(left, _POLL_SECONDS)):
            if key.fd == self._requests:
                writable = True
            elif key.fd == self._replies:
                self._receive()
            elif key.fd == self._status:
                self._take_status()
            elif not self._drain():
                self._selector.unregister(key.fd)
                os.close(self._output)
                self._output = -1
        if self._exit is not None and b"\n" not in self._pending:
            with contextlib.suppress(BlockingIOError, WorkerDied):
                self._receive()  # its last words may still be on the way
            if b"\n" not in self._pending:
                raise self._death()
        return writable

    def _write(self, data: memoryview) -> memoryview:
        try:
            return data[os.write(self._requests, data) :]
        except BlockingIOError:
            return data
        except BrokenPipeError:
            raise self._death() from None

    def _receive(self) -> None:
        data = os.read(self._replies, 1 << 20)
        if not data:
            raise self._death()
        self._pending += data
        if len(self._pending) > MAX_REPLY_BYTES:
            raise WorkerDied(f"its reply is longer than {MAX_REPLY_BYTES} bytes")

    def _drain(self) -> bool:
        """Keep the end of what was printed; False when nothing more can come."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(_READS):
                data = os.read(self._output, 1 << 16)
                if not data:
                    return False
                self._tail = (self._tail + data)[-TAIL_BYTES:]
        return True

    def _take_status(self) -> None:
        """Read what the keeper tells; its end is the worker's."""
        data = b""
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._status, 1 << 16)
            if not data:
                self._selector.unregister(self._status)
                self._exit = self._exit or {"exit": None, "why": ""}
        self._told += data
        if b'"exit"' in data:
            for line in self._told.splitlines():
                with contextlib.suppress(ValueError):
                    told = json.loads(line)
                    self._exit = told if "exit" in told else self._exit

    def _line(self) -> dict[str, Any] | None:
        """Return the next whole line of the keeper, if there is one."""
        if b"\n" not in self._told:
            return None
        line, _, self._told = self._told.partition(b"\n")
        try:
            told = json.loads(line)
        except ValueError:
            return None
        return told if isinstance(told, dict) else None

    def _death(self) -> WorkerDied:
        deadline = time.monotonic() + 1
        while self._exit is None and time.monotonic() < deadline:
            with selectors.DefaultSelector() as selector:
                selector.register(self._status, selectors.EVENT_READ)
                if selector.select(0.1):
                    self._take_status()
        if self._exit is None:
            return WorkerDied("it closed its pipe")
        code, why = self._exit.get("exit"), self._exit.get("why")
        if why == "memory":
            how = f"was ended over the memory limit of {self._limit / 1e6:g} MB"
        elif not isinstance(code, int):
            how = "was ended together with its keeper"
        else:
            how = f"ended with status {code}" if code >= 0 else f"was ended by {_signal(-code)}"
        return WorkerDied(how + self.said())

    def said(self) -> str:
        """Return the last line that the process printed, as `: …`, or nothing."""
        last = next((line for line in map(plain_line, reversed(self.tail())) if line), "")
        return f": {last}" if last else ""

    def tail(self) -> list[str]:
        """Return the last lines that the process printed, as they were."""
        if self._output >= 0:
            self._drain()
        return self._tail.decode("utf-8", "replace").splitlines()

    def interrupt(self) -> None:
        """Have the process ended; its pipes stay, so any thread may call this."""
        with contextlib.suppress(OSError):
            os.write(self._control, b"k")

    def kill(self) -> int:
        """End the process and all that it started, and close the pipes.

        Returns:
            how many processes were still running beside the worker.
        """
        killed = 0
        with contextlib.suppress(OSError):
            os.write(self._control, b"k")
        deadline = time.monotonic() + _KEEPER_SECONDS
        while time.monotonic() < deadline and self._status >= 0:
            told = self._line()
            if told is not None:
                killed = told.get("killed", killed)
                continue
            with selectors.DefaultSelector() as selector:
                selector.register(self._status, selectors.EVENT_READ)
                if selector.select(0.2):
                    data = b""
                    with contextlib.suppress(OSError):
                        data = os.read(self._status, 1 << 16)
                    if not data:
                        break
                    self._told += data
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for _ in range(_ROUNDS):  # where the keeper was killed, or the system has no adoption
            marked = _marked(self.token)
            if not marked:
                break
            for pid in marked:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        self._close()
        return killed

    def _close(self) -> None:
        self._selector.close()
        pipes = (self._requests, self._replies, self._output, self._control, self._status)
        for pipe in pipes:
            if pipe >= 0:
                os.close(pipe)
        self._requests = self._replies = self._output = self._control = self._status = -1


def _pipe(theirs: list[int], end: int) -> tuple[int, int]:
    """Make a pipe, and note which end goes to the child."""
    ends = os.pipe()
    theirs.append(ends[end])
    return ends


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _marked(token: str) -> list[int]:
    """Return the processes that carry a worker's token, wherever they have moved to.

    A tool's daemon leaves its process group, but seldom its environment. Only Linux shows it.
    """
    mark = f"{_TOKEN}={token}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found
