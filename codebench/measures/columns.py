"""A sealed run's answers in columns: all that measures and latency read, without the hits.

Columns are made from the raw answers, and only believed beside the very files that they were
made from: their `key` is a digest of those. What cannot be read, or does not fit together, counts
as not there, and the raw answers are graded again.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from codebench.measures.ranks import UNREACHED, Level, Places, Ranks
from codebench.model import STATUSES
from codebench.reading import most_unpacked, open_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from codebench.measures.ranks import Reached

    Array = NDArray[Any]
    Arrays = dict[str, Array]

FORMAT = 1


@dataclass(frozen=True)
class Asked:
    """The q queries of a suite, as an evaluation needs them.

    Attributes:
        queries: their IDs, sorted.
        weights: (q,) float64.
        clusters: the cluster of each; its own ID when in none.
        repositories: the repository of each; empty where there is one only.
        gold: digest of the queries and their gold.
        suite: digest of the suite.
        rel: the level that a measure's name without `rel` means.
    """

    queries: tuple[str, ...]
    weights: NDArray[np.float64]
    clusters: tuple[str, ...]
    repositories: tuple[str, ...]
    gold: str
    suite: str
    rel: int = 2


@dataclass(frozen=True)
class Columns:
    """One retriever's a answers to q queries, in the order in which they were asked.

    Attributes:
        query: (a,) int32 which query, by its place among the sorted IDs.
        repeat: (a,) int32; 0 is the answer that is scored.
        status: (a,) uint8, an index into `model.STATUSES`.
        latency_ns: (a,) int64; -1 where nothing was timed.
        ranks: first-reach ranks of the scored answers.
        about: what else is known of the retriever's run, as JSON.
    """

    query: NDArray[np.int32]
    repeat: NDArray[np.int32]
    status: NDArray[np.uint8]
    latency_ns: NDArray[np.int64]
    ranks: Ranks
    about: Mapping[str, Any]


class RanksBuilder:
    """Takes in queries' first-reach ranks in any order, a few bytes each.

    Args:
        queries: how many there are.
    """

    def __init__(self, queries: int) -> None:
        self._queries = queries
        self._order: list[int] = []
        self._returned: list[int] = []
        self._levels: dict[int, _Parts] = {}
        self._places = _Parts()

    def add(self, query: int, reached: Reached) -> None:
        """Add a query, by its place among the sorted IDs."""
        self._order.append(query)
        self._returned.append(reached.returned)
        for grade, level in reached.levels.items():
            parts = self._levels.setdefault(grade, _Parts())
            parts.add(query, level.units, zip(level.ranks, level.bytes_read, strict=True))
        places = sorted(
            (place.rank or UNREACHED, -place.grade, place.weight, place.bytes_read or 0)
            for place in reached.places
        )
        self._places.add(query, len(places), places)

    def ranks(self, *, judged: bool) -> Ranks:
        """Return all queries' ranks in the order of the sorted IDs.

        Args:
            judged: whether places judged not relevant are known.
        """
        returned = np.zeros(self._queries, np.int64)
        returned[self._order] = self._returned
        levels = {}
        for grade in sorted(self._levels):
            counts, ends, rows = self._levels[grade].sorted(self._queries, 2)
            rank, read = rows[:, 0].astype(np.int32), rows[:, 1].astype(np.int64)
            levels[grade] = Level(counts, ends, rank, read)
        _, ends, rows = self._places.sorted(self._queries, 4)
        places = Places(
            ends=ends,
            ranks=rows[:, 0].astype(np.int32),
            grades=(-rows[:, 1]).astype(np.int32),
            weights=rows[:, 2],
            bytes_read=rows[:, 3].astype(np.int64),
        )
        return Ranks(self._queries, levels, places, returned, judged)


class _Parts:
    """Ragged rows of numbers by query, while they come in."""

    def __init__(self) -> None:
        from array import array  # noqa: PLC0415  # 8 bytes a number, not 32

        self.query = array("l")
        self.units = array("l")
        self.sizes = array("l")
        self.numbers = array("d")  # whole numbers below 2**53 among them, which it holds exactly

    def add(self, query: int, units: int, rows: Iterable[tuple[float, ...]]) -> None:
        before = len(self.numbers)
        for row in rows:
            self.numbers.extend(row)
        self.query.append(query)
        self.units.append(units)
        self.sizes.append(len(self.numbers) - before)

    def sorted(self, queries: int, width: int) -> tuple[Array, Array, Array]:
        """Return (q,) units, (q,) ends, and the rows (e, width) by query."""
        query = np.array(self.query, np.int64)
        sizes = np.array(self.sizes, np.int64) // width
        rows = np.array(self.numbers, np.float64).reshape(-1, width)
        order = np.argsort(np.repeat(query, sizes), kind="stable")
        units, counts = np.zeros(queries, np.int64), np.zeros(queries, np.int64)
        units[query] = np.array(self.units, np.int64)
        counts[query] = sizes
        return units, np.cumsum(counts), rows[order]


def write_asked(path: Path, key: str, asked: Asked) -> None:
    """Write the queries' columns; `OSError` where that cannot be done."""
    head = {
        "queries": asked.queries,
        "clusters": [
            "" if own == query else own
            for own, query in zip(asked.clusters, asked.queries, strict=True)
        ],
        "repositories": asked.repositories if any(asked.repositories) else [],
        "gold": asked.gold,
        "suite": asked.suite,
        "rel": asked.rel,
    }
    _write(path, key, head, {"weights": asked.weights})


def read_asked(path: Path, key: str) -> Asked | None:
    """Read the queries' columns; None where they are not there, or not of this key."""
    found = _read(path, key)
    if found is None:
        return None
    head, arrays = found
    try:
        queries = _texts(head["queries"])
        clusters = _texts(head["clusters"])
        repositories = _texts(head["repositories"]) or ("",) * len(queries)
        gold, suite = _texts([head["gold"], head["suite"]])
        weights = _numbers(arrays, "weights", np.float64)
        rel = int(head["rel"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    if not len(weights) == len(repositories) == len(clusters) == len(queries):
        return None
    whole = tuple(own or query for own, query in zip(clusters, queries, strict=True))
    return Asked(queries, weights, whole, repositories, gold, suite, rel)


def write_columns(path: Path, key: str, columns: Columns) -> None:
    """Write a retriever's columns; `OSError` where that cannot be done."""
    ranks = columns.ranks
    arrays: Arrays = {
        "query": columns.query,
        "repeat": columns.repeat,
        "status": columns.status,
        "latency_ns": columns.latency_ns,
        "returned": ranks.returned,
        "places.ends": ranks.places.ends,
        "places.ranks": ranks.places.ranks,
        "places.grades": ranks.places.grades,
        "places.weights": ranks.places.weights,
    }
    if ranks.places.bytes_read is not None:
        arrays["places.bytes_read"] = ranks.places.bytes_read
    for grade, level in ranks.levels.items():
        arrays |= {f"{grade}.units": level.units, f"{grade}.ends": level.ends}
        arrays[f"{grade}.ranks"] = level.ranks
        if level.bytes_read is not None:
            arrays[f"{grade}.bytes_read"] = level.bytes_read
    head = {"about": dict(columns.about), "levels": sorted(ranks.levels), "judged": ranks.judged}
    _write(path, key, head, arrays)


def read_columns(path: Path, key: str, queries: int) -> Columns | None:
    """Read a retriever's columns; None where they are not there, or not of this key."""
    found = _read(path, key)
    if found is None:
        return None
    head, arrays = found
    try:
        columns = _columns(head, arrays, queries)
        return columns if _fits(columns, queries) else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _columns(head: dict[str, Any], arrays: Arrays, queries: int) -> Columns:
    levels = {
        int(grade): Level(
            _numbers(arrays, f"{grade}.units", np.int64),
            _numbers(arrays, f"{grade}.ends", np.int64),
            _numbers(arrays, f"{grade}.ranks", np.int32, least=1),
            _read_bytes(arrays, f"{grade}.bytes_read"),
        )
        for grade in head["levels"]
    }
    places = Places(
        _numbers(arrays, "places.ends", np.int64),
        _numbers(arrays, "places.ranks", np.int32, least=1),
        _numbers(arrays, "places.grades", np.int32),
        _numbers(arrays, "places.weights", np.float64),
        _read_bytes(arrays, "places.bytes_read"),
    )
    returned = _numbers(arrays, "returned", np.int64)
    return Columns(
        query=_numbers(arrays, "query", np.int32),
        repeat=_numbers(arrays, "repeat", np.int32),
        status=_numbers(arrays, "status", np.uint8, most=len(STATUSES) - 1),
        latency_ns=_numbers(arrays, "latency_ns", np.int64, least=-1),
        ranks=Ranks(queries, levels, places, returned, bool(head["judged"])),
        about=_about(head["about"]),
    )


def _numbers(
    arrays: Arrays, name: str, kind: type[Any], *, least: int = 0, most: float = math.inf
) -> Array:
    """Return one row of numbers.

    Raises:
        KeyError: it is not there.
        ValueError: it is of another kind or shape, or holds another number.
    """
    array = arrays[name]
    if array.dtype != kind or array.ndim != 1:
        raise ValueError(f"{name} is not a row of {kind.__name__}")
    good = np.isfinite(array) & (array >= least) & (array <= most)
    if not good.all():
        raise ValueError(f"{name} holds what it cannot")
    return array


def _read_bytes(arrays: Arrays, name: str) -> Array | None:
    return _numbers(arrays, name, np.int64) if name in arrays else None


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(type(one) is str for one in values):
        raise TypeError("is not a list of texts")
    return tuple(values)


def _about(head: Mapping[str, Any]) -> dict[str, Any]:
    """Return what else is known, each part of its own kind."""
    rows, first = list(head["rows"]), head["first_ns"]
    if first is not None and type(first) is not int:
        raise TypeError("first_ns")
    (error,) = _texts([head.get("first_error", "")])
    waited = int(head.get("waited_ns", 0))
    own = {"rows": rows, "first_ns": first, "first_error": error, "waited_ns": waited}
    return {**own, "tally": head.get("tally")}


def _fits(columns: Columns, queries: int) -> bool:
    """Whether the lengths agree, so that no measure reads beside its query."""
    own = (columns.query, columns.repeat, columns.status, columns.latency_ns)
    ranks = columns.ranks
    places = ranks.places
    ragged: list[tuple[Array, Array, tuple[Array | None, ...]]] = [
        (places.ends, places.ranks, (places.grades, places.weights, places.bytes_read)),
        *((level.ends, level.ranks, (level.bytes_read,)) for level in ranks.levels.values()),
    ]
    return (
        len({len(column) for column in own}) == 1
        and len(ranks.returned) == queries
        and (not len(columns.query) or columns.query.max() < queries)
        and all(len(level.units) == queries for level in ranks.levels.values())
        and all(
            len(ends) == queries
            and bool(np.all(np.diff(ends) >= 0))
            and (int(ends[-1]) if queries else 0) == len(rows)
            and all(column is None or len(column) == len(rows) for column in beside)
            for ends, rows, beside in ragged
        )
    )


def _write(path: Path, key: str, head: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    text = json.dumps({"format": FORMAT, "key": key, **head}, separators=(",", ":"))
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            named: dict[str, Any] = {"head": np.frombuffer(text.encode(), np.uint8), **arrays}
            np.savez_compressed(file, **named)
        os.replace(part, path)  # noqa: PTH105  # the same call
    finally:
        part.unlink(missing_ok=True)


def _read(path: Path, key: str) -> tuple[dict[str, Any], Arrays] | None:
    try:
        with open_file(path) as opened, np.load(opened, allow_pickle=False) as file:
            if sum(one.file_size for one in file.zip.infolist()) > most_unpacked(opened):
                return None
            head = json.loads(file["head"].tobytes())
            if head.get("format") != FORMAT or head.get("key") != key:
                return None
            return head, {name: file[name] for name in file.files}
    except (
        *(OSError, ValueError, KeyError, AttributeError, TypeError, EOFError),
        *(zipfile.BadZipFile, zlib.error, MemoryError, RecursionError, NotImplementedError),
    ):
        return None
