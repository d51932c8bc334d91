"""`codebench replay`: agents' own search steps, asked of retrievers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import (
    FAILED,
    add_candidates,
    add_format,
    add_query_timeout,
    add_results,
    on_terminal,
    positive,
    show,
)
from codebench.cli.parsing import VerbParser
from codebench.cli.progress import Progress
from codebench.errors import NothingMeasured, UsageError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from codebench.gold.target import Opened
    from codebench.model import Suite
    from codebench.runner.plan import RunSettings

_EXAMPLES = (
    (
        "what agents asked (suite build . --from-log sessions/), of two retrievers",
        "codebench replay suites/agents -r bm25 -r ./mine.py:MyTool",
    ),
)


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench replay",
        description="Ask retrievers an agent's own search steps, and compare the tokens until the "
        "first target with what the agent spent.",
        examples=_EXAMPLES,
    )
    own.add_argument("suite", metavar="SUITE", help="a suite that was built of trajectories")
    add_candidates(own)
    own.add_argument(
        "-k",
        "--depth",
        type=positive(int),
        default=10,
        metavar="K",
        help="results of a step that are read (default: 10)",
    )
    add_query_timeout(own)
    add_results(own)
    add_format(own)
    return own


def run(arguments: argparse.Namespace) -> int:
    """Ask the steps, compare, print."""
    from codebench.gold.logs.navigation import read_navigation  # noqa: PLC0415  # heavy
    from codebench.gold.logs.replaying import replayed, step_suite  # noqa: PLC0415
    from codebench.gold.target import open_suite, suite_folder  # noqa: PLC0415
    from codebench.gold.workshop import workshop  # noqa: PLC0415
    from codebench.judging.scored import nothing_answered  # noqa: PLC0415
    from codebench.report.replay import replay_text  # noqa: PLC0415
    from codebench.results import read_run  # noqa: PLC0415
    from codebench.runner.plan import RunSettings  # noqa: PLC0415

    folder = suite_folder(arguments.suite)
    if folder is None:
        raise UsageError(f"{arguments.suite}: is no suite; build one with --from-log")
    navigation = read_navigation(folder)
    settings = RunSettings(
        depth=arguments.depth,
        query_timeout=arguments.timeout,
        warmups=0,
        repeats=1,
        floors=(),
        null_asks=0,
    )
    progress = Progress(shown=on_terminal())
    try:
        with workshop(progress.step) as shop:
            opened = open_suite(folder, shop)
        steps = step_suite(opened.suite, navigation)
        if not steps.queries:
            raise NothingMeasured(
                f"{arguments.suite}: no agent searched by content; there is nothing to replay"
            )
        place = _ask(arguments, opened, steps, settings, progress)
    finally:
        progress.clear()
    done = read_run(place)
    tables = opened.corpus.by_path
    found = {
        one.candidate.name: replayed(opened.suite, navigation, one.answers, tables, arguments.depth)
        for one in done.retrievers
    }
    text = replay_text(
        found,
        arguments.format,
        trajectories=len(navigation),
        looked_at=arguments.depth,
        run=str(place),
    )
    show(text, arguments.format)
    tasks = [one for own in found.values() for one in own]
    if all(one.failed == one.steps for one in tasks):
        raise nothing_answered(place, done.retrievers)
    return 0 if done.complete and not any(one.failed for one in tasks) else FAILED


def _ask(
    arguments: argparse.Namespace,
    opened: Opened,
    steps: Suite,
    settings: RunSettings,
    progress: Progress,
) -> Path:
    from codebench.home import cache_dir  # noqa: PLC0415
    from codebench.runner import run as runner  # noqa: PLC0415
    from codebench.runner.candidates import candidates, default_candidates  # noqa: PLC0415

    chosen = candidates(arguments.retriever) if arguments.retriever else default_candidates()
    return runner.run(
        steps,
        opened.corpus,
        chosen,
        arguments.results.absolute(),
        settings,
        events=progress.event,
        recency=opened.last_changes,
        cache=cache_dir(),
    )
