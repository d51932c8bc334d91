"""SQLite's trigram index: parts of words, as a substring search finds them, ranked by BM25."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from codebench import Hit, Retriever
from codebench.keywords import keywords
from codebench.kit.passages import Passage, passages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus


class Fts5Trigram(Retriever):
    """SQLite FTS5's trigrams over chunks: the question's words anywhere, inside names too."""

    def __init__(self) -> None:
        self.version = f"1, SQLite {sqlite3.sqlite_version}"
        self.passages: list[Passage] = []
        self.base: sqlite3.Connection | None = None

    @classmethod
    def missing(cls) -> str | None:
        if sqlite3.sqlite_version_info < (3, 34):
            return f"SQLite {sqlite3.sqlite_version} has no trigrams; take a Python with 3.34"
        return None

    def index(self, corpus: Corpus) -> None:
        self.close()
        self.passages = passages(corpus)
        self.base = sqlite3.connect(":memory:")
        self.base.execute("CREATE VIRTUAL TABLE texts USING fts5(body, tokenize='trigram')")
        texts = ((one.text.replace("\0", " "),) for one in self.passages)
        self.base.executemany("INSERT INTO texts VALUES (?)", texts)

    def search(self, text: str, k: int) -> Sequence[Hit]:
        words = [word for word in keywords(text) if len(word) >= 3]  # fewer have no trigram
        if not words or self.base is None:
            return []
        rows = self.base.execute(
            "SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), k),
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
