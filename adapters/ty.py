"""ty's language server: Python symbols by name, as an editor's "go to symbol" finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench import Hit, Retriever
from codebench.adapter import load, make
from codebench.kit.programs import find_program, missing_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus


class Ty(Retriever):
    """`ty server` asked for the symbols of each word of the question: Python files only."""

    def __init__(self) -> None:
        program = find_program("ty") or "ty"
        options = {"argv": [program, "server"], "version": [program, "--version"]}
        self.server = make(load("lsp"), options)
        self.version = self.server.version

    @classmethod
    def missing(cls) -> str | None:
        return missing_program("ty", "pip install ty")

    def index(self, corpus: Corpus) -> None:
        self.server.index(corpus)

    def search(self, text: str, k: int) -> Sequence[Hit]:
        return self.server.search(text, k)

    def close(self) -> None:
        self.server.close()
