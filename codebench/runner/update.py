"""What it costs to bring an index from one snapshot to the next, beside building it anew."""

from __future__ import annotations

import dataclasses
import shutil
from typing import TYPE_CHECKING

from codebench.runner.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.model import Candidate, Corpus, IndexCost
    from codebench.runner.session import Bench


@dataclasses.dataclass(frozen=True, slots=True)
class UpdateCost:
    """Bringing one retriever's index from a snapshot to the next.

    Attributes:
        changed: how many files were added, changed or deleted.
        update: what `update` took; None where the adapter does not offer it.
        rebuild: what building the index of the later snapshot took.
        asked: how many questions were asked of both indexes afterwards.
        different: for how many of them the updated index has other hits than the new one.
    """

    changed: int
    update: IndexCost | None
    rebuild: IndexCost
    asked: int
    different: int


def measure_update(
    before: Bench, after: Bench, candidate: Candidate, texts: Sequence[str] = ()
) -> UpdateCost:
    """Index a snapshot, bring the index to the next one, and build that one's anew, too.

    Args:
        before: the earlier snapshot.
        after: the later one.
        candidate: whose index it is.
        texts: questions that both indexes are asked: an update that is fast and wrong is no gain.

    Raises:
        GaveUp: an index cannot be built or brought up to date.
    """
    changed = changed_paths(before.corpus, after.corpus)
    rebuilt, rebuild = _life(after, candidate, texts)
    session = Session(before, candidate)
    try:
        start_seconds = session.make()
        session.timed({"op": "index"}, start_seconds)
        bring(session.root, after.corpus, changed)
        request = {
            "op": "update",
            "digest": after.corpus.digest,
            "tables": str(after.tables),
            "changed": changed,
        }
        cost, reply = session.timed(request, start_seconds)
        if not reply.get("updated"):
            return UpdateCost(len(changed), None, rebuild, 0, 0)
        session.bench = after
        updated = [session.search(text).hits for text in texts]
        session.close()
    finally:
        session.end()
    different = sum(one != other for one, other in zip(updated, rebuilt, strict=True))
    return UpdateCost(len(changed), cost, rebuild, len(texts), different)


def _life(
    bench: Bench, candidate: Candidate, texts: Sequence[str]
) -> tuple[list[object], IndexCost]:
    session = Session(bench, candidate)
    try:
        start_seconds = session.make()
        cost, _ = session.timed({"op": "index"}, start_seconds)
        hits: list[object] = [session.search(text).hits for text in texts]
        session.close()
    finally:
        session.end()
    return hits, cost


def changed_paths(before: Corpus, after: Corpus) -> list[str]:
    """Return the paths that were added, changed or deleted from one corpus to another, sorted."""
    old, new = set(before.by_path), set(after.by_path)
    same = {
        path
        for path in old & new
        if (before.path / path).read_bytes() == (after.path / path).read_bytes()
    }
    return sorted((old | new) - same)


def bring(root: Path, after: Corpus, changed: Sequence[str]) -> None:
    """Put a later corpus's files in the place of an earlier one's."""
    for path in changed:
        place = root / path
        place.unlink(missing_ok=True)
        if path in after.by_path:
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(after.path / path, place)
