"""A repository's history -> suites with their corpora.

Frozen mode takes one snapshot S on the first-parent line, and asks it the commits that S does
not reach, with their targets carried back to S: yesterday's code is asked tomorrow's questions.
Epochs take several such snapshots; parent mode asks each commit's own parent.
"""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from codebench import git
from codebench.corpus.carry import Place
from codebench.errors import NothingMeasured
from codebench.gold import filters
from codebench.gold.carrying import Journey, carry_all, paths_of, survivors
from codebench.gold.history import read_history
from codebench.gold.queries import query_of, text_of, with_clusters
from codebench.gold.relations import relations_of
from codebench.gold.timeline import Epoch, Timeline
from codebench.gold.whereabouts import is_url
from codebench.gold.window import Mainline, candidates, parts
from codebench.model import Suite

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from codebench.gold.labeller import Labeller
    from codebench.gold.recipe import Recipe
    from codebench.gold.workshop import Source
    from codebench.model import Corpus, Query

OVER = "over the number wanted"


@dataclass(frozen=True, slots=True)
class Mined:
    """One epoch's suite and its corpus.

    Attributes:
        name: of the member; empty where the epoch is the only one.
        suite: the suite.
        corpus: its corpus.
        journeys: how each target came to the snapshot, or was lost.
        age_seconds: from the snapshot to the newest query.
    """

    name: str
    suite: Suite
    corpus: Corpus
    journeys: tuple[Journey, ...]
    age_seconds: int


def mine(name: str, tip: str, recipe: Recipe, source: Source) -> tuple[Mined, ...]:
    """Mine suites from the history that `tip` reaches, one per snapshot, oldest first.

    Args:
        name: the suite's name.
        tip: full commit ID.
        recipe: what to mine.
        source: the repository.

    Raises:
        NothingMeasured: no query survived; the message is the funnel.
    """
    history = _read(tip, recipe, source)
    labeller = source.labeller
    epochs = _epochs(history, recipe, source)
    wanted = -(-recipe.max_queries // max(1, len(epochs)))
    drafts = []
    for number, epoch in enumerate(epochs, start=1):
        if len(epochs) > 1:
            source.workshop.progress("making snapshots", number, len(epochs))
        drafts.append(_draft(history, epoch, recipe, source, wanted))
    drafts = [draft for draft in drafts if draft.queries]
    if not drafts:
        raise NothingMeasured(_nothing(source, history))
    everything = [one for draft in drafts for one in draft.queries]
    final = {one.origin: one for one in with_clusters(everything, history, labeller.labels)}
    data = recipe.as_data(tip)
    return tuple(_mined(name, source, draft, data, history, final) for draft in drafts)


def dry_run(tip: str, recipe: Recipe, source: Source) -> dict[str, int]:
    """Return the funnel of what `mine` would build, without making any snapshot.

    Targets are looked for in the files where they should lie, not in the whole snapshot, so that
    a few more queries may survive in the end.
    """
    history = _read(tip, recipe, source)
    labeller = source.labeller
    counts: Counter[str] = Counter()
    for epoch in _epochs(history, recipe, source):
        journeys = _carry_partly(history, labeller, epoch, recipe)
        arrived = survivors(journeys)
        kept = min(len(arrived), recipe.max_queries)
        counts.update(dict(_funnel(history, labeller, epoch, journeys, arrived, kept)))
    if not counts["queries"]:
        raise NothingMeasured(_nothing(source, history))
    return dict(counts)


@dataclass(frozen=True, slots=True)
class _Draft:
    """An epoch's queries before those of all epochs are compared."""

    epoch: Epoch
    corpus: Corpus
    queries: tuple[Query, ...]
    journeys: Mapping[str, tuple[Journey, ...]]
    asked: frozenset[str]


def _read(tip: str, recipe: Recipe, source: Source) -> Timeline:
    source.workshop.progress("reading history", 0, 0)
    commits = read_history(source.shadow, tip, first_parent=recipe.pull_requests)
    verdicts, texts = filters.cheap_verdicts(commits, recipe)
    return Timeline(commits, verdicts, texts, Mainline(commits))


def _epochs(history: Timeline, recipe: Recipe, source: Source) -> tuple[Epoch, ...]:
    """Return the snapshots to ask and the commits to ask of each, oldest first."""
    if recipe.mode == "parent":
        return _parents(history, recipe, source)
    cut = _cut(history, recipe, source)
    if cut is None:
        return ()
    if recipe.mode == "frozen":
        return (history.epoch(cut),)
    labels = source.labeller.labels
    kept = [one.id for one in history.after(cut) if one.id in labels and labels[one.id].targets]
    places = parts(history.mainline, kept, cut, recipe.epochs)
    return tuple(
        history.epoch(place, since, f"epoch-{number}")
        for number, (since, place) in enumerate(
            reversed(list(zip([0, *places], places, strict=False))), start=1
        )
    )


def _parents(history: Timeline, recipe: Recipe, source: Source) -> tuple[Epoch, ...]:
    """Return an epoch for each of the newest commits that have targets."""
    labeller = source.labeller
    chosen: list[Epoch] = []
    kept = history.kept
    for start in range(0, len(kept), recipe.max_queries):
        batch = kept[start : start + recipe.max_queries]
        labeller.label(batch, partial(source.workshop.progress, "labelling commits"))
        chosen += [
            Epoch(one.id[:12], one.parents[0], (one,), _nothing_between)
            for one in batch
            if labeller.labels[one.id].targets
        ]
        if len(chosen) >= recipe.max_queries:
            break
    return tuple(reversed(chosen[: recipe.max_queries]))


def _nothing_between(commit: str) -> bool:  # noqa: ARG001  # the shape of Epoch.between
    return False


def _cut(history: Timeline, recipe: Recipe, source: Source) -> int | None:
    """Return the place on the first-parent line at which to cut, None where nothing survives."""
    line = history.mainline.line
    if recipe.snapshot:
        if recipe.snapshot not in line:
            raise NothingMeasured(
                f"snapshot {recipe.snapshot[:12]} is not on the first-parent line of the history; "
                "choose a commit of the main branch"
            )
        cuts = [line.index(recipe.snapshot)]
    else:
        kept = [commit.id for commit in history.kept]
        cuts = candidates(history.mainline, kept, recipe.max_queries)
    labeller = source.labeller
    best: int | None = None
    most = 0
    for cut in cuts:
        epoch = history.epoch(cut)
        step = f"labelling commits ({most} queries so far)"
        labeller.label(
            [one for one in epoch.commits if not history.verdicts[one.id]],
            partial(source.workshop.progress, step),
        )
        arrived = len(survivors(_carry_partly(history, labeller, epoch, recipe)))
        if arrived > most:
            best, most = cut, arrived
        if arrived >= recipe.max_queries:
            break
    return best


def _carry_partly(
    history: Timeline, labeller: Labeller, epoch: Epoch, recipe: Recipe
) -> dict[str, tuple[Journey, ...]]:
    """Carry to the files that the targets would lie in: enough to compare snapshots by."""
    paths = filter(recipe.rules.takes, paths_of(history, labeller.labels, epoch))
    tables = labeller.tables_at(epoch.snapshot, frozenset(paths))
    place = Place(tables, lambda chunk: labeller.text_at(epoch.snapshot, chunk), whole=False)
    return carry_all(history, labeller, epoch, place)


def _draft(history: Timeline, epoch: Epoch, recipe: Recipe, source: Source, wanted: int) -> _Draft:
    source.workshop.progress(f"making the snapshot {epoch.snapshot[:12]}", 0, 0)
    corpus = source.corpus(epoch.snapshot, recipe.rules)
    place = Place(corpus.by_path, corpus.text, whole=True)
    journeys = carry_all(history, source.labeller, epoch, place)
    arrived = survivors(journeys)
    asked = {one: arrived[one] for one in arrived if text_of(history, one, arrived[one], recipe)}
    # The code of the oldest has changed least since the snapshot.
    oldest_first = sorted(asked, key=history.position.__getitem__, reverse=True)[:wanted]
    relations = relations_of(epoch.snapshot, corpus, source, history.change_sets(epoch.snapshot))
    queries = tuple(
        query_of(
            history,
            history.by_id[commit],
            asked[commit],
            recipe,
            snapshot=epoch.snapshot,
            tables=corpus.by_path,
            related=relations.of,
        )
        for commit in oldest_first
    )
    return _Draft(epoch, corpus, queries, journeys, frozenset(asked))


def _mined(
    name: str,
    source: Source,
    draft: _Draft,
    data: Mapping[str, object],
    history: Timeline,
    final: Mapping[str, Query],
) -> Mined:
    queries = tuple(sorted((final[one.origin] for one in draft.queries), key=lambda one: one.id))
    snapshot = draft.epoch.snapshot
    suite = Suite(
        name=f"{name}-{draft.epoch.name}" if draft.epoch.name else name,
        repository=source.name,
        snapshot=snapshot,
        corpus_digest=draft.corpus.digest,
        queries=queries,
        recipe=data,
        funnel=_funnel(
            history, source.labeller, draft.epoch, draft.journeys, draft.asked, len(queries)
        ),
    )
    asked = {one.origin for one in queries}
    return Mined(
        name=draft.epoch.name,
        suite=suite,
        corpus=draft.corpus,
        journeys=tuple(one for commit in sorted(asked) for one in draft.journeys[commit]),
        age_seconds=max(history.by_id[one].time for one in asked) - history.by_id[snapshot].time,
    )


def _funnel(
    history: Timeline,
    labeller: Labeller,
    epoch: Epoch,
    journeys: Mapping[str, tuple[Journey, ...]],
    asked: Collection[str],
    kept: int,
) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    for commit in epoch.commits:
        label = labeller.labels.get(commit.id)
        verdict = history.verdicts[commit.id] or (label.verdict if label else "")
        if not verdict and commit.id not in asked:
            verdict = _why_lost(journeys[commit.id])
        counts[verdict] += 1
    dropped = [(reason, counts[reason]) for reason in filters.REASONS if counts[reason]]
    over = len(asked) - kept
    return (
        ("commits", len(epoch.commits)),
        *dropped,
        *([(OVER, over)] if over else []),
        ("queries", kept),
    )


def _why_lost(journeys: Sequence[Journey]) -> str:
    fates = {one.fate for one in journeys}
    if "carried" in fates:
        return filters.MASKED
    return filters.DRIFTED if "drifted" in fates else filters.LOST


def _nothing(source: Source, history: Timeline) -> str:
    """Say which filters took every commit, and what to do."""
    counts: Counter[str] = Counter()
    for commit in history.commits:
        label = source.labeller.labels.get(commit.id)
        verdict = history.verdicts[commit.id] or (label.verdict if label else "")
        counts[verdict or filters.LOST] += 1
    place = source.name if is_url(source.name) else str(source.located.path)
    taken = ", ".join(f"{reason} {counts[reason]}" for reason in filters.REASONS if counts[reason])
    return (
        f"{source.name}: no query could be made from {len(history.commits)} commits ({taken}); "
        "write questions by hand (docs/labelling.md) and codebench suite build "
        f"{shlex.quote(place)} --questions questions.yaml -o suites/NAME, or choose a repository "
        "with more history" + (git.UNSHALLOW if source.located.shallow else "")
    )
