"""What to mine from a history."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from codebench.corpus.rules import SnapshotRules

Mode = Literal["frozen", "epochs", "parent"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to mine from a history.

    Attributes:
        mode: `frozen` asks one snapshot, `epochs` several, `parent` each commit's own parent.
        epochs: how many snapshots, in the mode of that name.
        max_queries: the snapshot is the newest after which so many survive; no more are kept.
        snapshot: a commit ID to ask instead, on the first-parent line.
        since, until: seconds since the epoch, of the committer; None is unbounded.
        pull_requests: whether first-parent pull requests are asked instead of commits.
        long_text: whether a query holds the message's prose beside the subject.
        mask_leaks: whether what names the gold is taken out of the texts.
        rules: which files belong to the corpus.
    """

    mode: Mode = "frozen"
    epochs: int = 1
    max_queries: int = 200
    snapshot: str = ""
    since: int | None = None
    until: int | None = None
    pull_requests: bool = False
    long_text: bool = False
    mask_leaks: bool = False
    rules: SnapshotRules = field(default_factory=SnapshotRules)

    def as_data(self, tip: str) -> dict[str, object]:
        """Return the recipe for `suite.yaml`: with it and the tip, the suite can be built again."""
        return {
            "mode": f"epochs={self.epochs}" if self.mode == "epochs" else self.mode,
            "tip": tip,
            "max_queries": self.max_queries,
            "unit": "pull request" if self.pull_requests else "commit",
            "text": "long" if self.long_text else "short",
            **({"since": _day(self.since)} if self.since is not None else {}),
            **({"until": _day(self.until)} if self.until is not None else {}),
            **({"masked": True} if self.mask_leaks else {}),
            "corpus": self.rules.as_data(),
        }


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
