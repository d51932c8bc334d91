"""`codebench suite agree`: how far two labellers agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import add_format, show

if TYPE_CHECKING:
    import argparse

EXAMPLES = (
    ("two labellers' files of the same questions", "codebench suite agree mine.yaml yours.yaml"),
    ("two suites, for a program", "codebench suite agree suites/a suites/b --format json"),
)

NOTES = """\
Weighted kappa is Cohen's with quadratic weights: 1 is full agreement, 0 is that of chance.
docs/labelling.md says what the grades mean.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    for name in ("A", "B"):
        parser.add_argument(name.lower(), metavar=name, help="a questions file, or a suite")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compare and tell."""
    from codebench.gold.agreement import agreement  # noqa: PLC0415  # wrong words fail before
    from codebench.report.suite_agree import agreed  # noqa: PLC0415

    show(agreed(agreement(arguments.a, arguments.b), arguments.format), arguments.format)
    return 0
