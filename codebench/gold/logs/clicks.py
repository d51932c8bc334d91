"""What people clicked -> grades: the rules for query logs.

3: edited within a day in the same task; or, by the margin rule, satisfied clicks of at least 3
users and a corrected rate 1.5 times the runner-up's. 2: a satisfied click (30 seconds, or the
task's last click). 1: a click. 0: passed over above a click 3 times. What lies below the last
click is not judged.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codebench.gold.logs import propensity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set

SATISFIED_SECONDS = 30.0
MIN_USERS = 3
MARGIN = 1.5
MIN_SKIPS = 3


@dataclass
class PlaceEvidence:
    """What happened to one place under one query.

    Attributes:
        shown, clicked: how often, by rank.
        users: who was satisfied with it.
        touched: it was clicked, at whatever rank.
        edited: who asked edited it afterwards.
        skipped: how often a result below it was clicked and it was not.
    """

    shown: Counter[int] = field(default_factory=Counter)
    clicked: Counter[int] = field(default_factory=Counter)
    users: set[str] = field(default_factory=set)
    touched: bool = False
    edited: bool = False
    skipped: int = 0


@dataclass
class QueryEvidence:
    """What happened under one query, over everybody who asked it.

    Attributes:
        impressions: how often its results were shown.
        users: who asked.
        retrievers: what produced the results.
        places: by chunk ID or path.
    """

    impressions: int = 0
    users: set[str] = field(default_factory=set)
    retrievers: set[str] = field(default_factory=set)
    places: dict[str, PlaceEvidence] = field(default_factory=lambda: defaultdict(PlaceEvidence))

    def impression(self, shown: Sequence[str], clicked: Set[str]) -> None:
        """Add one list of results: the places in it, best first, and those that were clicked.

        A place that several results lie in counts at the first of them.
        """
        self.impressions += 1
        ranks: dict[str, int] = {}
        for rank, place in enumerate(shown, 1):
            if place:
                ranks.setdefault(place, rank)
        last = max((ranks[place] for place in clicked if place in ranks), default=0)
        for place, rank in ranks.items():
            found = self.places[place]
            found.shown[rank] += 1
            if place in clicked:
                found.clicked[rank] += 1
            elif rank < last:
                found.skipped += 1

    def click(self, place: str, user: str, *, satisfied: bool) -> None:
        """Add one click."""
        found = self.places[place]
        found.touched = True
        if satisfied:
            found.users.add(user)


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a query's evidence says.

    Attributes:
        grades: by place, 1 to 3.
        weights: by place, its corrected rate over the best one's; 1 without impressions.
        zeros: places judged not relevant.
        correction: `raw`, `root` or `harvested`.
        clicks: the weight of each click at a rank.
    """

    grades: Mapping[str, int]
    weights: Mapping[str, float]
    zeros: tuple[str, ...]
    correction: str
    clicks: tuple[float, ...]


def judge(evidence: QueryEvidence, harvested: propensity.Propensities) -> Judgment:
    """Grade the places of one query.

    Args:
        evidence: of all who asked it.
        harvested: of the whole log.
    """
    correction, weigh = _correction(evidence.impressions, harvested)
    rates = {name: _rate(one, evidence.impressions, weigh) for name, one in evidence.places.items()}
    best = _winner(evidence, rates)
    grades = {
        name: 3 if one.edited or name == best else 2 if one.users else 1
        for name, one in evidence.places.items()
        if one.edited or one.touched
    }
    top = max((rates[name] for name in grades), default=0.0)
    zeros = (
        name
        for name, one in evidence.places.items()
        if name not in grades and one.skipped >= MIN_SKIPS
    )
    return Judgment(
        grades=dict(sorted(grades.items())),
        weights={
            name: round(rates[name] / top, 4) if top and rates[name] else 1.0 for name in grades
        },
        zeros=tuple(sorted(zeros)),
        correction=correction,
        clicks=tuple(
            weigh(rank)
            for one in evidence.places.values()
            for rank, count in one.clicked.items()
            for _ in range(count)
        ),
    )


def _winner(evidence: QueryEvidence, rates: Mapping[str, float]) -> str:
    """Return the place that the margin rule grades 3; empty where no place is clear enough.

    Under 20 impressions nothing is known of the ranks' chances, and of labels by raw counts alone
    one in seven is the rank's doing. So the margin must hold at both ends: whether ranks are
    looked at alike, or by 1 / rank.
    """
    best = margin_winner(evidence, rates)
    if best and 0 < evidence.impressions < propensity.FEW:
        far = {
            name: _rate(one, evidence.impressions, propensity.steep)
            for name, one in evidence.places.items()
        }
        return best if margin_winner(evidence, far) == best else ""
    return best


def margin_winner(evidence: QueryEvidence, rates: Mapping[str, float]) -> str:
    """Return the place with enough satisfied users and 1.5 times the runner-up's rate, if any."""
    ranked = sorted(rates, key=lambda name: (-rates[name], name))
    if not ranked or not rates[ranked[0]]:
        return ""
    first = ranked[0]
    runner_up = rates[ranked[1]] if len(ranked) > 1 else 0.0
    enough = len(evidence.places[first].users) >= MIN_USERS
    return first if enough and rates[first] >= MARGIN * runner_up else ""


def harvest(everything: Mapping[str, QueryEvidence]) -> propensity.Propensities:
    """Return the chances that ranks are looked at, from every query of a log."""
    return propensity.Propensities(
        {rank: (count, one.clicked[rank]) for rank, count in one.shown.items()}
        for _, query in sorted(everything.items())
        for _, one in sorted(query.places.items())
    )


def _correction(
    impressions: int, harvested: propensity.Propensities
) -> tuple[str, Callable[[int], float]]:
    if impressions < propensity.FEW:
        return "raw", propensity.raw
    if impressions < propensity.MANY or not harvested.chances:
        return "root", propensity.root
    return "harvested", harvested.weight


def _rate(one: PlaceEvidence, impressions: int, weigh: Callable[[int], float]) -> float:
    """Return clicks, corrected, for each impression; satisfied users where no list was logged."""
    if not impressions:
        return float(len(one.users))
    clicks = sum(count * weigh(rank) for rank, count in one.clicked.items())
    return clicks / impressions
