"""Real git repositories, built commit by commit with fixed authors and times."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

EPOCH = 1_600_000_000
DAY = 86_400


class Repository:
    """A repository on disk that a test writes commits into.

    Args:
        path: an empty or missing folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._commits = 0
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, **environment: str) -> str:
        """Run git in the repository and return what it printed."""
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
            ["git", *arguments], cwd=self.path, env=clean, check=True, capture_output=True
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

    def contents(self) -> dict[str, bytes]:
        """Every byte of the folder, `.git` included, by path."""
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in sorted(self.path.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }


def grown(path: Path, edits: int = 6) -> Repository:
    """Build a small repository whose last commits edit known functions.

    The root commit adds two modules; commit i edits `store.Shelf.take` or `clock.elapsed` in
    turn, so every edit is a query whose gold is known.
    """
    repository = Repository(path)
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
