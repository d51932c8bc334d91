"""All verbs as one parser, for who looks at the whole command line: completion, and tests."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from codebench.cli.main import VERBS
from codebench.cli.parsing import PROGRAM, VerbParser
from codebench.cli.suite import ACTIONS

if TYPE_CHECKING:
    from codebench.cli.main import Verb
    from codebench.cli.suite import ActionParser


def parsers() -> dict[str, VerbParser]:
    """Return every verb's parser, and every action's, by its words: `run`, `suite build`."""
    found: dict[str, VerbParser] = {}
    for name in VERBS:
        verb = cast("Verb", import_module(f"codebench.cli.{name}"))
        found[name] = verb.parser()
        if name == "suite":
            for action in ACTIONS:
                inner = cast("ActionParser", found[name].commands[action])
                inner.load()
                found[f"{name} {action}"] = inner
    return found


def whole() -> VerbParser:
    """Return one parser whose commands are the verbs, with all that they take."""
    root = VerbParser(prog=PROGRAM, description="Find out which retriever finds the right code.")
    verbs = root.add_subparsers(metavar="VERB")
    for name, own in parsers().items():
        if name in VERBS:
            verbs.add_parser(name, help=VERBS[name], parents=[own], add_help=False)
    return root
