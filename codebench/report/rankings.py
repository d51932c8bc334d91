"""One query of a scored run with its gold, its code, and every retriever's ranking judged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from codebench.corpus.tables import read_tables
from codebench.errors import UsageError
from codebench.evaluation import UNANSWERED
from codebench.gold.code import find_code
from codebench.grading import Files, compile_gold, trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.evaluation import Evaluation
    from codebench.gold.code import Code
    from codebench.grading import Gold, Step
    from codebench.judging.scored import Scored, ScoredRun
    from codebench.model import Answer, Chunk, FileTable, Hit, Query, Target

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """One retriever's answer to one query, judged hit by hit.

    Attributes:
        label: the retriever, with its run where several hold it.
        floor: whether it is a reference row.
        status: `ok`, how the answer failed, or `unanswered`.
        error: one line, empty for `ok`.
        latency_ms: of the answer that is scored.
        hits: best first, each with what it reached.
        values: the query's values by the measures' printed names.
    """

    label: str
    floor: bool
    status: str
    error: str
    latency_ms: float | None
    hits: tuple[tuple[Hit, Step], ...]
    values: Mapping[str, float | None]

    def rank_of(self, name: str) -> int | None:
        """Return the rank of the first hit that shows a target; None where none does."""
        for rank, (_, step) in enumerate(self.hits, 1):
            if any(unit.kind == "target" and unit.name == name for unit, _ in step.units):
                return rank
        return None


class Questions:
    """The queries of one run over one suite, with what lies behind their scores.

    Args:
        scored: the run.
        labels: how each retriever is named here, by its name in the run; others are left out.
        member: the name of the suite, where the run is over several.
    """

    def __init__(self, scored: ScoredRun, labels: Mapping[str, str], member: str = "") -> None:
        self.scored = scored
        self.member = member
        self._labels = labels

    @property
    def queries(self) -> Sequence[Query]:
        """What was asked."""
        return self.scored.suite.queries

    @cached_property
    def files(self) -> Files:
        """What is known of the corpus's files."""
        return Files(self._tables)

    @cached_property
    def _tables(self) -> Mapping[str, FileTable]:
        return {table.path: table for table in read_tables(self.scored.run.tables_file)}

    @cached_property
    def code(self) -> Code:
        """The corpus's lines, where they are at hand."""
        return find_code(self.scored.suite, self.scored.run.suite_folder, self._tables.keys())

    @cached_property
    def _answers(self) -> Mapping[str, Mapping[str, Answer]]:
        found: dict[str, dict[str, Answer]] = {}
        for one in self._shown:
            own = found.setdefault(one.name, {})
            for answer in one.run.answers:
                if not answer.repeat:
                    own.setdefault(answer.query, answer)
        return found

    @property
    def _shown(self) -> list[Scored]:
        return [one for one in self.scored.retrievers if one.name in self._labels]

    def gold(self, query: Query) -> Gold:
        """Return a query's gold."""
        return compile_gold(query, self.files)

    def chunk(self, target: Target) -> Chunk | None:
        """Return the chunk of a target; None for a file, a document, or one that is gone."""
        file = self.files.get(target.path)
        return file.by_id.get(target.chunk) if file else None

    def spans(self, target: Target) -> Spans:
        """Return the lines of a target: its chunk's own, or the file's; none where it is gone."""
        chunk = self.chunk(target)
        if chunk is not None:
            return chunk.spans
        file = self.files.get(target.path)
        whole = file is not None and target.chunk == target.path and file.lines
        return ((1, file.lines),) if file is not None and whole else ()

    def rankings(self, query: Query) -> tuple[Ranking, ...]:
        """Return every retriever's ranking, the floors last."""
        gold = self.gold(query)
        ordered = sorted(self._shown, key=lambda one: one.floor)
        return tuple(self._ranking(one, query, gold) for one in ordered)

    def _ranking(self, one: Scored, query: Query, gold: Gold) -> Ranking:
        answer = self._answers[one.name].get(query.id)
        hits = answer.hits[: self.scored.run.depth] if answer and answer.status == "ok" else ()
        latency = answer.latency_ns if answer else None
        return Ranking(
            label=self._labels[one.name],
            floor=one.floor,
            status=answer.status if answer else UNANSWERED,
            error=answer.error if answer else "",
            latency_ms=None if latency is None or one.floor else latency / 1e6,
            hits=tuple(zip(hits, trace(gold, hits), strict=True)),
            values=values_of(one.evaluation, query.id),
        )


def values_of(evaluation: Evaluation | None, query: str) -> Mapping[str, float | None]:
    """Return one query's values; none where there is no evaluation."""
    return {} if evaluation is None else evaluation.per_query.get(query, {})


def questions(scored: ScoredRun, labels: Mapping[str, str]) -> tuple[Questions, ...]:
    """Return a run's queries: one lot, or one for each suite of a run over several."""
    parts = scored.members or (("", scored),)
    return tuple(Questions(part, labels, member) for member, part in parts)


def find(lots: Sequence[Questions], words: str) -> tuple[Questions, Query]:
    """Find one query by its ID, the beginning of its ID, or a part of its text.

    In a run over several suites an ID may be written `MEMBER/QUERY`.

    Raises:
        UsageError: none, or more than one, is meant; some of them are named.
    """
    known = [
        (f"{lot.member}/{query.id}" if lot.member else query.id, lot, query)
        for lot in lots
        for query in lot.queries
    ]
    lowered = words.casefold()
    by = (
        [one for one in known if words in (one[0], one[2].id)],
        [one for one in known if words and (one[0].startswith(words) or _begins(one[2], words))],
        [one for one in known if words and lowered in one[2].text.casefold()],
    )
    for found in by:
        if len(found) == 1:
            return found[0][1:]
        if found:
            some = "; ".join(f"{own} {_cut(query.text)}" for own, _, query in found[:5])
            more = f"; and {len(found) - 5} more" if len(found) > 5 else ""
            raise UsageError(f"{words!r} means {len(found)} queries: {some}{more}")
    raise UsageError(
        f"no query has an ID that begins with {words!r}, or a text that holds it "
        "(`codebench show RUN --worst 20` lists some)"
    )


def _begins(query: Query, words: str) -> bool:
    return query.id.startswith(words)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 50 else line[:47] + "..."
