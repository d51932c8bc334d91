"""What an adapter returned -> hits, or why it is no answer.

Pure. The whole answer is refused (`invalid_output`) for what has no meaning: a wrong type, a
score that is not finite, a line below 1, a range that ends before it starts, a path that leaves
the corpus. What has one meaning only is repaired and counted: hits beyond the depth are cut
off, and lines beyond the end of the file are clipped. A path that is under the root but is no
file of the corpus keeps its place in the ranking, is counted, and can reach nothing.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from codebench.grading import canonical_path
from codebench.model import Hit
from codebench.results.tally import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

CUT = "cut to depth"
CLIPPED = "lines clipped to file"

_LARGEST = sys.float_info.max


class InvalidOutput(ValueError):  # noqa: N818  # it names a status
    """The output means nothing; the message says which hit and why."""


def validate(
    rows: Any, count: Any, k: int, root: str, lengths: Mapping[str, int]
) -> tuple[tuple[Hit, ...], dict[str, int]]:
    """Return the hits of raw rows, and what was repaired, by kind.

    Args:
        rows: a list of `[path, start, end, symbol, score]`, or of `{"type": "…"}` for an
            item that is no hit.
        count: how many items the retriever returned.
        k: how many were asked for.
        root: the directory that the retriever searched.
        lengths: the number of lines of each file of the corpus.

    Raises:
        InvalidOutput: at least one hit means nothing.
    """
    if not isinstance(rows, list) or not isinstance(count, int):
        raise InvalidOutput("the reply holds no list of hits")
    repairs: dict[str, int] = {}
    if count > k:
        repairs[CUT] = count - k
    hits = []
    for number, row in enumerate(rows[:k], start=1):
        try:
            hits.append(_good(row, lengths) or _hit(row, root, lengths, repairs))
        except ValueError as error:
            raise InvalidOutput(f"hit {number}: {error}") from None
    return tuple(hits), repairs


def _good(row: Any, lengths: Mapping[str, int]) -> Hit | None:
    """Return the hit of a row that needs no repair; most are so, and there are many."""
    if type(row) is not list or len(row) != 5:
        return None
    path, start, end, symbol, score = row
    length = lengths.get(path) if type(path) is str else None
    if length is None:
        return None
    whole = start is None and end is None
    if not whole and not (type(start) is int and type(end) is int and 1 <= start <= end <= length):
        return None
    if symbol is not None and not (type(symbol) is str and symbol.isascii()):
        return None
    if score is not None and not (type(score) is float and math.isfinite(score)):
        return None
    return Hit(path, start, end, symbol, score)


def _hit(row: Any, root: str, lengths: Mapping[str, int], repairs: dict[str, int]) -> Hit:
    if isinstance(row, dict):
        raise ValueError(f"is a {row.get('type')}, not a Hit")  # noqa: TRY004
    if not isinstance(row, list) or len(row) != 5:
        raise ValueError("is not a Hit")
    path, start, end, symbol, score = row
    known = path if type(path) is str and path in lengths else _path(path, root)
    _line("start_line", start)
    _line("end_line", end)
    _symbol(symbol)
    _score(score)
    if end is not None and start is None:
        raise ValueError("has an end_line and no start_line")
    if start is not None:
        end = start if end is None else end
        if end < start:
            raise ValueError(f"ends in line {end} before it starts in line {start}")
    length = lengths.get(known)
    if length is None:
        repairs[UNKNOWN] = repairs.get(UNKNOWN, 0) + 1
    elif end is not None and end > length:
        repairs[CLIPPED] = repairs.get(CLIPPED, 0) + 1
        start, end = (start, length) if start <= length else (None, None)
    return Hit(known, start, end, symbol, None if score is None else float(score))


def _path(path: Any, root: str) -> str:
    if not isinstance(path, str):
        raise ValueError(f"path is a {_kind(path)}, not text")  # noqa: TRY004
    known = canonical_path(path, root)
    if known is None:
        raise ValueError(f"path {_short(path)} is not under the corpus directory")
    return known


def _line(name: str, line: Any) -> None:
    if line is None:
        return
    if type(line) is not int:
        raise ValueError(f"{name} is a {_kind(line)}, not a whole number")
    if line < 1:
        raise ValueError(f"{name} is {line}; lines count from 1")


def _symbol(symbol: Any) -> None:
    if symbol is None:
        return
    if not isinstance(symbol, str):
        raise ValueError(f"symbol is a {_kind(symbol)}, not text")  # noqa: TRY004
    if any("\ud800" <= char <= "\udfff" for char in symbol):
        raise ValueError(f"symbol {_short(symbol)} is not Unicode text")


def _score(score: Any) -> None:
    if score is None:
        return
    if type(score) not in {int, float}:
        raise ValueError(f"score is a {_kind(score)}, not a number")
    if not -_LARGEST <= score <= _LARGEST:  # false for NaN, and sound for any whole number
        said = score if type(score) is float else "a number of hundreds of digits"
        raise ValueError(f"score is {said}, which is not finite")


def _kind(value: Any) -> str:
    return (
        str(value["type"]) if isinstance(value, dict) and "type" in value else type(value).__name__
    )


def _short(text: str) -> str:
    return ascii(text if len(text) <= 60 else text[:57] + "...")
