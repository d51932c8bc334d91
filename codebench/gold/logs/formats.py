"""The formats that are read, and the files of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench.errors import UsageError
from codebench.gold.logs import claude_code, codex, openhands, rows, swe_agent, ubi
from codebench.gold.logs.columns import ColumnMap
from codebench.gold.logs.skipped import Skipped
from codebench.gold.logs.streams import json_items, json_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from codebench.gold.logs.record import Record

FORMATS: dict[str, tuple[str, ...]] = {
    "ubi": ubi.ENDINGS,
    "jsonl": rows.JSONL_ENDINGS,
    "csv": rows.CSV_ENDINGS,
    "swe-agent": swe_agent.ENDINGS,
    "openhands": openhands.ENDINGS,
    "claude-code": claude_code.ENDINGS,
    "codex": codex.ENDINGS,
}
"""By name, how its files end."""

_READERS = {
    "ubi": ubi.read,
    "swe-agent": swe_agent.read,
    "openhands": openhands.read,
    "claude-code": claude_code.read,
    "codex": codex.read,
}
_LOOKED_AT = 50
_UBI_KEYS = {"user_query", "action_name", "query_response_hit_ids"}


def read_log(
    path: Path, form: str, skipped: Skipped, columns: ColumnMap | None = None
) -> Iterator[Record]:
    """Yield the records of one file, one by one.

    Args:
        path: the file.
        form: one of FORMATS.
        skipped: told what could not be read.
        columns: how a table's rows are read; the record's own names by default.

    Raises:
        InputError: the file cannot be opened.
    """
    if form == "jsonl":
        yield from rows.read_jsonl(path, columns or ColumnMap(), skipped)
    elif form == "csv":
        yield from rows.read_csv(path, columns or ColumnMap(), skipped)
    else:
        yield from _READERS[form](path, skipped)


def files_of(named: Sequence[Path], form: str) -> tuple[Path, ...]:
    """Return the files of a log: those named, and of a folder all whose names end as they do.

    Raises:
        UsageError: there is no such file or folder, or a folder holds none.
    """
    found: list[Path] = []
    for path in named:
        if path.is_dir():
            ends = FORMATS[form]
            inner = sorted(one for one in path.rglob("*") if one.suffix in ends and one.is_file())
            if not inner:
                raise UsageError(f"{path}: holds no file that ends in {' or '.join(ends)}")
            found += inner
        elif path.is_file():
            found.append(path)
        else:
            raise UsageError(f"{path}: no such file or folder; --from-log names a log")
    return tuple(dict.fromkeys(found))


def format_of(named: Sequence[Path], *, mapped: bool = False) -> str:
    """Tell a log's format by its names and its first lines.

    Args:
        named: files or folders.
        mapped: whether a column map was given: then it is a table.

    Raises:
        UsageError: there is no such file, it is empty, or it cannot be told.
    """
    for one in named:
        if not one.exists():
            raise UsageError(f"{one}: no such file or folder; --from-log names a log")
    if mapped:
        return "csv" if named[0].suffix in rows.CSV_ENDINGS else "jsonl"
    path = next((one for one in named if one.is_file()), None)
    for one in named:
        if path is None and one.is_dir():
            path = next((f for f in sorted(one.rglob("*")) if f.is_file()), None)
    found = _told(path) if path is not None else ""
    if not found and path is not None and not path.stat().st_size:
        raise UsageError(f"{path}: is empty; --from-log names a log with records")
    if not found:
        raise UsageError(
            f"{named[0]}: its format cannot be told; add --format ({', '.join(FORMATS)}), or where "
            "its rows are your own, --columns MAP.yaml (docs/logs.md)"
        )
    return found


def _told(path: Path) -> str:
    if path.suffix == ".traj":
        return "swe-agent"
    if path.suffix in rows.CSV_ENDINGS:
        return "csv"
    if path.suffix == ".json":
        _, member, first = next(json_items(path, Skipped()), (0, "", None))
        is_ubi = not member and isinstance(first, dict) and _keys(first) & _UBI_KEYS
        return "ubi" if is_ubi else "openhands"
    for count, (_, data) in enumerate(json_lines(path, Skipped())):
        keys = _keys(data)
        if keys & _UBI_KEYS:
            return "ubi"
        if keys & {"parentUuid", "isSidechain", "sessionId"}:
            return "claude-code"
        if {"type", "payload"} <= keys:
            return "codex"
        events = str(data.get("kind")).endswith("Event") or {"action", "args"} <= keys
        if events or keys & {"observation", "history"}:
            return "openhands"
        if keys & {"kind", "query", "path"}:
            return "jsonl"
        if count >= _LOOKED_AT:
            break
    return ""


def _keys(data: Mapping[str, Any]) -> set[str]:
    """Return an event's keys, of what a search engine's document holds where it is one."""
    inner = data.get("_source")
    return set(inner if isinstance(inner, dict) else data)
