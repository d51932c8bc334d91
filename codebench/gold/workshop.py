"""What suites are made and opened with: repositories, the cache of chunk tables, the corpora."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codebench import git, home
from codebench.corpus.cache import ChunkCache
from codebench.corpus.outliner import Outliner
from codebench.corpus.snapshot import open_snapshot, put
from codebench.errors import CodebenchError, GitError, UsageError
from codebench.gold.labeller import Labeller
from codebench.gold.meant import meant, mistaken
from codebench.gold.whereabouts import is_url
from codebench.reading import is_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from codebench.corpus.rules import SnapshotRules
    from codebench.git import Shadow
    from codebench.model import Corpus

    Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Workshop:
    """What is read with, and where results are kept.

    Attributes:
        outliner: parses what is not parsed yet.
        cache: keeps chunk tables and labels.
        corpora: folder under which snapshots are kept.
        progress: told (step, done, of how many); a total of 0 is unknown.
    """

    outliner: Outliner
    cache: ChunkCache
    corpora: Path
    progress: Progress

    @contextmanager
    def repository(self, named: str) -> Iterator[Source]:
        """Open a repository given by path or URL; a URL is cloned into the cache.

        Raises:
            UsageError: there is no such folder.
            GitError: it is no repository, or cannot be cloned.
        """
        with _open_shadow(named) as (shadow, located):
            name = str(named) if is_url(named) else str(located.top)
            yield Source(name, located, shadow, Labeller(shadow, self.outliner, self.cache), self)


@dataclass(frozen=True, slots=True)
class Source:
    """An open repository.

    Attributes:
        name: URL, or absolute path of its top folder.
        located: where it lies.
        shadow: reads it.
        labeller: knows what its commits edited.
        workshop: where it was opened.
    """

    name: str
    located: git.Repository
    shadow: Shadow
    labeller: Labeller
    workshop: Workshop

    def commit(self, revision: str) -> str:
        """Return the full ID of the commit that a branch, tag or commit ID names.

        Raises:
            GitError: it names none.
        """
        return self.shadow.commit(git.resolve(self.located, revision))

    def tip(self) -> str:
        """Return the commit that HEAD names.

        Raises:
            UsageError: the repository has none yet.
        """
        try:
            named = git.resolve(self.located, "HEAD")
        except GitError:
            raise UsageError(
                f"{self.located.path}: the repository has no commit yet; commit something, or "
                "choose another"
            ) from None
        return self.shadow.commit(named)

    def corpus(self, commit: str, rules: SnapshotRules) -> Corpus:
        """Return the corpus of a commit.

        Raises:
            CorpusError: it cannot be made.
        """
        shop = self.workshop
        return open_snapshot(
            self.shadow, commit, cache=shop.corpora, outliner=shop.outliner, rules=rules
        )


@contextmanager
def workshop(progress: Progress, jobs: int | None = None) -> Iterator[Workshop]:
    """Open the caches and the processes that parse; `jobs` is how many, None one a core."""
    cache = ChunkCache(home.cache_dir() / "outlines.sqlite")
    try:
        with Outliner(cache, jobs) as outliner:
            yield Workshop(outliner, cache, home.cache_dir() / "corpora", progress)
    finally:
        cache.close()


def name_of(source: Source) -> str:
    """Return a short name for a repository: the last part of its path or URL."""
    name = re.sub(r"[^\w.-]+", "-", source.name.rstrip("/").rpartition("/")[2])
    return name.removesuffix(".git") or "repository"


@contextmanager
def _open_shadow(named: str) -> Iterator[tuple[Shadow, git.Repository]]:
    place = _cloned(named) if is_url(named) else Path(named)
    if is_file(place):
        raise UsageError(f"{named}: {mistaken(place)}")
    if not place.is_dir():
        raise UsageError(
            f"{named}: no such folder, suite or repository{meant(named)}; `codebench list suites` "
            "names the built-in suites"
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


def _cloned(url: str) -> Path:
    place = home.cache_dir() / "clones" / hashlib.sha256(url.encode()).hexdigest()[:20]
    if place.is_dir():
        git.refresh(place)
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=place.parent))
    try:
        git.clone(url, scratch)
        put(scratch, place, place.is_dir)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return place
