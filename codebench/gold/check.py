"""Is a suite whole: can it be read, is every target where it says, what does its gold allow."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.corpus.installed import is_installed
from codebench.corpus.languages import language_of
from codebench.errors import CodebenchError, Fault, InputError
from codebench.gold.ceiling import ceiling, evaluate_ideal
from codebench.gold.census import Census, Row, census_of, row_of
from codebench.gold.dangling import Places, query_faults
from codebench.gold.fitting import fitted
from codebench.gold.folders import folder_of, open_corpus
from codebench.gold.workshop import workshop
from codebench.measures.names import DEFAULT
from codebench.suite import QUERIES_FILE, SUITE_FILE, members_of, read_suite

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from codebench.evaluation import Evaluation
    from codebench.gold.workshop import Progress, Workshop
    from codebench.measures.names import Measure
    from codebench.measures.statistics import Figure
    from codebench.model import Corpus, Suite


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found.

    Attributes:
        named: the suite, as it was named.
        members: how many suites it holds.
        readable: how many of them could be read and their corpus opened.
        faults: everything that is wrong.
        census: counts over the readable members.
        ceiling: for each default measure what a perfect retriever scores.
        notes: what a person should know, one line each.
    """

    named: str
    members: int
    readable: int
    faults: tuple[Fault, ...]
    census: Census
    ceiling: dict[Measure, Figure]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Finding:
    """Of one member."""

    faults: tuple[Fault, ...]
    rows: tuple[Row, ...] = ()
    ideal: Evaluation | None = None
    notes: tuple[str, ...] = ()


def check(named: str, progress: Progress, *, jobs: int | None = None) -> Checked:
    """Check a suite, or every member of a suite of several.

    Args:
        named: a built-in suite's name, or a folder.
        progress: told (step, done, of how many).
        jobs: processes that parse.

    Raises:
        SuiteError: there is no such suite.
        InputError: the list of its members is wrong.
    """
    members = members_of(folder_of(named))
    findings = []
    with workshop(progress, jobs) as shop:
        for number, (_, place) in enumerate(members):
            progress("checking suites", number, len(members))
            findings.append(_check(place, shop))
    ideals = [one.ideal for one in findings if one.ideal is not None]
    return Checked(
        named=named,
        members=len(members),
        readable=len(ideals),
        faults=tuple(fault for one in findings for fault in one.faults),
        census=census_of([row for one in findings for row in one.rows]),
        ceiling=ceiling(ideals),
        notes=tuple(note for one in findings for note in one.notes),
    )


def _check(folder: Path, shop: Workshop) -> _Finding:
    try:
        suite = read_suite(folder)
    except InputError as error:
        return _Finding(error.faults)
    try:
        corpus = open_corpus(suite, folder, shop)
    except CodebenchError as error:
        return _Finding((Fault(f"the corpus cannot be opened: {error}", str(folder / SUITE_FILE)),))
    notes: tuple[str, ...] = ()
    if is_installed(suite.repository):
        suite, notes = fitted(suite, corpus)
    return _Finding(
        faults=(*_digest_faults(suite, corpus, folder), *_query_faults(suite, corpus, folder)),
        rows=tuple(
            row_of(query, _language(corpus, query.targets[0].path)) for query in suite.queries
        ),
        ideal=evaluate_ideal(suite, corpus.by_path, DEFAULT),
        notes=notes,
    )


def _language(corpus: Corpus, path: str) -> str:
    table = corpus.by_path.get(path)
    return (table.language if table else language_of(path)) or "text"


def _digest_faults(suite: Suite, corpus: Corpus, folder: Path) -> Iterable[Fault]:
    if suite.corpus_digest == corpus.digest:
        return
    yield Fault(
        f"is not the corpus that is there, which has {corpus.digest}"
        if suite.corpus_digest
        else "is missing",
        str(folder / SUITE_FILE),
        field="corpus_digest",
        value=suite.corpus_digest,
        mend=(
            "restore the corpus, or write its digest here when the faults below are mended"
            if suite.corpus_digest
            else f"write {corpus.digest}"
        ),
    )


def _query_faults(suite: Suite, corpus: Corpus, folder: Path) -> Iterable[Fault]:
    file = folder / QUERIES_FILE
    places = Places(corpus)
    found = [(query.id, fault) for query in suite.queries for fault in query_faults(query, places)]
    lines = _lines(file) if found else {}
    for query, (field, problem, value, mend) in found:
        yield Fault(problem, str(file), lines.get(query), field, value, mend)


def _lines(file: Path) -> dict[str, int]:
    """Return the line of each query; the file has been read and found well formed."""
    rows = file.read_text("utf-8-sig").split("\n")
    return {
        json.loads(row)["id"]: number for number, row in enumerate(rows, start=1) if row.strip()
    }
