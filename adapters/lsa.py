"""Latent semantic analysis: vectors from the corpus itself, no model and no network."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.keywords import tokens
from codebench.kit.passages import By, Passage, check_windows, passages
from codebench.kit.vectors import Nearest, unit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codebench import Corpus

ROUNDS = 3
"""Of the power iteration: more sharpen the smallest directions only."""

SPARE = 16
BLOCK = 200_000
"""Numbers of the matrix that are multiplied at a time."""


class Lsa(Retriever):
    """TF-IDF over chunks, reduced by a truncated SVD (numpy): a semantic baseline, no weights.

    Deerwester et al. (1990); the SVD is randomised (Halko et al., 2011) with a fixed seed.
    """

    version = "1"

    def __init__(
        self, dimensions: int = 128, by: By = "chunks", lines: int = 40, overlap: int = 10
    ) -> None:
        if dimensions < 1:
            raise ValueError("dimensions is at least 1")
        check_windows(lines, overlap)
        self.dimensions = dimensions
        self.cut = (by, lines, overlap)
        self.passages: list[Passage] = []
        self.near: Nearest | None = None

    def index(self, corpus: Corpus) -> None:
        import numpy as np  # noqa: PLC0415  # heavy: it belongs to the index's time

        self.passages = passages(corpus, *self.cut)
        counts = [Counter(tokens(passage.text)) for passage in self.passages]
        held = Counter(word for one in counts for word in one)
        self.words = {word: at for at, word in enumerate(sorted(held))}
        total = len(counts)
        self.rare = {word: 1 + math.log(total / count) for word, count in held.items()}
        rows = np.repeat(np.arange(total), [len(one) for one in counts])
        columns = np.array([self.words[word] for one in counts for word in one], np.int64)
        values = np.array([v for one in counts for v in self._weights(one)], np.float32)
        shape = (total, len(self.words))
        self.near, self.axes = None, np.zeros((len(self.words), 0), np.float32)
        if len(values):
            places, self.axes = _reduced(rows, columns, values, shape, self.dimensions)
            self.near = Nearest(places)

    def _weights(self, counts: Counter[str]) -> list[float]:
        """Return the TF-IDF of each word of a text, the whole of length 1."""
        own = [(1 + math.log(count)) * self.rare[word] for word, count in counts.items()]
        length = math.sqrt(sum(value * value for value in own))
        return [value / length for value in own]

    def search(self, text: str, k: int) -> Sequence[Hit]:
        known = Counter(word for word in tokens(text) if word in self.words)
        if not known or self.near is None:
            return []
        rows = [self.words[word] for word in known]
        query = self._weights(known) @ self.axes[rows]
        return [self.passages[at].hit(cosine) for at, cosine in self.near.find(query, k)]

    def index_bytes(self) -> int | None:
        return 0 if self.near is None else self.near.size + int(self.axes.nbytes)


def _reduced(
    rows: Any, columns: Any, values: Any, shape: tuple[int, int], dimensions: int
) -> tuple[Any, Any]:
    """Return (n, r) places of the n texts and (m, r) axes of the m words."""
    import numpy as np  # noqa: PLC0415  # as above

    forward = _product(rows, columns, values, shape[0])
    order = np.argsort(columns, kind="stable")
    backward = _product(columns[order], rows[order], values[order], shape[1])
    width = min(dimensions + SPARE, *shape)
    start = np.random.default_rng(0).standard_normal((shape[1], width)).astype(np.float32)
    basis = _directions(forward(start))
    for _ in range(ROUNDS):
        basis = _directions(forward(_directions(backward(basis))))
    axes = _directions(backward(basis))[:, :dimensions]
    return unit(forward(axes)), axes


def _directions(tall: Any) -> Any:
    """Return an orthonormal basis of the columns' space, the most important direction first.

    By the eigenvectors of the small product of the matrix with itself: numpy's own QR waits for
    its threads at each column, which on a busy machine takes many times as long.
    """
    import numpy as np  # noqa: PLC0415  # as above

    squares, turns = np.linalg.eigh((tall.T @ tall).astype(np.float64))
    good = np.flatnonzero(squares > squares[-1] * 1e-6)[::-1]
    return (tall @ (turns[:, good] / np.sqrt(squares[good]))).astype(np.float32)


def _product(rows: Any, columns: Any, values: Any, height: int) -> Callable[[Any], Any]:
    """Return the product of a sparse matrix, given by sorted rows, with a dense one."""
    import numpy as np  # noqa: PLC0415  # as above

    starts = np.searchsorted(rows, np.arange(height + 1))

    def product(dense: Any) -> Any:
        out = np.zeros((height, dense.shape[1]), np.float32)
        first = 0
        while first < height:
            last = int(np.searchsorted(starts, starts[first] + BLOCK, "right")) - 1
            last = min(height, max(first + 1, last))
            low, high = int(starts[first]), int(starts[last])
            filled = np.flatnonzero(np.diff(starts[first : last + 1])) + first
            if len(filled):
                terms = values[low:high, None] * dense[columns[low:high]]
                out[filled] = np.add.reduceat(terms, starts[filled] - low, axis=0)
            first = last
        return out

    return product
