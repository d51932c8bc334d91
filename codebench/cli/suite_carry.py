"""`codebench suite carry`: a suite at another commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import add_format, add_jobs, as_path, on_terminal
from codebench.cli.progress import Progress

if TYPE_CHECKING:
    import argparse

EXAMPLES = (
    (
        "ask the code of a release what was asked of an older commit",
        "codebench suite carry suites/mine --to v2.0 -o suites/mine-2",
    ),
    (
        "where the repository has moved",
        "codebench suite carry suites/mine --to HEAD -o suites/now --repository ../moved",
    ),
)

NOTES = """\
Every target is looked for by five rules; what is lost, or is other code by now, leaves. The new
folder's carry.jsonl says of each target where it went, by which rule, and how alike it is.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("suite", metavar="SUITE", help="a suite folder, or a built-in suite")
    parser.add_argument(
        "--to", required=True, metavar="REVISION", help="a commit, branch or tag, earlier or later"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=as_path,
        required=True,
        metavar="FOLDER",
        help="the new suite's folder",
    )
    parser.add_argument(
        "--repository", default="", metavar="PATH", help="where it is not the one the suite names"
    )
    parser.add_argument("--force", action="store_true", help="replace a suite that is there")
    add_jobs(parser)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Carry, write and tell."""
    from codebench.gold.move import carry_suite  # noqa: PLC0415  # wrong words fail before imports
    from codebench.report.suite_carry import carried  # noqa: PLC0415

    progress = Progress(shown=on_terminal())
    try:
        moved = carry_suite(
            arguments.suite,
            arguments.to,
            arguments.output,
            progress.step,
            repository=arguments.repository,
            jobs=arguments.jobs,
            force=arguments.force,
        )
    finally:
        progress.clear()
    print(carried(moved, arguments.output, arguments.format))
    return 0
