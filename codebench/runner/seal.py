"""Sealing a run: its answers packed, and beside them the columns that scoring reads.

Each step leaves the folder readable: the packed answers appear whole, then the columns, then the
plain answers go.
"""

from __future__ import annotations

import gzip
import os
import shutil
from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from codebench.grading import Files, compile_gold, reach
from codebench.measures.columns import Asked, Columns, RanksBuilder, write_asked, write_columns
from codebench.model import STATUSES
from codebench.reading import Faults
from codebench.results.layout import ANSWERS, ASKED, COLUMNS, PACKED, columns_file
from codebench.results.rows import last_state, read_rows
from codebench.results.stored import answers_key, columns_key
from codebench.results.tally import Counting
from codebench.runner.record import unwritable
from codebench.suite import cluster_of, gold_digest, is_judged, rel_of, repository_of
from codebench.wire import hit_from

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.grading import Reached
    from codebench.model import Corpus, Hit, Query, Suite
    from codebench.results import State

_LEVEL = 4
"""Of compression: beyond it time grows and files hardly shrink."""


def pack_answers(path: Path, name: str) -> State:
    """Compress a retriever's answers; the same answers give the same bytes.

    Returns:
        how the retriever ended.

    Raises:
        ResultsError: the folder cannot be written.
    """
    plain = path / ANSWERS / name
    packed = plain.with_name(plain.name + PACKED)
    part = packed.with_name(packed.name + ".part")
    state = last_state(plain)
    try:
        with (
            plain.open("rb") as old,
            part.open("wb") as raw,
            gzip.GzipFile("", "wb", compresslevel=_LEVEL, fileobj=raw, mtime=0) as new,
        ):
            shutil.copyfileobj(old, new, 1 << 20)
        os.replace(part, packed)  # noqa: PTH105  # the same call
        plain.unlink()
    except OSError as error:
        raise unwritable(packed, error) from None
    return state


def write_all_columns(
    path: Path, suite: Suite, suite_digest: str, corpus: Corpus, names: Sequence[str], depth: int
) -> None:
    """Grade every retriever's packed answers, and write what scoring reads.

    Args:
        path: the run's folder.
        suite: what was asked.
        suite_digest: its digest.
        corpus: what it was asked of.
        names: the retrievers' answer files.
        depth: how many hits are graded.

    Raises:
        ResultsError: the folder cannot be written.
    """
    queries = sorted(suite.queries, key=lambda query: query.id)
    asked = Asked(
        queries=tuple(query.id for query in queries),
        weights=np.array([query.weight for query in queries], np.float64),
        clusters=tuple(cluster_of(query) for query in queries),
        repositories=tuple(repository_of(query) for query in queries),
        gold=gold_digest(queries),
        suite=suite_digest,
        rel=rel_of(queries),
    )
    key = columns_key(path, depth)
    grader = _Grader(queries, corpus, depth)
    try:
        (path / COLUMNS).mkdir(exist_ok=True)
        write_asked(path / COLUMNS / ASKED, key, asked)
        for name in names:
            raw = path / ANSWERS / (name + PACKED)
            columns = grader.columns(raw) if raw.exists() else None
            if columns is not None:
                write_columns(columns_file(path, name), answers_key(key, raw), columns)
    except OSError as error:
        raise unwritable(path / COLUMNS, error) from None


class _Grader:
    """Grades answers row by row, so that a run of any size fits."""

    def __init__(self, queries: Sequence[Query], corpus: Corpus, depth: int) -> None:
        self._queries = queries
        self._places = {query.id: at for at, query in enumerate(queries)}
        tables = {table.path: table for table in corpus.tables}
        self._paths = tables.keys()
        self._files = Files(tables)
        self._depth = depth
        self._judged = is_judged(queries)

    def columns(self, raw: Path) -> Columns | None:
        """Return the columns of an answers file; None where it needs another reader.

        Answers that were asked again, and queries that the suite does not have, do.
        """
        query, repeat, status = array("l"), array("l"), array("B")
        latency = array("q")
        about: dict[str, Any] = {"rows": [], "first_ns": None}
        builder = RanksBuilder(len(self._queries))
        graded = bytearray(len(self._queries))
        faults, counting = Faults(raw), Counting(self._paths)
        waited = 0
        for _, row in read_rows(raw, faults):
            if row.get("kind") != "answer":
                about["rows"].append(row)
                if row.get("kind") == "warmup" and not query and about["first_ns"] is None:
                    about["first_ns"] = row.get("latency_ns")
                continue
            at = self._places.get(row["query"])
            number, state = row.get("repeat", 0), row.get("status", "ok")
            if at is None or row.get("again") or (number == 0 and graded[at]):
                return None
            if not query and about["first_ns"] is None:
                about["first_ns"] = row.get("latency_ns")
            if number == 0:
                graded[at] = 1
                hits = row.get("hits", ()) if state == "ok" else ()
                own = [hit_from(hit) for hit in hits]
                builder.add(at, self._reached(at, own))
                if state == "ok":
                    counting.add(own, row.get("repairs", {}))
            if state != "ok" and row.get("error"):
                about.setdefault("first_error", row["error"])
            waited += row.get("waited_ns", 0)
            query.append(at)
            repeat.append(number)
            status.append(STATUSES.index(state))
            latency.append(row.get("latency_ns", -1))
        if faults.found:
            return None
        for at, done in enumerate(graded):
            if not done:
                builder.add(at, self._reached(at, ()))
        about |= {"waited_ns": waited, "tally": counting.tally().row()}
        return Columns(
            query=np.array(query, np.int32),
            repeat=np.array(repeat, np.int32),
            status=np.array(status, np.uint8),
            latency_ns=np.array(latency, np.int64),
            ranks=builder.ranks(judged=self._judged),
            about=about,
        )

    def _reached(self, at: int, hits: Sequence[Hit]) -> Reached:
        return reach(compile_gold(self._queries[at], self._files), hits[: self._depth])
