"""Options of a protocol adapter: a mapping, checked whole, with every fault at once."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.adapter import Unavailable
from codebench.kit.programs import why_missing
from codebench.protocols import templates
from codebench.reading import Faults, Fields, plain_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERSION_SECONDS = 20.0
_MOST_HASHED_BYTES = 50_000_000

_INTERPRETERS = frozenset(
    "ash bash cmd cmd.exe csh dash fish ksh node osascript perl php powershell pwsh python ruby "
    "sh zsh".split()
)


class Settings:
    """The options of one entry, field by field.

    Args:
        options: as the retrievers file has them.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.faults = Faults("")
        self.fields = Fields(options, self.faults)
        self._install = self.fields.text("install", "")
        self._version: Any = self.fields.take("version", "")

    def finish(self) -> None:
        """Refuse the options if anything is wrong with them.

        Raises:
            InputError: every fault.
        """
        self.fields.finish()
        self.faults.check()

    def wrong(self, *fields: str) -> bool:
        """Tell whether a fault was found in any of some fields: what only follows is no other."""
        inside = tuple(f"{field}{mark}" for field in fields for mark in ".[")
        return any(
            fault.field in fields or fault.field.startswith(inside) for fault in self.faults.found
        )

    def argv(self, name: str, more: tuple[str, ...] = (), *, optional: bool = False) -> list[str]:
        """Read a program with its arguments."""
        argv = list(self.fields.texts(name, ()) if optional else self.fields.texts(name))
        fields = self.fields
        templates.check(fields, name, argv, more)
        if not optional and not argv and not self.wrong(name):
            fields.fault(name, "is empty", mend="write the program and its arguments as a list")
        if argv and templates.placeholders(argv[0]):
            fields.fault(name, "is no program", argv[0], "the first item is the program itself")
        if any("\0" in item for item in argv):
            fields.fault(name, "holds NUL, which no argument can")
        for number, item in enumerate(argv[1:], start=1):
            problem = _danger(argv, number)
            if problem:
                fields.fault(f"{name}[{number + 1}]", problem[0], item, problem[1])
        return argv

    def version(self, argv: Sequence[str] = ()) -> str:
        """Return what identifies the tool: its version, and a digest of files in its call.

        Raises:
            Unavailable: a program is not there.
        """
        asked = self._version
        if isinstance(asked, list):
            asked = self._ask([str(item) for item in asked])
        digest = _digest_of(argv)
        return " ".join(part for part in (str(asked), digest) if part)

    def need(self, argv: Sequence[str]) -> None:
        """Make sure that a program is there.

        Raises:
            Unavailable: it is not; with what installs it, if the entry says so.
        """
        if argv and shutil.which(argv[0]) is None:
            beside = os.sep in argv[0] and not os.path.isabs(argv[0])  # noqa: PTH117  # a text
            mend = f"write {{here}}/{argv[0]} for what lies beside the retrievers file"
            install = self._install or (mend if beside else "say in `install` what installs it")
            raise Unavailable(why_missing(argv[0], install))

    def _ask(self, argv: list[str]) -> str:
        self.need(argv)
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=VERSION_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired, ValueError) as error:
            raise ValueError(f"version: {argv[0]} cannot be asked: {error}") from None
        said = (done.stdout or done.stderr).decode("utf-8", "replace").strip()
        return plain_line(said.partition("\n")[0])


def _danger(argv: list[str], number: int) -> tuple[str, str] | None:
    """Return what could turn a question into an option or a program, and the mend."""
    item = argv[number]
    if not templates.asks(item):
        return None
    program = Path(argv[0]).name.rstrip("0123456789.")
    before = argv[number - 1]
    if program in _INTERPRETERS and before.startswith(("-", "/")) and before[-1:] in "ceCE":
        return "would be run as a program", "let the program read it from stdin or environment"
    bare = any(item.startswith(f"{{{name}}}") for name in templates.QUESTION)
    if bare and "--" not in argv[1:number]:
        return (
            "could be taken for an option",
            'put "--" before it, or write "--query={query}", or " {query}" with a space in front',
        )
    return None


def _digest_of(argv: Sequence[str]) -> str:
    digest = hashlib.sha256()
    some = False
    for item in argv:
        if not os.path.isabs(item) or not os.path.isfile(item):  # noqa: PTH113, PTH117  # texts
            continue
        if Path(item).stat().st_size <= _MOST_HASHED_BYTES:
            digest.update(Path(item).read_bytes())
            some = True
    return f"sha256:{digest.hexdigest()[:12]}" if some else ""
