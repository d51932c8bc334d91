"""The columns of a sealed run, believed only beside the files that they were made from."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from codebench.errors import InputError, ResultsError
from codebench.lazy import Lazy
from codebench.reading import Faults, open_file
from codebench.results.layout import ASKED, COLUMNS, PACKED, SUITE, TABLES, columns_file, raw_file
from codebench.results.rows import Rows, read_answers, take

if TYPE_CHECKING:
    from codebench.measures.columns import Asked
    from codebench.model import Answer, Candidate
    from codebench.results.retriever import RetrieverRun


_HEAD = "suite.yaml"
_MAX_HEAD = 1 << 20


class Stored:
    """The columns of a run folder, as far as they can be believed."""

    def __init__(self, path: Path, depth: int) -> None:
        self.path = path
        self.depth = depth

    @cached_property
    def key(self) -> str:
        """What they hang on."""
        return columns_key(self.path, self.depth)

    @cached_property
    def asked(self) -> Asked | None:
        """The queries; None where they cannot be believed."""
        from codebench.measures.columns import read_asked  # noqa: PLC0415  # it needs numpy

        return read_asked(self.path / COLUMNS / ASKED, self.key)

    def retriever(self, candidate: Candidate, file: str) -> RetrieverRun | None:
        """Return what a retriever did; None where its raw rows must be read."""
        raw = raw_file(self.path, file)
        place = columns_file(self.path, file)
        if raw.suffix != PACKED or not place.exists() or self.asked is None:
            return None
        from codebench.measures.columns import read_columns  # noqa: PLC0415

        key = answers_key(self.key, raw)
        columns = read_columns(place, key, len(self.asked.queries))
        if columns is None:
            return None
        rows, faults = Rows(), Faults(place)
        try:
            for number, row in enumerate(columns.about["rows"], start=1):
                take(row, rows, faults, number)
        except InputError:
            return None
        if faults.found:
            return None
        rows.first_ns = columns.about["first_ns"]
        answers = _answers(raw, candidate, len(columns.query)) if len(columns.query) else ()
        return rows.retriever(candidate, cast("tuple[Answer, ...]", answers), columns)


def _answers(path: Path, candidate: Candidate, count: int) -> Lazy[Answer]:
    def read() -> tuple[Answer, ...]:
        faults = Faults(path)
        found = read_answers(path, candidate, faults).answers
        faults.check()
        if len(found) != count:
            raise ResultsError(f"{path}: was changed while it was read; read it again")
        return tuple(found)

    return Lazy(count, read)


def columns_key(path: Path, depth: int) -> str:
    """Return what all columns of a run hang on: the suite, the tables, the depth and the rules."""
    from codebench import grading  # noqa: PLC0415  # its text is its version
    from codebench.measures import columns  # noqa: PLC0415

    digest = hashlib.sha256(f"{depth}".encode())
    suite = sorted((path / SUITE).glob("*.*"))
    rules = sorted(Path(grading.__file__).parent.glob("*.py"))
    for file in (*suite, path / TABLES, *rules, Path(columns.__file__)):
        own = _head_digest(file) if file.name == _HEAD else file_digest(file)
        digest.update(own.encode())
    return digest.hexdigest()


def _head_digest(file: Path) -> str:
    """Return the SHA-256 of a `suite.yaml` but for its repository, which no column hangs on.

    An accepted run is a copy that names it by another way.
    """
    try:
        with open_file(file) as opened:
            head = opened.read(_MAX_HEAD)
    except OSError:
        return ""
    if len(head) == _MAX_HEAD:
        return file_digest(file)
    kept = [line for line in head.splitlines() if not line.startswith(b"repository:")]
    return hashlib.sha256(b"\n".join(kept)).hexdigest()


def answers_key(key: str, raw: Path) -> str:
    """Return what one retriever's columns hang on: those of the run, and its answers."""
    return hashlib.sha256(f"{key} {file_digest(raw)}".encode()).hexdigest()


def file_digest(file: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal; empty where it cannot be read."""
    try:
        with open_file(file) as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""
