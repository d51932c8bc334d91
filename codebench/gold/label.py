"""Which symbols a commit edited: a diff of structural fingerprints, not of lines."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.gold import filters
from codebench.model import MODULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codebench.model import Chunk, FileTable

MAX_TARGETS = 10


@dataclass(frozen=True, slots=True)
class FilePair:
    """A file before and after a commit; None for a side that does not exist."""

    old: FileTable | None
    new: FileTable | None


@dataclass(frozen=True, slots=True)
class SymbolDiff:
    """What a commit did to the symbols of one file.

    Attributes:
        edited: chunks of the old file whose own fingerprint changed, each with its new form.
        deleted: chunks of the old file that are gone, outermost only.
        added: chunks of the new file that were not there.
    """

    edited: tuple[tuple[Chunk, Chunk], ...]
    deleted: tuple[Chunk, ...]
    added: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """What a commit edited.

    Attributes:
        targets: at its parent.
        verdict: the reason why there are none; empty when there are.
        diff: digest of the symbol diff: a cherry-pick has the same one.
    """

    targets: tuple[Chunk, ...]
    verdict: str = ""
    diff: str = ""


def diff_symbols(pair: FilePair) -> SymbolDiff:
    """Compare the symbols of a file before and after.

    Repeats of one name (overloads, setters, conditional definitions) are paired by
    fingerprint first and by order second.
    """
    old, new = _by_name(pair.old), _by_name(pair.new)
    edited: list[tuple[Chunk, Chunk]] = []
    deleted: list[Chunk] = []
    added: list[Chunk] = []
    for name in sorted(old.keys() | new.keys()):
        before, after = _without_equal(old.get(name, []), new.get(name, []))
        paired = min(len(before), len(after))
        edited += zip(before[:paired], after[:paired], strict=True)
        deleted += before[paired:]
        added += after[paired:]
    return SymbolDiff(tuple(edited), tuple(deleted), tuple(added))


def label_commit(pairs: Sequence[FilePair], *, renames: bool = False) -> Label:
    """Return the symbols that a commit edited or deleted, at its parent.

    Args:
        pairs: one per source file that it touched.
        renames: whether its message is about a new name: then its edits are where the old name
            was used, and none of them is what the message asks for.
    """
    sound = [pair for pair in pairs if _sound(pair)]
    diffs = [diff_symbols(pair) for pair in sound]
    edited = [chunk for diff in diffs for chunk, _ in diff.edited]
    gone = [chunk for diff in diffs for chunk in diff.deleted]
    added = [chunk for diff in diffs for chunk in diff.added]
    removed = _not_moved(gone, added)
    targets = sorted([*edited, *_outermost(removed)], key=lambda chunk: (chunk.path, chunk.id))
    if not edited:
        return Label((), _why_none(pairs, sound, gone, added, removed))
    if renames and len(removed) < len(gone):
        return Label((), filters.MOVED)
    if not any(map(_runs, edited)) and any(map(_runs, added)):
        return Label((), filters.NEW)
    if len(targets) > MAX_TARGETS:
        return Label((), filters.MANY_TARGETS)
    return Label(tuple(targets), diff=_digest(diffs))


def _digest(diffs: Sequence[SymbolDiff]) -> str:
    rows = [
        f"{old.name} {old.fingerprint} {new.fingerprint}" for d in diffs for old, new in d.edited
    ]
    rows += [f"- {chunk.name} {chunk.fingerprint}" for diff in diffs for chunk in diff.deleted]
    rows += [f"+ {chunk.name} {chunk.fingerprint}" for diff in diffs for chunk in diff.added]
    return hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()[:32]


def _why_none(
    pairs: Sequence[FilePair],
    sound: Sequence[FilePair],
    gone: Sequence[Chunk],
    added: Sequence[Chunk],
    removed: Sequence[Chunk],
) -> str:
    if len(sound) < len(pairs) and not (gone or added):
        return filters.UNSOUND
    if removed:
        return filters.DELETED
    if gone:
        return filters.MOVED
    if added:
        return filters.NEW
    before = Counter(_own_lines(pair.old) for pair in sound)
    if before == Counter(_own_lines(pair.new) for pair in sound):
        return filters.UNCHANGED
    return filters.TOP_LEVEL


def _own_lines(table: FileTable | None) -> str:
    """Return the fingerprint of a file's own top-level statements."""
    if table is None:
        return ""
    return "".join(chunk.fingerprint for chunk in table.chunks if chunk.name == MODULE)


def _sound(pair: FilePair) -> bool:
    return all(table.sound for table in (pair.old, pair.new) if table is not None)


def _by_name(table: FileTable | None) -> dict[str, list[Chunk]]:
    names: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in table.chunks if table is not None else ():
        if is_symbol(chunk):
            names[chunk.name].append(chunk)
    return names


def is_symbol(chunk: Chunk) -> bool:
    """Tell a named definition from a file's own lines and from a whole file."""
    return chunk.name not in {"", MODULE}


def _without_equal(
    before: Sequence[Chunk], after: Sequence[Chunk]
) -> tuple[list[Chunk], list[Chunk]]:
    same = Counter(chunk.fingerprint for chunk in before)
    same &= Counter(chunk.fingerprint for chunk in after)
    return _less(before, same), _less(after, same)


def _less(chunks: Iterable[Chunk], same: Counter[str]) -> list[Chunk]:
    left = same.copy()
    kept = []
    for chunk in chunks:
        if left[chunk.fingerprint] > 0:
            left[chunk.fingerprint] -= 1
        else:
            kept.append(chunk)
    return kept


def _runs(chunk: Chunk) -> bool:
    """Tell code from data: a commit that adds code and edits data only has its substance in it."""
    return chunk.kind in {"function", "method"}


def _not_moved(gone: Sequence[Chunk], added: Sequence[Chunk]) -> list[Chunk]:
    """Return what is really gone: a moved or renamed symbol stands elsewhere, name masked."""
    arrived = Counter(chunk.masked for chunk in added)
    removed = []
    for chunk in gone:
        if arrived[chunk.masked] > 0:
            arrived[chunk.masked] -= 1
        else:
            removed.append(chunk)
    return removed


def _outermost(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Drop the members of a class that was deleted with them."""
    names = {(chunk.path, chunk.name) for chunk in chunks}
    return [
        chunk
        for chunk in chunks
        if not any(
            (chunk.path, chunk.name[:cut]) in names
            for cut, letter in enumerate(chunk.name)
            if letter == "."
        )
    ]
