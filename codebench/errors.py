"""What can go wrong, as a tree.

    CodebenchError              exit code 2 unless a subclass says otherwise
      UsageError                the call's words are wrong
      InputError                a file that was read is wrong: one or many faults, all at once
      SuiteError                a suite cannot be used
      AdapterError              an adapter reference, its options or its file is wrong
      CorpusError               a snapshot cannot be made or is not what it should be
      GitError                  git failed or is missing
      ResultsError              a results folder cannot be read or written
      NothingMeasured           no query, or no retriever, was left to measure
      NoBaseline                exit code 4: no comparable baseline

Every message is one line that names the file, the place, the value and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


_LONGEST_PART = 1000
"""Characters of what somebody else wrote that a message repeats."""


class CodebenchError(Exception):
    """Base of every error that the command line prints as one line and turns into an exit code."""

    exit_code: ClassVar[int] = 2


class UsageError(CodebenchError):
    """The call's words are wrong."""


class Fault(NamedTuple):  # every start imports this file, and dataclasses cost half of `--help`
    """One thing that is wrong in an input: where, what, and the mend."""

    problem: str
    file: str = ""
    line: int | None = None
    field: str = ""
    value: str = ""
    mend: str = ""

    def __str__(self) -> str:
        """Return the fault on one line, e.g. `q.jsonl:3: weight: "x" is not a number; …`."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        parts = [part for part in (place, _cut(self.field)) if part]
        value = f"{_cut(self.value)!r} " if self.value else ""
        mend = f"; {_cut(self.mend)}" if self.mend else ""
        text = ": ".join([*parts, f"{value}{_cut(self.problem)}{mend}"])
        return " ".join(text.split())


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_PART else text[: _LONGEST_PART - 3] + "..."


class InputError(CodebenchError):
    """A file that was read is wrong; carries every fault that was found in it."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class SuiteError(CodebenchError):
    """A suite cannot be used."""


class AdapterError(CodebenchError):
    """An adapter reference, its options or its file is wrong."""


class CorpusError(CodebenchError):
    """A snapshot cannot be made, or is not what it should be."""


class GitError(CodebenchError):
    """Git failed, or is missing."""


class ResultsError(CodebenchError):
    """A results folder cannot be read or written."""


class NothingMeasured(CodebenchError):  # noqa: N818  # it names an outcome
    """No query, or no retriever, was left to measure."""


class NoBaseline(CodebenchError):  # noqa: N818  # it names an outcome
    """There is no baseline that can be compared."""

    exit_code = 4
