"""The nouns as JSON: compact rows for files and pipes, and back.

Readers are strict: they raise ValueError with a short reason, and who calls them knows the
file and the line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.model import Chunk, FileTable, Hit

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        path = row["path"]
        return FileTable(
            path=path,
            language=row["language"],
            line_bytes=tuple(row["lines"]),
            sound=row["sound"],
            chunks=tuple(
                Chunk(path, name, ordinal, kind, _spans(numbers), fingerprint, masked, size)
                for name, ordinal, kind, numbers, fingerprint, masked, size in row["chunks"]
            ),
        )
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"not a file table ({error})") from None


def _spans(numbers: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))
