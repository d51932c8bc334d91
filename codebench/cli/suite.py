"""`codebench suite`: build, check, show, carry, compare, import and export suites."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from codebench.cli.parsing import VerbParser

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

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

    EXAMPLES: Sequence[tuple[str, str]]
    NOTES: str

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the action's arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it and return the exit code."""


class ActionParser(VerbParser):
    """An action's parser; the action's file is imported when it is called, and not before."""

    def __init__(self, *, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description)
        self._loaded = False

    def load(self) -> None:
        """Add what the action takes."""
        if self._loaded:
            return
        self._loaded = True
        action = cast("Action", import_module(f"codebench.cli.suite_{self.prog.split()[-1]}"))
        self.examples, self.notes = tuple(action.EXAMPLES), action.NOTES
        action.configure(self)
        self.set_defaults(action=action.run)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse with all that the action takes."""
        self.load()
        return super().parse_known_args(args, namespace)


_EXAMPLES = (
    ("mine a suite from this repository's history", "codebench suite build . -o suites/mine"),
    ("is it whole, and what could a perfect retriever score", "codebench suite check suites/mine"),
    ("read its questions", "codebench suite show suites/mine"),
)


def parser() -> VerbParser:
    """Return the verb's parser, with one for each action."""
    own = VerbParser(
        prog="codebench suite",
        description="Build, check, show, carry and exchange suites: queries with their gold.",
        examples=_EXAMPLES,
        notes="`codebench suite ACTION --help` tells what an action takes.",
    )
    actions = own.add_subparsers(metavar="ACTION", required=True, parser_class=ActionParser)
    for name, what in ACTIONS.items():
        actions.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
    own.commands.update(actions.choices)
    return own


def run(arguments: argparse.Namespace) -> int:
    """Do the action that was named."""
    action: Callable[[argparse.Namespace], int] = arguments.action
    return action(arguments)
