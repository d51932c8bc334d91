"""A suite, and the answers of a run over it, as the files that other evaluation tools read.

Judged documents go out as they came. Gold in code has three levels, and tools that know one grade
a document cannot say "paid once a level": so each level goes out apart, its units as documents of
grade 1, and a ranking as the units that its hits reach first. Then every measure of that level is
the same there and here; what is not is said.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from codebench.corpus.tables import read_tables
from codebench.errors import ResultsError, UsageError
from codebench.gold.documents import document_ids
from codebench.gold.folders import folder_of
from codebench.gold.target import open_suite
from codebench.gold.workshop import workshop
from codebench.grading import Files, compile_gold, trace
from codebench.results import read_run
from codebench.suite import is_imported, members_of, suite_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from codebench.gold.target import Opened
    from codebench.gold.workshop import Progress
    from codebench.grading import Gold, Unit
    from codebench.model import Corpus, Hit, Suite
    from codebench.results import Run

LEVELS = (3, 2, 1)
NOTES_FILE = "README.txt"


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        suite: that was exported.
        documents: how many documents the files name.
        files: relative to the folder, sorted.
        notes: what the files cannot say, one line each.
    """

    suite: Suite
    documents: int
    files: tuple[str, ...]
    notes: tuple[str, ...]


def export_suite(
    named: str,
    form: str,
    folder: Path,
    progress: Progress,
    *,
    run: Path | None = None,
    jobs: int | None = None,
) -> Exported:
    """Write a suite as TREC or BEIR files.

    `trec`: `topics.tsv`, `documents.jsonl` and `qrels.txt` (of code `qrels.level-N.txt`), and with
    a run `runs/RETRIEVER.txt` (of code `runs/RETRIEVER.level-N.txt`). `beir`: `corpus.jsonl`,
    `queries.jsonl` and `qrels/test.tsv` (of code its level 3), and with a run the same run files.

    Args:
        named: a built-in suite's name, or a folder.
        form: `trec` or `beir`.
        folder: where to; must not exist, or be empty.
        progress: told (step, done, of how many).
        run: a stored run over the suite whose rankings are written too.
        jobs: processes that parse.

    Raises:
        UsageError: the folder is taken, or the suite is one of several.
        ResultsError: the run asked another suite, or the files cannot be written.
        SuiteError: the suite cannot be used.
    """
    members = members_of(folder_of(named))
    if members[0][0]:
        raise UsageError(f"{named}: holds {len(members)} suites; export them one by one")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: is there already; choose another folder")
    place = members[0][1]
    with workshop(progress, jobs) as shop:
        opened = open_suite(place, shop)
    stored = None if run is None else _read(run, opened.suite)
    writer = _Writer(folder)
    try:
        made = (
            _documents(opened, place, form, writer, stored)
            if is_imported(opened.suite.queries)
            else _code(opened, form, writer, stored)
        )
        notes = (*made.notes, *_weights(opened.suite))
        writer.text(NOTES_FILE, "".join(f"{note}\n" for note in notes))
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)  # it was empty, and half an export is none
        if isinstance(error, OSError):
            raise ResultsError(f"{folder}: cannot be written ({error.strerror})") from None
        raise
    return Exported(opened.suite, made.documents, tuple(sorted(writer.files)), notes)


@dataclass(frozen=True, slots=True)
class _Made:
    documents: int
    notes: tuple[str, ...]


class _Writer:
    """Writes files below a folder, and remembers which."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: list[str] = []

    def text(self, name: str, text: str) -> None:
        self.lines(name, [text] if text else [])

    def rows(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self.lines(name, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

    def lines(self, name: str, lines: Iterable[str]) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        self.files.append(name)


def token(name: str) -> str:
    """Return a name that holds no white space, for files whose fields blanks separate."""
    return "".join(
        char if char.isprintable() and not char.isspace() and char != "%" else quote(char)
        for char in name
    )


def _read(path: Path, suite: Suite) -> Run:
    run = read_run(path)
    asked = run.manifest["suite"]["digest"]
    if asked != suite_digest(suite):
        raise ResultsError(
            f"{path}: asked another suite ({asked}) than the one that is exported "
            f"({suite_digest(suite)})"
        )
    return run


def _answers(run: Run) -> Iterator[tuple[str, Mapping[str, Sequence[Hit]]]]:
    """Yield each retriever's file name and its scored rankings by query."""
    taken: set[str] = set()
    for one in run.retrievers:
        hits = {
            answer.query: answer.hits[: run.depth]
            for answer in one.answers
            if not answer.repeat and answer.status == "ok"
        }
        if one.answers:
            name = token(one.candidate.name.replace("/", "-"))
            # `a/b` and `a-b` are two retrievers, and so are `A` and `a` on every disk.
            names = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))]
            file = next(each for each in names if each.casefold() not in taken)
            taken.add(file.casefold())
            yield file, hits


def _documents(opened: Opened, place: Path, form: str, writer: _Writer, run: Run | None) -> _Made:
    """Write imported judgments with the IDs that they had."""
    names = document_ids(place)
    suite = opened.suite
    qrels = {
        query.id: {
            **{names.get(one, one): 0 for one in query.not_relevant},
            **{names.get(one.path, one.path): one.grade for one in query.targets},
        }
        for query in suite.queries
    }
    documents = (
        (names.get(table.path, table.path), "".join(opened.corpus.lines(table.path)))
        for table in opened.corpus.tables
    )
    _write_suite(suite, form, writer, documents, {"": qrels})
    for retriever, hits in _answers(run) if run else ():
        rankings = {
            query: _unlike(
                names.get(hit.path, hit.path)
                if hit.path in opened.corpus.by_path
                else f"{hit.path}#unknown"
                for hit in own
            )
            for query, own in hits.items()
        }
        writer.lines(f"runs/{retriever}.txt", _run_lines(rankings, retriever))
    notes = ["a document that a ranking repeats keeps its slot, as DOCUMENT#2"] if run else []
    return _Made(len(opened.corpus.tables), tuple(notes))


def _unlike(names: Iterable[str]) -> list[str]:
    seen: dict[str, int] = {}
    ranking = []
    for name in names:
        seen[name] = count = seen.get(name, 0) + 1
        ranking.append(name if count == 1 else f"{name}#{count}")
    return ranking


def _code(opened: Opened, form: str, writer: _Writer, run: Run | None) -> _Made:
    """Write code's gold level by level, and rankings as the units that they reach."""
    suite, corpus = opened.suite, opened.corpus
    tables = corpus.tables if run is None else read_tables(run.tables_file)
    files = Files({table.path: table for table in tables})
    golds = {query.id: compile_gold(query, files) for query in suite.queries}
    levels = LEVELS if form == "trec" else (3,)
    qrels = {f".level-{level}": _level_qrels(golds, level) for level in levels}
    _write_suite(suite, form, writer, _chunk_texts(corpus), qrels)
    notes = [
        f"level {level}: {_LEVEL_WORDS[level]}, each of grade 1; "
        f"{sum(not own for own in qrels[f'.level-{level}'].values())} queries have none"
        for level in levels
    ]
    notes.append(
        "what cannot be exported: nDCG over the three levels together, Value and measures by "
        "tokens" + ("" if form == "trec" else ", and the levels of files and neighbourhoods")
    )
    for retriever, hits in _answers(run) if run else ():
        for level in levels:
            inexact = 0
            rankings = {}
            for query, own in hits.items():
                rankings[query], exact = _level_ranking(golds[query], own, level)
                inexact += not exact
            writer.lines(f"runs/{retriever}.level-{level}.txt", _run_lines(rankings, retriever))
            if inexact:
                notes.append(
                    f"{retriever}, level {level}: {inexact} answers reach several units with one "
                    "hit that is not the first: the later ones stand a slot lower here"
                )
    return _Made(sum(1 for _ in corpus.chunks()), tuple(notes))


_LEVEL_WORDS = {
    3: "the exact targets",
    2: "the targets' files, and targets of grade 2",
    1: "the target files with their related modules, and targets of grade 1",
}


def _level_qrels(golds: Mapping[str, Gold], level: int) -> dict[str, dict[str, int]]:
    return {
        query: {_unit_name(unit): 1 for unit in gold.units if unit.level == level}
        for query, gold in golds.items()
    }


def _unit_name(unit: Unit) -> str:
    return unit.name if unit.level == 3 else f"{unit.kind}:{unit.name}"


def _level_ranking(gold: Gold, hits: Sequence[Hit], level: int) -> tuple[list[str], bool]:
    """Return a ranking with the j-th unit in the slot max(its rank, j), and whether that is exact.

    One hit can reach several units, and a slot holds one document: where two units would share a
    slot, the later one takes the next.
    """
    first = [
        (rank, _unit_name(unit))
        for rank, step in enumerate(trace(gold, hits), start=1)
        for unit, first_rank in step.units
        if unit.level == level and first_rank == rank
    ]
    slots: dict[int, str] = {}
    exact = True
    for count, (rank, name) in enumerate(first, start=1):
        slot = max(rank, count)
        while slot in slots:
            slot += 1
            exact = False
        slots[slot] = name
    length = max([len(hits), *slots])
    shown = [
        f"{hit.path}:{hit.start_line or ''}-{hit.end_line or ''}#{rank}"
        for rank, hit in enumerate(hits, start=1)
    ]
    return [
        slots.get(slot) or (shown[slot - 1] if slot <= len(shown) else f"#{slot}")
        for slot in range(1, length + 1)
    ], exact


def _chunk_texts(corpus: Corpus) -> Iterator[tuple[str, str]]:
    for chunk in corpus.chunks():
        yield chunk.id, corpus.text(chunk)


def _write_suite(
    suite: Suite,
    form: str,
    writer: _Writer,
    documents: Iterable[tuple[str, str]],
    qrels: Mapping[str, Mapping[str, Mapping[str, int]]],
) -> None:
    if form == "beir":
        writer.rows(
            "corpus.jsonl",
            ({"_id": token(name), "title": "", "text": text} for name, text in documents),
        )
        writer.rows(
            "queries.jsonl", ({"_id": token(one.id), "text": one.text} for one in suite.queries)
        )
        (own,) = qrels.values()
        writer.lines("qrels/test.tsv", _beir_qrels(own))
        return
    writer.rows("documents.jsonl", ({"id": token(name), "text": text} for name, text in documents))
    writer.lines(
        "topics.tsv",
        (f"{token(one.id)}\t{' '.join(one.text.split())}\n" for one in suite.queries),
    )
    for level, own in qrels.items():
        writer.lines(f"qrels{level}.txt", _trec_qrels(own))


def _beir_qrels(qrels: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    yield "query-id\tcorpus-id\tscore\n"
    for query in sorted(qrels):
        for name, grade in sorted(qrels[query].items()):
            yield f"{token(query)}\t{token(name)}\t{grade}\n"


def _trec_qrels(qrels: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    for query in sorted(qrels):
        for name, grade in sorted(qrels[query].items()):
            yield f"{token(query)} 0 {token(name)} {grade}\n"


def _run_lines(rankings: Mapping[str, Sequence[str]], name: str) -> Iterator[str]:
    for query in sorted(rankings):
        count = len(rankings[query])
        for rank, document in enumerate(rankings[query], start=1):
            yield f"{token(query)} Q0 {token(document)} {rank} {count - rank + 1} {name}\n"


def _weights(suite: Suite) -> tuple[str, ...]:
    if all(query.weight == 1 for query in suite.queries):
        return ()
    note = (
        "queries have weights here, and all weigh the same in other tools: "
        "codebench score --aggregate unweighted has their figures"
    )
    return (note,)
