"""`codebench align`: do offline measures move with a team's online figures?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import add_format, add_measures, as_path, measures_of, show
from codebench.cli.parsing import VerbParser

if TYPE_CHECKING:
    import argparse

_NOTES = """\
RUNS.csv has a line a run: its folder (relative to the file), and what was seen online, more of
which is better:

  run,retriever,accepted,clicks
  results/local/20240501T120000Z-shop,bm25,0.31,0.52
  results/local/20240508T120000Z-shop,bm25,0.34,
"""

_EXAMPLES = (
    ("which of the usual measures move with the online figures", "codebench align runs.csv"),
    (
        "two measures, for a program",
        "codebench align runs.csv -m nDCG@10 -m 'R(rel=3)@10' --format json",
    ),
)


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench align",
        description="Correlate measures of runs with a team's online figures.",
        examples=_EXAMPLES,
        notes=_NOTES,
    )
    own.add_argument(
        "runs", metavar="RUNS.csv", type=as_path, help="runs with their online figures"
    )
    add_measures(own)
    add_format(own, "csv")
    return own


def run(arguments: argparse.Namespace) -> int:
    """Read, score, correlate, print."""
    measures = measures_of(arguments.measure)
    from codebench.judging.alignment import align  # noqa: PLC0415  # wrong words fail before imports
    from codebench.report.alignment import alignment_text  # noqa: PLC0415

    show(alignment_text(align(arguments.runs, measures), arguments.format), arguments.format)
    return 0
