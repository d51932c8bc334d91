"""ugrep, asked as ripgrep is: the question's words, and where they cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from codebench import Hit, Retriever
from codebench.keywords import keywords, windows
from codebench.kit.programs import missing_program, run_program, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codebench import Corpus

OPTIONS = (
    "--recursive --with-filename --null --line-number --no-heading --color=never --no-messages "
    "--fixed-strings --ignore-case --hidden --binary-files=without-match"
).split()
MATCH = re.compile(rb"([^\0]*)\0(\d+):([^\n]*)\n")  # a path may hold a newline


class Ugrep(Retriever):
    """One `ugrep` for all words of a question; windows with the most different words first."""

    def __init__(self) -> None:
        self.version = version_of("ugrep", "--version")
        self.root = Path()

    @classmethod
    def missing(cls) -> str | None:
        return missing_program("ugrep", "apt install ugrep, or brew install ugrep")

    def index(self, corpus: Corpus) -> None:
        self.root = corpus.path

    def search(self, text: str, k: int) -> Sequence[Hit]:
        words = keywords(text)
        if not words:
            return []
        patterns = [argument for word in words for argument in ("-e", word)]
        printed = run_program(["ugrep", *OPTIONS, *patterns, "--", "."], cwd=self.root)
        return windows(_matches(printed), words, k)


def _matches(output: bytes) -> Iterator[tuple[str, int, str]]:
    for path, number, text in MATCH.findall(output):
        name = path.decode("utf-8", "replace").removeprefix("./")
        yield name, int(number), text.decode("utf-8", "replace")
