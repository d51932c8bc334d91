"""`codebench list`: retrievers, suites, measures, and stored runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.cli.options import DEFAULT_RESULTS, FAILED, add_format
from codebench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_EXAMPLES = """\
examples:
  codebench list retrievers          which can run here, and what installs the others
  codebench list retrievers --check my_tool.py:MyTool   hold an adapter to its contract
  codebench list suites
  codebench list measures            each with its formula in words
  codebench list runs -o results     stored runs, the newest first
  codebench list runs --format json
"""


def parser() -> argparse.ArgumentParser:
    """Return the verb's parser."""
    own = argparse.ArgumentParser(
        prog="codebench list",
        description="Built-in retrievers, suites and measures; stored runs.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument("what", choices=tuple(_ROWS), help="what to list")
    own.add_argument(
        "-o",
        "--results",
        type=Path,
        help=f"the folder of runs (default: {DEFAULT_RESULTS})",
    )
    own.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="RETRIEVER",
        help="of retrievers: run this one, named as for `run -r`, over hostile questions and say "
        "where it breaks its contract; may be repeated",
    )
    add_format(own, "csv")
    return own


def run(arguments: argparse.Namespace) -> int:
    """List and print."""
    if arguments.check:
        return _check(arguments)
    from codebench.report.lists import listed_text  # noqa: PLC0415  # wrong words fail before

    rows = _ROWS[arguments.what](arguments.results)
    print(listed_text(arguments.what, rows, arguments.format))
    return 0


def _check(arguments: argparse.Namespace) -> int:
    """Hold retrievers to their contract, and print how they did."""
    if arguments.what != "retrievers":
        raise UsageError(f"--check is of retrievers, not of {arguments.what}")
    if arguments.format == "csv":
        raise UsageError("--check prints table, markdown or json")
    from codebench.report.conformance import conformance_text  # noqa: PLC0415  # as above
    from codebench.runner.candidates import candidates  # noqa: PLC0415
    from codebench.runner.conformance import check  # noqa: PLC0415

    checked = [check(one, Path.cwd()) for one in candidates(arguments.check)]
    print(conformance_text(checked, arguments.format))
    return 0 if all(one.sound for one in checked) else FAILED


def _retrievers(_: Path | None) -> list[dict[str, Any]]:
    from codebench import listing  # noqa: PLC0415  # each list imports what it needs
    from codebench.report.lists import retriever_rows  # noqa: PLC0415
    from codebench.runner.candidates import default_candidates  # noqa: PLC0415

    return retriever_rows(listing.retrievers({one.name for one in default_candidates()}))


def _suites(_: Path | None) -> list[dict[str, Any]]:
    from codebench import listing  # noqa: PLC0415  # as above
    from codebench.report.lists import suite_rows  # noqa: PLC0415

    return suite_rows(listing.suites())


def _measures(_: Path | None) -> list[dict[str, Any]]:
    from codebench.report.lists import measure_rows  # noqa: PLC0415  # as above

    return measure_rows()


def _runs(results: Path | None) -> list[dict[str, Any]]:
    from codebench import listing  # noqa: PLC0415  # as above
    from codebench.report.lists import run_rows  # noqa: PLC0415

    if results is None and not DEFAULT_RESULTS.exists():
        return []
    return run_rows(listing.runs(results or DEFAULT_RESULTS))


_ROWS: dict[str, Callable[[Path | None], list[dict[str, Any]]]] = {
    "retrievers": _retrievers,
    "suites": _suites,
    "measures": _measures,
    "runs": _runs,
}
