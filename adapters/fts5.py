"""SQLite's own full-text index, with identifiers split: nothing to install."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from codebench import Hit, Retriever
from codebench.keywords import tokens
from codebench.kit.passages import Passage, passages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus

MOST_WORDS = 200
"""Of a question: SQLite bounds the size of an expression."""


class Fts5(Retriever):
    """SQLite FTS5 over chunks: BM25, the words of names and paths weighed apart."""

    def __init__(self, name_weight: float = 1.0) -> None:
        if name_weight < 0:
            raise ValueError("name_weight is at least 0")
        self.version = f"1, SQLite {sqlite3.sqlite_version}"
        self.name_weight = name_weight
        self.passages: list[Passage] = []
        self.base: sqlite3.Connection | None = None

    def index(self, corpus: Corpus) -> None:
        self.close()
        self.passages = passages(corpus)
        self.base = sqlite3.connect(":memory:")
        # What is indexed is split already: an underline stays inside a word.
        split = "tokenize=\"unicode61 remove_diacritics 0 tokenchars '_'\""
        self.base.execute(f"CREATE VIRTUAL TABLE texts USING fts5(name, body, {split})")
        self.base.executemany("INSERT INTO texts VALUES (?, ?)", map(_row, self.passages))

    def search(self, text: str, k: int) -> Sequence[Hit]:
        words = list(dict.fromkeys(tokens(text)))[:MOST_WORDS]
        if not words or self.base is None:
            return []
        rows = self.base.execute(
            "SELECT rowid, bm25(texts, ?, 1.0) AS score FROM texts WHERE texts MATCH ? "
            "ORDER BY score, rowid LIMIT ?",
            (self.name_weight, " OR ".join(f'"{word}"' for word in words), k),
        )
        return [self.passages[number - 1].hit(-score) for number, score in rows]

    def index_bytes(self) -> int | None:
        if self.base is None:
            return 0
        (pages,), (size,) = (
            self.base.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
        )
        return int(pages * size)

    def close(self) -> None:
        if self.base is not None:
            self.base.close()
            self.base = None


def _row(passage: Passage) -> tuple[str, str]:
    first, _, body = passage.text.partition("\n")
    return " ".join(tokens(first)), " ".join(tokens(body))
