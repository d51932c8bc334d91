"""The nouns as JSON: compact rows for files and pipes, and back.

Readers are strict: they raise ValueError with a short reason, and who calls them knows the
file and the line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.model import Chunk, FileTable, Hit

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX = 2**53

HitRow = list[Any]
"""`[path]`, or `[path, start, end]`, or `[path, start, end, symbol, score]`."""


def hit_row(hit: Hit) -> HitRow:
    """Return a hit as its shortest row."""
    if hit.symbol is not None or hit.score is not None:
        return [hit.path, hit.start_line, hit.end_line, hit.symbol, hit.score]
    if hit.start_line is not None:
        return [hit.path, hit.start_line, hit.end_line]
    return [hit.path]


def hit_from(row: Sequence[Any]) -> Hit:
    """Return the hit of a row that `hit_row` made."""
    return Hit(*row)


def table_row(table: FileTable) -> dict[str, Any]:
    """Return a file table as JSON."""
    return {
        "path": table.path,
        "language": table.language,
        "lines": list(table.line_bytes),
        "sound": table.sound,
        "chunks": [
            [
                chunk.name,
                chunk.ordinal,
                chunk.kind,
                [number for span in chunk.spans for number in span],
                chunk.fingerprint,
                chunk.masked,
                chunk.size,
            ]
            for chunk in table.chunks
        ],
    }


def table_from(row: Any) -> FileTable:
    """Return the file table of a JSON row.

    Raises:
        ValueError: the row is not of that shape.
    """
    try:
        path, language, sound = row["path"], row["language"], row["sound"]
        lines = counts(row["lines"])
        check_all(str, path, language)
        check_all(bool, sound)
        chunks = tuple(chunk_from(path, len(lines), one) for one in row["chunks"])
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ValueError(f"not a file table ({error})") from None
    return FileTable(path, language, lines, chunks, sound)


def chunk_from(path: str, lines: int, row: Any) -> Chunk:
    """Return the chunk of a row in a table.

    Args:
        path: of its file.
        lines: how many the file has.
        row: name, ordinal, kind, spans in one list, fingerprint, masked, size.

    Raises:
        ValueError, TypeError: the row is not of that shape.
    """
    name, ordinal, kind, numbers, fingerprint, masked, size = row
    check_all(str, name, kind, fingerprint, masked)
    counts((ordinal, size))
    spans = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    last = 0
    for start, end in spans:
        if not (type(start) is type(end) is int and last < start <= end <= lines):
            raise ValueError("a chunk's lines")
        last = end
    if not spans:
        raise ValueError("a chunk without lines")
    return Chunk(path, name, ordinal, kind, spans, fingerprint, masked, size)


def check_all(kind: type, *values: Any) -> None:
    """Check that values are of one type.

    Raises:
        TypeError: one of them is not.
    """
    if not all(type(value) is kind for value in values):
        raise TypeError(f"what is no {kind.__name__}")


def counts(numbers: Sequence[Any]) -> tuple[int, ...]:
    """Return whole numbers from 0 to 2**53.

    Raises:
        TypeError: one of them is none.
    """
    if not all(type(number) is int and 0 <= number <= _MAX for number in numbers):
        raise TypeError("a count")
    return tuple(numbers)
