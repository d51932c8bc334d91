"""A query with its gold in context: the code of its targets, with line numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.errors import UsageError
from codebench.gold.folders import folder_of, open_corpus
from codebench.gold.workshop import workshop
from codebench.reading import near
from codebench.suite import members_of, read_suite

if TYPE_CHECKING:
    from codebench.gold.workshop import Progress
    from codebench.model import Corpus, Query, Suite, Target


@dataclass(frozen=True, slots=True)
class Shown:
    """A target with its code.

    Attributes:
        target: the target.
        kind: of its chunk: function, method, …; `file` for a whole file; empty where it is
            dangling.
        lines: its own lines, numbered from 1 in the file; none where it is dangling.
    """

    target: Target
    kind: str
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class InContext:
    """A query with its gold.

    Attributes:
        member: the member suite that holds it; empty where the suite stands alone.
        suite: that suite.
        query: the query.
        targets: with their code, in the query's order.
    """

    member: str
    suite: Suite
    query: Query
    targets: tuple[Shown, ...]


def queries_of(named: str) -> list[tuple[str, Query]]:
    """Return every query of a suite with the member that holds it.

    Raises:
        SuiteError: there is no such suite.
        InputError: it is wrong.
    """
    return [
        (member, query)
        for member, folder in members_of(folder_of(named))
        for query in read_suite(folder).queries
    ]


def in_context(
    named: str, query: str, progress: Progress, *, jobs: int | None = None
) -> tuple[InContext, ...]:
    """Return a query with the code of its targets; one for each member that has such an ID.

    Args:
        named: a built-in suite's name, or a folder.
        query: its ID, or a beginning that only one ID has.
        progress: told (step, done, of how many).
        jobs: processes that parse.

    Raises:
        UsageError: the suite has no such query.
        CodebenchError: the suite is wrong, or its corpus cannot be opened.
    """
    suites = [
        (member, folder, read_suite(folder)) for member, folder in members_of(folder_of(named))
    ]
    found = _find(query, {one.id for _, _, suite in suites for one in suite.queries}, named)
    with workshop(progress, jobs) as shop:
        return tuple(
            _shown(member, suite, one, open_corpus(suite, folder, shop))
            for member, folder, suite in suites
            for one in suite.queries
            if one.id == found
        )


def _find(query: str, ids: set[str], named: str) -> str:
    begins = sorted(one for one in ids if one.startswith(query))
    if query in ids or len(begins) == 1:
        return query if query in ids else begins[0]
    if begins and query:
        more = f" and {len(begins) - 5} more" if len(begins) > 5 else ""
        raise UsageError(
            f"{named}: {query!r} begins the IDs of {len(begins)} queries: "
            f"{', '.join(begins[:5])}{more}"
        )
    hint = near(query, ids) if len(ids) <= 10_000 else ""
    hint = "" if hint.startswith("known") else f"; {hint}"
    raise UsageError(
        f"{named}: has no query {query!r}{hint} (`codebench suite show {named}` lists them)"
    )


def _shown(member: str, suite: Suite, query: Query, corpus: Corpus) -> InContext:
    return InContext(member, suite, query, tuple(_code(one, corpus) for one in query.targets))


def _code(target: Target, corpus: Corpus) -> Shown:
    table = corpus.by_path.get(target.path)
    if table is None:
        return Shown(target, "", ())
    lines = corpus.lines(target.path)
    if target.document or target.chunk == target.path:
        return Shown(target, "file", tuple(enumerate(lines, start=1)))
    chunk = next((one for one in table.chunks if one.id == target.chunk), None)
    if chunk is None:
        return Shown(target, "", ())
    own = ((at, lines[at - 1]) for start, end in chunk.spans for at in range(start, end + 1))
    return Shown(target, chunk.kind, tuple(own))
