"""Vectors of texts from an OpenAI-compatible service, kept by what they were made of."""

from __future__ import annotations

import hashlib
import sqlite3
from functools import partial
from typing import TYPE_CHECKING, Any

from codebench.protocols.output import ToolError, as_json
from codebench.protocols.web import patiently
from codebench.reading import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from codebench.protocols.web import Service

    Matrix = NDArray[np.float32]


class Embedder:
    """Asks a service for vectors.

    Args:
        service: where it is.
        url: its `/v1/embeddings`.
        model: by name.
        dimensions: asked for; 0 for the model's own.
    """

    def __init__(self, service: Service, url: str, model: str, dimensions: int = 0) -> None:
        self._service = service
        self._url = url
        self._body: dict[str, Any] = {"model": model, "encoding_format": "float"}
        if dimensions:
            self._body["dimensions"] = dimensions

    def vectors(self, texts: Sequence[str]) -> Matrix:
        """Return one vector of length 1 a text, in the order of the texts: (texts, dimensions).

        Raises:
            RateLimited: the service wants to be left alone for a while.
            ToolError: it fails, or replies with something else.
        """
        import json  # noqa: PLC0415

        import numpy as np  # noqa: PLC0415  # heavy

        body = as_json({**self._body, "input": list(texts)}).encode()
        data = self._service.ask("POST", self._url, body, "application/json")
        try:
            rows = json.loads(data)["data"]
            ordered: list[Any] = [None] * len(texts)
            for place, row in enumerate(rows):
                ordered[row.get("index", place)] = row["embedding"]
            matrix = np.asarray(ordered, dtype=np.float32)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
            said = data[:200].decode("utf-8", "replace")
            raise ToolError(f"it replies with no embeddings: {shown(said)}") from None
        if matrix.ndim != 2 or len(rows) != len(texts) or not np.isfinite(matrix).all():
            raise ToolError(f"it replies with {len(rows)} embeddings for {len(texts)} texts")
        return unit(matrix)

    def in_batches(self, texts: Sequence[str], batch: int) -> Iterator[Matrix]:
        """Yield vectors batch by batch, waiting where the service asks for it."""
        for start in range(0, len(texts), batch):
            some = texts[start : start + batch]
            yield patiently(partial(self.vectors, some))


def unit(matrix: Matrix) -> Matrix:
    """Return rows scaled to length 1; a row of zeros stays."""
    import numpy as np  # noqa: PLC0415

    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled: Matrix = (matrix / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


class VectorCache:
    """Vectors in a SQLite file, by digest of the text and of what made them.

    Args:
        file: where; its folder is made.
        maker: what else a vector hangs on (service, model, dimensions).
    """

    def __init__(self, file: Path, maker: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._base = sqlite3.connect(file, timeout=60, isolation_level=None)
        self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )
        self._maker = maker

    def all(self, texts: Sequence[str], make: Callable[[list[str]], Iterator[Matrix]]) -> Matrix:
        """Return a vector a text; those that are not kept are made once, and kept."""
        import numpy as np  # noqa: PLC0415

        keys = [hashlib.sha256(f"{self._maker}\0{text}".encode()).digest() for text in texts]
        wanted: dict[bytes, str] = {}
        found: dict[bytes, Matrix] = {}
        for key, text in zip(keys, texts, strict=True):
            row = self._base.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is None or not isinstance(row[0], bytes) or not row[0] or len(row[0]) % 4:
                wanted[key] = text
            else:
                found[key] = np.frombuffer(row[0], dtype=np.float32)
        left = iter(wanted)
        for made in make(list(wanted.values())):
            rows = [(next(left), vector) for vector in made]
            self._base.execute("BEGIN")
            self._base.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [(key, vector.tobytes()) for key, vector in rows],
            )
            self._base.execute("COMMIT")
            found |= dict(rows)
        if len({len(vector) for vector in found.values()}) > 1:
            raise ToolError("the service's vectors have several lengths")
        return np.stack([found[key] for key in keys])

    def close(self) -> None:
        """Close the file."""
        self._base.close()
