"""Others' judgments and runs: TREC qrels and run files, plain or gzip, and BEIR folders.

Files are streamed and untrusted: lines and the unpacked size are bounded, gzip is known by its
content, and every fault of a file is reported at once (the first thousand of them).
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from codebench.errors import Fault, InputError
from codebench.reading import is_text, open_file, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LONGEST_LINE = 1 << 20
"""Bytes of a line of a qrels, run or BEIR qrels file."""

LONGEST_DOCUMENT = 16 << 20
"""Bytes of a line of a BEIR corpus or query file; of a document's text a megabyte is kept."""

LARGEST_FILE = 4 << 30
"""Bytes that are read of one file, unpacked."""

LARGEST_GRADE = 1000
MOST_FAULTS = 1000

Ties = Literal["order", "trec"]


@dataclass(frozen=True)
class Judgments:
    """Judgments of a qrels file.

    Attributes:
        grades: `{query: {document: grade}}`, in the file's order.
        notes: what was mended.
    """

    grades: Mapping[str, Mapping[str, int]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rankings:
    """Rankings of a run file.

    Attributes:
        documents: `{query: [document, …]}` best first. A document that stands twice (lenient
            only) keeps both slots.
        scores: `{query: [score, …]}` beside them.
        name: the run's tag.
        notes: what was mended, and what a reader must know of the order.
    """

    documents: Mapping[str, Sequence[str]]
    scores: Mapping[str, Sequence[float]] = field(repr=False)
    name: str = ""
    notes: tuple[str, ...] = ()

    def tied_at(self, k: int) -> int:
        """Return how many queries have equal scores on both sides of the cut after K."""
        return sum(len(own) > k and own[k - 1] == own[k] for own in self.scores.values())


class _Faults:
    """Collects the faults of one file; gives up when they are too many to read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: list[Fault] = []

    def add(self, problem: str, line: int | None, **where: str) -> None:
        self.found.append(Fault(problem, file=str(self.path), line=line, **where))
        if len(self.found) >= MOST_FAULTS:
            mend = "mend these first"
            self.found.append(Fault("has more faults", file=str(self.path), mend=mend))
            raise InputError(self.found)

    def check(self) -> None:
        if self.found:
            raise InputError(self.found)


def read_qrels(path: str | Path, *, lenient: bool = False) -> Judgments:
    """Read TREC judgments: `query iteration document grade` a line, split at white space.

    Args:
        path: the file, plain or gzip.
        lenient: a document judged twice for a query keeps its last grade, in place of an error.

    Raises:
        InputError: every line that is wrong, or the file cannot be read or holds no judgment.
    """
    faults = _Faults(Path(path))
    grades: dict[str, dict[str, int]] = {}
    repeated = 0
    for number, fields in _rows(faults, "query, iteration, document and grade", 4):
        query, _, document, grade = fields
        value = _grade(faults, number, grade)
        own = grades.setdefault(query, {})
        if document in own:
            repeated += 1
            _repeated(faults, number, query, document, lenient=lenient)
        own[document] = value
    _not_empty(faults, grades)
    return Judgments(grades, _mended(repeated, "judgments replaced an earlier one"))


def read_run(path: str | Path, *, ties: Ties = "order", lenient: bool = False) -> Rankings:
    """Read a TREC run: `query Q0 document rank score tag` a line, split at white space.

    The order of a query's lines is its ranking; the rank column is not read.

    Args:
        path: the file, plain or gzip.
        ties: `trec` sorts by score, highest first, and equal scores by document, last first by
            bytes, as trec_eval does; `order` keeps the file's order.
        lenient: a document that stands twice for a query keeps both slots, in place of an error.

    Raises:
        InputError: every line that is wrong (a score that is not finite among them), or the file
            cannot be read or holds no line.
    """
    faults = _Faults(Path(path))
    rows: dict[str, list[tuple[str, float]]] = {}
    seen: dict[str, set[str]] = {}
    name, repeated = "", 0
    for number, fields in _rows(faults, "query, Q0, document, rank, score and tag", 6):
        query, _, document, _, text, name = fields
        known = seen.setdefault(query, set())
        if document in known:
            repeated += 1
            _repeated(faults, number, query, document, lenient=lenient)
        known.add(document)
        rows.setdefault(query, []).append((document, _score(faults, number, text)))
    _not_empty(faults, rows)
    rising = 0
    for query, own in rows.items():
        if ties == "trec":
            rows[query] = sorted(own, key=_trec_key, reverse=True)
        else:
            rising += any(own[at][1] < own[at + 1][1] for at in range(len(own) - 1))
    notes = _mended(repeated, "repeated documents keep their slot and are credited once")
    if rising:
        words = "queries have scores that rise: the order of the lines is the ranking"
        notes += (f"{rising} {words} (ties=trec sorts by score)",)
    return Rankings(
        documents={query: [document for document, _ in own] for query, own in rows.items()},
        scores={query: [score for _, score in own] for query, own in rows.items()},
        name=name,
        notes=notes,
    )


def _trec_key(row: tuple[str, float]) -> tuple[float, bytes]:
    return row[1], row[0].encode()


def _mended(count: int, words: str) -> tuple[str, ...]:
    return (f"{count} {words}",) if count else ()


def _not_empty(faults: _Faults, rows: Mapping[str, Any]) -> None:
    if not rows and not faults.found:
        faults.add("holds no line", None)
    faults.check()


def _repeated(faults: _Faults, number: int, query: str, document: str, *, lenient: bool) -> None:
    if not lenient:
        mend = "remove one line, or read leniently"
        problem = f"stands twice for query {query}"
        faults.add(problem, number, field="document", value=document, mend=mend)


def _grade(faults: _Faults, number: int, text: str) -> int:
    try:
        grade = int(text) if "_" not in text else LARGEST_GRADE + 1
    except ValueError:
        grade = LARGEST_GRADE + 1
    if abs(grade) > LARGEST_GRADE:
        problem = f"is not a whole number from -{LARGEST_GRADE} to {LARGEST_GRADE}"
        faults.add(problem, number, field="grade", value=text[:80])
        return 0
    return grade


def _score(faults: _Faults, number: int, text: str) -> float:
    try:
        score = float(text) if "_" not in text else math.nan
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        faults.add("is not a finite number", number, field="score", value=text[:80])
        return 0.0
    return score


def _rows(faults: _Faults, words: str, count: int) -> Iterator[tuple[int, list[str]]]:
    """Yield each line's number and its fields; lines of another count are faults."""
    for number, line in _lines(faults, LONGEST_LINE):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != count:
            problem = f"has {len(parts)} fields, not {count} ({words})"
            faults.add(problem, number, value=line[:80].decode("utf-8", "replace").strip())
            continue
        try:
            yield number, [part.decode("utf-8") for part in parts]
        except UnicodeDecodeError:
            faults.add("is not UTF-8", number)


def _lines(faults: _Faults, longest: int) -> Iterator[tuple[int, bytes]]:
    """Yield a file's lines, unpacked where it is gzip by content."""
    size, number = 0, 0
    try:
        with open_file(faults.path) as raw, _unpacked(raw) as file:
            while line := file.readline(longest + 1):
                number += 1
                size += len(line)
                if len(line) > longest or size > LARGEST_FILE:
                    limit = f"line is longer than {longest} bytes"
                    over = f"file is larger than {LARGEST_FILE} bytes, unpacked"
                    faults.add(limit if len(line) > longest else over, number)
                    return
                yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        faults.add(f"cannot be read ({reason})", number + 1 if number else None)


def _unpacked(raw: IO[bytes]) -> IO[bytes] | gzip.GzipFile:
    packed = raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    return gzip.open(raw) if packed else raw


@dataclass(frozen=True)
class Beir:
    """A BEIR folder: queries and one split's judgments; documents are streamed apart.

    Attributes:
        folder: where it lies.
        split: the judgments' name, for example `test`.
        queries: `{query: text}` for the queries that have judgments.
        grades: `{query: {document: grade}}`.
    """

    folder: Path
    split: str
    queries: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a BEIR corpus."""

    id: str
    title: str
    text: str


def read_beir(folder: str | Path, split: str = "test") -> Beir:
    """Read a BEIR folder's `queries.jsonl` and `qrels/SPLIT.tsv`; each may be gzip.

    Where there is one split only, it is taken, whatever its name.

    Raises:
        InputError: a file is missing (the splits that there are, are named), every line that is
            wrong, every judged query without a text, and every repeated ID.
    """
    root = Path(folder)
    path, name = _split(root, split)
    faults = _Faults(path)
    grades: dict[str, dict[str, int]] = {}
    for number, line in _lines(faults, LONGEST_LINE):
        _beir_judgment(faults, number, line, grades)
    _not_empty(faults, grades)
    faults = _Faults(_one_of(root, "queries.jsonl"))
    texts: dict[str, str] = {}
    for number, row in _json_rows(faults):
        if row["_id"] in texts:
            faults.add("stands twice", number, field="_id", value=row["_id"][:80])
        texts[row["_id"]] = row["text"]
    for query in grades:
        if query not in texts:
            faults.add(f"is judged in {path.name} and has no text", None, field=query)
    faults.check()
    return Beir(root, name, {query: texts[query] for query in grades}, grades)


def beir_documents(folder: str | Path) -> Iterator[Document]:
    """Yield the documents of a BEIR folder's `corpus.jsonl` (or gzip), in its order.

    Raises:
        InputError: at the end, with every line that is wrong and every repeated ID.
    """
    faults = _Faults(_one_of(Path(folder), "corpus.jsonl"))
    seen: set[str] = set()
    for number, row in _json_rows(faults):
        if row["_id"] in seen:
            faults.add("stands twice", number, field="_id", value=row["_id"][:80])
            continue
        seen.add(row["_id"])
        yield Document(row["_id"], row.get("title") or "", row["text"])
    faults.check()


def _beir_judgment(
    faults: _Faults, number: int, line: bytes, grades: dict[str, dict[str, int]]
) -> None:
    try:
        parts = line.decode("utf-8").rstrip("\r\n").split("\t")
    except UnicodeDecodeError:
        faults.add("is not UTF-8", number)
        return
    if parts == [""] or (number == 1 and parts[-1].strip() == "score"):
        return
    if len(parts) != 3:
        faults.add(f"has {len(parts)} fields, not 3 (query-id, corpus-id and score)", number)
        return
    query, document, grade = parts
    own = grades.setdefault(query, {})
    if document in own:
        _repeated(faults, number, query, document, lenient=False)
    own[document] = _grade(faults, number, grade)


def _json_rows(faults: _Faults) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in _lines(faults, LONGEST_DOCUMENT):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            faults.add("is not JSON", number)
            continue
        if not isinstance(row, dict):
            faults.add("is not a JSON object", number)
            continue
        wrong = [key for key in ("_id", "text") if not _is_text(row.get(key))]
        if not _is_text(row.get("title") or ""):
            wrong.append("title")
        for key in wrong:
            faults.add("is not a text", number, field=key, value=shown(row.get(key)))
        if not wrong:
            yield number, row


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and is_text(value)


def _one_of(root: Path, name: str) -> Path:
    """Return a file or its gzip twin; the plain name where neither is there."""
    return next(
        (path for path in (root / name, root / f"{name}.gz") if path.is_file()), root / name
    )


def _split(root: Path, split: str) -> tuple[Path, str]:
    folder = root / "qrels"
    files = sorted(folder.glob("*.tsv")) + sorted(folder.glob("*.tsv.gz"))
    by_name = {path.name.split(".tsv")[0]: path for path in reversed(files)}
    if len(by_name) == 1:
        name, path = next(iter(by_name.items()))
        return path, name
    if split not in by_name:
        there = ", ".join(sorted(by_name)) or "none"
        raise InputError(
            [Fault(f"has no split {split!r}", file=str(folder), mend=f"there are {there}")]
        )
    return by_name[split], split
