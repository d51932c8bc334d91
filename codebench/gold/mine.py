"""A repository's history -> a suite: the frozen mode.

One snapshot S is taken on the first-parent line, and the queries are the commits that S does
not reach, with their targets carried back to S: yesterday's code is asked tomorrow's questions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from codebench.corpus.carry import Carried, Find, carry
from codebench.corpus.languages import language_of
from codebench.corpus.snapshot import SnapshotRules, open_snapshot
from codebench.errors import NothingMeasured
from codebench.gold import filters
from codebench.gold.history import read_history
from codebench.gold.imports import ImportMap
from codebench.gold.labeller import Labeller
from codebench.gold.related import CoChange, Relations, assign
from codebench.gold.tags import history_tags
from codebench.gold.timeline import Timeline
from codebench.gold.window import Mainline, candidates
from codebench.model import Query, Suite, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from codebench.corpus.outliner import Outliner
    from codebench.git import Shadow
    from codebench.model import Chunk, Corpus, Related

    Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to mine.

    Attributes:
        max_queries: the snapshot is the newest after which so many survive; no more are kept.
        snapshot: a commit ID to ask instead.
        long_text: whether a query holds the message's prose beside the subject.
        rules: which files belong to the corpus.
    """

    max_queries: int = 200
    snapshot: str = ""
    long_text: bool = False
    rules: SnapshotRules = field(default_factory=SnapshotRules)

    def as_data(self, tip: str) -> dict[str, object]:
        """Return the recipe for `suite.yaml`."""
        return {
            "mode": "frozen",
            "tip": tip,
            "max_queries": self.max_queries,
            "text": "long" if self.long_text else "short",
            "corpus": self.rules.as_data(),
        }


@dataclass(frozen=True, slots=True)
class Mined:
    """A suite and its corpus, and what there is to say about them.

    Attributes:
        suite: the suite.
        corpus: its corpus.
        snapshot_time: of S, seconds since the epoch.
        last_time: of the newest query's commit.
    """

    suite: Suite
    corpus: Corpus
    snapshot_time: int
    last_time: int


def mine(
    name: str,
    repository: str,
    shadow: Shadow,
    tip: str,
    *,
    outliner: Outliner,
    cache: Path,
    recipe: Recipe,
    progress: Progress,
) -> Mined:
    """Mine a suite from the history that `tip` reaches.

    Args:
        name: the suite's name.
        repository: where it came from, as it was given.
        shadow: reads the repository.
        tip: full commit ID.
        outliner: parses what is not parsed yet.
        cache: folder under which corpora are kept.
        recipe: what to mine.
        progress: told (step, done, of how many); a total of 0 is unknown.

    Raises:
        NothingMeasured: no query survived; the message is the funnel.
    """
    progress("reading history", 0, 0)
    commits = read_history(shadow, tip)
    verdicts, texts = filters.cheap_verdicts(commits, long=recipe.long_text)
    history = Timeline(commits, verdicts, texts, Mainline(commits))
    labeller = Labeller(shadow, outliner)
    cut = _choose(history, labeller, recipe, progress)
    if cut is None:
        raise NothingMeasured(_nothing(repository, history, labeller))
    snapshot = history.mainline.line[cut]
    progress("making the snapshot", 0, 0)
    corpus = open_snapshot(shadow, snapshot, cache=cache, outliner=outliner, rules=recipe.rules)
    survivors = _carry_all(history, labeller, cut, Find(corpus.by_path, whole=True))
    kept = _nearest(history, survivors, recipe.max_queries)
    if not kept:
        raise NothingMeasured(_nothing(repository, history, labeller))
    relations = _relations(history, cut, corpus, outliner, shadow)
    suite = Suite(
        name=name,
        repository=repository,
        snapshot=snapshot,
        corpus_digest=corpus.digest,
        queries=_queries(history, kept, corpus, relations),
        recipe=recipe.as_data(tip),
        funnel=_funnel(history, labeller, cut, survivors, len(kept)),
    )
    last = max(history.by_id[commit].time for commit in kept)
    return Mined(suite, corpus, history.by_id[snapshot].time, last)


def _nearest(
    history: Timeline, survivors: Mapping[str, tuple[Carried, ...]], wanted: int
) -> dict[str, tuple[Carried, ...]]:
    """Keep the queries that lie nearest to the snapshot: their code has changed least."""
    oldest_first = sorted(survivors, key=history.position.__getitem__, reverse=True)
    return {commit: survivors[commit] for commit in oldest_first[:wanted]}


def _choose(
    history: Timeline, labeller: Labeller, recipe: Recipe, progress: Progress
) -> int | None:
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
        kept = [commit.id for commit in history.commits if not history.verdicts[commit.id]]
        cuts = candidates(history.mainline, kept, recipe.max_queries)
    best: int | None = None
    most = 0
    for cut in cuts:
        labeller.label(history.after(cut), progress)
        paths = {path for _, path in _places(history, labeller, cut)}
        tables = labeller.tables_at(line[cut], paths)
        survivors = len(_carry_all(history, labeller, cut, Find(tables, whole=False)))
        if survivors > most:
            best, most = cut, survivors
        if survivors >= recipe.max_queries:
            break
    return best


def _places(history: Timeline, labeller: Labeller, cut: int) -> Iterable[tuple[str, str]]:
    """Yield (rule, path) under which the targets after a cut may stand in its snapshot."""
    for commit in history.after(cut):
        for chunk in labeller.labels[commit.id].targets:
            yield from _paths(history, commit.id, chunk, cut)


def _paths(history: Timeline, commit: str, chunk: Chunk, cut: int) -> list[tuple[str, str]]:
    followed = history.path_at(chunk.path, commit, cut)
    renamed = [("rename", followed)] if followed != chunk.path else []
    return [("path and name", chunk.path), *renamed]


def _carry_all(
    history: Timeline, labeller: Labeller, cut: int, find: Find
) -> dict[str, tuple[Carried, ...]]:
    """Carry the targets of every commit after the cut; a commit that keeps none leaves."""
    survivors: dict[str, tuple[Carried, ...]] = {}
    for commit in history.after(cut):
        carried: dict[str, Carried] = {}
        for chunk in labeller.labels[commit.id].targets:
            found = carry(chunk, _paths(history, commit.id, chunk, cut), find)
            if found is not None:
                carried.setdefault(found.chunk.id, found)
        if carried:
            survivors[commit.id] = tuple(carried[key] for key in sorted(carried))
    return survivors


def _relations(
    history: Timeline, cut: int, corpus: Corpus, outliner: Outliner, shadow: Shadow
) -> Relations:
    snapshot = history.mainline.line[cut]
    languages = {table.path: table.language for table in corpus.tables if table.language}
    entries = {entry.path.decode("utf-8", "replace"): entry.id for entry in shadow.tree(snapshot)}
    blobs = {(entries[path], language_of(path)): path for path in languages}
    resolver = ImportMap(languages)
    by_blob = outliner.known(blobs)
    imports = {
        path: resolver.resolve(path, by_blob[entries[path], language_of(path)].imports)
        for path in languages
        if (entries[path], language_of(path)) in by_blob
    }
    return Relations(imports, sorted(languages), CoChange(history.change_sets(cut)))


def _queries(
    history: Timeline,
    kept: Mapping[str, tuple[Carried, ...]],
    corpus: Corpus,
    relations: Relations,
) -> tuple[Query, ...]:
    files = sorted({one.chunk.path for targets in kept.values() for one in targets})
    related = {path: relations.of(path) for path in files}
    made = (_query(history, commit, kept[commit], corpus, related) for commit in kept)
    return tuple(sorted(made, key=lambda query: query.id))


def _query(
    history: Timeline,
    commit_id: str,
    carried: tuple[Carried, ...],
    corpus: Corpus,
    related: Mapping[str, Sequence[Related]],
) -> Query:
    commit = history.by_id[commit_id]
    text = history.texts[commit_id]
    targets = tuple(
        Target(
            path=one.chunk.path,
            chunk=one.chunk.id,
            fingerprint=one.chunk.fingerprint,
            masked=one.chunk.masked,
        )
        for one in carried
    )
    files = {target.path for target in targets}
    language = corpus.by_path[targets[0].path].language
    return Query(
        id=commit_id[:12],
        text=text,
        targets=targets,
        source="history",
        origin=commit_id,
        time=datetime.fromtimestamp(commit.time, UTC).isoformat(),
        tags=history_tags(commit.message, text, targets, language),
        related=assign((one for path in sorted(files) for one in related[path]), files),
    )


def _funnel(
    history: Timeline,
    labeller: Labeller,
    cut: int,
    survivors: Mapping[str, object],
    kept: int,
) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    window = history.after(cut, kept_only=False)
    for commit in window:
        verdict = history.verdicts[commit.id] or labeller.labels[commit.id].verdict
        if not verdict and commit.id not in survivors:
            verdict = filters.LOST
        counts[verdict] += 1
    dropped = [(reason, counts[reason]) for reason in filters.REASONS if counts[reason]]
    over = len(survivors) - kept
    tail = [("over the number wanted", over)] if over else []
    return (("commits", len(window)), *dropped, *tail, ("queries", kept))


def _nothing(repository: str, history: Timeline, labeller: Labeller) -> str:
    """Say which filters took every commit, and what to do."""
    counts: Counter[str] = Counter()
    for commit in history.commits:
        label = labeller.labels.get(commit.id)
        verdict = history.verdicts[commit.id] or (label.verdict if label else "")
        counts[verdict or filters.LOST] += 1
    taken = ", ".join(f"{reason} {counts[reason]}" for reason in filters.REASONS if counts[reason])
    return (
        f"{repository}: no query could be made from {len(history.commits)} commits ({taken}); "
        "write questions by hand into a suite folder instead, or choose a repository with more "
        "history"
    )
