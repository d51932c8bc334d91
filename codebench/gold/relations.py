"""The relations between the files of one corpus: what imports what, and what changed together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.corpus.languages import language_of
from codebench.gold.imports import ImportMap
from codebench.gold.related import CoChange, Relations

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

    from codebench.gold.workshop import Source
    from codebench.model import Corpus


def relations_of(
    snapshot: str, corpus: Corpus, source: Source, change_sets: Iterable[Set[str]]
) -> Relations:
    """Return how the files of a corpus are related.

    Args:
        snapshot: the commit of the corpus.
        corpus: its corpus.
        source: the repository.
        change_sets: what changed together up to the snapshot, under the names that files have
            there.
    """
    languages = {table.path: table.language for table in corpus.tables if table.language}
    tree = source.labeller.tree(snapshot)
    blobs = {path: (tree[path], language_of(path)) for path in languages}
    outlines = source.workshop.outliner.known(blobs.values())
    resolver = ImportMap(languages)
    imports = {
        path: resolver.resolve(path, outlines[blob].imports)
        for path, blob in blobs.items()
        if blob in outlines
    }
    return Relations(imports, sorted(languages), CoChange(change_sets))
