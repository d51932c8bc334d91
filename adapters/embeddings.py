"""Any embedding model behind an OpenAI-compatible service, searched exactly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.protocols import templates
from codebench.protocols.output import ToolError, choice
from codebench.protocols.settings import Settings
from codebench.protocols.vectors import Embedder, VectorCache
from codebench.protocols.web import TIMEOUT_SECONDS, Service, read_headers, read_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codebench import Corpus

MAX_CHARACTERS = 8_000


class Embeddings(Retriever):
    """Vectors of chunks by a `/v1/embeddings` endpoint; the nearest by cosine, exactly.

    A chunk's text is its path, its name and its own lines, cut at `max_characters`; with
    `chunks: lines`, windows of so many lines. Equal scores stay in the order of the corpus.
    """

    concurrent = True

    def __init__(self, **options: Any) -> None:
        settings = Settings(options)
        fields = settings.fields
        self.url = read_request(fields).url
        self.model = fields.text("model", empty=False)
        self.headers = read_headers(fields)
        self.batch = fields.integer("batch", 64, low=1, high=10_000)
        self.dimensions = fields.integer("dimensions", 0, low=0, high=100_000)
        self.query_prefix = fields.text("query_prefix", "")
        self.document_prefix = fields.text("document_prefix", "")
        self.chunks = choice(fields, "chunks", "codebench", ("codebench", "lines"))
        self.window = fields.integer("window", 40, low=1, high=10_000)
        self.overlap = fields.integer("overlap", 0, low=0, high=10_000)
        self.most = fields.integer("max_characters", MAX_CHARACTERS, low=1, high=10_000_000)
        self.timeout = fields.number("timeout_seconds", TIMEOUT_SECONDS, above=0)
        self.authority = fields.text("ca_file", "")
        self.cache = fields.text("cache", "")
        if self.overlap >= self.window:
            fields.fault("overlap", "is not less than window", str(self.overlap))
        if templates.placeholders(self.url):
            fields.fault("url", "has a placeholder; the texts are sent in the body", self.url)
        settings.finish()
        self.version = settings.version() or self.model
        self.embedder: Embedder | None = None
        self.service: Service | None = None
        self.places: list[Hit] = []
        self.matrix: Any = None

    def index(self, corpus: Corpus) -> None:
        import numpy as np  # noqa: F401, PLC0415  # heavy: it belongs to the index's time

        self.close()
        self.service = Service(
            self.url, self.headers, timeout=self.timeout, authority=self.authority
        )
        self.embedder = embedder = Embedder(self.service, self.url, self.model, self.dimensions)
        documents = list(self._windows(corpus) if self.chunks == "lines" else _chunks(corpus))
        self.places = [place for place, _ in documents]
        texts = [self.document_prefix + text[: self.most] for _, text in documents]
        cache = VectorCache(self._cache_file(), f"{self.url}\0{self.model}\0{self.dimensions}")
        try:
            self.matrix = (
                cache.all(texts, lambda some: embedder.in_batches(some, self.batch))
                if texts
                else None
            )
        finally:
            cache.close()

    def search(self, text: str, k: int) -> Sequence[Hit]:
        import numpy as np  # noqa: PLC0415  # it came with the index

        if self.embedder is None:
            raise ToolError("it was not indexed")
        asked = templates.values(text, k, Path())["query"][: self.most]
        if self.matrix is None or not asked.strip():
            return []
        (vector,) = self.embedder.vectors([self.query_prefix + asked])
        if len(vector) != self.matrix.shape[1]:
            raise ToolError(f"the question's vector has {len(vector)} dimensions")
        scores = self.matrix @ vector
        least = np.partition(scores, -k)[-k] if len(scores) > k else scores.min()
        found = np.flatnonzero(scores >= least)
        best = found[np.argsort(-scores[found], kind="stable")][:k]
        places = [(self.places[number], float(scores[number])) for number in best]
        return [
            Hit(place.path, place.start_line, place.end_line, place.symbol, score)
            for place, score in places
        ]

    def update(self, corpus: Corpus, changed_paths: Sequence[str]) -> bool:  # noqa: ARG002
        self.index(corpus)  # the cache has the vectors of what did not change
        return True

    def index_bytes(self) -> int | None:
        return 0 if self.matrix is None else int(self.matrix.nbytes)

    def close(self) -> None:
        if self.service is not None:
            self.service.close()

    def _cache_file(self) -> Path:
        own = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        folder = Path(self.cache).expanduser() if self.cache else Path(own) / "codebench-vectors"
        return folder / "vectors.sqlite"

    def _windows(self, corpus: Corpus) -> Iterator[tuple[Hit, str]]:
        for table in corpus.tables:
            lines = corpus.lines(table.path)
            step = self.window - self.overlap
            for start in range(0, max(1, len(lines) - self.overlap), step):
                some = lines[start : start + self.window]
                if "".join(some).strip():
                    yield (
                        Hit(table.path, start + 1, start + len(some)),
                        table.path + "\n" + "".join(some),
                    )


def _chunks(corpus: Corpus) -> Iterator[tuple[Hit, str]]:
    for table in corpus.tables:
        lines = corpus.lines(table.path)
        for chunk in table.chunks:
            body = "".join("".join(lines[start - 1 : end]) for start, end in chunk.spans)
            place = Hit(chunk.path, chunk.start_line, chunk.end_line, chunk.name or None)
            yield place, f"{chunk.path} {chunk.name}\n{body}"
