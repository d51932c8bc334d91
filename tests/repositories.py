"""Real git repositories, built commit by commit with fixed authors and times."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import time as clock
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile, mkdtemp

EPOCH = 1_600_000_000
DAY = 86_400


class Repository:
    """A repository on disk that a test writes commits into.

    Args:
        path: an empty or missing folder.
        object_format: how objects are named.
    """

    def __init__(self, path: Path, object_format: str = "sha1") -> None:
        self.path = path
        self._commits = 0
        path.mkdir(parents=True, exist_ok=True)
        if not (path / ".git").exists():
            form = f"--object-format={object_format}"
            self.git("init", "--quiet", "--initial-branch=main", form)

    def git(self, *arguments: str, **environment: str) -> str:
        """Run git in the repository and return what it printed."""
        return self.feed(*arguments, stdin=b"", **environment)

    def feed(self, *arguments: str, stdin: bytes, **environment: str) -> str:
        """Run git with an input and return what it printed."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        clean |= {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            **environment,
        }
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env=clean,
            check=True,
            capture_output=True,
            input=stdin,
        )
        return done.stdout.decode("utf-8", "surrogateescape")

    def write(self, files: dict[str, str | bytes | None]) -> None:
        """Write files into the work tree; None deletes one."""
        for name, content in files.items():
            path = self.path / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(
        self,
        message: str,
        files: dict[str, str | bytes | None] | None = None,
        *,
        author: str = "Ada",
        time: int | None = None,
    ) -> str:
        """Commit files and return the commit's ID."""
        self.write(files or {})
        self._commits += 1
        moment = f"{EPOCH + self._commits * DAY if time is None else time} +0000"
        self.git("add", "--all")
        self.git(
            *("-c", "maintenance.auto=false"),  # it would start another process
            "commit",
            "--quiet",
            "--allow-empty",
            "--allow-empty-message",
            "--no-verify",
            "--cleanup=verbatim",
            f"--message={message}",
            GIT_AUTHOR_NAME=author,
            GIT_AUTHOR_DATE=moment,
            GIT_COMMITTER_DATE=moment,
        )
        return self.head

    @property
    def head(self) -> str:
        """The ID of HEAD."""
        return self.git("rev-parse", "HEAD").strip()

    def copy(self, path: Path) -> Repository:
        """Copy the repository to another folder."""
        shutil.copytree(self.path, path, symlinks=True, dirs_exist_ok=True)
        copied = Repository(path)
        copied._commits = self._commits
        return copied

    def contents(self) -> dict[str, bytes]:
        """Every byte of the folder, `.git` included, by path."""
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in sorted(self.path.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }


@dataclass(frozen=True, slots=True)
class Ended:
    """What a child process did.

    Attributes:
        status: its exit status, below 0 for a signal.
        stdout, stderr: what it printed.
        seconds: wall time.
        peak_bytes: the largest resident memory of it or of any process that it waited for.
    """

    status: int
    stdout: str
    stderr: str
    seconds: float
    peak_bytes: int


def in_child(code: str, *arguments: object, cwd: Path | None = None, timeout: float = 300) -> Ended:
    """Run Python code in a process of its own, and measure it; `sys` is imported.

    Raises:
        TimeoutError: it hangs.
    """
    words = [sys.executable, "-c", f"import sys\n{code}", *map(str, arguments)]
    root = str(Path(__file__).parent.parent)
    with TemporaryFile() as out, TemporaryFile() as err, NamedTemporaryFile("r") as usage:
        began = clock.monotonic()
        launcher = subprocess.Popen(
            [sys.executable, "-c", _LAUNCHER, usage.name, *words],
            stdout=out,
            stderr=err,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": root},
            start_new_session=True,
        )
        try:
            launcher.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(launcher.pid, signal.SIGKILL)
            launcher.wait()
            raise TimeoutError(f"{code}: still running after {timeout} s") from None
        seconds = clock.monotonic() - began
        out.seek(0)
        err.seek(0)
        status, peak = map(int, usage.read().split())
        return Ended(
            status,
            out.read().decode("utf-8", "replace"),
            err.read().decode("utf-8", "replace"),
            seconds,
            peak * (1 if sys.platform == "darwin" else 1024),
        )


_LAUNCHER = """
import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    print(os.waitstatus_to_exitcode(status), usage.ru_maxrss, file=file)
"""
"""Starts a program from a small process: its peak memory begins at that of who started it."""


def grown(path: Path, edits: int = 6, object_format: str = "sha1") -> Repository:
    """Build a small repository whose last commits edit known functions.

    The root commit adds two modules; commit i edits `store.Shelf.take` or `clock.elapsed` in
    turn, so every edit is a query whose gold is known.
    """
    return _grown_once(edits, object_format).copy(path)


@cache
def _grown_once(edits: int, object_format: str) -> Repository:
    place = Path(mkdtemp(prefix="grown-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    repository = Repository(place / "repository", object_format)
    shutil.rmtree(repository.path / ".git/hooks")
    (repository.path / ".git/hooks").mkdir()
    repository.commit(
        "initial import of the shelf service", {**_modules(0, 0), "README.md": "# s\n"}
    )
    repository.commit("describe the shelf in the readme", {"README.md": "# shelf\n"})
    for step in range(1, edits + 1):
        take, elapsed = (step, step - 1) if step % 2 else (step - 1, step)
        what = _TAKE[step % len(_TAKE)] if step % 2 else _ELAPSED[step % len(_ELAPSED)]
        repository.commit(what.format(step), _modules(take, elapsed))
    return repository


_TAKE = (
    "refuse empty orders number {}",
    "count missing boxes twice {}",
    "limit parcels per customer {}",
)
_ELAPSED = (
    "measure durations across midnight {}",
    "tolerate clocks running backwards {}",
    "round waiting periods upward {}",
)


def _modules(take: int, elapsed: int) -> dict[str, str | bytes | None]:
    return {
        "shop/store.py": (
            "from shop import clock\n\n\n"
            "class Shelf:\n"
            '    """A shelf."""\n\n'
            "    def put(self, item):\n"
            "        self.items.append((clock.elapsed(0), item))\n\n"
            "    def take(self, order):\n"
            f"        limit = {take}\n"
            "        return [item for item in self.items if item.rank > limit]\n"
        ),
        "shop/clock.py": (
            "def elapsed(start):\n"
            f"    return now() - start + {elapsed}\n\n\n"
            "def now():\n"
            "    return 42\n"
        ),
    }
