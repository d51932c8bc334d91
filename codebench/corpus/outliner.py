"""Blobs -> file tables: from the cache where they are known, else parsed, on all cores."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

from codebench.corpus.chunks import CHUNKER_VERSION, Outline, file_table_of, outline
from codebench.corpus.languages import language_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import Self

    from codebench.corpus.cache import ChunkCache
    from codebench.model import FileTable

MAX_BYTES = 1 << 20
"""A larger file is data or generated: it is no part of a corpus and gives no gold."""

_POOL_FROM_BYTES = 2_000_000
"""Starting workers costs about as much as parsing this much."""


class Outliner:
    """Turns blobs into outlines, each once.

    Args:
        cache: where outlines are kept between runs.
        jobs: processes that parse; None for one a core.
    """

    def __init__(self, cache: ChunkCache, jobs: int | None = None) -> None:
        self._cache = cache
        self._jobs = jobs or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        """Return itself; the pool starts when there is enough to parse."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the pool."""
        if self._pool is not None:
            self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def known(self, blobs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Outline]:
        """Return the outlines that the cache holds, by (blob ID, language)."""
        keys = {_key(*blob): blob for blob in blobs}
        found = self._cache.get(keys)
        return {keys[key]: Outline.from_row(row) for key, row in found.items()}

    def parse(
        self, contents: Iterable[tuple[tuple[str, str], bytes]]
    ) -> Iterator[tuple[tuple[str, str], Outline]]:
        """Parse contents given as ((blob ID, language), bytes), and keep the outlines."""
        batch: list[tuple[tuple[str, str], bytes]] = []
        size = 0
        for blob, data in contents:
            batch.append((blob, data))
            size += len(data)
            if size > 8 * _POOL_FROM_BYTES:
                yield from self._parse_batch(batch, size)
                batch, size = [], 0
        yield from self._parse_batch(batch, size)

    def _parse_batch(
        self, batch: list[tuple[tuple[str, str], bytes]], size: int
    ) -> Iterator[tuple[tuple[str, str], Outline]]:
        work = [(language, data) for (_, language), data in batch]
        rows: Iterable[object]
        if self._jobs == 1 or (self._pool is None and size < _POOL_FROM_BYTES):
            rows = map(_outline_row, work)
        else:
            # A forked worker would inherit, and keep open, the pipes to git.
            context = get_context("spawn")
            self._pool = self._pool or ProcessPoolExecutor(self._jobs, mp_context=context)
            rows = self._pool.map(_outline_row, work, chunksize=max(1, min(32, len(work) // 8)))
        named = {blob: row for (blob, _), row in zip(batch, rows, strict=True)}
        self._cache.put({_key(*blob): row for blob, row in named.items()})
        for blob, row in named.items():
            yield blob, Outline.from_row(row)


def tables_of(
    files: Mapping[str, str], outlines: Mapping[tuple[str, str], Outline]
) -> dict[str, FileTable]:
    """Return the tables of files (path -> blob ID) whose outlines are known."""
    return {
        path: file_table_of(path, outlines[blob, language_of(path)])
        for path, blob in files.items()
        if (blob, language_of(path)) in outlines
    }


def _key(blob: str, language: str) -> str:
    return f"{CHUNKER_VERSION}:{language}:{blob}"


def _outline_row(work: tuple[str, bytes]) -> object:
    return outline(*work).row()
