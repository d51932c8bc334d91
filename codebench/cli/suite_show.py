"""`codebench suite show`: the queries of a suite, or one with its gold in context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import add_format, add_jobs, on_terminal
from codebench.cli.progress import Progress
from codebench.errors import UsageError

if TYPE_CHECKING:
    import argparse

EXAMPLES = (
    ("every query's ID and text", "codebench suite show suites/mine"),
    (
        "the one whose ID begins so, with the code that answers it",
        "codebench suite show suites/mine 3f2a91",
    ),
)

NOTES = ""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("suite", metavar="SUITE", help="a built-in suite, or a suite folder")
    parser.add_argument(
        "query",
        metavar="QUERY",
        nargs="?",
        help="an ID, or how only one begins (default: list all)",
    )
    parser.add_argument("--all", action="store_true", help="print long targets whole")
    add_jobs(parser)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """List, or show one."""
    from codebench.gold import context  # noqa: PLC0415  # wrong words fail before imports

    if arguments.query is None:
        if arguments.all:
            raise UsageError("--all is of a QUERY, whose targets are printed; name one")
        from codebench.report.suite import listed  # noqa: PLC0415  # each needs its own

        print(listed(context.queries_of(arguments.suite), arguments.format))
        return 0
    from codebench.report.suite_show import shown  # noqa: PLC0415

    progress = Progress(shown=on_terminal())
    try:
        found = context.in_context(
            arguments.suite, arguments.query, progress.step, jobs=arguments.jobs
        )
    finally:
        progress.clear()
    print(shown(found, arguments.format, whole=arguments.all))
    return 0
