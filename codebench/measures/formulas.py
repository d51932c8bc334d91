"""Measures as functions of first-reach ranks: one small function a family.

Each takes the columns of a run and the measure, and returns (q,) float64: a value a query,
NaN where the query has no unit at the level that the measure reads. The formulas are those of
`docs/measures.md`; on plain judgments they are trec_eval's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codebench.errors import UsageError
from codebench.measures.ranks import UNREACHED, Level, Places, Ranks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from codebench.measures.names import Measure

    Floats = NDArray[np.float64]

BYTES_PER_TOKEN = 4
_MAX_EXPONENT = 1000


def compute(measure: Measure, ranks: Ranks) -> Floats:
    """Return (q,) the measure of every query; NaN where it is not defined.

    Raises:
        UsageError: the measure needs judged zeros, or bytes, that this gold does not have.
    """
    if measure.kind.needs_judged and not ranks.judged:
        raise UsageError(
            f"{measure.short} needs places judged not relevant, and this gold has none; "
            "use RR, R, P, AP or nDCG"
        )
    if (measure.tokens or measure.kind.needs_bytes) and ranks.places.bytes_read is None:
        raise UsageError(
            f"{measure.short} counts tokens, and plain judgments know no sizes; use @K"
        )
    return FORMULAS[measure.name](ranks, measure)


def reached_within(level: Level, measure: Measure) -> NDArray[np.bool_]:
    """Return (e,) which first reaches lie within the cutoff (rj <= K, or tokens read <= N)."""
    if measure.tokens and measure.cutoff is not None:
        if level.bytes_read is None:
            return np.zeros(len(level.ranks), np.bool_)
        return level.bytes_read <= measure.cutoff * BYTES_PER_TOKEN
    return level.ranks <= (measure.cutoff or UNREACHED)


def paid_within(level: Level, measure: Measure) -> NDArray[np.bool_]:
    """Return (e,) which units are paid within the cutoff (cj <= K)."""
    return level.paid <= (measure.cutoff or UNREACHED)


def _where_units(values: Floats, level: Level) -> Floats:
    return np.where(level.units > 0, values, np.nan)


def _over_units(values: Floats, level: Level) -> Floats:
    return np.divide(values, level.units, out=np.full_like(values, np.nan), where=level.units > 0)


def reciprocal_rank(ranks: Ranks, measure: Measure) -> Floats:
    """1 / r1 (Voorhees, TREC-8)."""
    level = ranks.level(measure.level)
    values = np.zeros(ranks.queries)
    reached = level.ends > level.starts
    first = level.ranks[level.starts[reached]]
    values[reached] = np.where(first <= (measure.cutoff or UNREACHED), 1.0 / first, 0.0)
    return _where_units(values, level)


def recall(ranks: Ranks, measure: Measure) -> Floats:
    """Share of the units with rj <= K: subtopic recall (Zhai et al., SIGIR 2003)."""
    level = ranks.level(measure.level)
    return _over_units(level.count(reached_within(level, measure)), level)


def precision(ranks: Ranks, measure: Measure) -> Floats:
    """Number of cj <= K, over K."""
    level = ranks.level(measure.level)
    return _where_units(level.count(paid_within(level, measure)) / (measure.cutoff or 1), level)


def f_measure(ranks: Ranks, measure: Measure) -> Floats:
    """(1 + b^2) P R / (b^2 P + R) (van Rijsbergen, 1979)."""
    return f_of(precision(ranks, measure), recall(ranks, measure), measure.number("beta"))


def f_of(precise: Floats, recalled: Floats, beta: float) -> Floats:
    """Return F of P and R, 0 where both are 0."""
    below = beta**2 * precise + recalled
    above = (1 + beta**2) * precise * recalled
    return np.divide(above, below, out=np.where(np.isnan(below), np.nan, 0.0), where=below > 0)


def average_precision(ranks: Ranks, measure: Measure) -> Floats:
    """(1/n) times the sum of j / cj over cj <= K."""
    level = ranks.level(measure.level)
    paid = paid_within(level, measure)
    return _over_units(level.total(level.order[paid] / level.paid[paid], paid), level)


def ndcg(ranks: Ranks, measure: Measure) -> Floats:
    """DCG over its ideal, level by level (Järvelin and Kekäläinen, TOIS 2002).

    This is alpha-nDCG with alpha = 1 (Clarke et al., SIGIR 2008) of each level's units.
    """
    gained, ideal = np.zeros(ranks.queries), np.zeros(ranks.queries)
    below = 0.0
    for grade, level in ranks.levels.items():
        value = _gain(grade, measure)
        if value < below:
            raise UsageError(
                f"{measure.short}: the gain of grade {grade} falls below a lower grade's"
            )
        step, below = value - below, value
        deepest = min(int(level.units.max(initial=0)), measure.cutoff or UNREACHED)
        longest = max(int(level.paid.max(initial=0)), deepest)
        discount = np.concatenate(([0.0], 1.0 / np.log2(np.arange(2, longest + 2))))
        paid = paid_within(level, measure)
        gained += step * level.total(discount[level.paid[paid]], paid)
        ideal += step * np.cumsum(discount)[np.minimum(level.units, deepest)]
    nothing: Floats = np.full(ranks.queries, np.nan)
    return np.divide(gained, ideal, out=nothing, where=ideal > 0)


def _gain(grade: int, measure: Measure) -> float:
    if measure.exponential:
        if grade > _MAX_EXPONENT:
            raise UsageError(f"{measure.short}: a grade of {grade} is too large for 2^g - 1")
        return float(2**grade - 1)
    return dict(measure.gains or ()).get(grade, float(grade))


def success(ranks: Ranks, measure: Measure) -> Floats:
    """1 when r1 <= K."""
    level = ranks.level(measure.level)
    return _where_units((level.count(reached_within(level, measure)) > 0).astype(np.float64), level)


def accuracy(ranks: Ranks, measure: Measure) -> Floats:
    """1 when all units are reached within K."""
    level = ranks.level(measure.level)
    return _where_units((level.count(reached_within(level, measure)) == level.units) * 1.0, level)


def r_precision(ranks: Ranks, measure: Measure) -> Floats:
    """P at n, the number of units."""
    level = ranks.level(measure.level)
    return _over_units(level.count(level.paid <= level.units[level.rows]), level)


def bpref(ranks: Ranks, measure: Measure) -> Floats:
    """Preferences over judged places (Buckley and Voorhees, SIGIR 2004), as trec_eval 8+."""
    level, places = ranks.level(measure.level), ranks.places
    negative = places.grades < measure.level
    rows, at = places.rows[negative], places.ranks[negative]
    count = np.bincount(rows, minlength=ranks.queries)
    # One sorted key a place, so that one search says how many stand before each unit.
    key = rows * np.int64(UNREACHED + 1) + at
    starts = np.cumsum(count) - count
    before = np.searchsorted(key, level.rows * np.int64(UNREACHED + 1) + level.ranks)
    before -= starts[level.rows]
    bound = np.minimum(count, level.units)[level.rows]
    lost = np.minimum(before, level.units[level.rows]) / np.maximum(bound, 1)
    return _over_units(level.total(1.0 - lost), level)


def rank_biased_precision(ranks: Ranks, measure: Measure) -> Floats:
    """(1 - p) times the sum of p^(cj - 1) (Moffat and Zobel, TOIS 2008)."""
    level, p = ranks.level(measure.level), measure.number("p")
    paid = paid_within(level, measure)
    values = (1 - p) * level.total(p ** (level.paid[paid] - 1.0), paid)
    return _where_units(np.minimum(values, 1.0), level)


def expected_reciprocal_rank(ranks: Ranks, measure: Measure) -> Floats:
    """A cascade that stops where it is satisfied (Chapelle et al., CIKM 2009)."""
    places, highest = ranks.places, measure.number("max_rel")
    relevant = places.grades > 0
    shown = _level_of(places, relevant & (places.ranks < UNREACHED), ranks.queries)
    grades = np.minimum(places.grades[relevant & (places.ranks < UNREACHED)], highest)
    # (2^g - 1) / 2^highest, written so that a large grade does not overflow.
    satisfied = 2.0 ** (grades - highest) - 2.0**-highest
    going_on = np.ones(ranks.queries)
    values = np.zeros(ranks.queries)
    for place in range(1, int(shown.order.max(initial=0)) + 1):
        here = (shown.order == place) & paid_within(shown, measure)
        rows = shown.rows[here]
        values[rows] += going_on[rows] * satisfied[here] / shown.paid[here]
        going_on[rows] *= 1 - satisfied[here]
    has = np.bincount(places.rows[relevant], minlength=ranks.queries) > 0
    return np.where(has, values, np.nan)


def judged(ranks: Ranks, measure: Measure) -> Floats:
    """Share of the first K returned at which a judged place is found, as ir-measures has it."""
    places = ranks.places
    cutoff = measure.cutoff or UNREACHED
    new = np.ones(len(places.ranks), np.bool_)
    # Two places at one rank are one judged hit.
    new[1:] = (places.ranks[1:] != places.ranks[:-1]) | (places.rows[1:] != places.rows[:-1])
    found = np.bincount(places.rows[new & (places.ranks <= cutoff)], minlength=ranks.queries)
    known = np.bincount(places.rows, minlength=ranks.queries) > 0
    values = found / np.maximum(np.minimum(ranks.returned, cutoff), 1)
    return np.where(known, values, np.nan)


def value(ranks: Ranks, measure: Measure) -> Floats:
    """Sum of the weights of the targets shown within K."""
    places = ranks.places
    relevant = places.grades > 0
    shown = relevant & (places.ranks <= (measure.cutoff or UNREACHED))
    values = np.bincount(places.rows[shown], places.weights[shown], minlength=ranks.queries)
    has = np.bincount(places.rows[relevant], minlength=ranks.queries) > 0
    return np.where(has, values, np.nan)


def tokens(ranks: Ranks, measure: Measure) -> Floats:
    """Tokens read until the first target is shown, at most the cutoff."""
    places = ranks.places
    values = np.full(ranks.queries, float(measure.limit))
    relevant = places.grades > 0
    if places.bytes_read is not None:
        shown = relevant & (places.ranks < UNREACHED)
        np.minimum.at(values, places.rows[shown], places.bytes_read[shown] / BYTES_PER_TOKEN)
    has = np.bincount(places.rows[relevant], minlength=ranks.queries) > 0
    return np.where(has, values, np.nan)


def _level_of(places: Places, chosen: NDArray[np.bool_], queries: int) -> Level:
    count = np.bincount(places.rows[chosen], minlength=queries)
    return Level(units=count, ends=np.cumsum(count), ranks=places.ranks[chosen])


FORMULAS: dict[str, Callable[[Ranks, Measure], Floats]] = {
    "RR": reciprocal_rank,
    "R": recall,
    "P": precision,
    "F": f_measure,
    "AP": average_precision,
    "nDCG": ndcg,
    "Success": success,
    "Acc": accuracy,
    "Rprec": r_precision,
    "Bpref": bpref,
    "RBP": rank_biased_precision,
    "ERR": expected_reciprocal_rank,
    "Judged": judged,
    "Value": value,
    "Tokens": tokens,
}
