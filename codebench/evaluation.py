"""Measures over a run: a row a query, and the aggregates.

Every query of the gold stays in the denominator: one that failed or was not answered scores the
worst value. A query without a unit at a measure's level is left out of that measure, and counted.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from codebench.errors import NothingMeasured, UsageError
from codebench.grading import Files, compile_gold, reach
from codebench.measures import aggregates
from codebench.measures.columns import RanksBuilder
from codebench.measures.formulas import compute
from codebench.measures.names import Measure, check_depth, parse, parse_all
from codebench.measures.plain import check_grades, rankings_of, ranks_of
from codebench.measures.ranks import Ranks, concat
from codebench.model import STATUSES
from codebench.suite import cluster_of, gold_digest, is_judged, rel_of, repository_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from codebench.measures.columns import Asked, Columns
    from codebench.measures.statistics import Figure
    from codebench.model import Answer, FileTable, Query, Suite

    Floats = NDArray[np.float64]

How = Literal["macro", "unweighted", "micro", "repositories"]

UNANSWERED = "unanswered"
"""Status of a query that the run holds no answer for."""

SUITE_REL = 2
JUDGMENTS_REL = 1


class ByName(dict[str, float | None]):
    """Figures by a measure's printed name; other spellings of the name find them too."""

    def __init__(self, figures: Iterable[tuple[str, float | None]], default_rel: int) -> None:
        super().__init__(figures)
        self._default_rel = default_rel

    def __missing__(self, name: str | Measure) -> float | None:
        measure = name if isinstance(name, Measure) else parse(name)
        printed = str(measure.bind(self._default_rel))
        if printed == name or printed not in self:
            raise KeyError(printed)
        return self[printed]


@dataclass(frozen=True)
class Evaluation:
    """Measures of one retriever's answers to q queries.

    Attributes:
        measures: the m measures, bound to their levels.
        queries: the q query IDs, sorted.
        table: (q, m) float64; NaN where a query has no unit at the measure's level.
        weights: (q,) the queries' weights.
        statuses: (q,) `ok`, how the answer failed, or `unanswered`.
        clusters: (q,) the cluster that each query belongs to; its own ID when to none.
        repositories: (q,) the repository of each query; empty where there is one only.
        gold: digest of the queries and their gold: two evaluations can be paired when it agrees.
        ranks: the first-reach ranks, for curves and micro figures.
        notes: what a reader must know: what was ignored or mended, and how often.
        default_rel: the level that a name without `rel` means here.
    """

    measures: tuple[Measure, ...]
    queries: tuple[str, ...]
    table: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    statuses: tuple[str, ...] = field(repr=False)
    clusters: tuple[str, ...] = field(repr=False)
    repositories: tuple[str, ...] = field(repr=False)
    gold: str
    ranks: Ranks = field(repr=False)
    notes: tuple[str, ...] = ()
    default_rel: int = SUITE_REL

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """Weighted macro means with their 95 % intervals, by printed name."""
        return aggregate(self).figures

    @cached_property
    def values(self) -> ByName:
        """Weighted macro means by printed name; None where no query is left."""
        pairs = [(name, figure.value) for name, figure in self.figures.items()]
        return ByName(pairs, self.default_rel)

    @cached_property
    def per_query(self) -> Mapping[str, ByName]:
        """Every query's values by printed name; None where a query is left out."""
        names = [str(measure) for measure in self.measures]
        return {
            query: ByName(
                [
                    (name, None if math.isnan(value) else value)
                    for name, value in zip(names, row, strict=True)
                ],
                self.default_rel,
            )
            for query, row in zip(self.queries, self.table.tolist(), strict=True)
        }

    @cached_property
    def failures(self) -> Mapping[str, int]:
        """How many queries failed, by status; `unanswered` among them."""
        count = Counter(status for status in self.statuses if status != "ok")
        return dict(sorted(count.items()))

    def without(self, measures: Collection[Measure]) -> Evaluation:
        """Return the evaluation without some of its measures."""
        kept = [at for at, one in enumerate(self.measures) if one not in measures]
        own = tuple(self.measures[at] for at in kept)
        return replace(self, measures=own, table=self.table[:, kept])

    def column(self, name: str | Measure) -> Floats:
        """Return (q,) one measure's values.

        Raises:
            UsageError: the evaluation does not hold it.
        """
        measure = (name if isinstance(name, Measure) else parse(name)).bind(self.default_rel)
        if measure not in self.measures:
            held = ", ".join(map(str, self.measures))
            raise UsageError(f"{measure} was not evaluated; there are {held}")
        values: Floats = self.table[:, self.measures.index(measure)]
        return values


@dataclass(frozen=True)
class Aggregate:
    """Figures over queries, and how they were put together.

    Attributes:
        how: which mean.
        words: the same in words, for a table's caption.
        figures: by printed name; micro holds P, R and F only.
    """

    how: How
    words: str
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class Slice:
    """The queries that share a tag's value, with their figures."""

    tag: str
    value: str
    n: int
    figures: Mapping[str, Figure]


def evaluate_answers(
    suite: Suite,
    tables: Mapping[str, FileTable],
    answers: Iterable[Answer],
    measures: Sequence[Measure | str],
    *,
    depth: int,
) -> Evaluation:
    """Grade one retriever's answers to a suite and measure them.

    `tables` are the corpus's files by path. The answer of repeat 0 is scored, its hits cut at
    `depth`; an answer that is not `ok` counts as no hits.

    Raises:
        UsageError: a cutoff is above the depth, or a measure is not defined for this gold.
        NothingMeasured: the suite has no query.
    """
    queries = sorted(suite.queries, key=lambda query: query.id)
    if not queries:
        raise NothingMeasured(f"suite {suite.name} has no query")
    rel = rel_of(queries)
    bound = parse_all(measures, rel)
    check_depth(bound, depth)
    scored, notes = _scored({query.id for query in queries}, answers)
    files = Files(tables)
    builder = RanksBuilder(len(queries))
    for at, query in enumerate(queries):
        hits = scored[query.id].hits[:depth] if _ok(scored, query) else ()
        builder.add(at, reach(compile_gold(query, files), hits))
    ranks = builder.ranks(judged=is_judged(queries))
    return Evaluation(
        measures=bound,
        queries=tuple(query.id for query in queries),
        table=_table(bound, ranks),
        weights=np.array([query.weight for query in queries], np.float64),
        statuses=tuple(
            scored[query.id].status if query.id in scored else UNANSWERED for query in queries
        ),
        clusters=tuple(cluster_of(query) for query in queries),
        repositories=tuple(repository_of(query) for query in queries),
        gold=gold_digest(queries),
        ranks=ranks,
        notes=notes,
        default_rel=rel,
    )


def evaluate_columns(
    asked: Asked, columns: Columns, measures: Sequence[Measure | str], *, depth: int
) -> Evaluation:
    """Measure a sealed run's answers from their columns; the same as from the answers.

    Raises:
        UsageError: a cutoff is above the depth, or a measure is not defined for this gold.
    """
    bound = parse_all(measures, asked.rel)
    check_depth(bound, depth)
    first = np.flatnonzero(columns.repeat == 0)
    statuses = [UNANSWERED] * len(asked.queries)
    for at, status in zip(
        columns.query[first].tolist(), columns.status[first].tolist(), strict=True
    ):
        statuses[at] = STATUSES[status]
    return Evaluation(
        measures=bound,
        queries=asked.queries,
        table=_table(bound, columns.ranks),
        weights=asked.weights,
        statuses=tuple(statuses),
        clusters=asked.clusters,
        repositories=asked.repositories,
        gold=asked.gold,
        ranks=columns.ranks,
        default_rel=asked.rel,
    )


def _ok(scored: Mapping[str, Answer], query: Query) -> bool:
    return query.id in scored and scored[query.id].status == "ok"


def _scored(
    known: set[str], answers: Iterable[Answer]
) -> tuple[dict[str, Answer], tuple[str, ...]]:
    scored: dict[str, Answer] = {}
    strange = repeated = 0
    for answer in answers:
        if answer.repeat:
            continue
        if answer.query not in known:
            strange += 1
        elif answer.query in scored:
            repeated += 1
        else:
            scored[answer.query] = answer
    notes = []
    if strange:
        notes.append(f"{strange} answers to queries that the suite does not have were ignored")
    if repeated:
        notes.append(f"{repeated} second answers to a query were ignored")
    return scored, tuple(notes)


def _digest(rows: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    encode = json.JSONEncoder(separators=(",", ":")).encode
    for row in rows:
        digest.update(encode(row).encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"


def _table(measures: Sequence[Measure], ranks: Ranks) -> Floats:
    return np.column_stack([compute(measure, ranks) for measure in measures])


def evaluate(
    qrels: Mapping[str, Mapping[str, int]],
    run: Mapping[str, Mapping[str, float] | Sequence[str]],
    measures: Iterable[str | Measure],
    *,
    ties: Literal["order", "trec"] = "order",
    empty_gold: Literal["exclude", "zero"] = "exclude",
) -> Evaluation:
    """Measure rankings against plain judgments. The arguments are never changed.

    Args:
        qrels: `{query: {document: grade}}`; grades are whole numbers, those below 0 count as 0.
        run: `{query: [document, …]}` best first, or `{query: {document: score}}`. A mapping's own
            order is the ranking too, and its scores are only checked: pass `ties="trec"` for
            mappings that are not in the order of their scores.
        measures: names such as `RR@10`, `R(rel=2)@10`, or `Measure`s; `rel` is 1 by default.
        ties: `order` keeps the order given; `trec` sorts by score, highest first, and equal scores
            by document, last first by bytes, as trec_eval does (it needs scores).
        empty_gold: what a query without a relevant document is: `exclude`d from the measure, its
            value None and counted, or scored `zero` as trec_eval does.

    Returns:
        an evaluation with `.values` (`{measure: float}`) and `.per_query`
        (`{query: {measure: float}}`), over every query of `qrels`: one that `run` does not answer
        scores 0. A query that `qrels` does not have is ignored. `.notes` says what was.

    Raises:
        UsageError: a measure's name is wrong, or `ties="trec"` has no scores to sort by.
        InputError: every grade that is not a whole number from -1000 to 1000, every score that is
            not a finite number, and every ranking of another shape.
        NothingMeasured: `qrels` has no query.
    """
    bound = parse_all(measures, JUDGMENTS_REL)
    if ties not in ("order", "trec") or empty_gold not in ("exclude", "zero"):
        raise UsageError('ties is "order" or "trec"; empty_gold is "exclude" or "zero"')
    if not qrels:
        raise NothingMeasured("the judgments have no query")
    queries = sorted(qrels)
    check_grades(qrels)
    rankings, rising = rankings_of(queries, run, ties)
    ranks = ranks_of([qrels[query] for query in queries], rankings)
    table = _table(bound, ranks)
    if empty_gold == "zero":
        worst = np.array([measure.worst for measure in bound])
        table = np.where(np.isnan(table), worst, table)
    return Evaluation(
        measures=bound,
        queries=tuple(queries),
        table=table,
        weights=np.ones(len(queries)),
        statuses=tuple("ok" if query in run else UNANSWERED for query in queries),
        clusters=tuple(queries),
        repositories=("",) * len(queries),
        gold=_digest(
            [query, *sorted((name, int(grade)) for name, grade in qrels[query].items())]
            for query in queries
        ),
        ranks=ranks,
        notes=_plain_notes(qrels, run, rising),
        default_rel=JUDGMENTS_REL,
    )


def _plain_notes(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Any], rising: int
) -> tuple[str, ...]:
    strange = sum(query not in qrels for query in run)
    negative = sum(grade < 0 for judged in qrels.values() for grade in judged.values())
    notes = []
    if strange:
        notes.append(f"{strange} queries of the run have no judgment and were ignored")
    if negative:
        notes.append(f"{negative} grades below 0 count as 0")
    if rising:
        notes.append(
            f"{rising} queries have scores that rise: the order given is the ranking "
            "(ties=trec sorts by score)"
        )
    return tuple(notes)


def merge(parts: Sequence[tuple[str, Evaluation]]) -> Evaluation:
    """Put the evaluations of several suites into one; their queries become `NAME/QUERY`.

    Args:
        parts: a name and an evaluation each, of the same measures.

    Raises:
        UsageError: the measures differ.
        NothingMeasured: there is no part.
    """
    if not parts:
        raise NothingMeasured("there is no evaluation to put together")
    first = parts[0][1]
    if any(one.measures != first.measures for _, one in parts):
        raise UsageError("evaluations of different measures cannot be put together")
    return Evaluation(
        measures=first.measures,
        queries=tuple(f"{name}/{query}" for name, one in parts for query in one.queries),
        table=np.vstack([one.table for _, one in parts]),
        weights=np.concatenate([one.weights for _, one in parts]),
        statuses=tuple(status for _, one in parts for status in one.statuses),
        clusters=tuple(f"{name}/{cluster}" for name, one in parts for cluster in one.clusters),
        repositories=tuple(own for _, one in parts for own in one.repositories),
        gold=_digest([[name, one.gold] for name, one in parts]),
        ranks=concat([one.ranks for _, one in parts]),
        notes=tuple(f"{name}: {note}" for name, one in parts for note in one.notes),
        default_rel=first.default_rel,
    )


def aggregate(evaluation: Evaluation, how: How = "macro") -> Aggregate:
    """Put an evaluation's queries together.

    `macro` weighs each query by its weight, `unweighted` does not; `micro` throws the units of all
    queries together (P, R and F only); `repositories` is the mean of the repositories' means.

    Raises:
        UsageError: `micro` without P, R or F among the measures, `repositories` without the tag.
    """
    own = dict(zip(evaluation.measures, evaluation.table.T, strict=True))
    if how == "micro":
        own = {measure: own[measure] for measure in own if measure.name in aggregates.MICRO}
        if not own:
            raise UsageError("only P, R and F have a micro mean, and none of them was asked for")
    if how == "repositories" and not any(evaluation.repositories):
        raise UsageError("the queries have no tag `repository` to take means by")
    return Aggregate(
        how,
        _WORDS[how],
        {str(measure): _figure(evaluation, how, measure, own[measure]) for measure in own},
    )


_WORDS: Mapping[How, str] = {
    "macro": "mean over queries, weighted by query weight",
    "unweighted": "mean over queries, each weighing the same",
    "micro": "units of all queries thrown together (micro)",
    "repositories": "mean over repositories of their weighted means",
}


def _figure(evaluation: Evaluation, how: How, measure: Measure, values: Floats) -> Figure:
    if how == "micro":
        return aggregates.micro(measure, evaluation.ranks)
    if how == "repositories":
        groups = evaluation.repositories
        return aggregates.over_groups(measure, values, evaluation.weights, groups)
    return aggregates.macro(measure, values, evaluation.weights if how == "macro" else None)


def slices(evaluation: Evaluation, suite: Suite, tag: str) -> tuple[Slice, ...]:
    """Cut an evaluation by a tag of the suite's queries: a slice a value, sorted.

    Queries without the tag form the slice of the empty value. Means are weighted.

    Raises:
        UsageError: no query has the tag (those there are, are named).
    """
    tags = {query.id: query.tags for query in suite.queries}
    if not any(tag in own for own in tags.values()):
        there = sorted({name for own in tags.values() for name in own})
        raise UsageError(f"no query has the tag {tag!r}; there are {', '.join(there) or 'none'}")
    value_of = [tags.get(query, {}).get(tag, "") for query in evaluation.queries]
    cut = []
    for value in sorted(set(value_of)):
        rows = np.array([own == value for own in value_of])
        figures = {
            str(measure): aggregates.macro(measure, column[rows], evaluation.weights[rows])
            for measure, column in zip(evaluation.measures, evaluation.table.T, strict=True)
        }
        cut.append(Slice(tag, value, int(rows.sum()), figures))
    return tuple(cut)


def recall_curve(evaluation: Evaluation, rel: int, depth: int) -> tuple[float | None, ...]:
    """Return the weighted mean of R(rel)@K for K = 1, …, depth; a single K hides saturation."""
    return aggregates.recall_curve(evaluation.ranks, rel, depth, evaluation.weights)


def tied_at(answers: Iterable[Answer], k: int) -> int:
    """Return how many scored answers have equal scores on both sides of the cut after K.

    Their order there is the retriever's own, and no score says why.
    """
    return sum(
        len(answer.hits) > k
        and answer.hits[k - 1].score is not None
        and answer.hits[k - 1].score == answer.hits[k].score
        for answer in answers
        if not answer.repeat
    )
