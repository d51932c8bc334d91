"""What a hit points at, and what it reached, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codebench.grading import Step, Unit
    from codebench.model import Hit, Query

NOT_JUDGED = "not judged"


def place(hit: Hit) -> str:
    """Return `path:start-end symbol`, as far as the hit says so."""
    lines = ""
    if hit.start_line is not None:
        end = hit.start_line if hit.end_line is None else hit.end_line
        lines = f":{hit.start_line}" if end == hit.start_line else f":{hit.start_line}-{end}"
    symbol = f" {hit.symbol}" if hit.symbol else ""
    return f"{hit.path}{lines}{symbol}"


def short(chunk: str, path: str = "") -> str:
    """Return a chunk's name inside its file; the path for a file as a whole."""
    if path and chunk.startswith(f"{path}::"):
        return chunk.removeprefix(f"{path}::")
    return chunk.partition("::")[2] or chunk


def grade(step: Step) -> int:
    """Return the highest level that a hit fits; 0 where none."""
    return max((unit.level for unit, _ in step.units), default=0)


def pays(step: Step, rank: int) -> bool:
    """Tell whether a hit reaches something that no hit before it reached."""
    return any(first == rank for _, first in step.units)


def reached(step: Step, rank: int, hit: Hit, query: Query) -> str:
    """Say what a hit reached, e.g. ``shows `kill_session` (3)`` or `not judged`."""
    words = list(_words(step, rank, hit, query))
    if words:
        return "; ".join(words)
    if step.zeros:
        return "judged not relevant (0)"
    return NOT_JUDGED if step.known else "not in the corpus"


def _words(step: Step, rank: int, hit: Hit, query: Query) -> Iterator[str]:
    shown: dict[str, tuple[Unit, int]] = {}
    for unit, first in step.units:
        if unit.kind == "target":
            shown.setdefault(unit.name, (unit, first))
    for unit, first in shown.values():
        name = short(unit.name, hit.path)
        yield f"shows `{name}` ({unit.level}){_already(first, rank)}"
    others = [(unit, first) for unit, first in step.units if unit.kind != "target"]
    if shown or not others:
        return
    unit, first = others[0]
    if unit.kind == "file" or unit.name == hit.path:
        yield f"its file ({unit.level}){_already(first, rank)}"
    else:
        yield f"related{_through(hit.path, unit.name, query)} ({unit.level}){_already(first, rank)}"


def _already(first: int, rank: int) -> str:
    return "" if first == rank else f", already reached at rank {first}"


def _through(path: str, of: str, query: Query) -> str:
    own = [one for one in query.related if (one.path, one.of) == (path, of)]
    flags = own[0].flags if own else ()
    return f" through {' and '.join(flags)}" if flags else f" to {of}"
