"""Finding the run that can be gone on with, and naming what differs where there is none."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codebench.errors import ResultsError
from codebench.reading import is_name, open_file, parse_json, read_text, shown, unpacked
from codebench.results.layout import (
    ANSWERS,
    COLUMNS,
    FORMAT,
    MANIFEST,
    MAX_MANIFEST_BYTES,
    PACKED,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

IDENTITY = ("suite", "corpus", "depth", "settings", "codebench", "machine")
_SAME = ("name", "options", "version", "digest", "floor")
"""Of a retriever. Where its file lies is not among them: its digest says which one it is."""


@dataclass(frozen=True, slots=True)
class Found:
    """What there is to go on with.

    Attributes:
        path: the run's folder; None where no run is the same.
        manifest: its manifest.
        differences: why the newest run of the suite is not gone on with, a line each.
    """

    path: Path | None
    manifest: dict[str, Any]
    differences: tuple[str, ...] = ()


def find(
    results: Path, identity: Mapping[str, Any], retrievers: Sequence[Mapping[str, Any]]
) -> Found:
    """Return the newest run that is the same in all that could change it.

    Args:
        results: the folder of runs.
        identity: the manifest's fields of what is to be run now.
        retrievers: the manifest's rows of who is to be asked now.
    """
    differences: tuple[str, ...] = ()
    for path in sorted(_folders(results), reverse=True):
        manifest = _manifest(path / MANIFEST)
        if manifest is None or manifest.get("suite", {}).get("name") != identity["suite"]["name"]:
            continue
        found = differing(manifest, identity, retrievers)
        if not found:
            return Found(path, manifest)
        if not differences:
            differences = tuple(f"{path.name} is not resumed: {line}" for line in found)
    return Found(None, {}, differences or ("there is no run of this suite to resume",))


def _folders(results: Path) -> list[Path]:
    try:
        return [path for path in results.iterdir() if (path / MANIFEST).is_file()]
    except OSError:
        return []


def _manifest(path: Path) -> dict[str, Any] | None:
    """Return a manifest that can be gone on with; another's is not looked into."""
    try:
        data = parse_json(read_text(path, MAX_MANIFEST_BYTES))
    except (OSError, ValueError):
        return None
    good = isinstance(data, dict) and data.get("format") == FORMAT
    if not good or not isinstance(data.get("suite"), dict):
        return None
    rows = data.get("retrievers")
    # What is gone on with is written: a name must not lead out of the folder.
    sound = isinstance(rows, list) and all(
        isinstance(row, dict) and isinstance(row.get("file"), str) and is_name(row["file"])
        for row in rows
    )
    return data if sound else None


def differing(
    manifest: Mapping[str, Any],
    identity: Mapping[str, Any],
    retrievers: Sequence[Mapping[str, Any]],
) -> list[str]:
    """Return a line for each field in which a stored run differs from what is to be run."""
    lines: list[str] = []
    for field in IDENTITY:
        lines += _differ(field, manifest.get(field), _plain(identity.get(field)))
    stored = {row.get("name"): row for row in manifest.get("retrievers", ())}
    wanted = {row["name"]: row for row in retrievers}
    lines += [f"retriever {name} is not in it" for name in wanted if name not in stored]
    lines += [f"retriever {name} is not asked for now" for name in stored if name not in wanted]
    for name, row in wanted.items():
        for field in _SAME if name in stored else ():
            lines += _differ(f"{name}: {field}", stored[name].get(field), _plain(row.get(field)))
    return lines


def _differ(field: str, then: Any, now: Any) -> list[str]:
    if isinstance(then, dict) and isinstance(now, dict):
        names = sorted({*then, *now})
        return [
            line
            for name in names
            for line in _differ(f"{field}.{name}", then.get(name), now.get(name))
        ]
    if then == now and type(then) is type(now):
        return []
    return [f"{field} was {shown(then)} then and is {shown(now)} now"]


def _plain(value: Any) -> Any:
    """Return a value as it is after it was written and read."""
    return json.loads(json.dumps(value))


def unpack(path: Path, files: Sequence[str]) -> None:
    """Make a sealed run writable again: rows as they were written, and no columns.

    Raises:
        ResultsError: the folder cannot be written.
    """
    try:
        shutil.rmtree(path / COLUMNS, ignore_errors=True)
        for name in files:
            plain = path / ANSWERS / name
            packed = plain.with_name(plain.name + PACKED)
            if not packed.exists():
                continue
            if not plain.exists():
                part = plain.with_name(plain.name + ".part")
                with (
                    open_file(packed) as raw,
                    unpacked(raw) as old,
                    part.open("wb") as new,
                ):
                    shutil.copyfileobj(old, new)
                os.replace(part, plain)  # noqa: PTH105  # the same call
            packed.unlink()
        for part in (path / ANSWERS).glob("*.part"):
            with contextlib.suppress(OSError):
                part.unlink()
    except (OSError, EOFError, zlib.error) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise ResultsError(f"{path}: cannot be resumed ({what})") from None
