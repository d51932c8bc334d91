"""Writing a run folder while the run goes on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from typing import IO, TYPE_CHECKING, Any

from codebench.corpus.tables import write_tables
from codebench.errors import ResultsError, SuiteError
from codebench.results import ANSWERS, FORMAT, MANIFEST, SUITE, TABLES, candidate_row
from codebench.suite import write_suite
from codebench.wire import hit_row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from codebench.model import Answer, Candidate, Corpus, IndexCost, Suite
    from codebench.results import State


def answer_row(answer: Answer, *, same: bool = False) -> dict[str, Any]:
    """Return an answer as JSON, without what equals its default.

    With `same` the hits are left out: they equal those of the query's repeat 0.
    """
    row: dict[str, Any] = {"kind": "answer", "query": answer.query}
    optional = {
        "repeat": answer.repeat,
        "status": answer.status if answer.status != "ok" else "",
        "latency_ns": answer.latency_ns,
        "same": same,
        "hits": [] if same else [hit_row(hit) for hit in answer.hits],
        "error": answer.error,
        "repairs": dict(answer.repairs),
    }
    return row | {
        name: value
        for name, value in optional.items()
        if value or (name == "latency_ns" and value == 0)
    }


class AnswerWriter:
    """Appends one retriever's rows, each flushed before the next query is asked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._scored: dict[str, int] = {}
        self._file: IO[bytes] | None = None
        self._length = 0

    def start(self, seconds: float) -> None:
        """Record that the retriever's process was started and its adapter made."""
        self._write({"kind": "start", "seconds": seconds})

    def index(self, cost: IndexCost) -> None:
        """Record what it took to be ready."""
        row: dict[str, Any] = {
            "kind": "index",
            "start_seconds": cost.start_seconds,
            "seconds": cost.seconds,
            "cpu_seconds": cost.cpu_seconds,
            "peak_rss_bytes": cost.peak_rss_bytes,
        }
        self._write(row if cost.bytes is None else {**row, "bytes": cost.bytes})

    def warmup(self, answer: Answer) -> None:
        """Record a query that only warmed the retriever up."""
        self._write({"kind": "warmup", "status": answer.status, "latency_ns": answer.latency_ns})

    def answer(self, answer: Answer) -> None:
        """Record an answer; a repeat with the hits of repeat 0 is written without them."""
        mark = hash(answer.hits)
        if answer.repeat == 0:
            self._scored[answer.query] = mark
        same = answer.repeat > 0 and bool(answer.hits) and self._scored.get(answer.query) == mark
        self._write(answer_row(answer, same=same))

    def end(self, state: State, reason: str = "") -> None:
        """Record how the retriever ended."""
        row = {"kind": "end", "state": state}
        self._write({**row, "reason": reason} if reason else row)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def _write(self, row: dict[str, Any]) -> None:
        data = json.dumps(row, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        try:
            if self._file is None:
                self._file = self.path.open("ab", buffering=0)
                self._length = self._file.tell()
            elif self._file.tell() != self._length:  # an interrupt tore the row before
                self._file.truncate(self._length)
            written = self._file.write(data)
            while written < len(data):
                written += self._file.write(data[written:])
            self._length += len(data)
        except OSError as error:
            if self._file is not None:  # a full disk can still cut the torn row off
                with contextlib.suppress(OSError):
                    self._file.truncate(self._length)
            raise ResultsError(f"{self.path}: cannot be written ({error.strerror})") from None


class RunWriter:
    """Writes a run folder: the manifest first, the answers as they come, the seal last.

    Attributes:
        path: the folder.
        manifest: what `manifest.json` holds.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest

    def answers(self, candidate: Candidate) -> AnswerWriter:
        """Return the writer of a candidate's rows."""
        return AnswerWriter(self.path / ANSWERS / safe_name(candidate.name))

    def save(self) -> None:
        """Write the manifest in one step.

        Raises:
            ResultsError: it cannot be written; the one before it is kept.
        """
        part = self.path / f"{MANIFEST}.part"
        text = json.dumps(self.manifest, indent=1, ensure_ascii=False, allow_nan=False)
        try:
            part.write_text(text + "\n", encoding="utf-8")
            os.replace(part, self.path / MANIFEST)  # noqa: PTH105  # the same call, one import less
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            where = self.path / MANIFEST
            raise ResultsError(f"{where}: cannot be written ({error.strerror})") from None

    def seal(self, ended: str, *, complete: bool) -> None:
        """Write the end of the run into the manifest."""
        self.manifest |= {"ended": ended, "complete": complete}
        self.save()


def create_run(
    results: Path,
    suite: Suite,
    corpus: Corpus,
    candidates: Sequence[Candidate],
    *,
    now: datetime,
    identity: dict[str, Any],
) -> RunWriter:
    """Make a new run folder with all that is known before the first question.

    Args:
        results: the folder of runs; made where it is missing, with a `.gitignore`.
        suite: what is asked.
        corpus: what it is asked of.
        candidates: who is asked.
        now: when the run starts, in UTC.
        identity: what else could change the run, for the manifest.

    Raises:
        ResultsError: the folder cannot be written.
    """
    path = _new_folder(results, f"{now:%Y%m%dT%H%M%SZ}-{_plain(suite.name)}")
    rows = [{**candidate_row(one), "file": safe_name(one.name)} for one in candidates]
    manifest = {
        "format": FORMAT,
        **identity,
        "started": now.isoformat(timespec="seconds"),
        "ended": None,
        "complete": False,
        "retrievers": rows,
    }
    writer = RunWriter(path, manifest)
    writer.save()
    try:
        write_suite(suite, path / SUITE)
    except SuiteError as error:
        raise ResultsError(str(error)) from None
    write_tables(corpus.tables, path / TABLES)
    return writer


def _new_folder(results: Path, name: str) -> Path:
    try:
        results.mkdir(parents=True, exist_ok=True)
        if not any(results.iterdir()):
            (results / ".gitignore").write_text("*\n", encoding="utf-8")
        number = 1
        while True:
            path = results / (name if number == 1 else f"{name}-{number}")
            try:
                path.mkdir()
            except FileExistsError:
                number += 1
                continue
            (path / ANSWERS).mkdir()
            return path
    except OSError as error:
        raise ResultsError(
            f"{results}: no run can be written here ({error.strerror}); choose another folder"
        ) from None


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:60] or "suite"


def safe_name(name: str) -> str:
    """Return a file name for a retriever that is its own on every file system."""
    if re.fullmatch(r"[a-z0-9][a-z0-9._=-]{0,59}", name):
        return f"{name}.jsonl"
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_plain(name)[:60]}-{mark}.jsonl"
