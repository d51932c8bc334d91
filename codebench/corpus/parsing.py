"""Bytes -> syntax tree, within bounds.

On ordinary code a parser takes a few milliseconds. On code with errors it can take time and
memory that grow with the square of the file (an unclosed comment in each line, a few kilobytes
of `a<a<a<`), and a repository is untrusted input. So the work is counted while it is done, and
a file that costs too much is not parsed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node, Parser

_SLICE = 65_536
_PREFIX = 2048

_USUAL = 0.0125
_STEPS_PER_BYTE = 0.027
_STEPS_PER_INK = 0.045
_STEPS_AT_LEAST = 30
"""A step is 100 of the parser's operations. Of 6,000 real files, a third of them with syntax
errors, one in a hundred took more than the usual number a byte; the most was 0.0215 a byte and
0.036 a byte that is no white space."""

_MEMORY = 150 << 20
"""Bytes by which the peak may grow; the densest megabyte of real code takes half of it."""

_LOOK = 16
"""Steps between two looks at the memory: asking takes longer than a step, which takes little."""

_CHILDREN = 20_000
"""A query over an error with n direct children takes time of the order of n squared."""


class Tree(NamedTuple):
    """A syntax tree.

    Attributes:
        root: its root.
        error_bytes: how much of the file lies in syntax errors.
    """

    root: Node
    error_bytes: int


def parse(parser: Parser, data: bytes) -> Tree | None:
    """Return the syntax tree; None where it would cost too much.

    What an ambiguous, unfinished file costs at its end is a single operation, which nothing can
    interrupt. So a file that takes more steps than usual is tried by growing prefixes first:
    one that costs the square of its length is noticed while it is small.
    """
    peak = _peak_meter()
    ceiling = peak() + _MEMORY

    def attempt(part: bytes, steps: float) -> Node | None:
        root = _parse_within(parser, part, steps, lambda: peak() > ceiling)
        return None if peak() > ceiling else root

    root = attempt(data, _STEPS_AT_LEAST + len(data) * _USUAL)
    if root is None:
        size = _PREFIX
        while size < len(data):
            if attempt(data[:size], _most_steps(data[:size])) is None:
                return None
            size *= 2
        root = attempt(data, _most_steps(data))
    errors = _error_bytes(root) if root is not None else None
    return None if root is None or errors is None else Tree(root, errors)


def _most_steps(data: bytes) -> float:
    ink = len(data.translate(None, b" \t\r\n\x0c"))
    # A prefix ends in the middle of something, which takes some steps to recover from.
    return 4 * _STEPS_AT_LEAST + min(len(data) * _STEPS_PER_BYTE, ink * _STEPS_PER_INK)


def _parse_within(
    parser: Parser, data: bytes, steps: float, is_full: Callable[[], bool]
) -> Node | None:
    left = int(steps)

    def read(offset: int, _point: object) -> bytes:
        return data[offset : offset + _SLICE]

    def is_too_much(_offset: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0 or (left % _LOOK == 0 and is_full())

    try:
        return parser.parse(read, progress_callback=is_too_much).root_node
    except ValueError:
        # A parser that was stopped would go on with the next file where it stopped in this one.
        parser.reset()
        return None


def _error_bytes(root: Node) -> int | None:
    """Return how many bytes lie in errors; None where an error has too many children."""
    total = 0
    pending = [(root, False)] if root.has_error else []
    while pending:
        node, within = pending.pop()
        if node.child_count > _CHILDREN and (node.is_error or node == root):
            return None
        if node.is_error and not within:
            total += node.end_byte - node.start_byte
            within = True
        pending.extend((child, within) for child in node.children if child.has_error)
    return total


def _peak_meter() -> Callable[[], int]:
    """Return what tells the largest memory of the process so far, in bytes."""
    try:
        import resource  # noqa: PLC0415  # not there on Windows, where nothing is counted
    except ImportError:
        return lambda: 0
    unit = 1 if sys.platform == "darwin" else 1024
    usage, who = resource.getrusage, resource.RUSAGE_SELF
    return lambda: usage(who).ru_maxrss * unit
