"""Arguments that several verbs share, and what they mean."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from codebench.judging.scored import ScoredRun
    from codebench.measures.names import Measure


def add_measures(parser: argparse.ArgumentParser, beside: str = "") -> None:
    """Add `-m`; `beside` says what is measured anyway."""
    parser.add_argument(
        "-m",
        "--measure",
        action="append",
        default=[],
        metavar="MEASURE",
        help="a measure, as nDCG@10 or R(rel=3)@10; may be repeated "
        f"(`codebench list measures` explains them){'; ' if beside else ''}{beside}",
    )


def measures_of(
    names: Sequence[str], depth: Callable[[], int] | None = None
) -> tuple[Measure, ...]:
    """Return the measures that were asked for, or the default set and what stands beside it.

    Args:
        names: what was asked for.
        depth: tells the run's depth, to which the default set's cutoffs are lowered.

    Raises:
        UsageError: a name is wrong; near names are given.
    """
    from codebench.measures.names import DEFAULT, EXTRA, lowered, parse  # noqa: PLC0415  # as above

    if names or depth is None:
        return tuple(parse(name) for name in names) or DEFAULT
    return lowered((*DEFAULT, *EXTRA), depth())


def measures_aside(names: Sequence[str], depth: int, form: str) -> tuple[Measure, ...]:
    """Return the measures beside the default set that a terminal's table has no room for."""
    from codebench.measures.names import EXTRA, lowered  # noqa: PLC0415  # as above

    return () if names or form != "table" else lowered(EXTRA, depth)


def add_candidates(parser: argparse.ArgumentParser) -> None:
    """Add `-r` of a verb that runs retrievers."""
    parser.add_argument(
        "-r",
        "--retriever",
        action="append",
        default=[],
        metavar="RETRIEVER",
        help="a built-in name (`codebench list retrievers`), file.py:Class or a YAML file, with "
        "options after a colon, as bm25:k1=1.2; may be repeated (default: those of "
        "adapters/default.yaml that can run here)",
    )


def add_results(parser: argparse.ArgumentParser) -> None:
    """Add `-o` of a verb that leaves a run."""
    parser.add_argument(
        "-o",
        "--results",
        type=as_path,
        default=DEFAULT_RESULTS,
        metavar="RESULTS",
        help=f"the folder that the run's own folder is made in (default: {DEFAULT_RESULTS})",
    )


def stored(named: Path) -> Path:
    """Return the folder of the run that was named, as `RUN` says.

    Raises:
        ResultsError: there is no such run.
    """
    from codebench.results.finding import find_run  # noqa: PLC0415  # `--help` finds no run

    return find_run(named, as_path(DEFAULT_RESULTS))


def add_query_timeout(parser: argparse._ActionsContainer) -> None:
    """Add `--timeout`."""
    parser.add_argument(
        "--timeout",
        type=positive(float),
        default=30.0,
        metavar="SECONDS",
        help="that a query may take (default: 30)",
    )


def add_format(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add `--format`."""
    parser.add_argument(
        "--format",
        choices=("table", "markdown", "json", *more),
        default="table",
        help="how figures are printed (default: table)",
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add `--jobs`."""
    parser.add_argument(
        "--jobs",
        type=positive(int),
        metavar="N",
        help="processes that parse files (default: one a core)",
    )


def add_seed(parser: argparse._ActionsContainer, what: str) -> None:
    """Add `--seed`; `what` says of which random choices."""
    parser.add_argument("--seed", type=count, default=0, metavar="N", help=f"{what} (default: 0)")


def add_margin(parser: argparse.ArgumentParser) -> None:
    """Add `--margin`."""
    parser.add_argument(
        "--margin",
        type=share,
        default=0.03,
        metavar="X",
        help="the smallest difference that counts, from 0 to 1 (default: 0.03)",
    )


def as_path(text: str = ".") -> Path:
    """Read a path, as an argparse type."""
    from pathlib import Path  # noqa: PLC0415  # a tenth of what `--help` may cost

    return Path(text)


def count(text: str) -> int:
    """Read a whole number that may be 0, as an argparse type."""
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(_MOST)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def positive(kind: type[int | float]) -> Any:
    """Return an argparse type: a number above 0."""

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value < _MOST:
            what = "whole number" if kind is int else "number"
            raise argparse.ArgumentTypeError(f"{text!r} is not a {what} above 0 and below 10^9")
        return value

    return read


def share(text: str) -> float:
    """Read a number from 0 to 1, as an argparse type."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value


_MOST = 10**9

PRIMARY = "nDCG-exp@10"
"""`measures.names.PRIMARY` as people write it, named here because `--help` imports no measures."""

DEFAULT_RESULTS = "results/local"
"""Where runs are kept."""

RUN = f"a run's folder, its name in {DEFAULT_RESULTS}, `latest`, or a folder of runs (the newest)"
"""What names a stored run, as `--help` says it."""

FAILED = 3
"""Exit code where some answers failed, or a run is incomplete."""


def exit_code(runs: Sequence[ScoredRun], *, noted: bool = False) -> int:
    """Return 0 where every run is complete and every answer in it good, else 3.

    Args:
        runs: the runs.
        noted: whether notes under a table told why what failed did so.

    Raises:
        NothingMeasured: no retriever of a run answered anything.
    """
    for run in runs:
        run.check_answered(noted=noted)
    return 0 if all(run.sound for run in runs) else FAILED


def show(text: str, form: str) -> None:
    """Print figures in a form of `--format`; a terminal's table gets its colour and its width."""
    if form == "table":
        from codebench.report.terminal import for_terminal  # noqa: PLC0415  # `--help` prints none

        text = for_terminal(text)
    print(text)


def show_next(*words: object) -> None:
    """Print the command that follows, below a table, so that a shell reads every word whole."""
    import shlex  # noqa: PLC0415  # `--help` prints none

    from codebench.report.text import printable  # noqa: PLC0415

    print(f"next: codebench {printable(shlex.join(map(str, words)))}")


def on_terminal() -> bool:
    """Tell whether progress can be shown."""
    return sys.stderr.isatty()
