"""A file's bytes -> its chunks: named definitions, and the file's own top-level lines.

`outline` depends on the bytes and the language alone, so it is computed once a blob; a path is
given to it afterwards (`file_table_of`). It never raises, whatever the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.corpus.definitions import nest, read
from codebench.corpus.imports import imports_of
from codebench.corpus.languages import FOLDER, LANGUAGES, grammar, language_of, resolve
from codebench.corpus.parsing import parse
from codebench.corpus.placement import place
from codebench.corpus.tokens import tokeniser
from codebench.model import MODULE, Chunk, FileTable
from codebench.wire import check_all, chunk_from, counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codebench.corpus.definitions import Definition, Reading
    from codebench.corpus.languages import Grammar

MAX_PARSED_BYTES = 1_000_000
"""A larger file is data or generated: it is one chunk."""

MAX_LINE = 5_000
"""A file with a longer line, in bytes, is minified or generated: it is one chunk."""

_ERRORS_WITH_MACROS = 0.01

_RULES = ("definitions", "imports", "parsing", "placement", "tokens")
"""The modules beside this one that decide what an outline is."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known of a file's contents, wherever the file lies.

    Attributes:
        language: `python`, `go`, …; empty for a text that is not parsed.
        chunks: in file order, with an empty path.
        imports: as the language writes them, each once.
        sound: False where the parser met a syntax error (in C and C++, where macros make half
            of all files fail: errors over more than a hundredth of the file), or gave up.
        line_bytes: bytes of each line, its newline included.
    """

    language: str
    chunks: tuple[Chunk, ...]
    imports: tuple[str, ...]
    sound: bool
    line_bytes: tuple[int, ...]

    def row(self) -> list[Any]:
        """Return it as JSON that `from_row` reads."""
        chunks = [
            [
                chunk.name,
                chunk.ordinal,
                chunk.kind,
                [number for span in chunk.spans for number in span],
                chunk.fingerprint,
                chunk.masked if chunk.masked != chunk.fingerprint else "",
                chunk.size,
            ]
            for chunk in self.chunks
        ]
        return [self.language, self.sound, list(self.imports), list(self.line_bytes), chunks]

    @classmethod
    def from_row(cls, row: Any) -> Outline:
        """Return the outline of a row that `row` made.

        Raises:
            ValueError: the row is not of that shape.
        """
        try:
            language, sound, imports, sizes, rows = row
            check_all(str, language, *imports)
            check_all(bool, sound)
            lines = counts(sizes)
            chunks = tuple(
                chunk_from("", len(lines), [*one[:5], one[5] or one[4], one[6]]) for one in rows
            )
            return cls(language, chunks, tuple(imports), sound, lines)
        except (TypeError, ValueError, LookupError) as error:
            raise ValueError(f"not an outline ({error})") from None


def outline(language: str, data: bytes) -> Outline:
    """Return the chunks of a file's contents.

    Args:
        language: what `language_of` says; one that is not known is a text that is not parsed.
        data: any bytes.
    """
    lines = data.split(b"\n")
    line_bytes = _line_bytes(lines)
    language = resolve(language, data)
    if (
        language not in LANGUAGES
        or len(data) > MAX_PARSED_BYTES
        or (line_bytes and max(line_bytes) > MAX_LINE)
    ):
        return Outline("", _whole(data, len(line_bytes)), (), True, line_bytes)
    # Neither changes a line's number, and both would change what a string holds.
    if b"\r" in data or data.startswith(_BOM):
        data = data.removeprefix(_BOM).replace(b"\r\n", b"\n")
        lines = data.split(b"\n")
    return _parsed(grammar(language), data, lines, line_bytes)


def unparsed(data: bytes) -> Outline:
    """Return the outline of a file that no parser can be trusted with: one chunk, not sound."""
    line_bytes = _line_bytes(data.split(b"\n"))
    return Outline("", _whole(data, len(line_bytes)), (), False, line_bytes)


def symbols(found: Outline | FileTable) -> tuple[Chunk, ...]:
    """Return the chunks that are named definitions."""
    return tuple(chunk for chunk in found.chunks if chunk.kind not in {"module", "file"})


def file_table_of(path: str, found: Outline) -> FileTable:
    """Return an outline as the table of the file at a path."""
    chunks = tuple(
        Chunk(path, c.name, c.ordinal, c.kind, c.spans, c.fingerprint, c.masked, c.size)
        for c in found.chunks
    )
    return FileTable(path, found.language, found.line_bytes, chunks, found.sound)


def file_table(path: str, data: bytes) -> FileTable:
    """Return the table of one file. Never raises, whatever the bytes."""
    return file_table_of(path, outline(language_of(path), data))


def _parsed(
    rules: Grammar, data: bytes, lines: Sequence[bytes], line_bytes: tuple[int, ...]
) -> Outline:
    tree = parse(rules.parser, data)
    if tree is None:
        return unparsed(data)
    reading = read(rules, tree.root, data)
    starts = [0, *accumulate(len(line) + 1 for line in lines[:-1])]
    definitions = nest(reading)
    place(definitions, reading, rules.lead, data, starts)
    owners = [each for each in definitions if each.is_chunk]
    chunks = _chunks(rules, owners, reading, data, lines)
    texts = [text for _, text in sorted(reading.imports)]
    imports = imports_of(rules.language.name, texts)
    sound = not tree.root.has_error or (
        rules.language.macros and tree.error_bytes <= len(data) * _ERRORS_WITH_MACROS
    )
    return Outline(rules.language.name, chunks, imports, sound, line_bytes)


def _chunks(
    rules: Grammar,
    owners: Sequence[Definition],
    reading: Reading,
    data: bytes,
    lines: Sequence[bytes],
) -> tuple[Chunk, ...]:
    language = rules.language
    prints = tokeniser(
        language.same_quotes, language.optional_semicolons, language.lifetimes
    ).prints
    spans = _spans(owners, lines)
    code = _own_code(owners, reading, data)
    chunks: list[Chunk] = []
    if spans[-1]:
        chunks.append(Chunk("", MODULE, 1, "module", spans[-1], *prints(code[-1])))
    seen: dict[str, int] = {}
    for index, each in enumerate(owners):
        seen[each.name] = ordinal = seen.get(each.name, 0) + 1
        scope = each.parts[-2] if len(each.parts) > 1 else ""
        digests = prints(code[index], each.parts[-1].encode(), scope.encode())
        chunks.append(Chunk("", each.name, ordinal, each.kind, spans[index], *digests))
    chunks.sort(key=lambda chunk: chunk.spans[0])
    return tuple(chunks)


def _spans(
    owners: Sequence[Definition], lines: Sequence[bytes]
) -> list[tuple[tuple[int, int], ...]]:
    """Return each owner's own lines, the file's own last; blank lines at an edge are nobody's."""
    owner_of = [-1] * len(lines)
    for index, each in enumerate(owners):
        owner_of[each.first : each.last + 1] = [index] * (each.last - each.first + 1)
    spans: list[list[tuple[int, int]]] = [[] for _ in range(len(owners) + 1)]
    first = 0
    for owner, run in groupby(owner_of):
        end = first + sum(1 for _ in run)
        begin, last = first, end
        while begin < last and not lines[begin].strip():
            begin += 1
        while begin < last and not lines[last - 1].strip():
            last -= 1
        if begin < last:
            spans[owner].append((begin + 1, last))
        first = end
    return [tuple(each) for each in spans]


def _own_code(owners: Sequence[Definition], reading: Reading, data: bytes) -> list[bytes]:
    """Return each owner's own bytes, the file's own last, without what does not count."""
    ends = {each.end for each in owners}
    # At one place what ends comes before what begins, and the inner ends before the outer.
    events: list[tuple[int, int, int, int, bytes]] = []
    for index, each in enumerate(owners):
        events.append((each.end, 0, -each.start, index, b""))
        events.append((each.start, 1, -each.end, index, b""))
    # Where a chunk ends its blocks end too: a closing mark would fall to what is around it.
    events += [(at, 2, 0, 0, piece) for at, piece in reading.marks if at not in ends]
    events += [(start, 3, end, 0, b"") for start, end in reading.cuts]
    events.sort()
    pieces: list[list[bytes]] = [[] for _ in range(len(owners) + 1)]
    stack = [-1]
    at = 0
    for position, action, other, index, piece in events:
        own = pieces[stack[-1]]
        if position > at:
            own.append(data[at:position])
            at = position
        if action == 0:
            stack.pop()
        elif action == 1:
            stack.append(index)
        elif action == 2:
            own.append(piece)
        else:
            at = max(at, other)
    pieces[-1].append(data[at:])
    return [b" ".join(each) for each in pieces]


def _whole(data: bytes, count: int) -> tuple[Chunk, ...]:
    if not count:
        return ()
    text = b" ".join(data.removeprefix(_BOM).split())
    digest = sha256(text).hexdigest()[:32]
    return (Chunk("", "", 1, "file", ((1, count),), digest, digest, len(text)),)


def _line_bytes(lines: Sequence[bytes]) -> tuple[int, ...]:
    sizes = [len(line) + 1 for line in lines]
    # What follows the last newline is a line only when there is something.
    last = sizes.pop() - 1
    return (*sizes, last) if last else tuple(sizes)


def _wheels() -> Iterable[str]:
    for name in sorted({"tree_sitter", *(each.module for each in LANGUAGES.values())}):
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            yield f"{name} missing"


@cache
def _chunker_version() -> str:
    here = Path(__file__).resolve()
    rules = [here, *(here.with_name(f"{name}.py") for name in _RULES)]
    digest = sha256("\n".join(_wheels()).encode())
    for file in [*rules, FOLDER / "__init__.py", *sorted(FOLDER.glob("*.scm"))]:
        digest.update(b"\0" + file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


CHUNKER_VERSION = _chunker_version()
"""Digest of the rules and of the grammars' versions: what a cached outline depends on."""
