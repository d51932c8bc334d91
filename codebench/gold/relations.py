"""The relations between the files of one corpus: what imports what, and what changed together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.corpus.contents import blob_id
from codebench.corpus.languages import language_of
from codebench.gold.imports import ImportMap
from codebench.gold.related import CoChange, Relations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from codebench.corpus.outliner import Outliner
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
    tree = source.labeller.tree(snapshot)
    return _relations(corpus, tree, source.workshop.outliner, change_sets)


def relations_in(corpus: Corpus, outliner: Outliner) -> Relations:
    """Return how the files of a corpus without a history are related."""
    blobs = {
        table.path: blob_id((corpus.path / table.path).read_bytes())
        for table in corpus.tables
        if table.language
    }
    return _relations(corpus, blobs, outliner, ())


def _relations(
    corpus: Corpus,
    blob_of: Mapping[str, str],
    outliner: Outliner,
    change_sets: Iterable[Set[str]],
) -> Relations:
    languages = {table.path: table.language for table in corpus.tables if table.language}
    blobs = {path: (blob_of[path], language_of(path)) for path in languages}
    outlines = outliner.known(blobs.values())
    resolver = ImportMap(languages)
    imports = {
        path: resolver.resolve(path, outlines[blob].imports)
        for path, blob in blobs.items()
        if blob in outlines
    }
    return Relations(imports, sorted(languages), CoChange(change_sets))
