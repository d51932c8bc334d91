"""`codebench suite`: build, check, show, carry, compare, import and export suites."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable

ACTIONS = {
    "build": "mine questions with their answers from a repository's history, or take written ones",
    "check": "is every answer where the suite says, and what could a perfect retriever score",
    "show": "list the queries, or show one with its gold in context",
    "carry": "carry the gold to another commit",
    "agree": "how far two labellers agree, and where they do not",
    "import": "take others' data: BEIR, TREC, SWE-bench-style lines",
    "export": "write a suite, and a run over it, for other evaluation tools",
}


class Action(Protocol):
    """What a file `codebench/cli/suite_*.py` defines."""

    EPILOG: str

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the action's arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it and return the exit code."""


def parser() -> argparse.ArgumentParser:
    """Return the verb's parser, with one for each action."""
    own = argparse.ArgumentParser(
        prog="codebench suite",
        description="Build, check, show, carry and exchange suites: queries with their gold.",
    )
    actions = own.add_subparsers(metavar="ACTION", required=True)
    for name, what in ACTIONS.items():
        action = cast("Action", import_module(f"codebench.cli.suite_{name}"))
        inner = actions.add_parser(
            name,
            help=what,
            description=f"{what[0].upper()}{what[1:]}.",
            epilog=action.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        action.configure(inner)
        inner.set_defaults(action=action.run)
    return own


def run(arguments: argparse.Namespace) -> int:
    """Do the action that was named."""
    action: Callable[[argparse.Namespace], int] = arguments.action
    return action(arguments)
