"""The folder of a run over several suites: a run folder for each of them, under one roof.

manifest.json          its kind and its members
members/NAME/…         the member's own folder of runs; the newest counts
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from codebench.errors import ResultsError
from codebench.reading import Faults, Fields, is_file, is_name, parse_json, read_text
from codebench.results.layout import FORMAT, MANIFEST, MAX_MANIFEST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

MEMBERS = "members"
KIND = "several suites"


def write_several(
    path: Path,
    name: str,
    members: Sequence[str],
    *,
    ended: bool,
    updates: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write the manifest of a run over several suites; `updates` as `update_row` makes them.

    Raises:
        ResultsError: the folder cannot be written.
    """
    data = {
        "format": FORMAT,
        "kind": KIND,
        "name": name,
        "members": list(members),
        "ended": ended,
        **({"updates": list(updates)} if updates else {}),
    }
    scratch = path / f"{MANIFEST}.new"
    try:
        scratch.write_text(json.dumps(data, indent=2) + "\n", "utf-8")
        scratch.replace(path / MANIFEST)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror})") from None


def read_several(path: Path) -> Mapping[str, Any] | None:
    """Return the manifest of a run over several suites; None where the folder is no such run.

    Raises:
        InputError: it is one, but its manifest is wrong; every fault is listed.
    """
    try:
        data = parse_json(read_text(path / MANIFEST, MAX_MANIFEST_BYTES))
    except (OSError, ValueError):
        return None
    if not isinstance(data, dict) or data.get("kind") != KIND:
        return None
    faults = Faults(path / MANIFEST)
    fields = Fields(data, faults)
    fields.text("name", empty=False)
    for name in fields.texts("members"):
        if not is_name(name):
            faults.add("is not a name in the folder members", field="members", value=name)
    fields.flag("ended")
    check_updates(fields)
    faults.check()
    return data


def check_updates(fields: Fields) -> None:
    """Check the rows of `updates`, where a manifest has them."""
    for row in fields.objects("updates", ()):
        for text in ("retriever", "from", "to"):
            row.text(text)
        for count in ("changed", "asked", "different"):
            row.integer(count, low=0, high=2**53)
        row.number("rebuild_seconds")
        if row.take("update_seconds") is not None:
            row.number("update_seconds")


def several_digest(members: Iterable[tuple[str, str]]) -> str:
    """Return the digest of several suites, of each one's name and digest."""
    rows = "\n".join(f"{member} {digest}" for member, digest in members)
    return f"sha256:{hashlib.sha256(rows.encode()).hexdigest()}"


def newest(folder: Path) -> Path | None:
    """Return the newest run in a folder of runs; their names begin with their time."""
    runs = [one for one in sorted(folder.glob("*")) if is_file(one / MANIFEST)]
    return runs[-1] if runs else None


def member_runs(path: Path) -> tuple[tuple[str, Path], ...]:
    """Return each member's run, by name; a run over one suite is its own, without a name.

    Raises:
        ResultsError: the folder is no run, or no member was begun.
        InputError: its manifest is wrong.
    """
    manifest = read_several(path)
    if manifest is None:
        return (("", path),)
    found = [(name, newest(path / MEMBERS / name)) for name in manifest["members"]]
    begun = tuple((name, run) for name, run in found if run is not None)
    if not begun:
        raise ResultsError(f"{path}: none of its suites was begun; run it again")
    return begun
