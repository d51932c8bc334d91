"""A suite carried to another snapshot, earlier or later: `codebench suite carry`."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codebench.corpus.carry import Place
from codebench.corpus.directory import open_directory
from codebench.errors import NothingMeasured, SuiteError, UsageError
from codebench.gold.folders import Written, check_free, folder_of, write_whole
from codebench.gold.history import read_history
from codebench.gold.moving import Mover, moved_query
from codebench.gold.relations import relations_of
from codebench.gold.target import rules_of
from codebench.gold.timeline import Timeline
from codebench.gold.whereabouts import directory_of, place_of
from codebench.gold.window import Mainline
from codebench.gold.workshop import workshop
from codebench.model import Query, Suite
from codebench.suite import members_of, read_suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from codebench.gold.carrying import Journey
    from codebench.gold.related import Relations
    from codebench.gold.workshop import Progress, Source, Workshop
    from codebench.model import Corpus


@dataclass(frozen=True, slots=True)
class Moved:
    """What became of a suite.

    Attributes:
        old: the suite as it was.
        suite: as it is now.
        journeys: of every target.
        past: how many of its queries come from commits that the new snapshot holds: the code
            that is asked contains their answers.
    """

    old: Suite
    suite: Suite
    journeys: tuple[Journey, ...]
    past: int


def carry_suite(
    named: str,
    revision: str,
    folder: Path,
    progress: Progress,
    *,
    repository: str = "",
    jobs: int | None = None,
    force: bool = False,
) -> Moved:
    """Carry a suite's gold to another commit and write the new suite.

    A target that is lost or drifted leaves; so does a query that loses its last target of grade
    3, or its last target.

    Args:
        named: a built-in suite's name, or a folder.
        revision: a commit, branch or tag.
        folder: where the new suite is written.
        progress: told (step, done, of how many).
        repository: path or URL, where it is not the one that the suite names.
        jobs: processes that parse.
        force: whether a suite that is there is replaced.

    Raises:
        UsageError: the suite is one of several, or the folder is taken.
        SuiteError: the suite cannot be used.
        NothingMeasured: no query survived.
    """
    check_free(folder, force=force)
    place = _single(named)
    suite = read_suite(place)
    if not suite.snapshot and not repository:
        raise SuiteError(
            f"{named}: its corpus is a folder, no commit; add --repository with the repository "
            f"that has {revision}"
        )
    with (
        workshop(progress, jobs) as shop,
        shop.repository(repository or place_of(suite, place)) as source,
        _corpora(suite, place, revision, source, shop) as (commit, before, after),
    ):
        moved = _carried(suite, commit, before, after, source)
    moved = replace(moved, suite=replace(moved.suite, name=folder.resolve().name))
    if not moved.suite.queries:
        raise NothingMeasured(
            f"{named}: no query finds its targets at {commit[:12]}; choose a nearer commit"
        )
    write_whole("", [Written("", moved.suite, moved.journeys)], folder, force=force)
    return moved


def _single(named: str) -> Path:
    members = members_of(folder_of(named))
    (member, place), *_ = members
    if member:
        raise UsageError(
            f"{named}: holds {len(members)} suites; carry them one by one, as {named}/{member}"
        )
    return place


@contextmanager
def _corpora(
    suite: Suite, folder: Path, revision: str, source: Source, shop: Workshop
) -> Iterator[tuple[str, Corpus, Corpus]]:
    """Open the corpus that a suite is asked of, and the one at a revision."""
    rules = rules_of(suite)
    if suite.snapshot:
        before = source.corpus(source.shadow.commit(suite.snapshot), rules)
    else:
        before = open_directory(directory_of(suite, folder), shop.outliner)
    if before.digest != suite.corpus_digest:
        raise SuiteError(
            f"{folder}: the corpus has digest {before.digest}, the suite was made for "
            f"{suite.corpus_digest or 'none'}; `codebench suite check` says what is wrong"
        )
    commit = source.commit(revision)
    yield commit, before, source.corpus(commit, rules)


def _carried(suite: Suite, commit: str, before: Corpus, after: Corpus, source: Source) -> Moved:
    progress = source.workshop.progress
    progress("comparing the two trees", 0, 0)
    renames = source.shadow.renames(suite.snapshot, commit) if suite.snapshot else {}
    progress("reading history", 0, 0)
    commits = read_history(source.shadow, commit)
    history = Timeline(commits, {}, {}, Mainline(commits))
    relations = _relations(suite, commit, after, source, history)
    mover = Mover(before, after, Place(after.by_path, after.text, whole=True), renames)
    queries: list[Query] = []
    journeys: list[Journey] = []
    for number, query in enumerate(suite.queries):
        progress("carrying queries", number, len(suite.queries))
        own = mover.journeys(query)
        journeys += own
        made = moved_query(query, own, mover, relations, history.by_id, commit)
        if made is not None:
            queries.append(made)
    dropped = len(suite.queries) - len(queries)
    carried = {"from": suite.snapshot or suite.corpus_digest, "dropped": dropped}
    return Moved(
        old=suite,
        suite=Suite(
            name=suite.name,
            repository=source.name,
            snapshot=commit,
            corpus_digest=after.digest,
            queries=_reweighed(suite.queries, queries),
            recipe={**suite.recipe, "carried": carried},
        ),
        journeys=tuple(journeys),
        past=sum(query.source == "history" and query.origin in history.by_id for query in queries),
    )


def _relations(
    suite: Suite, commit: str, corpus: Corpus, source: Source, history: Timeline
) -> Relations | None:
    """Return the relations at the new snapshot; None where people wrote those of the suite."""
    if all(query.source != "history" for query in suite.queries):
        return None
    return relations_of(commit, corpus, source, history.change_sets(commit))


def _reweighed(before: Sequence[Query], after: Sequence[Query]) -> tuple[Query, ...]:
    """Give what is left of a cluster the weight that the whole cluster had."""
    weights: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for side, queries in enumerate((before, after)):
        for query in queries:
            weights[query.tags.get("cluster", "")][side] += query.weight
    return tuple(
        replace(query, weight=query.weight * weights[cluster][0] / weights[cluster][1])
        if (cluster := query.tags.get("cluster", "")) and weights[cluster][0] != weights[cluster][1]
        else query
        for query in after
    )
