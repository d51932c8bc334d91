"""What a log says -> queries with targets."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from codebench.gold import filters
from codebench.gold.logs import clicks, propensity
from codebench.gold.logs.behaviour import gather, normal
from codebench.gold.logs.efforts import Found, effort_of
from codebench.gold.logs.record import LOG, TRAJECTORY, Place
from codebench.gold.logs.times import iso_of
from codebench.gold.related import assign
from codebench.gold.tags import history_tags
from codebench.model import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.corpus.outliner import Outliner
    from codebench.gold.carrying import Journey
    from codebench.gold.logs.clicks import QueryEvidence
    from codebench.gold.logs.efforts import Effort, Navigation
    from codebench.gold.logs.landing import Ground, Landed
    from codebench.gold.logs.moments import Moments
    from codebench.gold.logs.record import Record
    from codebench.gold.logs.tasks import Task
    from codebench.gold.related import Relations
    from codebench.model import Corpus, Related, Target

NATURAL, LEXICAL = "natural", "lexical"
"""The tag `stratum`: what somebody asked for, and what an agent searched for as a pattern."""

NO_TARGET = "no target of grade 2 or 3"
SHORT = "text too short"
LOST = "targets not in the snapshot"
COPIED = "copied from another session"

MAX_TEXT = 8_000
MIN_LETTERS = 3
_PLACES_HELD = 200_000


@dataclass
class Asked:
    """One query of people, over everybody who asked it: its text, and when it was asked last."""

    text: str
    time: float | None
    origin: str


@dataclass
class Made:
    """What came of a log.

    Attributes:
        queries: not sorted.
        journeys: of targets that were carried.
        navigation: by the ID of a trajectory's query.
        dropped: how many tasks or queries each reason took.
        tasks: how many tasks there were, by source.
        corrections: how many queries of people were corrected how.
        clicks: weights of the clicks at a rank, by correction.
        retrievers: what produced the impressions, each with its number of queries.
        unfit: edits that did not fit the commit that they were made on.
        pairs: how many results were seen at two ranks.
    """

    queries: list[Query] = field(default_factory=list)
    journeys: list[Journey] = field(default_factory=list)
    navigation: dict[str, Navigation] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    tasks: Counter[str] = field(default_factory=Counter)
    corrections: Counter[str] = field(default_factory=Counter)
    clicks: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    retrievers: Counter[str] = field(default_factory=Counter)
    unfit: int = 0
    pairs: int = 0


class Maker:
    """Turns tasks into queries.

    Args:
        ground: brings places to the snapshot.
        moments: knows which commit a task saw.
        snapshot: the commit that is asked.
        corpus: its corpus.
        relations: of its files.
        outliner: parses what agents wrote.
    """

    def __init__(
        self,
        ground: Ground,
        moments: Moments,
        snapshot: str,
        corpus: Corpus,
        relations: Relations,
        outliner: Outliner,
    ) -> None:
        self._ground = ground
        self._moments = moments
        self._snapshot = snapshot
        self._corpus = corpus
        self._relations = relations
        self._outliner = outliner
        self._evidence: dict[str, QueryEvidence] = defaultdict(clicks.QueryEvidence)
        self._asked: dict[str, Asked] = {}
        self._landed: dict[str, Landed] = {}
        self._find = lru_cache(_PLACES_HELD)(self._find_anew)
        self._seen: set[tuple[str, float | None]] = set()
        self.made = Made()

    def take(self, task: Task) -> None:
        """Take one task, of a person or of an agent."""
        source = task.records[0].source
        self.made.tasks[source] += 1
        if source == TRAJECTORY:
            self._trajectory(task)
        else:
            self._people(task)

    def finish(self) -> Made:
        """Judge what people did, now that all of it is known, and return everything."""
        harvested = clicks.harvest(self._evidence)
        self.made.pairs = harvested.pairs
        for key in sorted(self._evidence):
            if key in self._asked:
                self._judged(key, self._evidence[key], harvested)
        return self.made

    def _people(self, task: Task) -> None:
        for one in task.queries:
            known = self._asked.get(normal(one.query))
            if known is None or (one.time or 0.0) >= (known.time or 0.0):
                asked = Asked(one.query, one.time, f"{LOG}:{task.file}:{one.line}")
                self._asked[normal(one.query)] = asked
        gather(task, self._resolve, self._evidence)

    def _resolve(self, place: Place, record: Record) -> str:
        commit = self._moments.of(record.commit, record.time, self._snapshot)
        # Not the place itself: the same one is met at every rank.
        return self._find(commit, record.root, place.path, (place.start, place.end), place.symbol)

    def _find_anew(
        self, commit: str, root: str, name: str, span: tuple[int | None, int | None], symbol: str
    ) -> str:
        place = Place(name, *span, symbol)
        tree = self._ground.tree(commit)
        path = tree.path(place.path, root)
        landed = self._ground.land(tree, path, tree.chunk(path, place)) if path else None
        if landed is None or not landed.path:
            return ""
        self._landed.setdefault(landed.name, landed)
        return landed.name

    def _judged(
        self, key: str, evidence: QueryEvidence, harvested: propensity.Propensities
    ) -> None:
        asked = self._asked[key]
        judgment = clicks.judge(evidence, harvested)
        found = sorted(judgment.grades, key=lambda one: (-judgment.grades[one], one))
        targets = tuple(
            self._landed[name].target(judgment.grades[name], judgment.weights[name])
            for name in found
        )
        reason = self._unfit(asked.text, targets)
        if reason:
            self.made.dropped[reason] += 1
            return
        self.made.corrections[judgment.correction] += 1
        self.made.clicks[judgment.correction] += judgment.clicks
        self.made.retrievers.update(evidence.retrievers)
        name = f"q-{_digest(key)}"
        query = self._query(name, asked.text, targets, LOG, asked.origin, asked.time)
        # A file as a whole is not irrelevant where a symbol of it is a target.
        files = {target.path for target in targets}
        zeros = tuple(one for one in judgment.zeros if one not in files)
        tags = {"correction": judgment.correction}
        if len(evidence.retrievers) == 1:
            tags["retriever"] = next(iter(evidence.retrievers))
        weight = float(max(len(evidence.users), 1))
        self._add(query, weight, tags, zeros)
        self._journeys(name, [self._landed[one] for one in found])

    def _trajectory(self, task: Task) -> None:
        first = task.records[0]
        commit = self._moments.of(first.commit, first.time, self._snapshot)
        tree = self._ground.tree(commit)
        effort = effort_of(task, tree, self._outliner)
        self.made.unfit += effort.unfit
        if effort.verdict == filters.MANY_TARGETS:
            self.made.dropped[effort.verdict] += 1
            return
        landed = [(one, self._ground.land(tree, one.path, one.chunk)) for one in effort.found]
        targets = _targets(landed)
        reason = self._unfit(first.query, targets)
        if reason == NO_TARGET and effort.found:
            reason = LOST
        if reason:
            self.made.dropped[reason] += 1
            return
        origin = f"{TRAJECTORY}:{task.file}:{first.line}"
        seed = "\0".join([first.query, commit, *(one.chunk for one in targets)])
        if first.time is not None and (seed, first.time) in self._seen:
            self.made.dropped[COPIED] += 1  # who resumes a session has its beginning in two files
            return
        self._seen.add((seed, first.time))
        name = self._free(f"t-{_digest(seed)}")
        query = self._query(name, first.query, targets, TRAJECTORY, origin, first.time)
        self._add(query, 1.0, {"cluster": name} if effort.patterns else {})
        self._journeys(name, [one for _, one in landed])
        if effort.navigation is not None:
            self.made.navigation[name] = effort.navigation
        self._patterns(query, effort)

    def _patterns(self, task: Query, effort: Effort) -> None:
        """Add each search pattern as a query of its own; together they weigh as the task does."""
        texts = [one[:MAX_TEXT] for one in effort.patterns if _letters(one) >= MIN_LETTERS]
        for number, text in enumerate(texts, 1):
            query = self._query(
                f"{task.id}-s{number}", text, task.targets, TRAJECTORY, task.origin, None
            )
            tags = {"stratum": LEXICAL, "cluster": task.id}
            self._add(replace(query, time=task.time), 1 / len(texts), tags)

    def _free(self, name: str) -> str:
        """Return an ID that no query has: a task that was run again is one more query."""
        taken = {query.id for query in self.made.queries if query.id.startswith(name)}
        number = 1
        while (name if number == 1 else f"{name}~{number}") in taken:
            number += 1
        return name if number == 1 else f"{name}~{number}"

    def _unfit(self, text: str, targets: Sequence[Target]) -> str:
        if _letters(text) < MIN_LETTERS:
            return SHORT
        return "" if any(target.grade > 1 for target in targets) else NO_TARGET

    def _query(
        self,
        name: str,
        text: str,
        targets: tuple[Target, ...],
        source: str,
        origin: str,
        time: float | None,
    ) -> Query:
        text = text[:MAX_TEXT]
        language = self._corpus.by_path[targets[0].path].language or "text"
        tags = {
            **history_tags(text, text, targets, language),
            "source": source,
            "stratum": NATURAL,
        }
        return Query(
            id=name,
            text=text,
            targets=targets,
            source=source,
            origin=origin,
            time=iso_of(time),
            tags=tags,
            related=self._related(targets),
        )

    def _add(
        self, query: Query, weight: float, tags: dict[str, str], zeros: tuple[str, ...] = ()
    ) -> None:
        merged = dict(sorted({**query.tags, **tags}.items()))
        self.made.queries.append(replace(query, weight=weight, tags=merged, not_relevant=zeros))

    def _journeys(self, query: str, landed: Sequence[Landed | None]) -> None:
        self.made.journeys += [
            replace(one.journey, query=query) for one in landed if one is not None and one.journey
        ]

    def _related(self, targets: Sequence[Target]) -> tuple[Related, ...]:
        files = {one.path for one in targets if one.grade > 1}
        every = {one.path for one in targets}
        related = (one for path in sorted(files) for one in self._relations.of(path))
        return assign(related, every)


def _targets(landed: Sequence[tuple[Found, Landed | None]]) -> tuple[Target, ...]:
    """Return what came to the snapshot, each place once with its best grade."""
    best: dict[str, Target] = {}
    for found, one in landed:
        if one is None or not one.path:
            continue
        target = one.target(found.grade)
        if one.name not in best or best[one.name].grade < target.grade:
            best[one.name] = target
    return tuple(sorted(best.values(), key=lambda one: (-one.grade, one.chunk)))


def _letters(text: str) -> int:
    return sum(char.isalnum() for char in text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
