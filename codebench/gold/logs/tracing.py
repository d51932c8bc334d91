"""What an agent did, step by step, as records: shared by the readers of trajectories."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING

from codebench.gold.logs.record import TRAJECTORY, Change, Place, Record
from codebench.gold.logs.shell import results_of, steps_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.gold.logs.patches import FilePatch

FILES = "files"
"""The `retriever` of a search by file name; its pattern says nothing of code."""


def within(text: str, tags: Sequence[str]) -> str:
    """Return what the first of some tags holds, without the instructions around it; else nothing.

    It is looked for, not matched: a pattern takes the square of an unclosed tag's text.
    """
    for tag in tags:
        inside, closed, _ = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")
        if closed and inside.strip():
            return inside.strip()
    return ""


class Tracer:
    """Gathers the records of one trajectory.

    Args:
        session: its ID.
        root: the folder that it works in; empty where unknown.

    Attributes:
        base: what all its records have in common.
        records: in order.
    """

    def __init__(self, session: str, root: str = "") -> None:
        self.base = Record("end", TRAJECTORY, session=session, root=root)
        self.records: list[Record] = []

    def at(self, line: int, time: float | None) -> None:
        """Say where in the log, and when, what follows happened."""
        self.base = replace(self.base, line=line, time=time)

    def asked(self, text: str) -> None:
        """Add what a person asked for."""
        if text.strip():
            self.records.append(replace(self.base, kind="query", query=text.strip()))

    def searched(
        self, pattern: str, output: str, tool: str, *, ok: bool = True, only: Place | None = None
    ) -> None:
        """Add a search step of the agent's own, with what it showed."""
        if not pattern.strip():
            return
        self.records.append(
            replace(
                self.base,
                kind="query",
                query=pattern.strip(),
                search=True,
                results=results_of(output, only) if ok else (),
                retriever=tool,
                ok=ok,
                shown=len(output.encode("utf-8", "replace")),
            )
        )

    def read(self, place: Place, output: str, *, ok: bool = True) -> None:
        """Add that a file, or lines of it, were on screen."""
        shown = len(output.encode("utf-8", "replace"))
        self.records.append(replace(self.base, kind="read", place=place, ok=ok, shown=shown))

    def edited(
        self,
        path: str,
        changes: Sequence[Change],
        *,
        ok: bool = True,
        created: bool = False,
        final: bool = False,
    ) -> None:
        """Add an edit of a file."""
        self.records.append(
            replace(
                self.base,
                kind="edit",
                place=Place(path),
                changes=tuple(changes),
                ok=ok,
                created=created,
                final=final,
            )
        )

    def patched(
        self, patches: Sequence[FilePatch], *, ok: bool = True, final: bool = False
    ) -> None:
        """Add the edits of a patch; a deleted file is one whose text is gone."""
        for one in patches:
            changes = (Change(None, ""),) if one.deleted else one.changes
            self.edited(one.path, changes, ok=ok, created=one.created, final=final)

    def ran(self, command: str, output: str, *, ok: bool = True) -> None:
        """Add what a shell line searched for and read; a line of another kind adds nothing.

        A search that finds nothing fails as a command, and is a search all the same.
        """
        steps = steps_of(command)
        before = self.base
        for step in steps:
            # What several commands printed cannot be told apart: it counts once.
            own = output if step is steps[-1] else ""
            root = posixpath.join(before.root, step.folder).rstrip("/")
            self.base = replace(before, root=root)
            if step.kind == "read" and step.place is not None:
                self.read(step.place, own, ok=ok)
            elif step.kind == "search":
                self.searched(step.pattern, own, "grep", only=step.place)
            elif step.kind == "find":
                self.searched(step.pattern, own, FILES)
        self.base = before

    def ended(self) -> None:
        """Add the end of the trajectory."""
        self.records.append(replace(self.base, kind="end"))
