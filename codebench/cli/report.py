"""`codebench report`: one HTML file of a stored run, or of several, that opens offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import RUN, add_measures, as_path, exit_code, stored
from codebench.cli.parsing import VerbParser
from codebench.errors import NoBaseline, ResultsError, UsageError

if TYPE_CHECKING:
    import argparse


_EXAMPLES = (
    (
        "a run's retrievers, in one file",
        "codebench report latest -o report.html",
    ),
    ("two runs of one suite, side by side", "codebench report results/shop latest -o report.html"),
)


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench report",
        description="Write one self-contained HTML file: which retriever to use within a latency "
        "budget, the tables and drawings behind it, and every query with all rankings.",
        examples=_EXAMPLES,
    )
    own.add_argument("runs", metavar="RUN", nargs="+", type=as_path, help=RUN)
    own.add_argument(
        "-o",
        "--output",
        type=as_path,
        default="report.html",
        metavar="FILE",
        help="default: report.html; a report that is there is replaced",
    )
    add_measures(own, "beside what the report measures anyway")
    return own


def run(arguments: argparse.Namespace) -> int:
    """Read and score the runs, write the page."""
    from codebench.measures.names import parse  # noqa: PLC0415  # `--help` needs none

    asked = [parse(name) for name in arguments.measure]
    arguments.runs = [stored(path) for path in arguments.runs]
    resolved = [path.resolve() for path in arguments.runs]
    if len(set(resolved)) < len(resolved):
        raise UsageError("a run is given twice")
    from codebench.judging.scoring import depth_of, score_run  # noqa: PLC0415
    from codebench.report.page.board import measures_for  # noqa: PLC0415  # wrong words first
    from codebench.report.page.document import page  # noqa: PLC0415
    from codebench.writing import write_file  # noqa: PLC0415

    depth = min(depth_of(path) for path in arguments.runs)
    scored = [score_run(path, measures_for(depth, asked)) for path in arguments.runs]
    for one in scored[1:]:
        if one.digest != scored[0].digest:
            raise NoBaseline(
                f"{one.run.path}: its suite is not that of {scored[0].run.path}; one report shows "
                "runs of one suite (`codebench compare` names what differs)"
            )
    text = page(scored, asked)
    try:
        write_file(arguments.output, text)
    except OSError as error:
        raise ResultsError(
            f"{arguments.output}: the report cannot be written ({error.strerror or error})"
        ) from None
    print(f"{arguments.output}: {len(text.encode()) / 1e6:.2f} MB, opens offline in any browser")
    return exit_code(scored)
