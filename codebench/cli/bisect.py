"""`codebench bisect`: the commit of an adapter that made one query worse."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from codebench.cli.options import PRIMARY, add_format, as_path, show, stored
from codebench.cli.parsing import VerbParser

if TYPE_CHECKING:
    import argparse

_EXAMPLES = (
    (
        "between the accepted run and a newer one",
        "codebench bisect q017 --good results/shop --bad latest",
    ),
    (
        "of one retriever, by another measure",
        "codebench bisect q017 --good results/shop --bad latest -r bm25 -m 'R(rel=3)@10'",
    ),
    (
        "between commits that are named",
        "codebench bisect q017 --good OLD --bad latest --good-commit v1.2 --bad-commit main",
    ),
)

_NOTES = """\
The adapter's repository is only read: its history is walked by `git bisect run` in a checkout of
codebench's own. What the adapter imports from installed packages does not move with the commits.
"""


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench bisect",
        description="Find the commit of an adapter's own history that made one query worse.",
        examples=_EXAMPLES,
        notes=_NOTES,
    )
    own.add_argument("query", metavar="QUERY", help="the query's ID")
    own.add_argument(
        "--good",
        required=True,
        type=as_path,
        metavar="RUN",
        help="the run in which the query did well",
    )
    own.add_argument(
        "--bad", required=True, type=as_path, metavar="RUN", help="the run in which it does worse"
    )
    own.add_argument(
        "-r",
        "--retriever",
        default="",
        metavar="NAME",
        help="its name in both runs (default: the one that both hold)",
    )
    own.add_argument(
        "-m",
        "--measure",
        default=PRIMARY,
        metavar="MEASURE",
        help=f"what got worse (default: {PRIMARY})",
    )
    own.add_argument(
        "--adapter",
        default="",
        metavar="RETRIEVER",
        help="file.py:Class with its options, where the run's reference is not found from here",
    )
    own.add_argument(
        "--suite", default="", metavar="TARGET", help="where the corpus of the runs is found"
    )
    for end in ("good", "bad"):
        own.add_argument(
            f"--{end}-commit",
            default="",
            metavar="COMMIT",
            help=f"the adapter's, in place of what the {end} run names",
        )
    add_format(own)
    return own


def run(arguments: argparse.Namespace) -> int:
    """Walk the history, and print what was found."""
    from codebench.measures.names import parse  # noqa: PLC0415  # `--help` needs none

    measure = parse(arguments.measure)
    from codebench.bisecting.bisection import BisectRequest, bisect  # noqa: PLC0415  # wrong words first
    from codebench.report.bisection import bisection_text  # noqa: PLC0415

    asked = BisectRequest(
        query=arguments.query,
        good=stored(arguments.good),
        bad=stored(arguments.bad),
        measure=measure,
        retriever=arguments.retriever,
        adapter=arguments.adapter,
        suite=arguments.suite,
        good_commit=arguments.good_commit,
        bad_commit=arguments.bad_commit,
    )
    found = bisect(asked, lambda line: print(line, file=sys.stderr))
    show(bisection_text(found, arguments.format), arguments.format)
    return 0
