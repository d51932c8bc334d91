"""`codebench suite export`: a suite, and rankings over it, for other evaluation tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import add_jobs, as_path, on_terminal, stored
from codebench.cli.progress import Progress

if TYPE_CHECKING:
    import argparse

EXAMPLES = (
    (
        "documents and judgments, for BEIR's tools",
        "codebench suite export suites/cosqa --format beir -o out/cosqa",
    ),
    (
        "code's gold and a run's rankings, for trec_eval",
        "codebench suite export tiny --format trec --run latest -o out",
    ),
)

NOTES = """\
Code's gold goes out level by level: qrels.level-3.txt are the exact targets. docs/import.md says
which figures are the same there and here, and README.txt in the folder what could not be said.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("suite", metavar="SUITE", help="a built-in suite, or a suite folder")
    parser.add_argument("--format", choices=("trec", "beir"), required=True, help="for which tools")
    parser.add_argument(
        "-o", "--output", type=as_path, required=True, metavar="FOLDER", help="a new folder"
    )
    parser.add_argument(
        "--run", type=as_path, metavar="RUN", help="a stored run, whose rankings are written too"
    )
    add_jobs(parser)


def run(arguments: argparse.Namespace) -> int:
    """Export and tell."""
    from codebench.gold.exporting import export_suite  # noqa: PLC0415  # wrong words fail before
    from codebench.report.suite_exchange import exported  # noqa: PLC0415

    progress = Progress(shown=on_terminal())
    try:
        found = export_suite(
            arguments.suite,
            arguments.format,
            arguments.output,
            progress.step,
            run=arguments.run and stored(arguments.run),
            jobs=arguments.jobs,
        )
    finally:
        progress.clear()
    print(exported(found, arguments.output))
    return 0
