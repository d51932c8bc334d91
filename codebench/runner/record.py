"""Writing a run folder while the run goes on."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import shutil
from typing import IO, TYPE_CHECKING, Any

from codebench.corpus.tables import write_tables
from codebench.errors import ResultsError, SuiteError
from codebench.results import ANSWERS, FORMAT, MANIFEST, SUITE, TABLES
from codebench.suite import write_suite
from codebench.wire import hit_row
from codebench.writing import write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from codebench.measures.latency import LoadStep
    from codebench.model import Answer, Corpus, IndexCost, Suite
    from codebench.results import State


_BLOCK = 1 << 16


def answer_row(answer: Answer, *, same: bool = False, again: bool = False) -> dict[str, Any]:
    """Return an answer as JSON, without what equals its default.

    With `same` the hits are left out: they equal those of the query's repeat 0. With `again` it
    takes the place of an earlier answer to the same question.
    """
    row: dict[str, Any] = {"kind": "answer", "query": answer.query}
    optional = {
        "repeat": answer.repeat,
        "status": answer.status if answer.status != "ok" else "",
        "again": again,
        "latency_ns": answer.latency_ns,
        "server_ns": answer.server_ns,
        "waited_ns": answer.waited_ns,
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


class RowWriter:
    """Makes one retriever's rows, and hands each on before the next query is asked.

    Args:
        redact: takes secrets out of what others wrote.
        compare: whether queries are asked more than once, so that hits must be remembered.
    """

    def __init__(self, redact: Callable[[str], str] = str, *, compare: bool = True) -> None:
        self._redact = redact
        self._compare = compare
        self._scored: dict[str, int] = {}

    def write(self, row: dict[str, Any]) -> None:
        """Take a row."""
        raise NotImplementedError

    def remember(self, answers: Iterable[Answer]) -> None:
        """Know the answers that are there already, as a resumed run has some."""
        for answer in answers:
            if answer.repeat == 0 and self._compare:
                self._scored[answer.query] = hash(answer.hits)

    def resume(self) -> None:
        """Record that the next start is meant, and no restart after a fall."""
        self.write({"kind": "resume"})

    def context(self, *, beside: bool, machine: str = "") -> None:
        """Record that the rows that follow are taken beside others, or on another machine."""
        row: dict[str, Any] = {"kind": "context", "beside": beside}
        self.write({**row, "machine": machine} if machine else row)

    def start(self, seconds: float) -> None:
        """Record that the retriever's process was started and its adapter made."""
        self.write({"kind": "start", "seconds": seconds})

    def fall(self, reason: str, said: Sequence[str], left: int) -> None:
        """Record that its process was ended before its time, and what it said last."""
        row: dict[str, Any] = {"kind": "fall", "reason": self._redact(reason)}
        if said:
            row["said"] = [self._redact(line) for line in said]
        self.write({**row, "left": left} if left else row)

    def index(self, cost: IndexCost) -> None:
        """Record what it took to be ready."""
        row: dict[str, Any] = {
            "kind": "index",
            "start_seconds": cost.start_seconds,
            "seconds": cost.seconds,
            "cpu_seconds": cost.cpu_seconds,
            "peak_rss_bytes": cost.peak_rss_bytes,
        }
        optional = {"bytes": cost.bytes, "built_seconds": cost.built_seconds}
        self.write(row | {name: value for name, value in optional.items() if value is not None})

    def warmup(self, answer: Answer) -> None:
        """Record a query that only warmed the retriever up."""
        self.write({"kind": "warmup", "status": answer.status, "latency_ns": answer.latency_ns})

    def answer(self, answer: Answer, *, again: bool = False) -> None:
        """Record an answer; a repeat with the hits of repeat 0 is written without them."""
        same = False
        if self._compare:
            mark = hash(answer.hits)
            if answer.repeat == 0:
                self._scored[answer.query] = mark
            elif answer.hits:
                same = self._scored.get(answer.query) == mark
        if answer.error:
            answer = dataclasses.replace(answer, error=self._redact(answer.error))
        self.write(answer_row(answer, same=same, again=again))

    def check(self, answer: Answer, *, same: bool) -> None:
        """Record a query that was asked again after a restart; hits that are others are kept."""
        row: dict[str, Any] = {"kind": "check", "query": answer.query, "same": same}
        self.write(row if same else {**row, "hits": [hit_row(hit) for hit in answer.hits]})

    def load(self, step: LoadStep) -> None:
        """Record a step of load."""
        row = {"kind": "load", **dataclasses.asdict(step)}
        self.write({name: value for name, value in row.items() if value or name == "latencies_ns"})

    def end(self, state: State, reason: str = "", left: int = 0) -> None:
        """Record how the retriever ended, and how many processes it left running."""
        row: dict[str, Any] = {"kind": "end", "state": state}
        if reason:
            row["reason"] = self._redact(reason)
        self.write({**row, "left": left} if left else row)


class MemoryWriter(RowWriter):
    """Keeps the rows, for who writes them somewhere else."""

    def __init__(self, redact: Callable[[str], str] = str, *, compare: bool = True) -> None:
        super().__init__(redact, compare=compare)
        self.rows: list[dict[str, Any]] = []

    def write(self, row: dict[str, Any]) -> None:
        """Keep a row."""
        self.rows.append(row)


class AnswerWriter(RowWriter):
    """Appends rows to a file, each flushed at once; a torn last row is cut off first."""

    def __init__(
        self, path: Path, redact: Callable[[str], str] = str, *, compare: bool = True
    ) -> None:
        super().__init__(redact, compare=compare)
        self.path = path
        self._file: IO[bytes] | None = None
        self._length = 0

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def write(self, row: dict[str, Any]) -> None:
        """Append a row.

        Raises:
            ResultsError: it cannot be written; the rows before it are whole.
        """
        data = json.dumps(row, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        try:
            if self._file is None:
                _cut_torn_row(self.path)
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
            raise unwritable(self.path, error) from None


def unwritable(path: Path, error: OSError) -> ResultsError:
    """Return the error that a run cannot go on, as a file of it cannot be written."""
    return ResultsError(
        f"{path}: cannot be written ({error.strerror}); what was answered before is kept: mend "
        "that, and go on with --resume"
    )


def _cut_torn_row(path: Path) -> None:
    """Cut off what follows the last newline: the row that a kill tore."""
    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - _BLOCK)
            file.seek(start)
            at = file.read(end - start).rfind(b"\n")
            if at >= 0:
                file.truncate(start + at + 1)
                return
            end = start
        file.truncate(0)


class RunWriter:
    """Writes a run folder: the answers as they come, the seal last.

    Attributes:
        path: the folder.
        manifest: what `manifest.json` holds.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest

    def answers(
        self, name: str, redact: Callable[[str], str] = str, *, compare: bool = True
    ) -> AnswerWriter:
        """Return the writer of a retriever's rows."""
        return AnswerWriter(self.path / ANSWERS / safe_name(name), redact, compare=compare)

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
            raise unwritable(self.path / MANIFEST, error) from None

    def end(self, ended: str, *, complete: bool) -> None:
        """Write the end of the run into the manifest."""
        self.manifest |= {"ended": ended, "complete": complete}
        self.save()


def create_run(
    results: Path,
    suite: Suite,
    corpus: Corpus,
    retrievers: Sequence[dict[str, Any]],
    *,
    now: datetime,
    identity: dict[str, Any],
) -> RunWriter:
    """Make a new run folder with all that is known before the first question.

    The manifest comes last: a folder without one was given up before anything was asked.

    Args:
        results: the folder of runs; made where it is missing, with a `.gitignore`.
        suite: what is asked.
        corpus: what it is asked of.
        retrievers: who is asked, as the manifest's rows (`candidate_row`).
        now: when the run starts, in UTC.
        identity: what else could change the run, for the manifest.

    Raises:
        ResultsError: the folder cannot be written.
    """
    path = new_folder(results, suite.name, now)
    rows = [{**row, "file": safe_name(row["name"])} for row in retrievers]
    manifest = {
        "format": FORMAT,
        **identity,
        "started": now.isoformat(timespec="seconds"),
        "ended": None,
        "complete": False,
        "retrievers": rows,
    }
    writer = RunWriter(path, manifest)
    try:
        (path / ANSWERS).mkdir()
        write_suite(suite, path / SUITE)
        write_tables(corpus.tables, path / TABLES)
        writer.save()
    except (OSError, SuiteError, ResultsError) as error:
        shutil.rmtree(path, ignore_errors=True)  # nothing was asked yet
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ResultsError(
            f"{results}: no run can be begun here ({reason}); free space, or choose another folder"
        ) from None
    return writer


def new_folder(results: Path, name: str, now: datetime) -> Path:
    """Make a folder for a run, named after its time and its suite, and return it.

    Raises:
        ResultsError: it cannot be made.
    """
    wanted = f"{now:%Y%m%dT%H%M%SZ}-{_plain(name)}"
    try:
        results.mkdir(parents=True, exist_ok=True)
        if not any(results.iterdir()):
            write_file(results / ".gitignore", "*\n")
        number = 1
        while True:
            path = results / (wanted if number == 1 else f"{wanted}-{number}")
            try:
                path.mkdir()
            except FileExistsError:
                number += 1
                continue
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
