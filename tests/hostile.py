"""Runs a hostile repository as a person would, measures it, and holds what must always hold."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from tests.forking import in_fork
from tests.repositories import Ended, in_child

ADAPTER = """\
from codebench import Retriever


class Silent(Retriever):
    version = "1"

    def index(self, corpus):
        pass

    def search(self, text, k):
        return []
"""
RUN = """\
from codebench.cli.main import main
from codebench.corpus.outliner import Outliner
from codebench.git import commands
from codebench.gold import workshop
commands.ANSWER_SECONDS = commands.SILENCE_SECONDS = float(sys.argv[1])
commands.MEMORY_BYTES = int(sys.argv[2])
if sys.argv[3] == "False":
    workshop.Outliner = lambda cache, jobs: Outliner(cache, jobs or 1)
raise SystemExit(main(sys.argv[4:]))
"""
ORDINARY = 300 << 20
"""Bytes of memory that no attack but those on git itself can exceed."""


@dataclass(frozen=True)
class Attack:
    """A place to build a hostile repository in, and what happens when it is run."""

    folder: Path

    @property
    def marker(self) -> Path:
        """A file that exists once a program of the repository has run."""
        return self.folder / "marker"

    def trap(self) -> str:
        """A program that leaves the marker."""
        trap = self.folder / "trap.sh"
        trap.write_text(f'#!/bin/sh\necho "$0 $*" >> "{self.marker}"\ncat\n')
        trap.chmod(0o755)
        return str(trap)

    def run(
        self,
        target: Path | str,
        *words: str,
        patience: float = 60,
        memory: int = 2 << 30,
        timeout: float = 120,
        apart: bool = False,
    ) -> Ended:
        """Run `codebench run`, and hold what must hold of every end.

        It runs in a fork, and parses there. `apart` gives it an interpreter and processes to
        parse of its own, as a person's command has them: that takes much longer.
        """
        (self.folder / "silent.py").write_text(ADAPTER)
        self.marker.unlink(missing_ok=True)
        before = self._everything()
        ended = (in_child if apart else in_fork)(
            RUN,
            patience,
            memory,
            apart,
            "run",
            target,
            "-r",
            self.folder / "silent.py:Silent",
            "--repeats=1",
            "--jobs=1",
            "-o",
            self.folder / "results",
            *words,
            cwd=self.folder,
            timeout=timeout,
        )
        assert not self.marker.exists(), self.marker.read_text()
        assert self._everything() == before
        assert ended.status in {0, 2}, ended.stderr
        assert "Traceback" not in ended.stderr, ended.stderr
        if ended.status == 2:
            assert ended.stderr.rstrip("\n").split("\n")[-1].startswith("codebench: ")
            assert ended.stderr.count("codebench: ") == 1
            assert ended.stdout == ""
        return ended

    def _everything(self) -> dict[str, object]:
        """Everything outside the cache and the results: kinds, modes, times and bytes."""
        found: dict[str, object] = {}
        for place, folders, files in os.walk(self.folder):
            if Path(place) == self.folder:
                folders[:] = [one for one in folders if one not in {"cache", "results"}]
            folders[:] = [one for one in folders if one != "__pycache__"]
            for path in (Path(place, name) for name in [*folders, *files]):
                about = path.lstat()
                content: object = None
                if path.is_symlink():
                    content = path.readlink()
                elif path.is_file() and about.st_size < 1 << 30:
                    content = hashlib.sha256(path.read_bytes()).hexdigest()
                found[str(path)] = (about.st_mode, about.st_mtime_ns if content else None, content)
        return found
