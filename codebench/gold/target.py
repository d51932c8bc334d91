"""What a command line calls TARGET -> suites with their corpora.

A built-in suite's name, a suite folder, or a git repository (path or URL), whose history is
then mined.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codebench import home
from codebench.corpus.directory import open_directory
from codebench.corpus.installed import is_installed, open_installed
from codebench.corpus.rules import SnapshotRules
from codebench.errors import SuiteError
from codebench.gold.age import age_notes, fewer
from codebench.gold.fitting import fitted
from codebench.gold.mine import mine
from codebench.gold.recency import last_changes
from codebench.gold.whereabouts import directory_of, place_of
from codebench.gold.workshop import name_of, workshop
from codebench.reading import plain_line
from codebench.suite import SUITE_FILE, members_of, read_suite
from codebench.suite import name_of as name_of_suite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codebench.gold.recipe import Recipe
    from codebench.gold.workshop import Progress, Source, Workshop
    from codebench.model import Corpus, Suite


@dataclass(frozen=True)
class Opened:
    """A suite that can be run.

    Attributes:
        several: the name of the suite of several that it is a member of; empty where it stands
            alone.
        member: its name in it.
        suite: the suite.
        corpus: what its queries are asked of.
        last_changes: by chunk ID, 0 for the one changed last before the snapshot; empty for a
            pinned directory.
        notes: what a person should know, one line each.
    """

    several: str
    member: str
    suite: Suite
    corpus: Corpus
    last_changes: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def open_target(
    target: str, recipe: Recipe, progress: Progress, *, jobs: int | None = None
) -> tuple[Opened, ...]:
    """Open a target: one suite, or the members of a suite of several. A repository is mined.

    Args:
        target: as it was given.
        recipe: what to mine from a repository.
        progress: told (step, done, of how many).
        jobs: processes that parse.

    Raises:
        UsageError: it is none of the three.
        NothingMeasured: no query could be mined.
    """
    with workshop(progress, jobs) as shop:
        folder = suite_folder(target)
        if folder is None:
            with shop.repository(target) as source:
                return _mined(source, recipe, target)
        members = members_of(folder)
        several = name_of_suite(folder) if members[0][0] else ""
        return tuple(open_suite(place, shop, several, member) for member, place in members)


def suite_folder(target: str) -> Path | None:
    """Return the folder of a built-in suite or of a suite; None where it is neither."""
    builtin = home.builtin("suites") / target
    if re.fullmatch(r"[\w-]+", target) and (builtin / SUITE_FILE).is_file():
        return builtin
    return Path(target) if (Path(target) / SUITE_FILE).is_file() else None


def open_suite(folder: Path, shop: Workshop, several: str = "", member: str = "") -> Opened:
    """Open a suite folder with the corpus that it was made for.

    Raises:
        SuiteError, InputError: the folder holds no suite, or one that is wrong.
        SuiteError: the corpus is not the one that the suite was made for.
    """
    suite = read_suite(folder)
    changes: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()
    if is_installed(suite.repository):
        corpus = open_installed(
            suite.repository, cache=shop.corpora, outliner=shop.outliner, rules=rules_of(suite)
        )
        suite, notes = fitted(suite, corpus)
    elif not suite.snapshot:
        corpus = open_directory(directory_of(suite, folder), shop.outliner)
    else:
        suite = replace(suite, repository=place_of(suite, folder))
        with shop.repository(suite.repository) as source:
            commit = source.shadow.commit(suite.snapshot)
            corpus = source.corpus(commit, rules_of(suite))
            changes = last_changes(source.shadow, source.labeller, commit, corpus)
    if corpus.digest != suite.corpus_digest:
        raise SuiteError(
            f"{folder}: the corpus has digest {corpus.digest}, the suite was made for "
            f"{suite.corpus_digest}; restore the corpus, or build the suite again"
        )
    return Opened(
        several, member, suite, corpus, changes, (*notes, *_unreachable(suite, corpus, folder))
    )


def _unreachable(suite: Suite, corpus: Corpus, folder: Path) -> tuple[str, ...]:
    """Say how many targets no answer can reach."""
    known = {chunk.id for chunk in corpus.chunks()} | corpus.by_path.keys()
    targets = [target.chunk for query in suite.queries for target in query.targets]
    gone = [name for name in targets if name not in known]
    if not gone:
        return ()
    note = (
        f"warning: {len(gone)} of {len(targets)} targets are not in the corpus, and no answer can "
        f"reach them (first: {plain_line(gone[0])}); codebench suite check {folder} names them"
    )
    return (note,)


def rules_of(suite: Suite) -> SnapshotRules:
    """Return the rules by which a suite's corpus is cut from its snapshot.

    Raises:
        SuiteError: the recipe is wrong.
    """
    try:
        return SnapshotRules.from_data(suite.recipe.get("corpus", {}))
    except TypeError as error:
        raise SuiteError(f"{suite.name}: recipe.corpus: {error}") from None


def _mined(source: Source, recipe: Recipe, target: str) -> tuple[Opened, ...]:
    if recipe.snapshot:
        recipe = replace(recipe, snapshot=source.commit(recipe.snapshot))
    found = mine(name_of(source), source.tip(), recipe, source)
    named, count = shlex.quote(target), fewer(sum(len(one.suite.queries) for one in found))
    commands = [f"codebench run {named} --max-queries {count}"] if count else []
    commands.append(f"codebench suite build {named} --mode epochs=4 -o suites/NAME")
    return tuple(
        Opened(
            name_of(source) if len(found) > 1 else "",
            one.name,
            one.suite,
            one.corpus,
            last_changes(source.shadow, source.labeller, one.suite.snapshot, one.corpus),
            tuple(f"warning: {note}" for note in age_notes(one.suite, one.age_seconds, commands)),
        )
        for one in found
    )
