"""The null retriever: what the harness itself costs.

It is asked in every run, in the same way as all others; what it takes is the harness's share of
every other figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.adapter import Retriever
from codebench.model import Hit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.model import Corpus


class Null(Retriever):
    """Returns the same hits to every query, made beforehand.

    Args:
        hits: how many.
    """

    version = "1"

    def __init__(self, hits: int = 10) -> None:
        self._count = hits
        self._hits: list[Hit] = []

    def index(self, corpus: Corpus) -> None:
        """Make the hits: the corpus's first chunks, over and over."""
        chunks = list(corpus.chunks())
        self._hits = [
            Hit(chunk.path, chunk.start_line, chunk.end_line, chunk.name or None, 1.0)
            for chunk in (chunks * (self._count // max(1, len(chunks)) + 1))[: self._count]
        ]

    def search(self, text: str, k: int) -> Sequence[Hit]:  # noqa: ARG002  # it reads nothing
        """Return the hits."""
        return self._hits
