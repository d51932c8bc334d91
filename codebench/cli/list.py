"""`codebench list`: retrievers, suites, measures, and stored runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.cli.options import DEFAULT_RESULTS, FAILED, add_format, as_path, show
from codebench.cli.parsing import VerbParser
from codebench.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path


_EXAMPLES = (
    ("which can run here, and what installs the others", "codebench list retrievers"),
    (
        "hold an adapter to its contract",
        "codebench list retrievers --check ./mine.py:MyTool",
    ),
    ("the accepted runs, the newest first", "codebench list runs -o results"),
)


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench list",
        description="Built-in retrievers, suites and measures; stored runs.",
        examples=_EXAMPLES,
    )
    own.add_argument("what", choices=tuple(_ROWS), help="what to list")
    own.add_argument(
        "-o",
        "--results",
        type=as_path,
        metavar="RESULTS",
        help=f"of runs: the folder that holds them (default: {DEFAULT_RESULTS})",
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
    if arguments.results and arguments.what != "runs":
        raise UsageError(f"-o is of runs, not of {arguments.what}")
    from codebench.report.lists import listed_text  # noqa: PLC0415  # wrong words fail before

    rows = _ROWS[arguments.what](arguments.results)
    show(listed_text(arguments.what, rows, arguments.format), arguments.format)
    return 0


def _check(arguments: argparse.Namespace) -> int:
    """Hold retrievers to their contract, and print how they did."""
    if arguments.what != "retrievers":
        raise UsageError(f"--check is of retrievers, not of {arguments.what}")
    if arguments.results:
        raise UsageError("-o is of runs, not of retrievers")
    if arguments.format == "csv":
        raise UsageError("--check prints table, markdown or json")
    from codebench.report.conformance import conformance_text  # noqa: PLC0415  # as above
    from codebench.runner.candidates import candidates  # noqa: PLC0415
    from codebench.runner.conformance import check  # noqa: PLC0415

    checked = [check(one, as_path().absolute()) for one in candidates(arguments.check)]
    show(conformance_text(checked, arguments.format), arguments.format)
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

    folder = results or as_path(DEFAULT_RESULTS)
    if results is None and not folder.exists():
        return []
    return run_rows(listing.runs(folder))


_ROWS: dict[str, Callable[[Path | None], list[dict[str, Any]]]] = {
    "retrievers": _retrievers,
    "suites": _suites,
    "measures": _measures,
    "runs": _runs,
}
