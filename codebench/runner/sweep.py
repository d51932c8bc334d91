"""Lists in options -> a candidate for each combination: the points of a sweep."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
from typing import TYPE_CHECKING, Any

from codebench.adapter import parse_reference
from codebench.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codebench.adapter import Source
    from codebench.model import Candidate

MOST_POINTS = 200

_TAKES_LISTS = re.compile(
    r"\b(list|tuple|sequence|iterable|collection|set|frozenset|dict|mapping|any|object)\b",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[^\s,\[\]'\"]+")


def points(candidate: Candidate, prefix: str, source: Source) -> list[Candidate]:
    """Return the points of a candidate's sweep, the last list varying fastest; itself without one.

    A list is swept unless the adapter's parameter takes lists, as its annotation says.

    Args:
        candidate: with its options, lists among them.
        prefix: what each point's name begins with, as `bm25:` or `bm25:b=0.5,`.
        source: where its adapter is; its code is read, not run.

    Raises:
        AdapterError: a list is empty, or there are too many points.
    """
    lists = {name: value for name, value in candidate.options if isinstance(value, list)}
    takes = _taking_lists(source) if lists else _nothing
    swept = {name: values for name, values in lists.items() if not takes(name)}
    if not swept:
        return [candidate]
    base = prefix.rstrip(":,")
    empty = [name for name, values in swept.items() if not values]
    if empty:
        raise AdapterError(f"{base}: the list of {empty[0]!r} is empty; give it a value")
    count = 1
    for values in swept.values():
        count *= len(values)
    if count > MOST_POINTS:
        raise AdapterError(f"{base}: the lists make {count} points, more than {MOST_POINTS}")
    sweep = f"{base} over {', '.join(swept)}"
    return [
        _point(candidate, prefix, sweep, dict(zip(swept, values, strict=True)))
        for values in itertools.product(*swept.values())
    ]


def prefix_of(candidate: Candidate) -> str:
    """Return a reference with those of its options that are no lists, as one would type it."""
    fixed = {name: value for name, value in candidate.options if not isinstance(value, list)}
    return f"{candidate.reference}:{_written(fixed)}," if fixed else f"{candidate.reference}:"


def _point(candidate: Candidate, prefix: str, sweep: str, own: Mapping[str, Any]) -> Candidate:
    return dataclasses.replace(
        candidate,
        name=f"{prefix}{_written(own)}",
        options=tuple(sorted({**dict(candidate.options), **own}.items())),
        sweep=sweep,
    )


def _written(options: Mapping[str, Any]) -> str:
    return ",".join(f"{name}={written(value)}" for name, value in options.items())


def written(value: Any) -> str:
    """Return an option's value as the command line takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    plain = _PLAIN.fullmatch(value) and parse_reference(f"x:v={value}")[1] == {"v": value}
    if plain:
        return value
    quote = '"' if "'" in value else "'"
    return f"{quote}{value}{quote}"


def _nothing(_: str) -> bool:
    return False


def _taking_lists(source: Source) -> Callable[[str], bool]:
    """Tell which options of an adapter take lists, from the source of its constructor."""
    if source.file is None:
        return _nothing
    try:
        tree = ast.parse(source.file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return _nothing  # loading the file will say what is wrong with it
    annotations: dict[str, str] = {}
    rest = ""
    for kind in ast.walk(tree):
        if not isinstance(kind, ast.ClassDef) or source.attribute not in ("", kind.name):
            continue
        for method in kind.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                arguments = method.args
                for one in (*arguments.args, *arguments.kwonlyargs):
                    annotations[one.arg] = ast.unparse(one.annotation) if one.annotation else ""
                if arguments.kwarg is not None:
                    whole = arguments.kwarg.annotation
                    rest = ast.unparse(whole) if whole else "Any"
    return lambda name: bool(_TAKES_LISTS.search(annotations.get(name, rest)))
