"""What an evaluation is: a row a query, a column a measure, and the means over them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from codebench.errors import UsageError
from codebench.measures import aggregates
from codebench.measures.formulas import compute
from codebench.measures.names import Measure, parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from codebench.measures.ranks import Ranks
    from codebench.measures.statistics import Figure

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
        queries: the q query IDs, sorted; of several suites, one suite after the other.
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


def values_of(measures: Sequence[Measure], ranks: Ranks) -> Floats:
    """Return (queries, measures) values of ranks; NaN where a query has no unit at the level."""
    return np.column_stack([compute(measure, ranks) for measure in measures])
