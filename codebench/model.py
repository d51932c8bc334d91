"""The nouns: frozen dataclasses without behaviour beyond their own arithmetic.

Lines are 1-based and inclusive. Paths are relative to the corpus root, with `/`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

MODULE = "<module>"
"""Qualified name of the chunk that owns a file's own top-level lines."""

Status = Literal["ok", "timeout", "crashed", "error", "invalid_output"]
STATUSES: tuple[Status, ...] = ("ok", "timeout", "crashed", "error", "invalid_output")

NO_TAGS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a retriever: a path, and what it points at inside it where known."""

    path: str
    start_line: int | None = None
    end_line: int | None = None
    symbol: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A named definition, a file's own top-level lines, or a text file as a whole.

    Attributes:
        path: the file.
        name: qualified name with dots (`Class.method`); `<module>` for a file's own lines;
            empty for a file as a whole.
        ordinal: 1, or 2, 3, … for a name that the file repeats, in file order.
        kind: function, method, class, type, constant, variable, module or file.
        spans: the chunk's own lines: sorted, disjoint (start, end) pairs; lines of a chunk
            inside it are not among them.
        fingerprint: digest of its own tokens (members cut out; comments, docstrings and
            layout ignored).
        masked: the same with its own name masked, so that a rename keeps it.
        size: bytes of the normalised own tokens.
    """

    path: str
    name: str
    ordinal: int
    kind: str
    spans: tuple[tuple[int, int], ...]
    fingerprint: str
    masked: str
    size: int

    @property
    def id(self) -> str:
        """`path::Qualified.name[~n]`, or `path` alone for a file as a whole."""
        if not self.name:
            return self.path
        repeat = f"~{self.ordinal}" if self.ordinal > 1 else ""
        return f"{self.path}::{self.name}{repeat}"

    @property
    def start_line(self) -> int:
        """First own line."""
        return self.spans[0][0]

    @property
    def end_line(self) -> int:
        """Last own line."""
        return self.spans[-1][1]

    @property
    def line_count(self) -> int:
        """How many lines are the chunk's own."""
        return sum(end - start + 1 for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class FileTable:
    """What is known of one corpus file: its lines' sizes and its chunks.

    Attributes:
        path: the file.
        language: `python`, `go`, …; empty for a text that is not parsed.
        line_bytes: bytes of each line, its newline included; their sum is the file's size.
        chunks: in file order; never empty unless the file has no line.
        sound: False where the parser met a syntax error: its chunks deserve less trust.
    """

    path: str
    language: str
    line_bytes: tuple[int, ...]
    chunks: tuple[Chunk, ...]
    sound: bool = True


@dataclass(frozen=True)
class Corpus:
    """A read-only directory of text files, as a retriever sees it.

    Attributes:
        path: the directory; it holds no `.git`.
        digest: `sha256:…` of its paths and contents.
        tables: one table a file, sorted by path.
    """

    path: Path
    digest: str
    tables: tuple[FileTable, ...] = field(repr=False)

    def chunks(self) -> Iterator[Chunk]:
        """Every chunk, file by file, in file order."""
        for table in self.tables:
            yield from table.chunks

    def text(self, chunk: Chunk) -> str:
        """Return the chunk's own lines as text (undecodable bytes replaced); for files: `lines`."""
        if not isinstance(chunk, Chunk):
            raise TypeError(
                f"corpus.text() takes a chunk of corpus.chunks(), not a {type(chunk).__name__}; "
                "the text of a file is ''.join(corpus.lines(path))"
            )
        lines = self.lines(chunk.path)
        return "".join(line for start, end in chunk.spans for line in lines[start - 1 : end])

    def lines(self, path: str) -> list[str]:
        """Return a file's lines, newlines kept. Only a line feed ends a line."""
        text = (self.path / path).read_bytes().decode("utf-8", "replace")
        lines = text.split("\n")
        tail = lines.pop()
        return [line + "\n" for line in lines] + ([tail] if tail else [])

    @cached_property
    def by_path(self) -> Mapping[str, FileTable]:
        """Tables by path."""
        return {table.path: table for table in self.tables}


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that answers a query.

    Attributes:
        path: the file (or the imported document's ID).
        chunk: a chunk ID; equal to `path` when the target is the whole file or a document.
        grade: 3 for an exact symbol.
        weight: what it is worth to `Value@K`.
        document: True for an imported document: it has no file or module level.
        fingerprint, masked: of the chunk in the snapshot, so that it can be found again.
    """

    path: str
    chunk: str
    grade: int = 3
    weight: float = 1.0
    document: bool = False
    fingerprint: str = ""
    masked: str = ""


@dataclass(frozen=True, slots=True)
class Related:
    """A module that is related to one target file (it belongs to that file only).

    Attributes:
        path: the related file.
        of: the target file.
        score: import neighbour 1, same small package 1, co-changed 2; summed.
        flags: why: `import`, `package`, `co-change`, and `test` for the target's own test file.
    """

    path: str
    of: str
    score: int
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """An information need with its gold.

    Attributes:
        id: unique in the suite.
        text: what a retriever is asked.
        source: `history`, `log`, `trajectory`, `question`, `import`.
        origin: where exactly it came from (a commit, a log event, a document).
        time: ISO 8601 with offset, or empty.
        weight: 1 unless clustered or logged.
        tags: strata by which a report can be cut.
        targets: at least one in a suite.
        related: the modules of level 1.
        not_relevant: chunk IDs or paths that somebody judged 0.
    """

    id: str
    text: str
    targets: tuple[Target, ...]
    source: str = "question"
    origin: str = ""
    time: str = ""
    weight: float = 1.0
    tags: Mapping[str, str] = field(default_factory=lambda: NO_TAGS)
    related: tuple[Related, ...] = ()
    not_relevant: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """A named set of queries with their gold, and the snapshot that they are asked of.

    Attributes:
        name: for people; not part of the digest.
        repository: a path or URL, or a folder beside `suite.yaml` (`corpus`) for a pinned
            directory; not part of the digest.
        snapshot: the commit, or empty for a pinned directory.
        corpus_digest: `sha256:…` of the corpus that the queries are asked of.
        queries: sorted by ID.
        recipe: how it was built; data, for a reader.
        funnel: how many candidates each filter took, in the order in which they ran.
    """

    name: str
    repository: str
    snapshot: str
    corpus_digest: str
    queries: Sequence[Query]
    recipe: Mapping[str, Any] = field(default_factory=dict)
    funnel: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A retriever's hits for one query, once.

    Attributes:
        query: the query's ID.
        status: `ok`, or how it failed.
        hits: best first, at most the run's depth; empty unless `ok`.
        latency_ns: of `search` alone, inside the worker; the limit for a timeout;
            None where nothing could be timed.
        repeat: 0 for the answer that is scored; later ones are for latency.
        error: one line, for a person.
        repairs: what was mended in the output, by kind, e.g. {"cut to depth": 3}.
        waited_ns: how long a service that refused for a while was waited for, beside the latency.
        server_ns: what a service said that the search took it.
    """

    query: str
    status: Status
    hits: tuple[Hit, ...] = ()
    latency_ns: int | None = None
    repeat: int = 0
    error: str = ""
    repairs: Mapping[str, int] = field(default_factory=dict)
    waited_ns: int = 0
    server_ns: int | None = None


@dataclass(frozen=True, slots=True)
class IndexCost:
    """What it took before the first query could be asked.

    Attributes:
        start_seconds: from the start of the process until the adapter was made.
        seconds: wall time of `index`.
        cpu_seconds: user and system time of the worker's process tree during `index`.
        peak_rss_bytes: largest resident memory of the worker's process tree during `index`, as
            sampled, and at least the worker's own (which is exact); pages that processes share
            count in each of them.
        bytes: size of the index where the adapter tells it, or of what it wrote.
        built_seconds: where a kept index was taken up in `seconds`: what building it took then.
    """

    start_seconds: float
    seconds: float
    cpu_seconds: float
    peak_rss_bytes: int
    bytes: int | None = None
    built_seconds: float | None = None

    @property
    def to_build(self) -> float:
        """Seconds that building the index took, now or when it was kept."""
        return self.seconds if self.built_seconds is None else self.built_seconds


@dataclass(frozen=True, slots=True)
class Candidate:
    """A retriever as it was asked for: what identifies it.

    Attributes:
        name: as the report prints it, e.g. `bm25:k1=1.2`.
        reference: built-in name, `file.py:Class`, or the entry point's name.
        options: keyword arguments of its constructor, sorted by name.
        version: what the adapter says of itself.
        digest: `sha256:…` of the adapter's file.
        floor: True for a reference row that the harness itself answers.
        file: the retrievers file that it was read from, absolute, or empty. Not part of what
            identifies it.
        sweep: the sweep that it is a point of, as `bm25 over k1`, or empty.
        beside: references that its adapter wants as rows of the same run.
    """

    name: str
    reference: str
    options: tuple[tuple[str, Any], ...] = ()
    version: str = ""
    digest: str = ""
    floor: bool = False
    file: str = field(default="", compare=False)
    sweep: str = field(default="", compare=False)
    beside: tuple[str, ...] = field(default=(), compare=False)
