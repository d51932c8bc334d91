"""Programs that answer: one process a question, or one for all of them."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from codebench.protocols.output import ToolError
from codebench.reading import plain_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MAX_OUTPUT_BYTES = 32_000_000
_LAST_WORDS = 4096
_GRACE_SECONDS = 0.2
"""For what a process that has ended left in its pipes; a daemon may hold them open for ever."""

_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Done:
    """A process that has ended: its status, its output, and the end of its complaints."""

    status: int
    output: bytes
    complaints: str

    def failure(self, program: str, hint: str = "") -> ToolError:
        """Return that its status is a failure, with what it complained of, else with the hint."""
        hint = "" if self.output or self.complaints else hint
        said = f": {self.complaints}" if self.complaints else ""
        return ToolError(f"{program} ended with status {self.status}{said}{hint}")


def run_bounded(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    stdin: bytes = b"",
    limit: int = MAX_OUTPUT_BYTES,
) -> Done:
    """Run a program, without a shell, and take in at most `limit` bytes of what it prints.

    Raises:
        ToolError: it cannot be started, or prints more.
    """
    try:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=os.environ | dict(environment),
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except (OSError, ValueError) as error:
        raise ToolError(f"{argv[0]} cannot be started: {_why(error, argv)}") from None
    with process:
        try:
            output, complaints = _talk(process, stdin, limit)
        except BaseException:
            process.kill()
            raise
        if output is None:
            process.kill()
            raise ToolError(f"{argv[0]} prints more than {limit} bytes")
        status = process.wait()
    return Done(status, output, plain_line(complaints.decode("utf-8", "replace")[-300:]))


def _why(error: Exception, argv: Sequence[str]) -> str:
    if isinstance(error, OSError) and error.errno == 7:  # E2BIG
        longest = max(len(item.encode()) for item in argv)
        return f"an argument of {longest} bytes is too long; have it read stdin"
    return str(error)


def _talk(process: subprocess.Popen[bytes], stdin: bytes, limit: int) -> tuple[bytes | None, bytes]:
    """Write and read until the pipes end; None for output beyond the limit."""
    output, complaints, left = bytearray(), b"", memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        for pipe in (process.stdout, process.stderr):
            _register(selector, pipe, selectors.EVENT_READ)
        _register(selector, process.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            ready = selector.select(_GRACE_SECONDS)
            if not ready and process.poll() is not None:
                break
            for key, _ in ready:
                if process.stdin is not None and key.fileobj is process.stdin:
                    left = _written(key.fd, left)
                    if not left:
                        selector.unregister(process.stdin)
                        process.stdin.close()
                    continue
                block = os.read(key.fd, 1 << 16)
                if not block:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    complaints = (complaints + block)[-_LAST_WORDS:]
                else:
                    output += block
                    if len(output) > limit:
                        return None, complaints
    return bytes(output), complaints


def _register(selector: selectors.BaseSelector, pipe: IO[bytes] | None, event: int) -> None:
    if pipe is not None:
        os.set_blocking(pipe.fileno(), False)
        selector.register(pipe, event)


def _written(descriptor: int, left: memoryview) -> memoryview:
    try:
        return left[os.write(descriptor, left[: 1 << 16]) :]
    except BlockingIOError:
        return left
    except OSError:  # it does not want to read: what it says and its status tell
        return left[:0]


class Conversation:
    """A program that stays, and is talked to over its stdin and stdout.

    What it prints on stderr goes where this process's own does.

    Args:
        listen: whether its stdout is read; else that goes where this process's own does.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        listen: bool = True,
    ) -> None:
        self.name = argv[0]
        try:
            self._process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=os.environ | dict(environment),
                stdin=subprocess.PIPE if listen else subprocess.DEVNULL,
                stdout=subprocess.PIPE if listen else None,
            )
        except (OSError, ValueError) as error:
            raise ToolError(f"{argv[0]} cannot be started: {error}") from None
        self._listen = listen

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        return self._process.poll() is None

    def say(self, data: bytes) -> None:
        """Write to it.

        Raises:
            ToolError: it does not read any more.
        """
        assert self._process.stdin  # noqa: S101  # it was opened with one
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except (OSError, ValueError):  # ValueError: it was ended before
            raise self._gone() from None

    def line(self, limit: int = MAX_OUTPUT_BYTES) -> bytes:
        """Return the next line, its newline included.

        Raises:
            ToolError: it ended, or the line is longer than the limit.
        """
        assert self._process.stdout  # noqa: S101
        line = self._process.stdout.readline(limit + 1)
        if len(line) > limit:
            self.end()
            raise ToolError(f"{self.name} prints a line of more than {limit} bytes")
        if not line.endswith(b"\n"):
            raise self._gone()
        return line

    def block(self, count: int) -> bytes:
        """Return so many bytes.

        Raises:
            ToolError: it ended before.
        """
        assert self._process.stdout  # noqa: S101
        data = self._process.stdout.read(count)
        if len(data) < count:
            raise self._gone()
        return data

    def _gone(self) -> ToolError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self.end()
        return ToolError(f"{self.name} ended with status {self._process.returncode}")

    def end(self) -> None:
        """End it: its stdin closes, or it is asked to; what stays after a while is killed."""
        if not self._listen:
            self._process.terminate()
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
