"""What a command line calls TARGET -> a suite with its corpus.

A built-in suite's name, a suite folder, or a git repository (path or URL), whose history is
then mined.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from codebench import git, home
from codebench.corpus.cache import ChunkCache
from codebench.corpus.outliner import Outliner
from codebench.corpus.snapshot import SnapshotRules, open_directory, open_snapshot
from codebench.errors import CodebenchError, GitError, SuiteError, UsageError
from codebench.gold.labeller import Labeller
from codebench.gold.mine import mine
from codebench.gold.recency import last_changes
from codebench.suite import SUITE_FILE, read_suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codebench.git import Shadow
    from codebench.gold.mine import Progress, Recipe
    from codebench.model import Corpus, Suite

_URL = re.compile(r"[a-z][a-z0-9+.-]+://|[\w.-]+@[\w.-]+:", re.IGNORECASE)
_OLD_SECONDS = 3 * 365 * 86400


@dataclass(frozen=True)
class Opened:
    """A suite that can be run.

    Attributes:
        suite: the suite.
        corpus: what its queries are asked of.
        last_changes: by chunk ID, 0 for the one changed last before the snapshot; empty for a
            pinned directory.
        notes: what a person should know, one line each.
    """

    suite: Suite
    corpus: Corpus
    last_changes: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def open_target(
    target: str, recipe: Recipe, progress: Progress, *, jobs: int | None = None
) -> Opened:
    """Open a target; a repository is mined.

    Args:
        target: as it was given.
        recipe: what to mine from a repository.
        progress: told (step, done, of how many).
        jobs: processes that parse.

    Raises:
        UsageError: it is none of the three.
        NothingMeasured: no query could be mined.
    """
    builtin = home.builtin("suites") / target
    folder = builtin if _is_name(target) and (builtin / SUITE_FILE).is_file() else Path(target)
    with outlines(jobs) as outliner:
        if (folder / SUITE_FILE).is_file():
            return _open_suite(folder, outliner)
        return _mine(target, outliner, recipe, progress)


@contextmanager
def outlines(jobs: int | None) -> Iterator[Outliner]:
    """Open the cache of chunk tables and what fills it."""
    cache = ChunkCache(home.cache_dir() / "outlines.sqlite")
    try:
        with Outliner(cache, jobs) as outliner:
            yield outliner
    finally:
        cache.close()


@contextmanager
def open_shadow(repository: str) -> Iterator[tuple[Shadow, git.Repository]]:
    """Open a shadow of a repository given by path or URL (which is cloned into the cache)."""
    place = _cloned(repository) if _URL.match(repository) else Path(repository)
    if not place.is_dir():
        raise UsageError(
            f"{repository}: no such folder, suite or repository; `codebench list suites` names "
            "the built-in suites"
        )
    located = git.locate(place)
    shadows = home.cache_dir() / "shadows"
    try:
        shadows.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=shadows))
    except OSError as error:
        raise CodebenchError(
            f"{shadows}: cannot be written ({error.strerror}); free space, or set "
            "CODEBENCH_CACHE to another folder"
        ) from None
    with git.shadow(located, folder) as shadow:
        yield shadow, located


def _open_suite(folder: Path, outliner: Outliner) -> Opened:
    suite = read_suite(folder)
    if not suite.snapshot:
        corpus = open_directory(folder / suite.repository, outliner)
        changes: Mapping[str, int] = {}
    else:
        with open_shadow(suite.repository) as (shadow, _):
            commit = shadow.commit(suite.snapshot)
            corpus = open_snapshot(
                shadow, commit, cache=_corpora(), outliner=outliner, rules=_rules(suite)
            )
            changes = last_changes(shadow, Labeller(shadow, outliner), commit, corpus)
    if corpus.digest != suite.corpus_digest:
        raise SuiteError(
            f"{folder}: the corpus has digest {corpus.digest}, the suite was made for "
            f"{suite.corpus_digest}; restore the corpus, or build the suite again"
        )
    return Opened(suite, corpus, changes)


def _mine(target: str, outliner: Outliner, recipe: Recipe, progress: Progress) -> Opened:
    with open_shadow(target) as (shadow, repository):
        try:
            tip = shadow.commit(git.resolve(repository, "HEAD"))
        except GitError:
            raise UsageError(
                f"{target}: the repository has no commit yet; commit something, or choose another"
            ) from None
        source = target if _URL.match(target) else str(repository.path.resolve())
        mined = mine(
            _name_of(target, repository),
            source,
            shadow,
            tip,
            outliner=outliner,
            cache=_corpora(),
            recipe=recipe,
            progress=progress,
        )
        labeller = Labeller(shadow, outliner)
        changes = last_changes(shadow, labeller, mined.suite.snapshot, mined.corpus)
    notes = []
    if mined.last_time - mined.snapshot_time > _OLD_SECONDS:
        years = (mined.last_time - mined.snapshot_time) / (365 * 86400)
        notes.append(f"the newest query is {years:.1f} years younger than the snapshot")
    return Opened(mined.suite, mined.corpus, changes, tuple(notes))


def _cloned(url: str) -> Path:
    place = home.cache_dir() / "clones" / hashlib.sha256(url.encode()).hexdigest()[:20]
    if place.is_dir():
        git.refresh(place)
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=place.parent))
    try:
        git.clone(url, scratch)
        scratch.rename(place)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return place


def _corpora() -> Path:
    return home.cache_dir() / "corpora"


def _rules(suite: Suite) -> SnapshotRules:
    try:
        return SnapshotRules.from_data(suite.recipe.get("corpus", {}))
    except (TypeError, ValueError) as error:
        raise SuiteError(f"{suite.name}: recipe.corpus: {error}") from None


def _is_name(target: str) -> bool:
    return bool(re.fullmatch(r"[\w-]+", target))


def _name_of(target: str, repository: git.Repository) -> str:
    path = target.rstrip("/") if _URL.match(target) else str(repository.path.resolve())
    name = re.sub(r"[^\w.-]+", "-", path.rpartition("/")[2].removesuffix(".git"))
    return name or "repository"
