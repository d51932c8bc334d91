"""Records of a log of any size, in the order in which people did things.

They lie in a file of their own while a suite is built, as a log's lines come in no such order and
need not fit into memory; the file goes with the build.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.errors import CodebenchError
from codebench.gold.logs.record import from_row, to_row

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from typing import Self

    from codebench.gold.logs.record import Record

_BATCH = 2_000


class Store:
    """A scratch file of records.

    Args:
        folder: where it may lie.
    """

    def __init__(self, folder: Path) -> None:
        import sqlite3  # noqa: PLC0415  # it is only needed here

        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._folder = Path(tempfile.mkdtemp(prefix="log-", dir=folder))
        except OSError as error:
            raise CodebenchError(
                f"{folder}: cannot be written ({error.strerror}); free space, or set "
                "CODEBENCH_CACHE to another folder"
            ) from None
        self._errors = sqlite3.Error
        self._database: sqlite3.Connection = sqlite3.connect(self._folder / "records.sqlite")
        for setting in ("journal_mode=OFF", "synchronous=OFF", "temp_store=FILE"):
            self._database.execute(f"PRAGMA {setting}")
        self._database.execute(
            "CREATE TABLE records (user TEXT, repository TEXT, time REAL, file INTEGER, "
            "number INTEGER, row TEXT)"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._database.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def add(self, file: int, records: Iterable[Record]) -> int:
        """Add the records of one file; return how many there were.

        A record without a time happened when the one before it in its file did.

        Raises:
            CodebenchError: the disk is full.
        """
        count = 0
        rows: list[tuple[object, ...]] = []
        try:
            for count, record in enumerate(records, 1):  # counted here
                row = json.dumps(to_row(record), separators=(",", ":"))
                time = -1.0 if record.time is None else record.time
                rows.append((record.user, record.repository, time, file, count, row))
                if len(rows) >= _BATCH:
                    self._write(rows)
                    rows = []
            self._write(rows)
        except self._errors as error:
            raise CodebenchError(
                f"{self._folder}: cannot be written ({error}); free space, or set CODEBENCH_CACHE "
                "to another folder"
            ) from None
        return count

    def people(self) -> Iterator[Iterator[tuple[int, Record]]]:
        """Yield, for each user and repository, their records (file, record) as they happened.

        Each is read while it is looked at, and before the next.
        """
        found = self._database.execute(
            "SELECT user, repository, file, row FROM records "
            "ORDER BY user, repository, time, file, number"
        )
        for _, group in groupby(found, key=lambda row: row[:2]):
            yield ((row[2], from_row(json.loads(row[3]))) for row in group)

    def _write(self, rows: list[tuple[object, ...]]) -> None:
        self._database.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", rows)
