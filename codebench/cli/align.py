"""`codebench align`: do offline measures move with a team's online figures?"""

from __future__ import annotations

import argparse
from pathlib import Path

from codebench.cli.options import add_format, add_measures, measures_of

_EXAMPLES = """\
RUNS.csv has a line a run: its folder (relative to the file), and what was seen online, more of
which is better:

  run,retriever,accepted,clicks
  results/local/20240501T120000Z-shop,bm25,0.31,0.52
  results/local/20240508T120000Z-shop,bm25,0.34,

examples:
  codebench align RUNS.csv
  codebench align RUNS.csv -m nDCG@10 -m 'R(rel=3)@10' --format json
"""


def parser() -> argparse.ArgumentParser:
    """Return the verb's parser."""
    own = argparse.ArgumentParser(
        prog="codebench align",
        description="Correlate measures of runs with a team's online figures.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument("runs", metavar="RUNS.csv", type=Path, help="runs with their online figures")
    add_measures(own)
    add_format(own, "csv")
    return own


def run(arguments: argparse.Namespace) -> int:
    """Read, score, correlate, print."""
    measures = measures_of(arguments.measure)
    from codebench.alignment import align  # noqa: PLC0415  # wrong words fail before imports
    from codebench.report.alignment import alignment_text  # noqa: PLC0415

    print(alignment_text(align(arguments.runs, measures), arguments.format))
    return 0
