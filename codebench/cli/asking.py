"""What `codebench run` does between opening its target and scoring: the suites are asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.home import cache_dir
from codebench.runner import run as runner
from codebench.runner.several import run_several, update_costs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from codebench.cli.progress import Progress
    from codebench.gold.target import Opened
    from codebench.model import Candidate
    from codebench.runner.cluster import Cluster
    from codebench.runner.plan import RunSettings

_ASKED_OF_UPDATES = 20


@dataclass(frozen=True, slots=True)
class Asking:
    """Who is asked, and how, whatever the suite."""

    arguments: argparse.Namespace
    candidates: Sequence[Candidate]
    settings: RunSettings
    progress: Progress
    cluster: Cluster | None

    def all(self, opened: Sequence[Opened]) -> Path:
        """Ask one suite, or each of several, and return the folder of the run."""
        results = self.arguments.results
        if not opened[0].several:
            return self.one(opened[0], results)
        members = {one.member: one for one in opened}
        return run_several(
            opened[0].several,
            list(members),
            results.absolute(),
            lambda member, folder: self.one(members[member], folder),
            resume=self._resumes,
            updates=partial(self._updates, opened) if self.arguments.updates else None,
        )

    def _updates(self, opened: Sequence[Opened], folder: Path) -> list[dict[str, Any]]:
        return update_costs(
            folder,
            [(one.member, one.corpus) for one in opened],
            self.candidates,
            self.settings,
            [query.text for one in opened for query in one.suite.queries][:_ASKED_OF_UPDATES],
            beside=Path.cwd(),
        )

    def one(self, opened: Opened, results: Path) -> Path:
        """Ask one suite, and return the folder of its run."""
        return runner.run(
            opened.suite,
            opened.corpus,
            self.candidates,
            results,
            self.settings,
            events=self.progress.event,
            recency=opened.last_changes,
            resume=runner.Resume(retry=self.arguments.retry_errors) if self._resumes else None,
            cache=cache_dir(),
            cluster=self.cluster,
        )

    @property
    def _resumes(self) -> bool:
        return bool(self.arguments.resume or self.arguments.retry_errors)
