"""probe: text search over whole code blocks, ranked by BM25, as coding agents use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from codebench import Hit, Retriever
from codebench.keywords import keywords
from codebench.kit.programs import missing_program, run_program, version_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus

SEARCH = "probe search --format=json --allow-tests --no-gitignore --no-merge".split()
SPARE = 4
"""Times as many results as wanted: which of equal ones are cut off varies between runs."""


class Probe(Retriever):
    """One `probe search` for any word of the question; its blocks by score, then by place."""

    def __init__(self, reranker: Literal["bm25", "hybrid", "hybrid2", "tfidf"] = "bm25") -> None:
        self.version = version_of("probe", "--version")
        self.reranker = reranker
        self.root = Path()

    @classmethod
    def missing(cls) -> str | None:
        return missing_program("probe", "npm install -g @probelabs/probe")

    def index(self, corpus: Corpus) -> None:
        self.root = corpus.path

    def search(self, text: str, k: int) -> Sequence[Hit]:
        words = keywords(text)
        if not words:
            return []
        query = " OR ".join(words)  # lower-case words: nothing of its query language is left
        asked = (f"--reranker={self.reranker}", f"--max-results={k * SPARE}")
        printed = run_program(
            [*SEARCH, *asked, "--", query, str(self.root)],
            cwd=Path.cwd(),
            good=(0,),
        ).decode("utf-8", "replace")
        start = printed.find("{")  # it may say something before
        rows = json.loads(printed[start:])["results"] if start >= 0 else []
        # What scores nothing is there by chance: which blocks these are varies between runs.
        found = {hit for hit in map(_hit, rows) if hit.score}
        return sorted(found, key=lambda hit: (-(hit.score or 0), hit.path, hit.start_line))[:k]


def _hit(row: dict[str, Any]) -> Hit:
    start, end = row["lines"]
    return Hit(row["file"], start, max(start, end), None, float(row.get("score") or 0.0))
