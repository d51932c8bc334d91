"""Running git: without anybody's config, under watch, and with one line for what goes wrong."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, NoReturn

from codebench.errors import GitError
from codebench.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from subprocess import Popen
    from typing import Self

    from git.cmd import Git

MAX_TOKEN = 16_384
"""Bytes that are kept of a message or a path; no longer one is asked or written."""

MEMORY_BYTES = 2 << 30
SILENCE_SECONDS = 600.0
ANSWER_SECONDS = 60.0

_NEEDED = "2.32"

_READ = 1 << 16
_ANSWER = re.compile(rb"(?P<id>[0-9a-f]+) (?:blob (?P<size>\d+)|(?:tree|commit|tag) \d+|missing)\n")

_STRAY = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_ATTR_SOURCE",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_EXTERNAL_DIFF",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_TRACE",
        "GIT_WORK_TREE",
    }
)


class Command:
    """A running git, with its output and its end."""

    def __init__(self, running: Any, failure: str, silence: float) -> None:
        self._running = running
        self._process: Popen[bytes] = running.proc
        self._failure = failure
        self._watch = Watch(self._process, memory_bytes=MEMORY_BYTES, silence_seconds=silence)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.finish()
        else:
            self.kill()

    def tokens(self) -> Iterator[bytes]:
        """Yield what ends with NUL, at most MAX_TOKEN bytes of each; what is cut off, never."""
        rest = b""
        while block := self._read(_READ):
            *whole, rest = (rest + block).split(b"\0")
            for token in whole:
                yield token[:MAX_TOKEN]
            rest = rest[:MAX_TOKEN]

    def output(self) -> bytes:
        """Return everything."""
        with self._watch.waiting():
            return self._stdout.read()

    def ask(self, ids: Sequence[str]) -> None:
        """Write object IDs to a `cat-file` that answers in batches."""
        stdin = self._process.stdin
        try:
            if stdin is not None:
                stdin.write("".join(f"{object_id}\n" for object_id in ids).encode())
                stdin.flush()
        except BrokenPipeError:
            self._fail(b"")

    def blob_size(self, object_id: str) -> int | None:
        """Read an answer's first line: bytes of the blob; None where there is none.

        Raises:
            GitError: what comes is no answer: a damaged blob was not as long as it said.
        """
        with self._watch.waiting():
            head = self._stdout.readline(_READ)
        found = _ANSWER.fullmatch(head)
        if found is None or found["id"] != object_id.encode():
            self._fail(head)
        return int(found["size"]) if found["size"] else None

    def content(self, object_id: str) -> bytes:
        """Read an answer with its content.

        Raises:
            GitError: it ends early.
        """
        size = self.blob_size(object_id)
        if size is None:
            self._fail(b"\n")
        with self._watch.waiting():
            data = self._stdout.read(size)
            end = self._stdout.read(1)
        if end != b"\n":
            self._fail(end and b"\n")
        return data

    def finish(self, *, keep_reason: bool = True) -> None:
        """Wait for its end.

        Raises:
            GitError: it failed.
        """
        with self._watch.waiting():
            status = self._process.wait()
        reason = self._watch.last_words()
        self._close()
        if self._watch.hung:
            raise GitError(f"{self._failure}: git said nothing for too long and was ended")
        if status != 0:
            last = reason.splitlines()[-1] if reason and keep_reason else ""
            raise GitError(f"{self._failure}: {last}" if last else self._failure)

    def kill(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._watch.last_words()
        self._close()

    @property
    def _stdout(self) -> IO[bytes]:
        return self._running.stdout  # type: ignore[no-any-return]

    def _read(self, most: int) -> bytes:
        with self._watch.waiting():
            return self._stdout.read1(most)  # type: ignore[attr-defined,no-any-return]

    def _fail(self, last: bytes) -> NoReturn:
        """Raise for what is no answer; nothing more comes where the last read met the end."""
        if last.endswith(b"\n"):
            self.kill()
        else:
            self.finish()
        raise GitError(self._failure)

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def program(folder: Path, **environment: str) -> Git:
    """Return git in a folder, with no config but the repository's own and no way to fetch."""
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    from git.cmd import Git  # noqa: PLC0415  # 0.1 s, and not every verb needs it

    # A hook or an alias that started codebench leaves these set, and each would send git to
    # another repository than the one that was asked for.
    for name in [name for name in os.environ if name in _STRAY or name.startswith("GIT_CONFIG")]:
        del os.environ[name]
    git = Git(str(folder))
    git.update_environment(
        **{
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            # It outweighs every `protocol.*.allow` of the repository: nothing is ever fetched.
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
            **environment,
        }
    )
    return git


def run(
    git: Git, what: Sequence[str], failure: str, *, patient: bool = True, **how: Any
) -> Command:
    """Start git; it may be silent for SILENCE_SECONDS (`patient`), or for ANSWER_SECONDS.

    Raises:
        GitError: it is not installed.
    """
    from git.exc import GitCommandNotFound  # noqa: PLC0415

    try:
        running = git.execute(["git", *what], as_process=True, **how)
    except GitCommandNotFound:
        raise GitError(
            f"git is not installed, or not on PATH; install git {_NEEDED} or later"
        ) from None
    return Command(running, failure, SILENCE_SECONDS if patient else ANSWER_SECONDS)


def check_version(git: Git) -> None:
    """Check that git is not too old; a version that cannot be told is taken.

    Older ones do not know how to read nobody's configuration (2.32), how to show a merge against
    its first parent (2.31), or where options end (2.30).

    Raises:
        GitError: it is too old, or not installed.
    """
    said = output(git, ["version"], "git does not tell its version").strip()
    found = re.match(r"git version (\d+)\.(\d+)", said)
    if found and (int(found[1]), int(found[2])) < tuple(map(int, _NEEDED.split("."))):
        raise GitError(f"{said} is too old; install git {_NEEDED} or later")


def output(
    git: Git,
    what: Sequence[str],
    failure: str,
    *,
    keep_reason: bool = False,
    patient: bool = False,
) -> str:
    """Return what git prints.

    Raises:
        GitError: it failed; with its own last line where `keep_reason`.
    """
    command = run(git, what, failure, patient=patient)
    output = command.output()
    command.finish(keep_reason=keep_reason)
    return os.fsdecode(output)
