"""`codebench compare`: paired differences between retrievers of one run or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import (
    PRIMARY,
    RUN,
    add_format,
    add_margin,
    add_measures,
    add_seed,
    as_path,
    exit_code,
    show,
    show_next,
    stored,
)
from codebench.cli.parsing import VerbParser
from codebench.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.judging.contest import Contender
    from codebench.judging.scored import ScoredRun


_EXAMPLES = (
    (
        "a run's retrievers with its best by the primary measure",
        "codebench compare latest --baseline best",
    ),
    ("each retriever with itself in the older run", "codebench compare results/shop latest"),
    (
        "every pair, the floors too, for a spreadsheet",
        "codebench compare latest --baseline all --floors --format csv",
    ),
)


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench compare",
        description="Paired differences between retrievers of one run or of several, with "
        "verdicts: better, worse or undecided.",
        examples=_EXAMPLES,
    )
    own.add_argument("runs", metavar="RUN", nargs="+", type=as_path, help=RUN)
    own.add_argument(
        "-r",
        "--retriever",
        action="append",
        default=[],
        metavar="NAME",
        help="only this retriever or floor, by its name in the runs; may be repeated",
    )
    own.add_argument(
        "-b",
        "--baseline",
        default="",
        metavar="NAME",
        help="compare with this retriever; or first, best, or all for every pair (default: the "
        "first of one run; with several runs, each retriever with itself in the first)",
    )
    add_measures(own, f"beside {PRIMARY} and R(rel=3)@10")
    add_margin(own)
    add_seed(own, "of the sign flips and of the resampling")
    own.add_argument("--floors", action="store_true", help="compare the floors too")
    add_format(own, "csv")
    return own


def run(arguments: argparse.Namespace) -> int:
    """Read and score the runs, compare, print."""
    if arguments.floors and arguments.retriever:
        raise UsageError("--floors adds all floors; with -r name those that are wanted")
    from codebench.measures import names  # noqa: PLC0415  # `--help` needs none

    asked = [names.parse(name) for name in arguments.measure]
    arguments.runs = [stored(path) for path in arguments.runs]
    resolved = [path.resolve() for path in arguments.runs]
    twice = [
        str(p) for p, own in zip(arguments.runs, resolved, strict=True) if resolved.count(own) > 1
    ]
    if twice:
        raise UsageError(f"{twice[0]}: this run is given twice")
    from codebench.judging.contest import contest  # noqa: PLC0415  # wrong words fail before imports
    from codebench.judging.scoring import depth_of, score_run  # noqa: PLC0415
    from codebench.report import contest as report  # noqa: PLC0415

    depth = min(depth_of(path) for path in arguments.runs)
    measures = [*names.within_depth((names.PRIMARY, names.BESIDE), depth), *asked]
    if not measures:
        raise UsageError(
            f"{PRIMARY} and {names.BESIDE} need a depth of 10, and a run has {depth}; name one "
            f"with -m, as R(rel=3)@{depth}"
        )
    scored = [score_run(path, measures) for path in arguments.runs]
    contenders = _contenders(scored, arguments.retriever, floors=arguments.floors)
    result = contest(
        contenders,
        measures,
        baseline=arguments.baseline,
        margin=arguments.margin,
        seed=arguments.seed,
    )
    if arguments.format == "json":
        print(report.contest_json(result))
    elif arguments.format == "csv":
        print(report.contest_csv(result))
    else:
        text = report.contest_text(result, markdown=arguments.format == "markdown")
        show(text, arguments.format)
    if arguments.format == "table" and len(scored) == 1:
        print()
        show_next("show", arguments.runs[0], "--worst", 5)
    return exit_code(scored)


def _contenders(runs: Sequence[ScoredRun], only: Sequence[str], *, floors: bool) -> list[Contender]:
    """Return who is compared: the runs' retrievers in their order, the floors behind them."""
    from codebench.judging.contest import Contender, labels  # noqa: PLC0415  # as above
    from codebench.reading import near  # noqa: PLC0415

    known = {one.name for run in runs for one in run.retrievers}
    for name in only:
        if name not in known:
            raise UsageError(f"no run holds a retriever {name!r}; {near(name, known)}")
    chosen = [
        (one, run)
        for run in runs
        for one in run.retrievers
        if one.evaluation and (one.name in only or (not only and (floors or not one.floor)))
    ]
    chosen.sort(key=lambda pair: pair[0].floor)
    own = labels([(one.name, _short(run.run.path, runs)) for one, run in chosen])
    return [
        Contender(label, run.run, one.run, run.suite, run.digest, one.evaluation)
        for label, (one, run) in zip(own, chosen, strict=True)
        if one.evaluation
    ]


def _short(path: Path, runs: Sequence[ScoredRun]) -> str:
    """Return the run folder's name, or its path where another run's folder has that name."""
    name = path.resolve().name
    alike = sum(one.run.path.resolve().name == name for one in runs)
    return name if alike == 1 else str(path)
