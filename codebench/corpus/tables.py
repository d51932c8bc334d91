"""Chunk tables on disk: one file table a line, compressed."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING

from codebench.errors import Fault, InputError, ResultsError
from codebench.reading import open_file, unpacked
from codebench.wire import table_from, table_row

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from codebench.model import FileTable

MAX_LINE_BYTES = 32_000_000
"""A longer line is cut, and then is no JSON; a corpus file has a megabyte at most."""


def write_tables(tables: Iterable[FileTable], path: Path) -> None:
    """Write file tables as gzipped JSON Lines; the same tables give the same bytes.

    Raises:
        ResultsError: the file cannot be written.
    """
    try:
        with (
            path.open("wb") as raw,
            gzip.GzipFile("", "wb", compresslevel=4, fileobj=raw, mtime=0) as packed,
        ):
            for table in tables:
                row = json.dumps(table_row(table), separators=(",", ":"))
                packed.write(row.encode() + b"\n")
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror})") from None


def read_tables(path: Path) -> tuple[FileTable, ...]:
    """Read what `write_tables` wrote.

    Raises:
        InputError: the file cannot be read, or a line is not a file table.
    """
    tables: list[FileTable] = []
    try:
        with open_file(path) as raw, unpacked(raw) as file:
            while line := file.readline(MAX_LINE_BYTES):
                tables.append(table_from(json.loads(line)))
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError([Fault(f"cannot be read ({reason})", str(path))]) from None
    except (ValueError, RecursionError) as error:
        raise InputError([Fault(str(error), str(path), len(tables) + 1)]) from None
    return tuple(tables)
