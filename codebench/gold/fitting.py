"""A suite whose corpus differs from machine to machine, fitted to the corpus that is there."""

from __future__ import annotations

import platform
from dataclasses import replace
from typing import TYPE_CHECKING

from codebench.errors import NothingMeasured
from codebench.gold.dangling import Places
from codebench.reading import counted

if TYPE_CHECKING:
    from codebench.model import Corpus, Query, Suite


def fitted(suite: Suite, corpus: Corpus) -> tuple[Suite, tuple[str, ...]]:
    """Return a suite without what its corpus lacks, and lines that say what was left out.

    The suite takes the corpus's digest, so that runs over other versions are never mixed with
    it. One that names a digest is tied to that corpus and comes back as it is.

    Raises:
        NothingMeasured: the corpus has no query's target.
    """
    if suite.corpus_digest:
        return suite, ()
    places = Places(corpus)
    kept = [_fitted(query, places) for query in suite.queries]
    queries = tuple(
        now for query, now in zip(suite.queries, kept, strict=True) if _answered(query, now)
    )
    version = f"Python {platform.python_version()}"
    if not queries:
        raise NothingMeasured(f"{suite.name}: {version} has no target of any question")
    missing = sum(
        len(query.targets) - len(now.targets)
        for query, now in zip(suite.queries, kept, strict=True)
    )
    notes = [f"asked of {suite.repository} of {version}: {counted(len(corpus.tables), 'file')}"]
    if missing:
        notes.append(
            f"left out, as {version} lacks them: {counted(missing, 'target')}, and with them "
            f"{len(suite.queries) - len(queries)} of "
            f"{counted(len(suite.queries), 'query', 'queries')}"
        )
    recipe = {**suite.recipe, "python": platform.python_version()}
    made = replace(suite, corpus_digest=corpus.digest, queries=queries, recipe=recipe)
    return made, tuple(notes)


def _answered(before: Query, now: Query) -> bool:
    """Tell whether a query still has what it asks for: one of its best targets."""
    return max((one.grade for one in now.targets), default=0) == max(
        one.grade for one in before.targets
    )


def _fitted(query: Query, places: Places) -> Query:
    targets = tuple(one for one in query.targets if places.has(one.chunk))
    files = {one.path for one in targets}
    return replace(
        query,
        targets=targets,
        related=tuple(one for one in query.related if one.of in files and one.path in places.paths),
        not_relevant=tuple(one for one in query.not_relevant if places.has(one)),
    )
