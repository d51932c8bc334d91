"""`codebench suite check`: is a suite whole, and what does its gold allow."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from codebench.cli.options import add_format, add_jobs, on_terminal, show
from codebench.cli.progress import Progress
from codebench.errors import InputError

if TYPE_CHECKING:
    import argparse

EXAMPLES = (
    ("after a build, and after every edit by hand", "codebench suite check suites/mine"),
    ("a built-in suite, for a program", "codebench suite check tiny --format json"),
)

NOTES = """\
Exit code 2 when anything is wrong; every fault is one line with its file, line and mend.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("suite", metavar="SUITE", help="a built-in suite, or a suite folder")
    add_jobs(parser)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check, print, and fail with every fault."""
    from codebench.gold.check import check  # noqa: PLC0415  # wrong words fail before imports
    from codebench.report.suite_check import checked  # noqa: PLC0415

    progress = Progress(shown=on_terminal())
    try:
        found = check(arguments.suite, progress.step, jobs=arguments.jobs)
    finally:
        progress.clear()
    show(checked(found, arguments.format), arguments.format)
    sys.stdout.flush()  # the faults follow on the other stream
    if found.faults:
        raise InputError(found.faults)
    return 0
