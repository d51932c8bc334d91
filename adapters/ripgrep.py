"""ripgrep as an agent uses it: search for the question's words, look at where they cluster."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from codebench import Hit, Retriever
from codebench.keywords import keywords, windows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codebench import Corpus

OPTIONS = (
    "--null --line-number --no-heading --color=never --no-config --no-messages --fixed-strings "
    "--ignore-case --no-ignore --hidden"
).split()
MATCH = re.compile(rb"([^\0]*)\0(\d+):([^\n]*)\n")  # a path may hold a newline


class Ripgrep(Retriever):
    """One `rg` for all words of a question; windows with the most different words come first."""

    def __init__(self) -> None:
        shown = subprocess.run(["rg", "--version"], capture_output=True, text=True, check=True)
        self.version = shown.stdout.partition("\n")[0].strip()
        self.root = Path()

    @classmethod
    def missing(cls) -> str | None:
        if shutil.which("rg") is None:
            return "the program rg is not there; apt install ripgrep, or brew install ripgrep"
        return None

    def index(self, corpus: Corpus) -> None:
        self.root = corpus.path

    def search(self, text: str, k: int) -> Sequence[Hit]:
        words = keywords(text)
        if not words:
            return []
        patterns = [argument for word in words for argument in ("-e", word)]
        done = subprocess.run(
            ["rg", *OPTIONS, *patterns, "--", "."],
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode > 1 and not done.stdout:
            raise RuntimeError(f"rg ended with status {done.returncode}")
        return windows(_matches(done.stdout), words, k)


def _matches(output: bytes) -> Iterator[tuple[str, int, str]]:
    for path, number, text in MATCH.findall(output):
        name = path.decode("utf-8", "replace").removeprefix("./")
        yield name, int(number), text.decode("utf-8", "replace")
