"""`codebench gate`: the limits that a run must keep, and an exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from codebench.cli.options import RUN, add_format, add_seed, as_path, show, show_next, stored
from codebench.cli.parsing import VerbParser
from codebench.errors import CodebenchError, ResultsError, UsageError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from codebench.gate.limits import Limit
    from codebench.gate.opening import GateRequest
    from codebench.gate.verdict import Gate


_EXAMPLES = (
    ("make a run the baseline, in results/SUITE", "codebench gate latest --accept"),
    (
        "in a build: the newest accepted run of the suite, by limits of your own",
        "codebench gate latest -b results/shop -l nDCG@10:-0.03 -l p95:+10% --junit gate.xml",
    ),
    (
        "values that hold without a baseline",
        "codebench gate latest -l 'nDCG@10:>=0.6' -l 'p95:<=50ms'",
    ),
)

_NOTES = """\
limits:
  nDCG-exp@10:-0.03               lose no more than 0.03 against the baseline
  R(rel=3)@10[leak=none]:-0.02    in the slice of the queries with that tag
  nDCG@10:>=0.6                   a value of the run's own
  p95:+10%  p50:<=20ms            latency; index:+20%, failed:0
Without any (and without ./gate.yaml): nDCG-exp@10:-0.03 and R(rel=3)@10:-0.03. Latency is not
gated unless a limit names it. docs/gate.md says all that a limit can say.

exit codes: 0 kept (or undecided) · 1 a limit is broken · 2 the call is wrong or nothing was
answered · 3 the run is incomplete or answers failed · 4 no comparable baseline
"""

_OF_A_GATE = ("limit", "limits", "retriever", "strict", "seed", "junit", "summary", "annotations")
"""Words that say nothing where a run is only accepted."""

GATE_FILE = "gate.yaml"


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench gate",
        description="Hold a run against limits, most of them relative to an accepted baseline.",
        examples=_EXAMPLES,
        notes=_NOTES,
    )
    own.add_argument("run", metavar="RUN", type=as_path, help=RUN)
    own.add_argument(
        "-b",
        "--baseline",
        type=as_path,
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
        type=as_path,
        metavar="FILE",
        help="a YAML file of limits (default: ./gate.yaml where it is and no -l is given)",
    )
    own.add_argument(
        "-r",
        "--retriever",
        default="",
        metavar="NAME",
        help="who is gated (default: the one in both)",
    )
    own.add_argument(
        "--against", default="", metavar="NAME", help="its name in the baseline (default: the same)"
    )
    own.add_argument("--strict", action="store_true", help="fail where a limit is undecided, too")
    add_seed(own, "of the resampling")
    add_format(own)
    out = own.add_argument_group("for a build")
    out.add_argument("--junit", type=as_path, metavar="FILE", help="write JUnit XML")
    out.add_argument("--summary", type=as_path, metavar="FILE", help="append Markdown")
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
        "-o", "--output", type=as_path, metavar="FOLDER", help="where (default: results/SUITE)"
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
        _warn(gate)
    elif arguments.accept:
        _refuse(arguments, gate)
    if arguments.format == "table" and gate.lost_most:
        show_next("show", arguments.run, gate.lost_most)
    return gate.exit_code


def _check_words(arguments: argparse.Namespace) -> None:
    for name in ("output", "force"):
        if getattr(arguments, name) and not arguments.accept:
            raise UsageError(f"--{name} is for --accept")
    if arguments.against and arguments.baseline is None:
        raise UsageError("--against is a name in the baseline; give it with --baseline")
    if arguments.accept and arguments.baseline is None:
        given = [name for name in _OF_A_GATE if vars(arguments)[name]]
        if given:
            raise UsageError(f"--{given[0]} beside --accept needs --baseline")


def _accept(arguments: argparse.Namespace) -> None:
    from codebench.gate.accepting import accept  # noqa: PLC0415  # wrong words fail before imports
    from codebench.report.text import printable  # noqa: PLC0415

    arguments.run = stored(arguments.run)
    folder = accept(arguments.run, arguments.output, force=arguments.force)
    _tell(arguments, printable(f"accepted {arguments.run} as the baseline: {folder}"))
    if arguments.format == "table":
        show_next("gate", "latest", "--baseline", folder, *_again(arguments))


def _again(arguments: argparse.Namespace) -> list[str]:
    """Return what a later run is gated by as this one was."""
    words = [word for limit in arguments.limit for word in ("-l", limit)]
    words += ["--limits", str(arguments.limits)] if arguments.limits else []
    words += ["-r", arguments.retriever] if arguments.retriever else []
    return words + ["--strict"] * arguments.strict


def _warn(gate: Gate) -> None:
    from codebench.report.gate import accepted_beside  # noqa: PLC0415  # as above

    warning = accepted_beside(gate)
    if warning:
        print(warning, file=sys.stderr)


def _refuse(arguments: argparse.Namespace, gate: Gate) -> None:
    """Say that nothing was accepted, and what became of the baseline that is there."""
    from codebench.gate.accepting import place  # noqa: PLC0415  # as above
    from codebench.report.gate import refusal  # noqa: PLC0415

    target = arguments.output or place(gate.candidate.suite.name)
    _tell(arguments, refusal(gate, target, there=target.exists()))


def _tell(arguments: argparse.Namespace, line: str) -> None:
    """Print a line below the figures, or beside them where a program reads them."""
    print(line, file=sys.stderr if arguments.format == "json" else sys.stdout)


def _gate(arguments: argparse.Namespace) -> Gate:
    arguments.run = stored(arguments.run)
    asked = _asked(arguments)
    from codebench.gate.opening import gate  # noqa: PLC0415  # wrong words fail before imports

    return gate(asked)


def _asked(arguments: argparse.Namespace) -> GateRequest:
    from codebench.gate.limits import parse_limits  # noqa: PLC0415  # `--help` needs none of it

    limits: tuple[Limit, ...] = ()
    retriever, strict = arguments.retriever, arguments.strict
    file = arguments.limits
    usual = as_path(GATE_FILE)
    if file is None and not arguments.limit and usual.is_file():
        file = usual
    named = parse_limits(arguments.limit)
    if file is not None:
        from codebench.gate.limits_file import read_limits  # noqa: PLC0415

        found = read_limits(file)
        limits, strict = found.limits, strict or found.strict
        retriever = retriever or found.retriever
    over = {(limit.subject, limit.bound) for limit in named}
    limits = tuple(limit for limit in limits if (limit.subject, limit.bound) not in over) + named
    from codebench.gate.opening import GateRequest  # noqa: PLC0415  # it imports numpy

    return GateRequest(
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
        show(ci.inert(text), arguments.format)


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
    from codebench.writing import write_file  # noqa: PLC0415  # `--help` writes nothing

    try:
        write_file(path, text)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror})") from None


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n\n")
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror})") from None
