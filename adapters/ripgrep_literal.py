"""ripgrep for the whole question as one pattern: what a text search is often mistaken for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from codebench import Hit, Retriever
from codebench.keywords import windows
from codebench.kit.programs import missing_program, run_program, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codebench import Corpus

OPTIONS = (
    "--null --line-number --no-heading --color=never --no-config --no-messages --fixed-strings "
    "--ignore-case --no-ignore --hidden --regex-size-limit=2G --dfa-size-limit=2G --file=-"
).split()
MATCH = re.compile(rb"([^\0]*)\0(\d+):([^\n]*)\n")  # a path may hold a newline


class RipgrepLiteral(Retriever):
    """One `rg` for the question's own words in their order; most questions stand nowhere."""

    def __init__(self) -> None:
        self.version = version_of("rg", "--version")
        self.root = Path()

    @classmethod
    def missing(cls) -> str | None:
        return missing_program("rg", "apt install ripgrep, or brew install ripgrep")

    def index(self, corpus: Corpus) -> None:
        self.root = corpus.path

    def search(self, text: str, k: int) -> Sequence[Hit]:
        pattern = " ".join(text.replace("\0", " ").split())
        if not pattern:
            return []
        printed = run_program(["rg", *OPTIONS, "--", "."], cwd=self.root, stdin=pattern + "\n")
        return windows(_matches(printed), [pattern.lower()], k)


def _matches(output: bytes) -> Iterator[tuple[str, int, str]]:
    for path, number, text in MATCH.findall(output):
        name = path.decode("utf-8", "replace").removeprefix("./")
        yield name, int(number), text.decode("utf-8", "replace")
