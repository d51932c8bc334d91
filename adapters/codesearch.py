"""codesearch: a trigram index on disk, and regular expressions in time linear in the text."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from codebench import Hit, Retriever
from codebench.keywords import keywords, windows
from codebench.kit.programs import missing_program, run_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codebench import Corpus


class Codesearch(Retriever):
    """`cindex` once, one `csearch` for any word of a question; windows with most words first."""

    version = "1"

    def __init__(self) -> None:
        self.root = Path()
        self.file = Path.cwd() / "codesearch.index"

    @classmethod
    def missing(cls) -> str | None:
        install = (
            "apt install codesearch, or go install github.com/google/codesearch/cmd/...@latest"
        )
        return missing_program("cindex", install) or missing_program("csearch", install)

    def index(self, corpus: Corpus) -> None:
        self.root = corpus.path
        self.file.unlink(missing_ok=True)
        self.paths = {table.path for table in corpus.tables}
        run_program(["cindex", str(self.root)], cwd=self.root, environment=self._environment())

    def search(self, text: str, k: int) -> Sequence[Hit]:
        words = keywords(text)
        if not words:
            return []
        printed = run_program(
            ["csearch", "-n", "-i", "--", "|".join(map(re.escape, words))],
            cwd=self.root,
            environment=self._environment(),
        )
        return windows(self._matches(printed.decode("utf-8", "replace")), words, k)

    def index_bytes(self) -> int | None:
        return self.file.stat().st_size if self.file.exists() else 0

    def _environment(self) -> dict[str, str]:
        return {"CSEARCHINDEX": os.fspath(self.file)}

    def _matches(self, output: str) -> Iterator[tuple[str, int, str]]:
        prefix = f"{self.root}{os.sep}"
        for line in output.split("\n"):
            rest = line.removeprefix(prefix)
            for mark in re.finditer(r":(\d+):", rest):
                if rest[: mark.start()] in self.paths:  # a path may hold a colon
                    yield rest[: mark.start()], int(mark[1]), rest[mark.end() :]
                    break
