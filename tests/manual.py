"""The documentation, taken apart: its pages, blocks, commands, links and headings."""

from __future__ import annotations

import re
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_CALL = re.compile(r"^\s*(?:\$ |next: |- |- run: |.*&& )?codebench +(?=[a-z-])(.*)")
_ENDS = frozenset({"|", "||", "&&", ">", ">>", ";"})


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: where it is, its language (may be empty), its text without indentation."""

    place: str
    language: str
    text: str


def pages() -> list[Path]:
    """Return the documentation's pages."""
    others = ("README.md", "CONTRIBUTING.md", "adapters/README.md", "results/README.md")
    return [*(ROOT / name for name in others), *sorted((ROOT / "docs").rglob("*.md"))]


def read(page: str) -> str:
    """Return a page's text, by its path from the root."""
    return (ROOT / page).read_text("utf-8")


def name(page: Path) -> str:
    """Return a page's path from the root."""
    return page.relative_to(ROOT).as_posix()


def blocks() -> list[Block]:
    """Return every fenced block of every page."""
    found = []
    for page in pages():
        text = page.read_text("utf-8")
        for match in _FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(f"{name(page)}:{line}", match[2], textwrap.dedent(match[3])))
    return found


def prose(text: str) -> str:
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", text)


def commands() -> list[tuple[str, list[str]]]:
    """Return each `codebench` command in a block: where it is, and its words after the program."""
    found = []
    for block in blocks():
        if block.language not in {"python", "json", "toml"}:
            text = block.text.replace("\\\n", " ")
            found += [(block.place, words) for words in map(_words, text.split("\n")) if words]
    return found


def _words(line: str) -> list[str]:
    match = _CALL.match(line)
    words = shlex.split(match[1], comments=True) if match else []
    end = next((at for at, word in enumerate(words) if word in _ENDS), len(words))
    return words[:end]


def mentions() -> list[tuple[str, list[str]]]:
    """Return each `codebench …` in a sentence: its page, and its words after the program."""
    return [
        (name(page), code.split()[1:])
        for page in pages()
        for code in _CODE.findall(prose(page.read_text("utf-8")))
        if re.match(r"codebench\s+[a-z-]", code)
    ]


def links(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the links of a page to the project's own files: the file, and the heading or empty."""
    for target in _LINK.findall(prose(page.read_text("utf-8"))):
        if "://" not in target:
            file, _, heading = target.partition("#")
            yield file, heading


def headings(text: str) -> list[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    found: list[str] = []
    for heading in _HEADING.findall(prose(text)):
        plain = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.append(f"{plain}-{found.count(plain)}" if plain in found else plain)
    return found


def section(page: str, words: str) -> str:
    """Return the parts of a page below its headings of level two that hold these words."""
    parts = re.split(r"^(?=## )", read(page), flags=re.MULTILINE)
    found = [part for part in parts if words in part.partition("\n")[0]]
    assert found, f"{page} has no heading with {words}"
    return "".join(found)


def names_in(text: str) -> set[str]:
    """Return what stands in backticks, whole and word by word."""
    codes = _CODE.findall(prose(text))
    return {*codes, *(word.strip(",") for code in codes for word in code.split())}
