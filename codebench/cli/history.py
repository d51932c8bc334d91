"""`codebench history`: one measure over the runs that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import (
    DEFAULT_RESULTS,
    PRIMARY,
    add_format,
    add_margin,
    add_seed,
    as_path,
    show,
)
from codebench.cli.parsing import VerbParser

if TYPE_CHECKING:
    import argparse

_EXAMPLES = (
    (f"{PRIMARY} over the runs in {DEFAULT_RESULTS}", "codebench history"),
    ("another measure over the accepted runs", "codebench history results --measure nDCG@10"),
    (
        "one retriever over one suite, for a spreadsheet",
        "codebench history -r bm25 --suite shop --format csv",
    ),
)


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench history",
        description="One measure over the runs that are kept, with a verdict on each against the "
        "last of its suite.",
        examples=_EXAMPLES,
    )
    own.add_argument(
        "results",
        metavar="RESULTS",
        nargs="?",
        type=as_path,
        default=DEFAULT_RESULTS,
        help=f"the folder of runs (default: {DEFAULT_RESULTS})",
    )
    own.add_argument(
        "-m",
        "--measure",
        default=PRIMARY,
        metavar="MEASURE",
        help=f"what is looked at (default: {PRIMARY})",
    )
    own.add_argument(
        "-r",
        "--retriever",
        action="append",
        default=[],
        metavar="NAME",
        help="only this retriever or floor; may be repeated",
    )
    own.add_argument("--suite", default="", metavar="NAME", help="only runs of this suite")
    add_margin(own)
    add_seed(own, "of the sign flips")
    add_format(own, "csv")
    return own


def run(arguments: argparse.Namespace) -> int:
    """Score the runs, compare neighbours, print."""
    from codebench.measures.names import parse  # noqa: PLC0415  # `--help` needs none

    measure = parse(arguments.measure)
    from codebench.judging.history import history  # noqa: PLC0415  # wrong words fail before imports
    from codebench.report.history import history_text  # noqa: PLC0415

    found = history(
        arguments.results,
        measure,
        only=arguments.retriever,
        suite=arguments.suite,
        margin=arguments.margin,
        seed=arguments.seed,
    )
    show(history_text(found, arguments.format), arguments.format)
    return 0
