"""Arguments that several verbs share, and what they mean."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.measures.names import DEFAULT, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codebench.measures.names import Measure
    from codebench.scored import ScoredRun


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


def measures_of(names: Sequence[str]) -> tuple[Measure, ...]:
    """Return the measures that were asked for, or the default set.

    Raises:
        UsageError: a name is wrong; near names are given.
    """
    return tuple(parse(name) for name in names) or DEFAULT


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
    parser.add_argument("--jobs", type=positive(int), help="processes that parse (default: cores)")


def positive(kind: type[int | float]) -> Any:
    """Return an argparse type: a number above 0."""

    def read(text: str) -> float:
        value = kind(text)
        if not 0 < value < 10**9:
            raise argparse.ArgumentTypeError(f"{text} is not a number from above 0 to 10^9")
        return value

    read.__name__ = "number"
    return read


def share(text: str) -> float:
    """Read a number from 0 to 1, as an argparse type."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 to 1")
    return value


DEFAULT_RESULTS = Path("results/local")
"""Where runs are kept."""

FAILED = 3
"""Exit code where some answers failed, or a run is incomplete."""


def exit_code(runs: Iterable[ScoredRun]) -> int:
    """Return 0 where every run is complete and every answer in it good, else 3."""
    return 0 if all(run.sound for run in runs) else FAILED


def on_terminal() -> bool:
    """Tell whether progress can be shown."""
    return sys.stderr.isatty()
