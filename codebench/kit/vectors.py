"""Nearest vectors by cosine, and the best of many scores; ties go by place."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

How = Literal["exact", "approximate"]

ANN_PACKAGE = "usearch"
_SPARE = 2


def best(scores: Any, k: int, above: float = 0.0) -> list[tuple[int, float]]:
    """Return (position, score) of the k highest scores above a limit, equal ones by position.

    Args:
        scores: (n,) numbers.
        k: how many are wanted.
        above: what a score must exceed.
    """
    import numpy as np  # noqa: PLC0415  # heavy; it comes with an index

    if len(scores) > k:
        least = np.partition(scores, -k)[-k]
        found = np.flatnonzero((scores >= least) & (scores > above))
    else:
        found = np.flatnonzero(scores > above)
    chosen = found[np.argsort(-scores[found], kind="stable")][:k]
    return [(int(at), float(scores[at])) for at in chosen]


class Nearest:
    """Vectors to be found by cosine.

    Args:
        vectors: (n, d); they are scaled to length 1, and those of length 0 are never found.
        how: `exact` compares with all of them; `approximate` by a graph (HNSW, usearch).
    """

    def __init__(self, vectors: Any, how: How = "exact") -> None:
        self._vectors = unit(vectors)
        self._graph: Any = None
        if how == "approximate" and len(self._vectors):
            import numpy as np  # noqa: PLC0415  # as above

            usearch: Any = import_module("usearch.index")
            self._graph = usearch.Index(ndim=self._vectors.shape[1], metric="ip", dtype="f32")
            # One thread: the graph depends on the order in which vectors come.
            self._graph.add(np.arange(len(self._vectors)), self._vectors, threads=1)

    def find(self, vector: Any, k: int) -> list[tuple[int, float]]:
        """Return (position, cosine) of at most k vectors, nearest first.

        Args:
            vector: (d,) of any length; nothing is near one of length 0.
            k: how many are wanted.
        """
        import numpy as np  # noqa: PLC0415  # as above

        if not len(self._vectors):
            return []
        query = unit(np.asarray(vector)[None, :])[0]
        if self._graph is None:
            return best(self._vectors @ query, k, above=1e-6)
        found = self._graph.search(query, min(len(self._vectors), k * _SPARE), threads=1)
        keys = np.sort(np.asarray(found.keys).astype(np.int64))
        cosines = self._vectors[keys] @ query
        return [(int(keys[at]), cosine) for at, cosine in best(cosines, k, above=1e-6)]

    @property
    def size(self) -> int:
        """Bytes of the vectors, and of the graph where there is one."""
        graph = 0 if self._graph is None else int(self._graph.memory_usage)
        return int(self._vectors.nbytes) + graph


def unit(vectors: Any) -> Floats:
    """Return (n, d) vectors scaled to length 1; those of length 0, or not finite, are zeros."""
    import numpy as np  # noqa: PLC0415  # as above

    vectors = np.asarray(vectors, dtype=np.float32)
    vectors = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, np.float32(0))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Floats = vectors / np.where(lengths > 0, lengths, np.float32(1))
    return scaled
