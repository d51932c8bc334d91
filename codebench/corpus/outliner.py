"""Blobs -> file tables: from the cache where they are known, else parsed, on all cores."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
import zlib
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TYPE_CHECKING

from codebench.corpus.chunks import CHUNKER_VERSION, Outline, file_table_of, outline, unparsed
from codebench.corpus.languages import language_of
from codebench.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future
    from typing import Self

    from codebench.corpus.cache import ChunkCache
    from codebench.model import FileTable

    Blob = tuple[str, str]
    Content = tuple[Blob, bytes]
    Rows = Callable[[Sequence[tuple[str, bytes]]], list[bytes]]

_GROUP_BYTES = 500_000
"""What a worker is given at once. Versions of a file that come together are read fastest."""

_GROUPS_PER_POOL = 200
"""Workers are replaced after so many groups: what a parser has freed, its process still holds."""

_MEMORY = 4 << 30
"""Bytes of address space a worker may have: a file made to burst a parser ends that worker."""


CPU_SECONDS = 30.0
"""Of the processor, for one file; the slowest real ones take one or two."""


class Outliner:
    """Turns blobs into outlines, each once.

    Args:
        cache: where outlines are kept between runs.
        jobs: processes that parse; None for one a core; 1 parses in this process, where a file
            made to crash a parser is not held off.
        rows: what a worker does with (language, bytes) pairs; tests give one that dies.
    """

    def __init__(
        self, cache: ChunkCache, jobs: int | None = None, rows: Rows | None = None
    ) -> None:
        self._cache = cache
        self._rows = rows or outline_rows
        self._jobs = jobs or max(2, os.cpu_count() or 1)
        self._pool: ProcessPoolExecutor | None = None
        self._submitted = 0

    def __enter__(self) -> Self:
        """Return itself; the pool starts when there is something to parse."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the pool."""
        if self._pool is not None:
            # The interpreter waits for them anyway, and complains where they have gone by then.
            self._pool.shutdown(cancel_futures=True)

    def known(self, blobs: Iterable[Blob]) -> dict[Blob, Outline]:
        """Return the outlines that the cache holds, by (blob ID, language)."""
        keys = {_key(*blob): blob for blob in blobs}
        found = {}
        for key, row in self._cache.get(keys).items():
            with contextlib.suppress(ValueError):  # it is parsed again
                found[keys[key]] = Outline.from_row(row)
        return found

    def parse(self, contents: Iterable[Content]) -> Iterator[tuple[Blob, Outline]]:
        """Parse contents given as ((blob ID, language), bytes), and keep the outlines.

        While workers parse, the next contents are read.
        """
        waiting: deque[tuple[list[Content], Future[list[bytes]] | None]] = deque()
        for group in _groups(contents):
            if self._submitted >= _GROUPS_PER_POOL:
                while waiting:
                    yield from self._finish(*waiting.popleft())
                self._replace_pool()
            waiting.append((group, self._submit(group)))
            if len(waiting) > 2 * self._jobs:
                yield from self._finish(*waiting.popleft())
        while waiting:
            yield from self._finish(*waiting.popleft())

    def _submit(self, group: Sequence[Content]) -> Future[list[bytes]] | None:
        if self._jobs == 1:
            return None
        if self._pool is None:
            # A forked worker would inherit, and keep open, the pipes to git.
            self._pool = _pool(self._jobs)
        self._submitted += 1
        try:
            return self._pool.submit(_within, CPU_SECONDS, self._rows, _work(group))
        except BrokenProcessPool:
            return None

    def _replace_pool(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False)
        self._pool = None
        self._submitted = 0

    def _finish(
        self, group: Sequence[Content], future: Future[list[bytes]] | None
    ) -> Iterator[tuple[Blob, Outline]]:
        if self._jobs == 1:
            packed = self._rows(_work(group))
        else:
            try:
                packed = future.result() if future is not None else self._carefully(group)
            except BrokenProcessPool:
                packed = self._carefully(group)
        blobs = [blob for blob, _ in group]
        # What ended its worker is tried again next time: it may have been the machine's fault.
        kept = {_key(*blob): row for blob, row in zip(blobs, packed, strict=True) if row}
        self._cache.put_packed(kept)
        for (blob, data), row in zip(group, packed, strict=True):
            found = Outline.from_row(json.loads(zlib.decompress(row))) if row else unparsed(data)
            yield blob, found

    def _carefully(self, group: Sequence[Content]) -> list[bytes]:
        """Parse file by file in workers of their own; nothing for one that ends its worker.

        Raises:
            CorpusError: workers cannot be started at all.
        """
        self._pool = None
        packed = []
        pool = _pool(1)
        for content in group:
            try:
                work = _work([content])
                packed += pool.submit(_within, CPU_SECONDS, self._rows, work).result()
            except BrokenProcessPool:
                packed.append(b"")
                pool = _pool(1)
                _check_start(pool)
        pool.shutdown(wait=False)
        return packed


def tables_of(files: Mapping[str, str], outlines: Mapping[Blob, Outline]) -> dict[str, FileTable]:
    """Return the tables of files (path -> blob ID) whose outlines are known."""
    return {
        path: file_table_of(path, outlines[blob, language_of(path)])
        for path, blob in files.items()
        if (blob, language_of(path)) in outlines
    }


def _groups(contents: Iterable[Content]) -> Iterator[list[Content]]:
    group: list[Content] = []
    size = 0
    for content in contents:
        group.append(content)
        size += len(content[1])
        if size > _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _key(blob: str, language: str) -> str:
    return f"{CHUNKER_VERSION}:{language}:{blob}"


def _work(group: Sequence[Content]) -> list[tuple[str, bytes]]:
    return [(language, data) for (_, language), data in group]


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        jobs,
        mp_context=get_context("spawn"),
        initializer=_prepare,
        initargs=(os.getpid(),),
    )


def _check_start(pool: ProcessPoolExecutor) -> None:
    try:
        pool.submit(outline_rows, [("", b"")]).result()
    except BrokenProcessPool:
        raise CorpusError(
            "the processes that parse files cannot be started; see what they printed above, or "
            "give them more memory"
        ) from None


def _prepare(parent: int) -> None:
    # Ctrl-C reaches the whole group; who started the workers ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  # not everywhere

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = _MEMORY if hard == resource.RLIM_INFINITY else min(_MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _end_with(parent: int) -> None:
    """End this worker when who started it was killed: nobody would ever ask it anything."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _within(seconds: float, rows: Rows, work: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """Do what a worker does; a file that takes longer of the processor ends the worker.

    The system ends it: a pattern or a parser that does not return heeds no handler of Python's.
    """
    if sys.platform == "win32":
        return rows(work)
    packed: list[bytes] = []
    for one in work:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        packed += rows([one])
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return packed


def outline_rows(work: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """Return the outline of each (language, bytes), as the cache keeps it."""
    return [_packed(outline(language, data)) for language, data in work]


def _packed(found: Outline) -> bytes:
    return zlib.compress(json.dumps(found.row(), separators=(",", ":")).encode(), 1)
