"""`codebench gate`: the limits that a run must keep, and an exit code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.cli.options import add_format
from codebench.errors import CodebenchError, ResultsError, UsageError

if TYPE_CHECKING:
    from codebench.gate.limits import Limit
    from codebench.gate.opening import Asked
    from codebench.gate.verdict import Gate

_EXAMPLES = """\
examples:
  codebench gate RUN --accept                        make a run the baseline: results/SUITE
  codebench gate RUN --baseline results/SUITE        by ./gate.yaml; without one, no
                                                     loss over 0.03 of nDCG-exp@10, R(rel=3)@10
  codebench gate RUN --baseline OLD -l nDCG@10:-0.03 -l 'R(rel=3)@10:-0.02' -l p95:+10% -l failed:0
  codebench gate RUN --baseline OLD -l 'nDCG@10[leak=none]:-0.05' --strict
  codebench gate RUN -l 'nDCG@10:>=0.6' -l 'p95:<=50ms'      values of its own, without a baseline
  codebench gate RUN --baseline OLD --junit gate.xml --summary "$GITHUB_STEP_SUMMARY" --annotations

exit codes: 0 kept (or undecided) · 1 a limit is broken · 2 the call is wrong or nothing was
answered · 3 the run is incomplete or answers failed · 4 no comparable baseline
"""

GATE_FILE = Path("gate.yaml")


def parser() -> argparse.ArgumentParser:
    """Return the verb's parser."""
    own = argparse.ArgumentParser(
        prog="codebench gate",
        description="Hold a run against limits, most of them relative to an accepted baseline.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument("run", metavar="RUN", type=Path, help="a run folder")
    own.add_argument(
        "-b",
        "--baseline",
        type=Path,
        metavar="RUN",
        help="an accepted run; or a folder of runs, whose newest complete one of the suite counts",
    )
    own.add_argument(
        "-l",
        "--limit",
        action="append",
        default=[],
        metavar="LIMIT",
        help="as nDCG@10:-0.03, p95:+10%%, index:+20%%, failed:0; may be repeated",
    )
    own.add_argument(
        "--limits",
        type=Path,
        metavar="FILE",
        help="a YAML file of limits (default: ./gate.yaml where it is and no -l is given)",
    )
    own.add_argument("-r", "--retriever", default="", metavar="NAME", help="who is gated")
    own.add_argument("--against", default="", metavar="NAME", help="its name in the baseline")
    own.add_argument("--strict", action="store_true", help="undecided fails")
    own.add_argument("--seed", type=int, default=0, help="of the resampling (default: 0)")
    add_format(own)
    out = own.add_argument_group("for a build")
    out.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    out.add_argument("--summary", type=Path, metavar="FILE", help="append Markdown")
    out.add_argument(
        "--annotations", action="store_true", help="GitHub workflow commands, to standard error"
    )
    keep = own.add_argument_group("the baseline")
    keep.add_argument(
        "--accept",
        action="store_true",
        help="make the run the baseline; beside --baseline only where the gate passes",
    )
    keep.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="where (default: results/SUITE)"
    )
    keep.add_argument("--force", action="store_true", help="accept an incomplete run, too")
    return own


def run(arguments: argparse.Namespace) -> int:
    """Check the limits, print, write what a build wants, and accept the run where asked to."""
    _check_words(arguments)
    if arguments.accept and arguments.baseline is None:
        _accept(arguments)
        return 0
    try:
        gate = _gate(arguments)
    except CodebenchError as error:
        _tell_error(arguments, error)
        raise
    _print(gate, arguments)
    if arguments.accept and gate.exit_code == 0:
        _accept(arguments)
    return gate.exit_code


def _check_words(arguments: argparse.Namespace) -> None:
    if arguments.seed < 0:
        raise UsageError(f"--seed {arguments.seed}: a seed is a whole number from 0")
    for name in ("output", "force"):
        if getattr(arguments, name) and not arguments.accept:
            raise UsageError(f"--{name} is for --accept")
    if arguments.accept and arguments.baseline is None:
        given = [name for name in ("limit", "limits", "junit", "summary") if vars(arguments)[name]]
        if given:
            raise UsageError(f"--{given[0]} beside --accept needs --baseline")


def _accept(arguments: argparse.Namespace) -> None:
    from codebench.gate.accepting import accept  # noqa: PLC0415  # wrong words fail before imports
    from codebench.report.text import printable  # noqa: PLC0415

    folder = accept(arguments.run, arguments.output, force=arguments.force)
    told = f"accepted {arguments.run} as the baseline: {folder}"
    print(printable(told), file=sys.stderr if arguments.format == "json" else sys.stdout)


def _gate(arguments: argparse.Namespace) -> Gate:
    asked = _asked(arguments)
    from codebench.gate.opening import gate  # noqa: PLC0415  # wrong words fail before imports

    return gate(asked)


def _asked(arguments: argparse.Namespace) -> Asked:
    from codebench.gate.limits import parse_limits  # noqa: PLC0415  # `--help` needs none of it

    limits: tuple[Limit, ...] = ()
    retriever, strict = arguments.retriever, arguments.strict
    file = arguments.limits
    if file is None and not arguments.limit and GATE_FILE.is_file():
        file = GATE_FILE
    named = parse_limits(arguments.limit)
    if file is not None:
        from codebench.gate.limits_file import read_limits  # noqa: PLC0415

        found = read_limits(file)
        limits, strict = found.limits, strict or found.strict
        retriever = retriever or found.retriever
    over = {(limit.subject, limit.bound) for limit in named}
    limits = tuple(limit for limit in limits if (limit.subject, limit.bound) not in over) + named
    from codebench.gate.opening import Asked  # noqa: PLC0415  # it imports numpy

    return Asked(
        run=arguments.run,
        baseline=arguments.baseline,
        limits=limits,
        retriever=retriever,
        against=arguments.against,
        strict=strict,
        seed=arguments.seed,
    )


def _print(gate: Gate, arguments: argparse.Namespace) -> None:
    from codebench.report import gate as report  # noqa: PLC0415  # as above
    from codebench.report import gate_ci as ci  # noqa: PLC0415

    # Files first: a reader that goes away must not cost the build its report.
    if arguments.junit:
        _write(arguments.junit, ci.gate_junit(gate))
    if arguments.summary:
        _append(arguments.summary, report.gate_text(gate, markdown=True))
    if arguments.annotations:
        for command in ci.gate_annotations(gate):
            print(command, file=sys.stderr)
    if arguments.format == "json":
        print(report.gate_json(gate))
    else:
        text = report.gate_text(gate, markdown=arguments.format == "markdown")
        print(ci.inert(text))


def _tell_error(arguments: argparse.Namespace, error: CodebenchError) -> None:
    """Write to what a build reads why the gate could not be decided."""
    from codebench.report import gate_ci as ci  # noqa: PLC0415  # as above
    from codebench.report.text import lines  # noqa: PLC0415

    message = str(error)
    if arguments.junit:
        _write(arguments.junit, ci.error_junit(message, error.exit_code, str(arguments.run)))
    if arguments.summary:
        told = lines(message.split("\n"), markdown=True)
        _append(arguments.summary, f"### gate not decided (exit code {error.exit_code})\n\n{told}")
    if arguments.annotations:
        print(ci.error_annotation(message), file=sys.stderr)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror})") from None


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n\n")
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror})") from None
