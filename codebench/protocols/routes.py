"""Where something stands in a JSON document: `results[].hit.path`, `lines[0]`, `^file`.

A route is keys with dots between. `[]` goes through a list item by item, `[0]` takes one item,
and a leading `^` looks from the item around the innermost one (`^^` from the one around that).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_EACH = -1
_ROUTE = re.compile(
    r"(?P<up>\^*)(?P<steps>(?:[^.\[\]^]+(?:\[\d{0,4}\])*|(?:\[\d{0,4}\])+)"
    r"(?:\.[^.\[\]^]+(?:\[\d{0,4}\])*)*)"
)
_STEP = re.compile(r"[^.\[\]]+|\[\d*\]")

Scopes = tuple[Any, ...]
"""A document, an item of it, an item of that, …: the innermost last."""


@dataclass(frozen=True, slots=True)
class Route:
    """A parsed route.

    Attributes:
        text: as it was written.
        up: how many items outward it starts.
        steps: keys and list positions; -1 goes through a list.
    """

    text: str
    up: int
    steps: tuple[str | int, ...]

    @property
    def forks(self) -> bool:
        """Whether it goes through a list."""
        return _EACH in self.steps


def parse_route(text: str) -> Route:
    """Parse a route.

    Raises:
        ValueError: it is not one.
    """
    match = _ROUTE.fullmatch(text)
    if not match:
        raise ValueError("is not a route such as results[].path")
    steps = _STEP.findall(match["steps"])
    return Route(
        text,
        len(match["up"]),
        tuple(step if step[0] != "[" else int(step[1:-1] or _EACH) for step in steps),
    )


def value_at(routes: Iterable[Route], scopes: Scopes) -> Any:
    """Return what the first route that leads anywhere leads to; None where none does."""
    for route in routes:
        if route.up >= len(scopes):
            continue
        found = scopes[len(scopes) - 1 - route.up]
        for step in route.steps:
            found = _step(found, step)
        if found is not None:
            return found
    return None


def items_at(routes: Iterable[Route], document: Any) -> list[Scopes] | None:
    """Return what the first route that exists goes through; None where none exists."""
    for route in routes:
        found = _items(route.steps, (document,))
        if found is not None:
            return found
    return None


def _items(steps: tuple[str | int, ...], scopes: Scopes) -> list[Scopes] | None:
    node = scopes[-1]
    for number, step in enumerate(steps):
        if step == _EACH:
            if node is None:  # how some write an empty list
                return []
            if not isinstance(node, list):
                return None
            below = (_items(steps[number + 1 :], (*scopes, item)) for item in node)
            return [found for some in below for found in some or ()]
        if isinstance(step, str) and not (isinstance(node, dict) and step in node):
            return None
        node = _step(node, step)
    return [scopes if node is scopes[-1] else (*scopes, node)]


def _step(node: Any, step: str | int) -> Any:
    if isinstance(step, str):
        return node.get(step) if isinstance(node, dict) else None
    return node[step] if isinstance(node, list) and 0 <= step < len(node) else None
