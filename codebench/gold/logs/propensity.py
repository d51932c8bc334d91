"""How much a click is worth at the rank at which it was made: position bias, and its correction.

A result low in a list is clicked less because fewer people look there. A click is weighed by the
inverse of the chance that its rank is looked at (Joachims, Swaminathan and Schnabel, WSDM 2017);
the chances are harvested from documents that the same query showed at two ranks, without any
experiment (Agarwal et al., WSDM 2019).
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FEW, MANY = 20, 100
"""Impressions of a query: below the first, raw counts; from the second on, harvested chances."""

CLIP = 10.0
"""No click counts more: one lucky click at rank 50 must not decide."""


def raw(rank: int) -> float:  # noqa: ARG001  # every rank is the same
    """Return the weight of a click where nothing is corrected."""
    return 1.0


def root(rank: int) -> float:
    """Return the weight of a click where rank r is looked at with a chance of 1 / sqrt(r)."""
    return min(math.sqrt(max(rank, 1)), CLIP)


def steep(rank: int) -> float:
    """Return the weight of a click where rank r is looked at with a chance of 1 / r."""
    return min(float(max(rank, 1)), CLIP)


class Propensities:
    """Chances that each rank is looked at, the first one's being 1.

    Args:
        counts: for each query and document, (impressions, clicks) by rank.

    Attributes:
        chances: by rank; empty where no document was seen at two ranks.
        pairs: how many documents were seen at two ranks.
    """

    def __init__(self, counts: Iterable[Mapping[int, tuple[int, int]]]) -> None:
        evidence: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
        self.pairs = 0
        for by_rank in counts:
            ranks = sorted(by_rank)
            self.pairs += len(ranks) > 1
            for place, high in enumerate(ranks):
                for low in ranks[place + 1 :]:
                    _add(evidence[high, low], by_rank[high], by_rank[low])
        usable = {pair: clicks for pair, clicks in evidence.items() if min(clicks) > 0}
        self.chances = _solve(usable) if usable else {}

    def weight(self, rank: int) -> float:
        """Return the weight of a click; ranks beyond those that were seen follow 1 / sqrt(r)."""
        if not self.chances:
            return root(rank)
        known = max((one for one in self.chances if one <= rank), default=min(self.chances))
        chance = self.chances[known] * math.sqrt(known / max(rank, 1))
        return min(1 / max(min(chance, 1.0), 1e-9), CLIP)


def effective(weights: Sequence[float]) -> float:
    """Return Kish's effective sample size: (sum of weights)² / sum of squares; 0 of none."""
    squares = math.fsum(weight * weight for weight in weights)
    return math.fsum(weights) ** 2 / squares if squares else 0.0


def _add(evidence: list[float], high: tuple[int, int], low: tuple[int, int]) -> None:
    """Add a document's click rates at two ranks, weighed by how well both are known."""
    known = high[0] * low[0] / (high[0] + low[0])
    evidence[0] += known * high[1] / high[0]
    evidence[1] += known * low[1] / low[0]


def _solve(evidence: Mapping[tuple[int, int], Sequence[float]]) -> dict[int, float]:
    """Fit the logarithms of the chances to those of all ratios, by weighted least squares."""
    import numpy as np  # noqa: PLC0415  # heavy, and most logs have too few impressions

    ranks = sorted({rank for pair in evidence for rank in pair})
    column = {rank: number for number, rank in enumerate(ranks)}
    rows, wanted = [], []
    for (high, low), clicks in sorted(evidence.items()):
        weight = math.sqrt(min(clicks))
        row = [0.0] * len(ranks)
        row[column[high]], row[column[low]] = weight, -weight
        rows.append(row)
        wanted.append(weight * math.log(clicks[0] / clicks[1]))
    fitted = np.linalg.lstsq(np.array(rows)[:, 1:], np.array(wanted), rcond=None)[0]
    chances = [1.0, *(math.exp(min(float(value), 0.0)) for value in fitted)]
    first = 1 / math.sqrt(ranks[0])
    return {rank: first * chance for rank, chance in zip(ranks, chances, strict=True)}
