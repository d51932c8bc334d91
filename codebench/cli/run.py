"""`codebench run`: from a target to the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import (
    FAILED,
    add_candidates,
    add_format,
    add_measures,
    add_results,
    as_path,
    exit_code,
    measures_aside,
    measures_of,
    on_terminal,
    positive,
    show,
    show_next,
)
from codebench.cli.parsing import VerbParser
from codebench.cli.progress import Progress
from codebench.cli.run_options import (
    add_keeping,
    add_limits,
    add_measuring,
    executor_of,
    settings_of,
)
from codebench.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.gold.target import Opened
    from codebench.judging.scored import ScoredRun


_EXAMPLES = (
    ("mine this repository's history, and compare what runs here", "codebench run ."),
    (
        "your own adapter beside another, on a built-in suite",
        "codebench run tiny -r bm25 -r ./mine.py:MyTool",
    ),
    (
        "two settings of one retriever, another measure, for a program",
        "codebench run . -r bm25 -r bm25:k1=0.9,b=0.4 -m 'R(rel=3)@20' --format json",
    ),
)

_MAX_QUERIES = 200


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench run",
        description="Run retrievers over a suite, or over questions mined from a repository.",
        examples=_EXAMPLES,
    )
    own.add_argument(
        "target", metavar="TARGET", help="a built-in suite, a suite folder, a repository or its URL"
    )
    add_candidates(own)
    add_measures(own)
    own.add_argument(
        "-k",
        "--depth",
        type=positive(int),
        default=50,
        metavar="K",
        help="hits asked for (default: 50)",
    )
    add_results(own)
    mining = own.add_argument_group("of a repository, whose history is mined")
    mining.add_argument(
        "--max-queries",
        type=positive(int),
        metavar="N",
        help=f"queries at most (default: {_MAX_QUERIES})",
    )
    mining.add_argument(
        "--snapshot",
        default="",
        metavar="COMMIT",
        help="the code that is asked (default: the newest after which so many queries survive)",
    )
    add_limits(own)
    add_measuring(own)
    add_keeping(own)
    add_format(own, "csv")
    return own


def run(arguments: argparse.Namespace) -> int:
    """Open the target, run the retrievers, score the answers, print the table."""
    from codebench.measures.names import check_depth  # noqa: PLC0415  # `--help` needs none

    measures = measures_of(arguments.measure, lambda: arguments.depth)
    check_depth(measures, arguments.depth)
    settings = settings_of(arguments)
    from codebench.cli.asking import Asking  # noqa: PLC0415  # wrong words fail before imports
    from codebench.gold.recipe import Recipe  # noqa: PLC0415
    from codebench.gold.target import open_target, suite_folder  # noqa: PLC0415
    from codebench.judging.scoring import score_run  # noqa: PLC0415
    from codebench.runner.candidates import candidates, default_candidates  # noqa: PLC0415

    chosen = candidates(arguments.retriever) if arguments.retriever else default_candidates()
    if suite_folder(arguments.target) and (arguments.max_queries or arguments.snapshot):
        name = "--snapshot" if arguments.snapshot else "--max-queries"
        raise UsageError(
            f"{name} is of a repository, and {arguments.target} is a suite, whose queries and "
            "snapshot stand fast"
        )
    recipe = Recipe(max_queries=arguments.max_queries or _MAX_QUERIES, snapshot=arguments.snapshot)
    progress = Progress(shown=on_terminal())
    try:
        opened = open_target(arguments.target, recipe, progress.step)
        if arguments.updates and not opened[0].several:
            raise UsageError(
                "--updates needs a suite of several snapshots (suite build --mode epochs=N)"
            )
        with executor_of(arguments) as cluster:
            asking = Asking(arguments, chosen, settings, progress, cluster)
            folder = asking.all(opened)
    finally:
        progress.clear()
    scored = score_run(_shown(folder), measures)
    _print(scored, opened, arguments.format, arguments.measure)
    left_out = any(one.run.state == "skipped" for one in scored.retrievers)
    noted = arguments.format in {"table", "markdown"}
    return exit_code([scored], noted=noted) or (FAILED if arguments.retriever and left_out else 0)


def _shown(folder: Path) -> Path:
    """Return a folder as a person would type it from here."""
    here = as_path().absolute()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _print(scored: ScoredRun, opened: Sequence[Opened], form: str, names: Sequence[str]) -> None:
    from codebench.report.details import (  # noqa: PLC0415  # as in `run`
        Details,
        figures_csv,
        more_data,
        more_text,
    )
    from codebench.report.summary import as_json, funnel_line, summary  # noqa: PLC0415

    several = Details(by=("member",), suite=scored.suite) if scored.members else Details()
    own = {one.name: one.evaluation for one in scored.retrievers if one.evaluation}
    if form == "json":
        more = {name: more_data(evaluation, several) for name, evaluation in own.items()}
        print(as_json(scored, more=more))
        return
    if form == "csv":
        print(figures_csv(own, "macro"))
        return
    markdown = form == "markdown"
    aside = measures_aside(names, scored.run.depth, form)
    own = {name: evaluation.without(aside) for name, evaluation in own.items()}
    blocks = [
        summary(scored, markdown=markdown, aside=aside),
        *more_text(own, several, markdown=markdown),
    ]
    show("\n\n".join(blocks), form)
    for one in opened:
        prefix = f"{one.member}: " if one.member else ""
        for note in (*one.notes, funnel_line(one.suite.funnel)):
            if note:
                print(prefix + note)
    suite = "" if scored.members else f" (the suite that was asked: {scored.run.suite_folder})"
    print(f"results: {scored.run.path}{suite}")
    answered = sum(one.answered for one in scored.retrievers if not one.floor)
    if form == "table" and answered:
        if answered > 1:
            show_next("compare", scored.run.path)
        show_next("report", scored.run.path, "-o", "report.html")
