"""The targets of commits, carried back to the snapshot that they are asked of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codebench.corpus.carry import Carried, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codebench.corpus.carry import Place
    from codebench.gold.history import Commit
    from codebench.gold.label import Label
    from codebench.gold.labeller import Labeller
    from codebench.gold.timeline import Epoch, Timeline
    from codebench.model import Chunk


@dataclass(frozen=True, slots=True)
class Journey:
    """One target's way to the snapshot.

    Attributes:
        query: ID of the query whose target it is.
        origin: as it stood where it is carried from.
        found: where it stands in the snapshot; None where it is lost.
        fate: `carried`, `lost`, `drifted`, or `taken` where another target of the query came
            to the same place by a better rule.
    """

    query: str
    origin: Chunk
    found: Carried | None
    fate: str

    def row(self) -> dict[str, Any]:
        """Return it for the carry report."""
        return {
            "query": self.query,
            "from": self.origin.id,
            "fate": self.fate,
            "to": self.found.chunk.id if self.found else None,
            "rule": self.found.rule if self.found else None,
            "similarity": round(self.found.similarity, 3) if self.found else None,
        }


def carry_all(
    history: Timeline, labeller: Labeller, epoch: Epoch, place: Place
) -> dict[str, tuple[Journey, ...]]:
    """Carry the targets of every commit of an epoch.

    Args:
        history: follows renames.
        labeller: knows the targets and their texts.
        epoch: the snapshot and its commits.
        place: looks into the snapshot.
    """
    labels = labeller.labels
    return {
        commit.id: one_to_one(
            Journey(query_id(commit.id), chunk, found, fate_of(found))
            for chunk in labels[commit.id].targets
            for found in [place.find(_origin(history, labeller, commit, chunk, epoch))]
        )
        for commit in epoch.commits
        if commit.id in labels and labels[commit.id].targets
    }


def query_id(commit: str) -> str:
    """Return the ID of a commit's query."""
    return commit[:12]


def survivors(journeys: Mapping[str, tuple[Journey, ...]]) -> dict[str, tuple[Carried, ...]]:
    """Return what arrived, by commit and sorted by chunk ID; a commit that lost all leaves."""
    arrived = {
        commit: sorted(
            (one.found for one in own if one.found and one.fate == "carried"),
            key=lambda found: found.chunk.id,
        )
        for commit, own in journeys.items()
    }
    return {commit: tuple(found) for commit, found in arrived.items() if found}


def paths_of(history: Timeline, labels: Mapping[str, Label], epoch: Epoch) -> frozenset[str]:
    """Return the paths under which the epoch's targets may stand in its snapshot."""
    return frozenset(
        path
        for commit in epoch.commits
        if commit.id in labels
        for chunk in labels[commit.id].targets
        for path in (chunk.path, history.path_at(chunk.path, commit.id, epoch))
    )


def _origin(
    history: Timeline, labeller: Labeller, commit: Commit, chunk: Chunk, epoch: Epoch
) -> Origin:
    return Origin(
        chunk,
        lambda: labeller.text_before(commit, chunk),
        history.path_at(chunk.path, commit.id, epoch),
    )


def fate_of(found: Carried | None) -> str:
    """Tell what became of a target that was looked for."""
    if found is None:
        return "lost"
    return "drifted" if found.drifted else "carried"


def one_to_one(journeys: Iterable[Journey]) -> tuple[Journey, ...]:
    """Let each place be taken once: by the target that is most like it."""
    ranked = sorted(
        journeys,
        key=lambda one: (-(one.found.similarity if one.found else 0), one.origin.id),
    )
    taken: set[str] = set()
    settled = []
    for one in ranked:
        if one.found is not None and one.fate == "carried":
            if one.found.chunk.id in taken:
                settled.append(Journey(one.query, one.origin, one.found, "taken"))
                continue
            taken.add(one.found.chunk.id)
        settled.append(one)
    return tuple(sorted(settled, key=lambda one: one.origin.id))
