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
from pathlib import Path
from typing import Any

from codebench.reading import plain_line

_ROUNDS = 20
"""A process that starts another while it is looked for is found in the next round."""

MAX_REPLY_BYTES = 64_000_000
TAIL_BYTES = 4_000

_TOKEN = "CODEBENCH_WORKER"  # noqa: S105  # the name of a variable
_POLL_SECONDS = 0.2
_READS = 64
"""Of what was printed, at a time: who prints without end must not keep the parent from a reply."""

_BOOT = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from codebench.runner.worker import serve; serve(int(sys.argv[1]), int(sys.argv[2]))"
)


class WorkerTimeout(Exception):  # noqa: N818  # it names an outcome
    """No reply came in time."""


class WorkerDied(Exception):  # noqa: N818  # it names an outcome
    """The process ended, or broke the pipe; the message says how and what it printed last."""


class WorkerProcess:
    """A child in a session of its own, with folders of its own.

    Attributes:
        folder: the child's current directory; `home` and `tmp` are beside it.
        started: `time.perf_counter()` just before the start.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = secrets.token_hex(16)
        self._tail = b""
        self._pending = b""
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        self._output, output = os.pipe()
        package_root = str(Path(__file__).resolve().parents[2])
        self.started = time.perf_counter()
        try:
            self._process = subprocess.Popen(  # it is ended in `kill`
                [sys.executable, "-P", "-c", _BOOT, package_root, str(requests), str(replies)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=_made(folder / "work"),
                env=self._environment(),
                pass_fds=(requests, replies),
                start_new_session=True,
            )
        except BaseException:
            self._close()
            raise
        finally:
            for pipe in (requests, replies, output):
                os.close(pipe)
        for pipe in (self._requests, self._replies, self._output):
            os.set_blocking(pipe, False)

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
        data = memoryview(json.dumps(message).encode() + b"\n")
        with selectors.DefaultSelector() as selector:
            selector.register(self._requests, selectors.EVENT_WRITE)
            selector.register(self._replies, selectors.EVENT_READ)
            if self._output >= 0:
                selector.register(self._output, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise WorkerTimeout
                ready = selector.select(min(left, _POLL_SECONDS))
                if not ready and self._process.poll() is not None:
                    raise self._death()
                for key, _ in ready:
                    if key.fd == self._requests:
                        data = self._send(data)
                        if not data:
                            selector.unregister(self._requests)
                    elif key.fd == self._replies:
                        self._receive()
                    elif not self._drain():
                        selector.unregister(key.fd)
                        os.close(self._output)
                        self._output = -1
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict):
            raise WorkerDied("its reply was overwritten")
        return reply

    def _send(self, data: memoryview) -> memoryview:
        try:
            return data[os.write(self._requests, data) :]
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

    def _death(self) -> WorkerDied:
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return WorkerDied("it closed its pipe")
        how = f"ended with status {code}" if code >= 0 else f"was ended by {_signal(-code)}"
        return WorkerDied(how + self.said())

    def said(self) -> str:
        """Return the last line that the process printed, as `: …`, or nothing."""
        if self._output >= 0:
            self._drain()
        lines = self._tail.decode("utf-8", "replace").splitlines()
        last = next((line for line in map(plain_line, reversed(lines)) if line), "")
        return f": {last}" if last else ""

    def kill(self) -> None:
        """End the process and all that it started, and close the pipes."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for _ in range(_ROUNDS):
            marked = _marked(self.token)
            if not marked:
                break
            for pid in marked:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        self._close()

    def _close(self) -> None:
        for pipe in (self._requests, self._replies, self._output):
            if pipe >= 0:
                os.close(pipe)
        self._requests = self._replies = self._output = -1


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
