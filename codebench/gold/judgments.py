"""BEIR folders, and TREC judgments with topics and documents -> a suite over a pinned corpus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.corpus.directory import open_directory
from codebench.errors import Fault, InputError, NothingMeasured
from codebench.gold.documents import CORPUS, write_documents
from codebench.gold.folders import check_free, whole
from codebench.gold.topics import read_documents, read_topics
from codebench.gold.workshop import workshop
from codebench.model import Query, Suite, Target
from codebench.reading import counted
from codebench.suite import write_suite
from codebench.trec import beir_documents, read_beir, read_qrels

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from codebench.gold.documents import Documents
    from codebench.gold.workshop import Progress
    from codebench.trec import Document

_HIGHEST = 100


@dataclass(frozen=True, slots=True)
class Imported:
    """What was imported.

    Attributes:
        members: the suites; one, unless they are asked of several snapshots.
        documents: how many the corpus holds; 0 where it is a repository.
        notes: what was left out or mended, one line each.
    """

    members: tuple[Suite, ...]
    documents: int
    notes: tuple[str, ...]


def import_beir(
    source: Path,
    folder: Path,
    progress: Progress,
    *,
    split: str = "test",
    jobs: int | None = None,
    force: bool = False,
) -> Imported:
    """Import a BEIR folder: every document becomes a file of the suite's corpus.

    Args:
        source: holds `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`, plain or gzip.
        folder: where the suite is written.
        progress: told (step, done, of how many).
        split: whose judgments.
        jobs: processes that parse.
        force: whether a suite that is there is replaced.

    Raises:
        InputError: a file is missing or wrong; every fault is listed.
        NothingMeasured: no query has a relevant document.
        UsageError: the folder is taken.
    """
    check_free(folder, force=force)
    beir = read_beir(source, split)
    recipe = {"source": "beir", "split": beir.split}
    read = _Read(str(source / "qrels"), beir.queries, beir.grades, recipe)
    return _write(read, beir_documents(source), folder, progress, jobs=jobs, force=force)


def import_trec(
    qrels: Path,
    topics: Path,
    documents: Path,
    folder: Path,
    progress: Progress,
    *,
    jobs: int | None = None,
    force: bool = False,
) -> Imported:
    """Import TREC judgments with their topics and documents.

    Args:
        qrels: the judgments, plain or gzip.
        topics: `ID<tab>text` lines, JSON Lines, or `<top>` blocks.
        documents: a folder (a document's ID is its relative path), JSON Lines, or `<DOC>` blocks.
        folder: where the suite is written.
        progress: told (step, done, of how many).
        jobs: processes that parse.
        force: whether a suite that is there is replaced.

    Raises:
        InputError: a file is missing or wrong; every fault is listed.
        NothingMeasured: no topic has a relevant document.
        UsageError: the folder is taken.
    """
    check_free(folder, force=force)
    read = _Read(str(qrels), read_topics(topics), read_qrels(qrels).grades, {"source": "trec"})
    return _write(read, read_documents(documents), folder, progress, jobs=jobs, force=force)


@dataclass(frozen=True, slots=True)
class _Read:
    """Judgments with the texts of what was judged for."""

    file: str
    texts: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]
    recipe: Mapping[str, str]


def _write(
    read: _Read,
    documents: Iterable[Document],
    folder: Path,
    progress: Progress,
    *,
    jobs: int | None,
    force: bool,
) -> Imported:
    _check(read)
    with whole(folder, force=force) as scratch:
        progress("writing documents", 0, 0)
        written = write_documents(documents, scratch)
        queries = _queries(read, written)
        if not queries:
            raise NothingMeasured(f"{read.file}: no query has a text and a relevant document")
        progress("reading the corpus", 0, 0)
        with workshop(progress, jobs) as shop:
            corpus = open_directory(scratch / CORPUS, shop.outliner)
        suite = Suite(
            name=folder.resolve().name,
            repository=CORPUS,
            snapshot="",
            corpus_digest=corpus.digest,
            queries=queries,
            recipe=read.recipe,
        )
        write_suite(suite, scratch)
    unknown = {name for own in read.grades.values() for name in own} - written.paths.keys()
    notes = [*_left_out(read, queries), *written.notes()]
    if unknown:
        notes.append(
            f"{len(unknown)} judged documents are not in the corpus: they count, and nothing can "
            "find them"
        )
    return Imported((suite,), len(written.paths), tuple(notes))


def _check(read: _Read) -> None:
    faults = [
        Fault(f"is a grade above {_HIGHEST}", read.file, field=f"{query}, {name}", value=str(grade))
        for query, own in read.grades.items()
        for name, grade in own.items()
        if grade > _HIGHEST
    ]
    faults += [
        Fault("holds white space around it or a control character", read.file, value=ascii(query))
        for query in read.grades
        if query != query.strip() or not query.isprintable()
    ]
    if faults:
        raise InputError(faults[:100])


def _queries(read: _Read, written: Documents) -> tuple[Query, ...]:
    found = []
    for name in sorted(read.grades):
        own = read.grades[name]
        text = read.texts.get(name, "")
        targets = tuple(
            Target(written.path(one), written.path(one), grade, document=True)
            for one, grade in sorted(own.items())
            if grade > 0
        )
        if text.strip() and targets:
            zeros = tuple(written.path(one) for one, grade in sorted(own.items()) if grade <= 0)
            tags = {"source": "import"}
            found.append(Query(name, text, targets, source="import", tags=tags, not_relevant=zeros))
    return tuple(found)


def _left_out(read: _Read, queries: tuple[Query, ...]) -> list[str]:
    kept = {query.id for query in queries}
    left = [name for name in read.grades if name not in kept]
    silent = [name for name in left if not read.texts.get(name, "").strip()]
    lines = []
    if silent:
        judged = counted(len(silent), "judged query", "judged queries")
        lines.append(f"without a text, and left out: {judged}")
    if len(left) > len(silent):
        more = counted(len(left) - len(silent), "query", "queries")
        lines.append(f"without a relevant document, and left out: {more}")
    return lines
