"""A parsed file's definitions: what the query file finds, their names and their nesting.

Functions and classes inside a function fold into it; so does what is nested absurdly deep.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codebench.corpus.tokens import CLOSE, MARK, OPEN

if TYPE_CHECKING:
    from tree_sitter import Node

    from codebench.corpus.languages import Grammar

PREFIXES = ("namespace", "extension")
"""Kinds that only give what is in them a name."""

_KINDS = (
    *("function", "method", "class", "type", "constant", "variable", "declaration", "ignored"),
    *PREFIXES,
)
_HOSTS = frozenset({"class", "type", "extension"})
_CLOSED = frozenset({"function", "method"})

_DEEPEST = 30
"""What is nested deeper folds: no code that people write, and names would grow without end."""

_MATCHES_AT_ONCE = 4_096
_DEEPEST_NODE = 5_000
"""Bounds of the query that real code never meets, and a hostile file would."""

_LONGEST_NAME = 1_000
_LONGEST_IMPORT = 20_000

_SCOPE_NOISE = ("module.exports", "exports", "this", "self", "module", "window", "globalThis")
_REFERENCE = re.compile(r"^(?:[&*\s]|'\w+\s|mut\s|dyn\s)+")
_OPERATOR = re.compile(r"((?:.*::\s*)?)operator(?=\W)(.*)", re.DOTALL)


@dataclass(slots=True)
class Definition:
    """A definition, or something that only gives what is in it a name.

    Attributes:
        start, end: the bytes that it covers, what is inside it included.
        kind: of `model.Chunk`, or `namespace`, `extension`, `declaration`.
        parts: its name, with the scope that the definition itself writes.
        parent: the innermost thing around it that is not folded.
        name: qualified; set when the nesting is known.
        first, last: the lines that it covers (0-based, inclusive).
        folded: its lines and bytes are another's.
    """

    start: int
    end: int
    kind: str
    parts: tuple[str, ...]
    order: int = 0
    parent: Definition | None = None
    name: str = ""
    first: int = 0
    last: int = 0
    folded: bool = False
    last_child: Definition | None = None

    @property
    def is_chunk(self) -> bool:
        """True when it owns lines itself."""
        return not self.folded and self.kind not in PREFIXES


@dataclass(slots=True)
class Reading:
    """What the query file found in one file.

    Attributes:
        found: definitions by the place of their name: the pattern and the definition.
        cuts: comments and docstrings, (start, end) in bytes.
        comments: those of them that may belong to what follows.
        attributes: what belongs to what follows, (start, end).
        marks: pieces to put at a place, (byte, piece).
        imports: statements, (start, text).
    """

    found: dict[int, Definition] = field(default_factory=dict)
    cuts: list[tuple[int, int]] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    attributes: list[tuple[int, int]] = field(default_factory=list)
    marks: list[tuple[int, bytes]] = field(default_factory=list)
    imports: list[tuple[int, str]] = field(default_factory=list)


def read(grammar: Grammar, root: Node, data: bytes) -> Reading:
    """Run the query file over a tree."""
    from tree_sitter import QueryCursor  # noqa: PLC0415  # heavy, and not always needed

    reading = Reading()
    cursor = QueryCursor(grammar.query, match_limit=_MATCHES_AT_ONCE)
    cursor.set_max_start_depth(_DEEPEST_NODE)
    for pattern, captures in cursor.matches(root):
        if "comment" in captures:
            node = captures["comment"][0]
            span = (node.start_byte, node.end_byte)
            reading.cuts.append(span)
            reading.comments.append(span)
        elif "block" in captures:
            node = captures["block"][0]
            reading.marks.append((node.start_byte, OPEN))
            reading.marks.append((node.end_byte, CLOSE))
        elif "docstring" in captures:
            node = captures["docstring"][0]
            reading.cuts.append((node.start_byte, node.end_byte))
        elif "attribute" in captures:
            node = captures["attribute"][0]
            reading.attributes.append((node.start_byte, node.end_byte))
        elif "mark" in captures:
            reading.marks.append((captures["mark"][0].end_byte, MARK))
        elif "import" in captures:
            node = captures["import"][0]
            end = min(node.end_byte, node.start_byte + _LONGEST_IMPORT)
            text = data[node.start_byte : end].decode("utf-8", "replace")
            reading.imports.append((node.start_byte, text))
        else:
            _keep(reading, grammar, pattern, captures, data)
    return reading


def _keep(
    reading: Reading,
    grammar: Grammar,
    pattern: int,
    captures: dict[str, list[Node]],
    data: bytes,
) -> None:
    kind = next((kind for kind in _KINDS if kind in captures), "")
    if not kind:
        return
    node = captures[kind][0]
    if "name" in captures:
        named = captures["name"][0]
        place = named.start_byte
        if named.end_byte - place > _LONGEST_NAME:
            return
        text = data[place : named.end_byte].decode("utf-8", "replace")
        if kind == "extension":
            text = _type_name(text)
        parts = name_parts(text)
        if "scope" in captures:
            scope = captures["scope"][0]
            raw = data[scope.start_byte : scope.end_byte].decode("utf-8", "replace")
            parts = (*_scope_parts(raw), *parts)
    else:
        place = node.start_byte
        parts = (grammar.names.get(pattern, ""),)
    known = reading.found.get(place)
    if known is not None and known.order <= pattern:
        return
    if parts and parts[-1] not in {"", "_"}:
        reading.found[place] = Definition(node.start_byte, node.end_byte, kind, parts, pattern)


def name_parts(text: str) -> tuple[str, ...]:
    """Return a written name as its parts: `a::B<T>::c` gives a, B, c."""
    found = _OPERATOR.match(text)
    if found:
        symbol = found[2] if found[2].startswith("(") else found[2].partition("(")[0]
        space = " " if symbol.strip()[:1].isalpha() else ""
        operator = f"operator{space}{_clean(symbol)}"
        return (*name_parts(found[1]), operator) if found[1] else (operator,)
    if text[:1] in "\"'`[":
        return (" ".join(text.strip("\"'`").split()),)
    if text.startswith("("):
        text = text.strip("()*& \t\n")
    parts = _without_generics(text).replace("::", ".").split(".")
    return tuple(part for part in map(_clean, parts) if part)


def _clean(part: str) -> str:
    return " ".join(part.split())


def _type_name(text: str) -> str:
    return _REFERENCE.sub("", text)


def _scope_parts(text: str) -> tuple[str, ...]:
    for noise in _SCOPE_NOISE:
        if text == noise:
            return ()
        if text.startswith(noise + "."):
            text = text[len(noise) + 1 :]
            break
    text = _type_name(text.strip("()* \t\n").removesuffix(".prototype")).partition("[")[0]
    return name_parts(text) if len(text) <= 100 else ()


def _without_generics(text: str) -> str:
    if "<" not in text:
        return text
    kept: list[str] = []
    depth = 0
    for character in text:
        if character == "<":
            depth += 1
        elif character == ">":
            depth = max(0, depth - 1)
        elif not depth:
            kept.append(character)
    return "".join(kept)


def nest(reading: Reading) -> list[Definition]:
    """Return definitions and prefixes outermost first, in file order, with parents and names."""
    kept: list[Definition] = []
    stack: list[Definition] = []
    found = (each for each in reading.found.values() if each.kind != "ignored")
    for each in sorted(found, key=lambda each: (each.start, -each.end, each.order)):
        while stack and stack[-1].end <= each.start:
            stack.pop()
        parent = stack[-1] if stack else None
        if parent is not None and (parent.kind in _CLOSED or each.end > parent.end):
            continue
        if len(stack) >= _DEEPEST:
            continue
        each.parent = parent
        prefix = f"{parent.name}." if parent is not None else ""
        each.name = prefix + ".".join(each.parts)
        hosted = parent is not None and parent.kind in _HOSTS
        if each.kind == "function" and (hosted or len(each.parts) > 1):
            each.kind = "method"
        kept.append(each)
        if each.kind != "declaration":
            stack.append(each)
    return _without_prototypes(kept)


def _without_prototypes(kept: list[Definition]) -> list[Definition]:
    defined = {each.name for each in kept if each.kind in _CLOSED}
    result: list[Definition] = []
    for each in kept:
        if each.kind == "declaration":
            if each.name in defined:
                continue
            host = each.parent is not None and each.parent.kind in _HOSTS
            each.kind = "method" if host else "function"
        result.append(each)
    return result
