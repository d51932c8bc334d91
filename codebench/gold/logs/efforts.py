"""What an agent did in one task -> grades, and how it found its way.

3: a symbol in the net difference of the task; 2: read within 5 steps before an edit, or twice; 1:
another file that was read. Files that the task created, and edits that failed, give nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from codebench.corpus.chunks import file_table_of
from codebench.corpus.contents import blob_id
from codebench.corpus.languages import language_of
from codebench.gold.label import FilePair, label_commit
from codebench.gold.logs.applying import applied
from codebench.gold.logs.tracing import FILES
from codebench.gold.paths import path_kind
from codebench.grading.files import common_lines, lines_show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codebench.corpus.outliner import Outliner
    from codebench.gold.logs.record import Place, Record
    from codebench.gold.logs.tasks import Task
    from codebench.gold.logs.trees import Tree
    from codebench.model import Chunk, FileTable

STEPS_BEFORE = 5
SCREEN_LINES = 40
MAX_GRADED = 10
"""So many places of grade 2, and of grade 1; as of grade 3."""

BYTES_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Found:
    """A place that a task is about, at the commit that the agent worked on.

    Attributes:
        path: the file.
        chunk: the symbol; None for the file as a whole.
        grade: 1 to 3.
    """

    path: str
    chunk: Chunk | None
    grade: int


@dataclass(frozen=True, slots=True)
class Navigation:
    """How an agent found its way to the first target.

    Attributes:
        searches: search steps before the target was on screen, the one that showed it included.
        files: different files that were read by then.
        tokens: bytes that came on screen by then, divided by 4.
        reached: whether a target was on screen at all.
        steps: what was searched for by content by then, in order.
    """

    searches: int
    files: int
    tokens: int
    reached: bool
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Effort:
    """What one task gave.

    Attributes:
        found: places with grades, best first.
        verdict: why there are none of grade 3; empty where there are.
        unfit: edits that did not fit the commit.
        navigation: how the first target was found; None where there is no target.
        patterns: what was searched for by content, each once.
    """

    found: tuple[Found, ...]
    verdict: str
    unfit: int
    navigation: Navigation | None
    patterns: tuple[str, ...]


def effort_of(task: Task, tree: Tree, outliner: Outliner) -> Effort:
    """Work out what a task was about.

    Args:
        task: of one trajectory.
        tree: the commit that it began with.
        outliner: parses the files that it changed.
    """
    steps = [one for one in task.records if one.kind in {"query", "read", "edit"}]
    steps = [one for one in steps if one.kind != "query" or one.search]
    created = {_name(one, tree) for one in steps if one.kind == "edit" and one.created and one.ok}
    edited, verdict, unfit = _net_symbols(steps, tree, outliner)
    exact = [Found(chunk.path, chunk, 3) for chunk in edited]
    found = [*exact, *_read(steps, tree, created, {one.path for one in exact})]
    searches = (one.query for one in steps if one.kind == "query" and one.retriever != FILES)
    return Effort(
        found=tuple(found),
        verdict=verdict,
        unfit=unfit,
        navigation=_navigation(steps, tree, found) if found else None,
        patterns=tuple(dict.fromkeys(searches)),
    )


def _name(record: Record, tree: Tree) -> str:
    """Return a file's name in the repository, or where it is not in it, as the log has it."""
    place = record.place
    return (tree.path(place.path, record.root) or place.path) if place else ""


def _net_symbols(
    steps: Sequence[Record], tree: Tree, outliner: Outliner
) -> tuple[tuple[Chunk, ...], str, int]:
    """Return the symbols that the task's edits changed in the end."""
    edits = [one for one in steps if one.kind == "edit" and one.ok and one.place is not None]
    edits = [one for one in edits if one.final] or edits
    texts: dict[str, str] = {}
    unfit = 0
    for one in edits:
        path = tree.path(one.place.path, one.root) if one.place else ""
        if not path or path_kind(path) != "source":
            continue
        before = texts[path] if path in texts else _text(tree, path)
        after = applied(before, one.changes) if before is not None else None
        if after is None:
            unfit += 1
        else:
            texts[path] = after
    pairs = list(_pairs(texts, tree, outliner))
    label = label_commit(pairs)
    return tuple(_in_tree(chunk, tree) for chunk in label.targets), label.verdict, unfit


def _in_tree(chunk: Chunk, tree: Tree) -> Chunk:
    """Return a chunk as the commit holds it."""
    table = tree.table(chunk.path)
    return next((one for one in (table.chunks if table else ()) if one.id == chunk.id), chunk)


def _text(tree: Tree, path: str) -> str | None:
    data = tree.bytes(path)
    return None if data is None else data.decode("utf-8", "replace").replace("\r\n", "\n")


def _pairs(texts: Mapping[str, str], tree: Tree, outliner: Outliner) -> Iterator[FilePair]:
    """Yield files before and after, both as text: what is no UTF-8 is alike on both sides."""
    after = {path: texts[path].encode("utf-8", "replace") for path in sorted(texts)}
    before = {path: (_text(tree, path) or "").encode("utf-8", "replace") for path in after}
    decoded = {path: data for path, data in before.items() if data != tree.bytes(path)}
    outlines = dict(
        outliner.parse(
            (_blob(path, data), data) for path, data in chain(after.items(), decoded.items())
        )
    )
    for path, data in after.items():
        old = tree.table(path)
        if old is not None and path in decoded:
            again = outlines.get(_blob(path, decoded[path]))
            old = file_table_of(path, again) if again is not None else None
        outline = outlines.get(_blob(path, data))
        if old is not None and outline is not None:
            yield FilePair(old, file_table_of(path, outline))


def _blob(path: str, data: bytes) -> tuple[str, str]:
    return blob_id(data), language_of(path)


def _read(
    steps: Sequence[Record], tree: Tree, created: set[str], exact: set[str]
) -> Iterator[Found]:
    """Yield what was read: what led to an edit or was read twice first."""
    edits = [
        number
        for number, one in enumerate(steps)
        if one.kind == "edit" and one.ok and not one.final
    ]
    times: Counter[tuple[str, str]] = Counter()
    chunks: dict[tuple[str, str], Chunk | None] = {}
    close: set[tuple[str, str]] = set()
    for number, one in enumerate(steps):
        path = tree.path(one.place.path, one.root) if one.place else ""
        if one.kind != "read" or not one.ok or not path or path in created or one.place is None:
            continue
        leads = any(0 < edit - number <= STEPS_BEFORE for edit in edits)
        for chunk in _on_screen(tree.table(path), one.place):
            key = (path, chunk.id if chunk is not None else path)
            chunks[key] = chunk
            times[key] += 1
            if leads:
                close.add(key)
    graded: dict[int, list[Found]] = defaultdict(list)
    seen: set[str] = set()
    for key, chunk in chunks.items():
        if key in close or times[key] > 1:
            graded[2].append(Found(key[0], chunk, 2))
            seen.add(key[0])
    others = dict.fromkeys(path for path, _ in chunks if path not in seen)
    graded[1] = [Found(path, None, 1) for path in others]
    for grade in (2, 1):
        # The file of an exact symbol is graded by that symbol already.
        kept = [one for one in graded[grade] if one.chunk is not None or one.path not in exact]
        yield from kept[:MAX_GRADED]


def _on_screen(table: FileTable | None, place: Place) -> Sequence[Chunk | None]:
    """Return the symbols that a narrow range of lines shows; the file where it is not narrow."""
    if table is None or place.start is None:
        return [None]
    span = (place.start, place.end or place.start)
    if span[1] - span[0] >= SCREEN_LINES:
        return [None]
    shown = [one for one in table.chunks if one.name and lines_show(one, span)]
    return shown or [None]


def _navigation(steps: Sequence[Record], tree: Tree, found: Sequence[Found]) -> Navigation:
    best = max(one.grade for one in found)
    targets = [one for one in found if one.grade == best]
    files: set[str] = set()
    searches = shown = 0
    patterns: list[str] = []
    reached = False
    for one in steps:
        if one.kind == "edit":
            continue
        shown += one.shown
        if one.kind == "query":
            searches += 1
            if one.retriever != FILES:
                patterns.append(one.query)
            reached = any(_shows(tree, place, one, targets, whole=False) for place in one.results)
        elif one.ok and one.place is not None:
            files.add(_name(one, tree))
            reached = _shows(tree, one.place, one, targets, whole=True)
        if reached:
            break
    return Navigation(searches, len(files), shown // BYTES_A_TOKEN, reached, tuple(patterns))


def _shows(
    tree: Tree, place: Place, record: Record, targets: Sequence[Found], *, whole: bool
) -> bool:
    """Tell whether a place on screen holds a target; a file's name in a list shows no code."""
    path = tree.path(place.path, record.root)
    own = [one for one in targets if one.path == path]
    if not path or not own:
        return False
    if any(one.chunk is None for one in own):
        return True
    if place.start is None:
        return whole
    span = (place.start, place.end or place.start)
    return any(
        lines_show(one.chunk, span) or 2 * common_lines(one.chunk, span) >= one.chunk.line_count
        for one in own
        if one.chunk is not None
    )
