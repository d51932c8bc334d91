"""What is wrong in one file, gathered while it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.errors import Fault, InputError

if TYPE_CHECKING:
    from pathlib import Path

MAX_FAULTS = 100
"""Beyond this many the file is of another kind, and the list helps nobody."""

_GIVE_UP = 1000
"""At so many faults nothing more is read: a file of nothing else may be of any size."""


class Faults:
    """What is wrong in one file, gathered while it is read."""

    def __init__(self, file: Path | str) -> None:
        self.file = str(file)
        self.found: list[Fault] = []

    def add(
        self,
        problem: str,
        *,
        line: int | None = None,
        field: str = "",
        value: str = "",
        mend: str = "",
    ) -> None:
        """Remember a fault.

        Raises:
            InputError: there are so many that reading on helps nobody.
        """
        self.found.append(Fault(problem, self.file, line, field, value, mend))
        if len(self.found) >= _GIVE_UP:
            self.check()

    def check(self) -> None:
        """Raise what was found.

        Raises:
            InputError: at least one fault was added.
        """
        if not self.found:
            return
        more = len(self.found) - MAX_FAULTS
        rest = [Fault(f"and {more} more", self.file)] if more > 0 else []
        raise InputError([*self.found[:MAX_FAULTS], *rest])
