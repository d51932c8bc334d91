"""`codebench run`: from a target to the table."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.cli.options import (
    DEFAULT_RESULTS,
    add_format,
    add_measures,
    exit_code,
    measures_of,
    on_terminal,
    positive,
)
from codebench.cli.progress import Progress
from codebench.cli.run_options import (
    add_keeping,
    add_limits,
    add_measuring,
    executor_of,
    settings_of,
)
from codebench.errors import UsageError
from codebench.measures.names import check_depth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.gold.target import Opened
    from codebench.model import Candidate
    from codebench.runner.cluster import Cluster
    from codebench.runner.plan import RunSettings
    from codebench.scored import ScoredRun

_EXAMPLES = """\
examples:
  codebench run .                                 mine this repository's history and compare
  codebench run tiny -r bm25 -r ./mine.py:MyTool  one's own adapter on the built-in suite
  codebench run . -r bm25:k1=1.2,b=0.75 -m R(rel=3)@10 -k 20 --format json
"""


_ASKED_OF_UPDATES = 20


def parser() -> argparse.ArgumentParser:
    """Return the verb's parser."""
    own = argparse.ArgumentParser(
        prog="codebench run",
        description="Run retrievers over a suite, or over questions mined from a repository.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument(
        "target", metavar="TARGET", help="a built-in suite, a suite folder, a repository or its URL"
    )
    own.add_argument(
        "-r",
        "--retriever",
        action="append",
        default=[],
        metavar="RETRIEVER",
        help="a built-in name, file.py:Class or a YAML file, with options after a colon; "
        "may be repeated (default: those of adapters/default.yaml)",
    )
    add_measures(own)
    own.add_argument(
        "-k", "--depth", type=positive(int), default=50, help="hits asked for (default: 50)"
    )
    own.add_argument(
        "-o", "--results", type=Path, default=DEFAULT_RESULTS, help="default: results/local"
    )
    own.add_argument(
        "--max-queries", type=positive(int), default=200, help="queries to mine (default: 200)"
    )
    own.add_argument("--snapshot", default="", metavar="COMMIT", help="ask this commit's code")
    add_limits(own)
    add_measuring(own)
    add_keeping(own)
    add_format(own, "csv")
    return own


def run(arguments: argparse.Namespace) -> int:
    """Open the target, run the retrievers, score the answers, print the table."""
    measures = measures_of(arguments.measure)
    check_depth(measures, arguments.depth)
    settings = settings_of(arguments)
    from codebench.gold.recipe import Recipe  # noqa: PLC0415  # wrong words fail before imports
    from codebench.gold.target import open_target  # noqa: PLC0415
    from codebench.runner.candidates import candidates, default_candidates  # noqa: PLC0415
    from codebench.scoring import score_run  # noqa: PLC0415

    chosen = candidates(arguments.retriever) if arguments.retriever else default_candidates()
    recipe = Recipe(max_queries=arguments.max_queries, snapshot=arguments.snapshot)
    progress = Progress(shown=on_terminal())
    try:
        opened = open_target(arguments.target, recipe, progress.step)
        if arguments.updates and not opened[0].several:
            raise UsageError(
                "--updates needs a suite of several snapshots (suite build --mode epochs=N)"
            )
        with executor_of(arguments) as cluster:
            asking = _Asking(arguments, chosen, settings, progress, cluster)
            folder = asking.all(opened)
    finally:
        progress.clear()
    scored = score_run(_shown(folder), measures)
    _print(scored, opened, arguments.format)
    return exit_code([scored])


@dataclass(frozen=True, slots=True)
class _Asking:
    """Who is asked, and how, whatever the suite."""

    arguments: argparse.Namespace
    candidates: Sequence[Candidate]
    settings: RunSettings
    progress: Progress
    cluster: Cluster | None

    def all(self, opened: Sequence[Opened]) -> Path:
        """Ask one suite, or each of several, and return the folder of the run."""
        from codebench.runner.several import run_several  # noqa: PLC0415  # as in `run`

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
        from codebench.runner.several import update_costs  # noqa: PLC0415  # as in `run`

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
        from codebench.home import cache_dir  # noqa: PLC0415  # as in `run`
        from codebench.runner import run as runner  # noqa: PLC0415

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


def _shown(folder: Path) -> Path:
    """Return a folder as a person would type it from here."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _print(scored: ScoredRun, opened: Sequence[Opened], form: str) -> None:
    from codebench.report.colour import for_terminal  # noqa: PLC0415  # as in `run`
    from codebench.report.details import (  # noqa: PLC0415
        Asked,
        figures_csv,
        more_data,
        more_text,
    )
    from codebench.report.summary import as_json, funnel_line, summary  # noqa: PLC0415

    several = Asked(by=("member",), suite=scored.suite) if scored.members else Asked()
    own = {one.name: one.evaluation for one in scored.retrievers if one.evaluation}
    if form == "json":
        more = {name: more_data(evaluation, several) for name, evaluation in own.items()}
        print(as_json(scored, more=more))
        return
    if form == "csv":
        print(figures_csv(own, "macro"))
        return
    markdown = form == "markdown"
    blocks = [summary(scored, markdown=markdown), *more_text(own, several, markdown=markdown)]
    text = "\n\n".join(blocks)
    print(text if markdown else for_terminal(text))
    for one in opened:
        prefix = f"{one.member}: " if one.member else ""
        for note in (*one.notes, funnel_line(one.suite.funnel)):
            if note:
                print(prefix + note)
    suite = "" if scored.members else f" (the suite that was asked: {scored.run.suite_folder})"
    print(f"results: {scored.run.path}{suite}")
    if form == "table":
        alone = sum(not one.floor for one in scored.retrievers) == 1
        verb = "report" if alone else "compare"
        print(f"next: codebench {verb} {scored.run.path}{' -o report.html' if alone else ''}")
