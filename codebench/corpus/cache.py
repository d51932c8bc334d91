"""Chunk tables cached by blob ID, in one SQLite file under the cache folder.

A blob's table depends on its bytes, its language and the chunker's version alone, so it is
computed once, whatever commit or repository the blob is met in.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from typing import TYPE_CHECKING, Any

from codebench.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_SCHEMA = "CREATE TABLE IF NOT EXISTS outlines (key TEXT PRIMARY KEY, row BLOB) WITHOUT ROWID"
_TABLES = [("table", "outlines")]
_BATCH = 500
_MAX_BYTES = 32_000_000
"""Of a row, unpacked."""


class ChunkCache:
    """A persistent map from a key to a JSON row.

    Args:
        file: the database; made, with its folder, when it is not there. A file that is no
            database, or another one (truncated, of another version), is replaced: it can always
            be computed again.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._open()
        except (OSError, sqlite3.OperationalError) as error:
            busy = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
            mend = "end the program that holds it" if busy else "free space"
            raise CorpusError(
                f"{file}: the cache cannot be written ({error}); {mend}, or set CODEBENCH_CACHE "
                "to another folder"
            ) from None

    def get(self, keys: Iterable[str]) -> dict[str, object]:
        """Return the rows that are there, by key; a damaged row counts as missing."""
        wanted = sorted(set(keys))
        found: dict[str, object] = {}
        for start in range(0, len(wanted), _BATCH):
            part = wanted[start : start + _BATCH]
            marks = ",".join("?" * len(part))
            ask = f"SELECT key, row FROM outlines WHERE key IN ({marks})"  # noqa: S608
            with contextlib.suppress(sqlite3.DatabaseError):
                for key, row in self._connection.execute(ask, part):
                    with contextlib.suppress(zlib.error, ValueError, TypeError, RecursionError):
                        found[key] = json.loads(_unpacked(row))
        return found

    def put(self, rows: Mapping[str, object]) -> None:
        """Store rows. A full disk is not an error here: the rows are computed again next time."""
        self.put_packed(
            {
                key: zlib.compress(json.dumps(row, separators=(",", ":")).encode(), 1)
                for key, row in rows.items()
            }
        )

    def put_packed(self, rows: Mapping[str, bytes]) -> None:
        """Store rows that are JSON, compressed with zlib, already."""
        with contextlib.suppress(sqlite3.DatabaseError), self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO outlines VALUES (?, ?)", sorted(rows.items())
            )

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            # A full disk is an operational error; so is a table of other columns.
            if (
                isinstance(error, sqlite3.OperationalError)
                and error.sqlite_errorcode != sqlite3.SQLITE_ERROR
            ):
                raise
            self._renew()
            return self._connect()

    def _renew(self) -> None:
        for beside in ("", "-wal", "-shm"):  # a log that is left would be played back
            self._file.with_name(self._file.name + beside).unlink(missing_ok=True)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._file, timeout=30)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute(_SCHEMA)
            connection.execute("SELECT count(*) FROM (SELECT key FROM outlines LIMIT 1)").fetchone()
            _check(connection)
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection


def _check(connection: sqlite3.Connection) -> None:
    """Refuse what is no cache: a view can be a query without end, a trigger do anything."""
    if connection.execute("SELECT type, name FROM sqlite_schema").fetchall() != _TABLES:
        raise sqlite3.DatabaseError("holds something else than outlines")


def _unpacked(row: Any) -> bytes:
    """Return a row's JSON; a bomb's first megabytes, which are none."""
    return zlib.decompressobj().decompress(row, _MAX_BYTES)
