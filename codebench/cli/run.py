"""`codebench run`: from a target to the table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

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
from codebench.measures.names import check_depth

if TYPE_CHECKING:
    from codebench.gold.target import Opened
    from codebench.scoring import ScoredRun

_EXAMPLES = """\
examples:
  codebench run .                                 mine this repository's history and compare
  codebench run tiny -r bm25 -r ./mine.py:MyTool  one's own adapter on the built-in suite
  codebench run . -r bm25:k1=1.2,b=0.75 -m R(rel=3)@10 -k 20 --format json
"""


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
    add_format(own)
    return own


def run(arguments: argparse.Namespace) -> int:
    """Open the target, run the retrievers, score the answers, print the table."""
    measures = measures_of(arguments.measure)
    check_depth(measures, arguments.depth)
    settings = settings_of(arguments)
    from codebench.gold.recipe import Recipe  # noqa: PLC0415  # wrong words fail before imports
    from codebench.gold.target import open_target  # noqa: PLC0415
    from codebench.home import cache_dir  # noqa: PLC0415
    from codebench.runner import run as runner  # noqa: PLC0415
    from codebench.runner.candidates import candidates, default_candidates  # noqa: PLC0415
    from codebench.scoring import score_run  # noqa: PLC0415

    chosen = candidates(arguments.retriever) if arguments.retriever else default_candidates()
    recipe = Recipe(max_queries=arguments.max_queries, snapshot=arguments.snapshot)
    progress = Progress(shown=on_terminal())
    try:
        members = open_target(arguments.target, recipe, progress.step)
        (opened,) = members
        resume = arguments.resume or arguments.retry_errors
        with executor_of(arguments) as cluster:
            folder = runner.run(
                opened.suite,
                opened.corpus,
                chosen,
                arguments.results,
                settings,
                events=progress.event,
                recency=opened.last_changes,
                resume=runner.Resume(retry=arguments.retry_errors) if resume else None,
                cache=cache_dir(),
                cluster=cluster,
            )
    finally:
        progress.clear()
    scored = score_run(_shown(folder), measures)
    _print(scored, opened, arguments.format)
    return exit_code([scored])


def _shown(folder: Path) -> Path:
    """Return a folder as a person would type it from here."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _print(scored: ScoredRun, opened: Opened, form: str) -> None:
    from codebench.report.summary import as_json, funnel_line, summary  # noqa: PLC0415

    if form == "json":
        print(as_json(scored))
        return
    print(summary(scored, markdown=form == "markdown"))
    for note in opened.notes:
        print(note)
    funnel = funnel_line(opened.suite.funnel)
    if funnel:
        print(funnel)
    print(f"results: {scored.run.path} (the suite that was asked: {scored.run.suite_folder})")
    if form == "table":
        print(f"next: codebench compare {scored.run.path}")
