"""The command line: find the verb, run it, and turn an error into one line and an exit code.

What is imported up here is there already when Python has started: until `entry` runs, an
interrupt would end in a traceback.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from typing import Protocol

    from codebench.cli.parsing import VerbParser

    class Verb(Protocol):
        """What a file of `codebench/cli/` defines."""

        def parser(self) -> VerbParser:
            """Return the verb's own parser."""

        def run(self, arguments: Namespace) -> int:
            """Do it and return the exit code."""


VERBS = {
    "run": "run retrievers over a suite, or over questions mined from a repository",
    "suite": "build, check, show and carry suites: queries with their gold",
    "score": "measures from stored answers, or from TREC files",
    "compare": "paired differences between retrievers or runs",
    "show": "one query: its gold, each retriever's ranking, and what every hit reached",
    "report": "one HTML file of a run, or of several, that opens offline",
    "gate": "hold a run against limits and a baseline: verdict, exit code, JUnit",
    "history": "one measure over the runs that are kept, with verdicts between neighbours",
    "bisect": "the commit of an adapter that made one query worse",
    "replay": "agents' own search steps, asked of retrievers: tokens to the first target",
    "align": "correlate measures of runs with online figures",
    "list": "built-in retrievers, suites, measures; stored runs",
    "cache": "what is kept between runs: show it, clear it",
    "completion": "print a script that lets bash, zsh or fish complete all this",
}

_FAILED = 2


def entry() -> None:
    """Run the program with the process's arguments, and exit."""
    try:
        from codebench.cli.streams import settle, speak_utf8  # noqa: PLC0415  # see above

        speak_utf8()
        out = settle()
        status = main(sys.argv[1:])
        if out.failure is not None:
            reason = out.failure.strerror
            print(f"codebench: standard output: cannot be written ({reason})", file=sys.stderr)
            status = status or _FAILED
    except KeyboardInterrupt as stop:
        status = _stopped(stop)
    raise SystemExit(status)


def main(arguments: Sequence[str]) -> int:
    """Run the program.

    Args:
        arguments: the command line without the program's name.

    Returns:
        The exit code: 0 good, 1 a gate failed, 2 a wrong call or input or nothing measured,
        3 some answers failed or the run is incomplete, 4 no comparable baseline; 128 and the
        signal's number where one ended it (130 for Ctrl-C).
    """
    try:
        from codebench.errors import CodebenchError  # noqa: PLC0415  # see above

        status = _dispatch(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt as stop:
        return _stopped(stop)
    except CodebenchError as error:
        _tell(str(error))
        return error.exit_code
    except OSError as error:
        if sys.flags.dev_mode:
            raise
        from codebench.cli.trouble import told  # noqa: PLC0415  # errors alone need it

        _tell(told(error))
        return _FAILED
    return status


def _tell(message: str) -> None:
    from codebench.report.text import printable  # noqa: PLC0415  # errors alone need it

    for line in message.split("\n"):
        print(f"codebench: {printable(line)}", file=sys.stderr)


def _stopped(stop: KeyboardInterrupt) -> int:
    """Say what ended the program, and return the exit code that shells know for it."""
    from codebench.cli.trouble import Ended  # noqa: PLC0415  # errors alone need it

    number = stop.number if isinstance(stop, Ended) else 2
    print("codebench: interrupted" if number == 2 else "codebench: terminated", file=sys.stderr)
    return 128 + number


def _dispatch(arguments: Sequence[str]) -> int:
    if len(arguments) > 1 and arguments[0] == "help":
        arguments = [*arguments[1:], "--help"]
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        print(_help())
        return 0 if arguments else 2
    if arguments[0] in {"-V", "--version"}:
        from codebench import __version__  # noqa: PLC0415  # reads the package's metadata

        print(f"codebench {__version__}")
        return 0
    name, *rest = arguments
    if name not in VERBS:
        _refuse(name)
    from importlib import import_module  # noqa: PLC0415  # see above

    verb: Verb = import_module(f"codebench.cli.{name}")
    try:
        parsed = verb.parser().parse_args(rest)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    from codebench.cli.trouble import ending_cleanly  # noqa: PLC0415  # `--help` needs none of it

    with ending_cleanly():
        return verb.run(parsed)


def _refuse(name: str) -> None:
    from codebench.cli.parsing import did_you_mean  # noqa: PLC0415  # errors alone need it
    from codebench.errors import UsageError  # noqa: PLC0415  # see above

    if name.startswith("-"):
        raise UsageError(
            f"no option {name!r} before a verb, where -V/--version and -h/--help are known; "
            "a verb's own follow it"
        )
    raise UsageError(f"no verb {name!r}{did_you_mean(name, VERBS)} (`codebench --help` lists them)")


def _help() -> str:
    width = max(map(len, VERBS))
    rows = "\n".join(f"  {name:{width}}  {what}" for name, what in VERBS.items())
    return (
        "usage: codebench VERB ...\n\n"
        "Find out which code retriever finds the right code in your repository.\n\n"
        f"{rows}\n\n"
        "Start with:  codebench run .\n"
        "`codebench VERB --help` tells what a verb takes."
    )
