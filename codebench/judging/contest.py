"""Retrievers of one run or of several -> who is compared with whom, and how that ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from codebench.comparison import compare
from codebench.errors import NoBaseline, UsageError
from codebench.measures.latency import Latency, Ratio, by_query, latency_ratio, latency_summary
from codebench.reading import near, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.comparison import Comparison
    from codebench.evaluation import Evaluation
    from codebench.measures.names import Measure
    from codebench.model import Query, Suite
    from codebench.results import RetrieverRun, Run

FIRST = "first"
BEST = "best"
ALL = "all"
"""Words for `--baseline` beside a retriever's name; a retriever of that name comes first."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Contender:
    """A retriever that is compared.

    Attributes:
        label: unique among the contenders; the name, with the run's where it needs one.
        run: the run that holds it.
        answers: what it answered.
        suite: what it was asked.
        digest: of the suite.
        evaluation: its figures.
    """

    label: str
    run: Run
    answers: RetrieverRun
    suite: Suite
    digest: str
    evaluation: Evaluation

    @property
    def name(self) -> str:
        """Its name in its run."""
        return self.answers.candidate.name

    @property
    def machine(self) -> Mapping[str, Any]:
        """The fingerprint of the machine that it was measured on."""
        machine = self.run.manifest.get("machine")
        return machine if isinstance(machine, dict) else {}


@dataclass(frozen=True, slots=True)
class LatencyChange:
    """A candidate's latency over its baseline's, query by query.

    Attributes:
        baseline, candidate: labels.
        before, after: each one's latency over all its calls.
        median, p95: the ratios; None where they are not compared.
        reason: why not; empty where they are.
    """

    baseline: str
    candidate: str
    before: Latency
    after: Latency
    median: Ratio | None
    p95: Ratio | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Contest:
    """A comparison with what stands beside it.

    Attributes:
        contenders: in their order.
        comparison: the differences in quality, all tested as one family.
        latency: one a pair, floors left out.
        notes: what differs between the compared beside their answers, and who was left out.
    """

    contenders: tuple[Contender, ...]
    comparison: Comparison
    latency: tuple[LatencyChange, ...]
    notes: tuple[str, ...] = ()


def contest(
    contenders: Sequence[Contender],
    measures: Sequence[Measure],
    *,
    baseline: str = "",
    margin: float,
    seed: int = 0,
) -> Contest:
    """Compare retrievers that answered the same suite.

    Args:
        contenders: the retrievers, the older run first.
        measures: the primary one first.
        baseline: a label or name, `first`, `best` (by the primary measure) or `all` (every pair).
            Empty: of one run, the first; of several, each retriever with itself in the first run
            that holds it, or with the first retriever of all where none stands in two runs.
        margin: the smallest difference that counts.
        seed: of the sign flips and the latencies' resampling.

    Raises:
        NoBaseline: they answered different suites; the fields that differ are named.
        UsageError: fewer than two contenders, or an unknown baseline.
    """
    if len(contenders) < 2:
        only = f" (there is {contenders[0].label} alone)" if contenders else ""
        raise UsageError(
            f"a comparison needs at least two retrievers that answered{only}; add a run, or "
            "--floors to compare with the floors"
        )
    check_suites(contenders)
    own = {one.label: one for one in contenders}
    primary = measures[0]
    pairs = _pairs(contenders, baseline, primary)
    paired = {label for pair in pairs for label in pair}
    comparison = compare(
        {label: one.evaluation for label, one in own.items() if label in paired},
        pairs=pairs,
        measures=measures,
        margin=margin,
        seed=seed,
    )
    alone = [label for label in own if label not in paired]
    notes = [note for old, new in pairs for note in changes(own[old], own[new])]
    if alone:
        notes.append(
            f"in one run only, so not compared: {', '.join(alone)} "
            "(--baseline NAME compares all with one)"
        )
    latency = [
        _latency(own[old], own[new], seed)
        for old, new in pairs
        if not (own[old].answers.candidate.floor or own[new].answers.candidate.floor)
    ]
    return Contest(tuple(contenders), comparison, tuple(latency), tuple(dict.fromkeys(notes)))


def _pairs(contenders: Sequence[Contender], baseline: str, primary: Measure) -> list[Pair]:
    labels = [one.label for one in contenders]
    if not baseline:
        own = _with_itself(contenders)
        return own or _against(labels[0], labels)
    named = [one.label for one in contenders if baseline in (one.label, one.name)]
    if named:
        return _against(named[0], labels)
    if baseline == FIRST:
        return _against(labels[0], labels)
    if baseline == ALL:
        return list(combinations(labels, 2))
    if baseline == BEST:
        return _against(_best(contenders, primary), labels)
    raise UsageError(
        f"there is no retriever {baseline!r} to compare with; {near(baseline, labels)}"
    )


def _against(baseline: str, labels: Sequence[str]) -> list[Pair]:
    return [(baseline, label) for label in labels if label != baseline]


def _with_itself(contenders: Sequence[Contender]) -> list[Pair]:
    first: dict[str, str] = {}
    pairs = []
    for one in contenders:
        if one.name in first:
            pairs.append((first[one.name], one.label))
        first.setdefault(one.name, one.label)
    return pairs


def _best(contenders: Sequence[Contender], primary: Measure) -> str:
    def gain(one: Contender) -> float:
        value = one.evaluation.values[str(primary.bind(one.evaluation.default_rel))]
        return float("-inf") if value is None else value if primary.higher_is_better else -value

    return max(contenders, key=gain).label


def labels(names: Sequence[tuple[str, str]]) -> list[str]:
    """Return a unique label for each (retriever, run): the retriever alone where that suffices."""
    count = Counter(name for name, _ in names)
    return [name if count[name] == 1 else f"{name} @ {run}" for name, run in names]


def changes(old: Contender, new: Contender) -> list[str]:
    """Say what differs between two contenders beside their answers."""
    notes = []
    before, after = old.answers.candidate, new.answers.candidate
    if old.name == new.name:
        differ = [
            f"{field} {shown(getattr(before, field))} -> {shown(getattr(after, field))}"
            for field in ("version", "reference")
            if getattr(before, field) != getattr(after, field)
        ]
        if before.options != after.options:
            options = [shown(dict(one.options)) for one in (before, after)]
            differ.append(f"options {options[0]} -> {options[1]}")
        if before.digest != after.digest:
            differ.append("the adapter's file differs")
        notes += [f"{old.name} differs: {', '.join(differ)}"] if differ else []
    if old.run.path != new.run.path:
        before_all, after_all = _settings(old.run), _settings(new.run)
        differ = [
            f"{words} {shown(before_all.get(words))} -> {shown(after_all.get(words))}"
            for words in sorted(before_all.keys() | after_all.keys())
            if before_all.get(words) != after_all.get(words)
        ]
        runs = f"{old.run.path} and {new.run.path}"
        notes += [f"{runs} differ: {', '.join(differ)}"] if differ else []
    return notes


_ASIDE = frozenset({"floors", "null_asks"})
"""Settings that tell nothing of the compared: other rows, and the harness's own."""


def _settings(run: Run) -> Mapping[str, Any]:
    """Return what a run was made with, by the names that its manifest has for it."""
    own = run.manifest.get("settings")
    settings = {
        name: value
        for name, value in (own.items() if isinstance(own, dict) else ())
        if name not in _ASIDE
    }
    return {**settings, "depth": run.depth, "codebench": run.manifest.get("codebench")}


ONE_SUITE = (
    "run both on one suite folder (`codebench suite build` keeps one; what a run of a repository "
    "asked is in RUN/suite)"
)


def check_suites(contenders: Sequence[Contender]) -> None:
    """Refuse contenders that answered different suites.

    Raises:
        NoBaseline: the fields that differ are named.
    """
    first = contenders[0]
    for other in contenders[1:]:
        if other.digest != first.digest:
            raise NoBaseline(
                f"{other.run.path}: its suite is not that of {first.run.path} "
                f"({'; '.join(suite_changes(first.suite, other.suite))}); scores of different "
                f"suites cannot be compared: {ONE_SUITE}"
            )


def suite_changes(one: Suite, other: Suite) -> list[str]:
    """Return which fields of two suites differ, in words."""
    changes = []
    if one.corpus_digest != other.corpus_digest:
        digests = [suite.corpus_digest[:19] or "none" for suite in (one, other)]
        changes.append(f"corpus_digest {digests[0]} / {digests[1]}")
    before = {query.id: query for query in one.queries}
    after = {query.id: query for query in other.queries}
    for words, there in (("gone", before.keys() - after.keys()), ("new", after.keys() - before)):
        if there:
            changes.append(f"queries {words}: {_some(there)}")
    both = sorted(before.keys() & after.keys())
    for field, of in _GRADED.items():
        changed = [name for name in both if of(before[name]) != of(after[name])]
        if changed:
            changes.append(f"{field} of {_some(changed)}")
    return changes or ["digest"]


def _targets(query: Query) -> Any:
    return sorted((t.path, t.chunk, t.grade, t.weight, t.document) for t in query.targets)


_GRADED: Mapping[str, Any] = {
    "text": lambda query: query.text,
    "weight": lambda query: query.weight,
    "targets": _targets,
    "related": lambda query: sorted((r.path, r.of, r.score) for r in query.related),
    "not_relevant": lambda query: sorted(set(query.not_relevant)),
}


def _some(names: Any) -> str:
    listed = sorted(names)
    return ", ".join(listed[:3]) + (f", … ({len(listed)} in all)" if len(listed) > 3 else "")


def _latency(old: Contender, new: Contender, seed: int) -> LatencyChange:
    reason = not_comparable(old, new)
    before, after = by_query(old.answers.answers), by_query(new.answers.answers)
    if not reason and not before.keys() & after.keys():
        reason = "no query was timed by both"
    median = None if reason else latency_ratio(before, after, 50, seed=seed)
    p95 = None if reason else latency_ratio(before, after, 95, seed=seed)
    was, now = (latency_summary(one.answers.answers) for one in (old, new))
    return LatencyChange(old.label, new.label, was, now, median, p95, reason)


def not_comparable(old: Contender, new: Contender) -> str:
    """Return why two contenders' costs cannot be compared; empty where they can."""
    for one in (old, new):
        if one.answers.latency_doubt:
            return f"{one.label}: {one.answers.latency_doubt}"
    if not old.machine or not new.machine:
        return "the machine is not known"
    fields = sorted(
        field
        for field in old.machine.keys() | new.machine.keys()
        if old.machine.get(field) != new.machine.get(field)
    )
    if fields:
        differ = (
            f"{field} {shown(old.machine.get(field))} / {shown(new.machine.get(field))}"
            for field in fields
        )
        return f"other machines ({'; '.join(differ)})"
    limits = [_settings(one.run).get("query_timeout") for one in (old, new)]
    late = any("timeout" in one.evaluation.statuses for one in (old, new))
    if late and limits[0] != limits[1]:
        return (
            f"other timeouts ({shown(limits[0])} / {shown(limits[1])} s), and one ran into its own"
        )
    return ""
