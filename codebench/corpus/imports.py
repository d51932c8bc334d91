"""What a file says that it imports, as its language writes it, lightly normalised.

Python gives dotted names with their leading dots, `from x import y` as `x` and `x.y`; Rust
gives whole `use` paths and `mod x`, Ruby `./x` for `require_relative`; the others give what stands
in the statement or the string. Aliases are dropped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_COMMENT = re.compile(r"#[^\n]*")
# Nothing gives blanks back: three runs of them would be tried in every division.
_FROM = re.compile(r"from\s*+(\.*+)\s*+([\w.]*)\s*+import\b(.*)", re.DOTALL)
_BRACES = re.compile(r"[{},]|[^{},]+")
_QUOTED = re.compile(r"""["']([^"'\n]*)["']""")
_VISIBLE = r"^\s*(?:pub(?:\s*\([^)]*\))?\s+)?"
_KEYWORDS = re.compile(_VISIBLE + r"(?:extern\s+crate|use|mod)\s+")
_MOD = re.compile(_VISIBLE + r"mod\s")
_PHP_USE = re.compile(r"^use\s+(?:function\s+|const\s+)?")
_DOTTED = re.compile(
    r"^(?:global\s+)?(?:import|using)\s+"
    r"(?:static\s+)?(?:(?:class|struct|enum|protocol|func|var|let|typealias)\s+)?"
)


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
    if _MOD.match(text):
        yield f"mod {bare}"
        return
    for path in _braces(bare, " as "):
        yield path.removesuffix("::self").removesuffix("::*")


def _php(text: str) -> Iterator[str]:
    if not text.startswith("use"):
        # `__DIR__ . '/x.php'` lies beside the file.
        beside = "." if "__DIR__" in text else ""
        yield from (beside + path for path in _quoted(text))
        return
    for path in _braces(_PHP_USE.sub("", text).rstrip("; \n"), " as "):
        yield path.lstrip("\\")


def _scala(text: str) -> Iterator[str]:
    for path in _braces(text.removeprefix("import ").replace("=>", " as "), " as "):
        yield path.removesuffix("._").removesuffix(".*")


def _dotted(text: str) -> Iterator[str]:
    bare = _DOTTED.sub("", text).strip("; \n").partition(" as ")[0]
    yield "".join(bare.rpartition("=")[2].split())


def _ruby(text: str) -> Iterator[str]:
    for path in _quoted(text):
        relative = text.startswith("require_relative") and not path.startswith(".")
        yield f"./{path}" if relative else path


def _quoted(text: str) -> Iterator[str]:
    strings = _QUOTED.findall(text)
    if strings:
        yield strings[-1]


def _braces(text: str, alias: str) -> Iterator[str]:
    """Yield the paths of a tree of braces: `a::{b, c::d as e}` gives `a::b`, `a::c::d`."""
    prefixes = [""]
    pending = ""
    for piece in _BRACES.findall(text):
        if piece == "{":
            prefixes.append(prefixes[-1] + pending)
            pending = ""
        elif piece in ",}":
            if pending:
                yield prefixes[-1] + pending
            pending = ""
            if piece == "}" and len(prefixes) > 1:
                prefixes.pop()
        else:
            pending = "".join(piece.partition(alias)[0].split())
    if pending:
        yield prefixes[-1] + pending


def _string(text: str) -> Iterator[str]:
    yield text.strip("\"'`<> \n\r\t")


def _first_word(part: str) -> str:
    words = part.split(None, 1)
    return words[0] if words else ""


_READERS: dict[str, Callable[[str], Iterator[str]]] = {
    "python": _python,
    "rust": _rust,
    "php": _php,
    "ruby": _ruby,
    "scala": _scala,
    "java": _dotted,
    "kotlin": _dotted,
    "csharp": _dotted,
    "swift": _dotted,
}
