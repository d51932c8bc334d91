"""What a file says that it imports, as its language writes it, lightly normalised.

Python gives dotted names with their leading dots, `from x import y` as `x` and `x.y`; Rust
gives whole `use` paths and `mod x`; the others give what stands in the statement or the string.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_COMMENT = re.compile(r"#[^\n]*")
_FROM = re.compile(r"from\s*(\.*)\s*([\w.]*)\s*import\b(.*)", re.DOTALL)
_USE = re.compile(r"[{},]|[^{},]+")
_KEYWORDS = re.compile(r"^\s*(?:pub(?:\s*\([^)]*\))?\s+)?(?:extern\s+crate|use|mod)\s+")


def imports_of(language: str, statements: Iterable[str]) -> tuple[str, ...]:
    """Return what statements import: each once, in the order of the file."""
    read = _READERS.get(language, _string)
    return tuple(dict.fromkeys(name for text in statements for name in read(text) if name))


def _python(text: str) -> Iterator[str]:
    plain = _COMMENT.sub("", text).replace("\\\n", " ")
    found = _FROM.match(plain)
    if not found:
        for part in plain.removeprefix("import").split(","):
            yield _first_word(part)
        return
    module = found[1] + found[2]
    yield module
    joint = "" if module.endswith(".") else "."
    for part in found[3].strip(" \t\r\n()").split(","):
        name = _first_word(part)
        if name and name != "*":
            yield f"{module}{joint}{name}"


def _rust(text: str) -> Iterator[str]:
    bare = _KEYWORDS.sub("", text).rstrip("; \n")
    if re.match(r"\s*(?:pub(?:\s*\([^)]*\))?\s+)?mod\s", text):
        yield f"mod {bare}"
        return
    prefixes = [""]
    pending = ""
    for piece in _USE.findall(bare):
        if piece == "{":
            prefixes.append(prefixes[-1] + pending)
            pending = ""
            continue
        if piece in ",}":
            yield _use(prefixes[-1], pending)
            pending = ""
            if piece == "}" and len(prefixes) > 1:
                prefixes.pop()
            continue
        pending = "".join(piece.partition(" as ")[0].split())
    yield _use("", pending)


def _use(prefix: str, last: str) -> str:
    if not last:
        return ""
    return (prefix + last).removesuffix("::self").removesuffix("::*")


def _java(text: str) -> Iterator[str]:
    words = text.removeprefix("import").strip(" ;\n").removeprefix("static ")
    yield "".join(words.split())


def _string(text: str) -> Iterator[str]:
    yield text.strip("\"'`<> \n\r\t")


def _first_word(part: str) -> str:
    words = part.split(None, 1)
    return words[0] if words else ""


_READERS: dict[str, Callable[[str], Iterator[str]]] = {
    "python": _python,
    "rust": _rust,
    "java": _java,
}
