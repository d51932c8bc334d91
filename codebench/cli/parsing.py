"""How every verb's parser is made: with its examples, and with errors of one line.

Only argparse is needed here: what `--help` costs is what this file and a verb's own import.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NoReturn

from codebench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PROGRAM = "codebench"


class VerbParser(argparse.ArgumentParser):
    """The parser of a verb, or of one of its actions.

    Args:
        prog: the words that call it, as `codebench run`.
        description: what it does, in a sentence.
        examples: commands, each after what it is for; `--help` ends with them.
        notes: what is to be known beside, printed before the examples.
        words: as argparse takes them.

    A call that it cannot read raises UsageError, with the nearest word that it knows.
    """

    def __init__(
        self,
        *,
        prog: str,
        description: str = "",
        examples: Sequence[tuple[str, str]] = (),
        notes: str = "",
        **words: Any,
    ) -> None:
        self.examples = tuple(examples)
        self.notes = notes
        self.commands: dict[str, VerbParser] = {}
        super().__init__(prog=prog, description=description, **words)

    def format_help(self) -> str:
        """Return the help, its notes and examples as they were written: they are for copying."""
        notes = f"\n{self.notes.strip()}\n" if self.notes else ""
        lines = "\n".join(f"  # {purpose}\n  {command}" for purpose, command in self.examples)
        return super().format_help() + notes + (f"\nexamples:\n{lines}\n" if lines else "")

    def error(self, message: str) -> NoReturn:
        """Refuse the call.

        Raises:
            UsageError: always; argparse would print the usage, and exit.
        """
        verb = self.prog.removeprefix(PROGRAM).strip()
        raise UsageError(f"{verb}: {message} (`{self.prog} --help` lists what it takes)")

    def parse_known_args(  # type: ignore[override]  # argparse's overloads say the same at length
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse, and refuse what is not known here: an action's words are not its verb's."""
        if self._subparsers is None:
            for word in args or ():
                if word == "--":
                    break
                self._check_option(word)
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unexpected {unknown[0]!r}")
        return found, unknown

    def _check_option(self, word: str) -> None:
        """Refuse `--wrod` before argparse misses what is required and says that alone."""
        name = word.partition("=")[0]
        if not name.startswith("--") or " " in word:
            return
        known = [one for one in self._option_string_actions if one.startswith("--")]
        if not any(one.startswith(name) for one in known):
            self.error(f"no option {name}{did_you_mean(name, known)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = list(map(str, action.choices))
        raise argparse.ArgumentError(
            action,
            f"invalid choice: {value!r} (choose from {', '.join(known)})"
            f"{did_you_mean(str(value), known)}",
        )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean X?`, or nothing where no known word is near."""
    from codebench.reading import alike  # noqa: PLC0415  # only a wrong word pays for it

    near = alike(word, known, 1)
    return f"; did you mean {near[0]}?" if near else ""
