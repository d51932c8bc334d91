"""`codebench history`: one measure over the runs that are kept."""

from __future__ import annotations

import argparse
from pathlib import Path

from codebench.cli.options import DEFAULT_RESULTS, add_format, share
from codebench.errors import UsageError
from codebench.measures.names import PRIMARY, parse

_EXAMPLES = """\
examples:
  codebench history                                nDCG(dcg='exp-log2')@10 over results/local
  codebench history results --measure nDCG@10      over the accepted runs
  codebench history -r bm25 --suite shop --format csv
"""


def parser() -> argparse.ArgumentParser:
    """Return the verb's parser."""
    own = argparse.ArgumentParser(
        prog="codebench history",
        description="One measure over the runs that are kept, with verdicts between neighbours.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument(
        "results",
        metavar="RESULTS",
        nargs="?",
        type=Path,
        default=DEFAULT_RESULTS,
        help=f"the folder of runs (default: {DEFAULT_RESULTS})",
    )
    own.add_argument(
        "-m", "--measure", default=str(PRIMARY), help=f"what is looked at (default: {PRIMARY})"
    )
    own.add_argument(
        "-r",
        "--retriever",
        action="append",
        default=[],
        metavar="NAME",
        help="only this one, or a floor; may be repeated",
    )
    own.add_argument("--suite", default="", metavar="NAME", help="only runs of this suite")
    own.add_argument(
        "--margin",
        type=share,
        default=0.03,
        help="the smallest difference that counts (default: 0.03)",
    )
    own.add_argument("--seed", type=int, default=0, help="of the sign flips (default: 0)")
    add_format(own, "csv")
    return own


def run(arguments: argparse.Namespace) -> int:
    """Score the runs, compare neighbours, print."""
    measure = parse(arguments.measure)
    if arguments.seed < 0:
        raise UsageError(f"--seed {arguments.seed}: a seed is a whole number from 0")
    from codebench.history import history  # noqa: PLC0415  # wrong words fail before imports
    from codebench.report.history import history_text  # noqa: PLC0415

    found = history(
        arguments.results,
        measure,
        only=arguments.retriever,
        suite=arguments.suite,
        margin=arguments.margin,
        seed=arguments.seed,
    )
    print(history_text(found, arguments.format))
    return 0
