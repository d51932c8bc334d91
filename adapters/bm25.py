"""BM25 over chunks, in process, with identifiers split."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.keywords import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Chunk, Corpus


class Bm25(Retriever):
    """Lucene's BM25 by bm25s; a chunk's document is its path, its name and its own lines."""

    version = "1"

    def __init__(self, k1: float = 1.2, b: float = 0.75) -> None:
        if k1 < 0 or not 0 <= b <= 1:
            raise ValueError("k1 is at least 0, and b is from 0 to 1")
        self.k1 = k1
        self.b = b
        self.chunks: list[Chunk] = []
        self.model: Any = None

    @classmethod
    def missing(cls) -> str | None:
        if find_spec("bm25s") is None:
            return "the package bm25s is not installed; pip install bm25s"
        return None

    def index(self, corpus: Corpus) -> None:
        import bm25s  # noqa: PLC0415  # heavy: it belongs to the index's time

        documents = []
        for table in corpus.tables:
            lines = corpus.lines(table.path)
            for chunk in table.chunks:
                body = "".join("".join(lines[start - 1 : end]) for start, end in chunk.spans)
                documents.append(tokens(f"{chunk.path} {chunk.name}\n{body}"))
                self.chunks.append(chunk)
        if not any(documents):
            return
        self.model = bm25s.BM25(k1=self.k1, b=self.b, method="lucene", backend="numpy")
        self.model.index(documents, show_progress=False)

    def search(self, text: str, k: int) -> Sequence[Hit]:
        import numpy as np  # noqa: PLC0415  # it came with the index

        words = [word for word in tokens(text) if self.model and word in self.model.vocab_dict]
        if not words:
            return []
        scores = self.model.get_scores(words)
        if len(scores) > k:
            least = np.partition(scores, -k)[-k]
            found = np.flatnonzero(scores >= max(least, 1e-9))
        else:
            found = np.flatnonzero(scores > 0)
        best = found[np.argsort(-scores[found], kind="stable")][:k]  # ties in corpus order
        return [self._hit(self.chunks[number], float(scores[number])) for number in best]

    def index_bytes(self) -> int | None:
        if self.model is None:
            return 0
        return sum(int(self.model.scores[name].nbytes) for name in ("data", "indices", "indptr"))

    @staticmethod
    def _hit(chunk: Chunk, score: float) -> Hit:
        return Hit(chunk.path, chunk.start_line, chunk.end_line, chunk.name or None, score)
