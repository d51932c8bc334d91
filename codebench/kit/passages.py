"""A corpus as passages: what an index of texts or vectors holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from codebench.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codebench.model import Corpus

By = Literal["chunks", "lines"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a file with its text: its path, its name where it has one, and its lines."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    text: str

    def hit(self, score: float) -> Hit:
        """Return the hit that points at it."""
        return Hit(self.path, self.start_line, self.end_line, self.symbol or None, score)


def passages(
    corpus: Corpus, by: By = "chunks", lines: int = 40, overlap: int = 10
) -> list[Passage]:
    """Cut a corpus into passages, file by file, in file order.

    Args:
        corpus: what is cut.
        by: `chunks` (definitions, and each file's own lines) or `lines` (windows).
        lines: of a window.
        overlap: how many of its lines a window shares with the one before.

    Raises:
        ValueError: a window would not move on.
    """
    check_windows(lines, overlap)
    return list(_chunks(corpus) if by == "chunks" else _windows(corpus, lines, overlap))


def check_windows(lines: int, overlap: int) -> None:
    """Refuse windows that would not move on.

    Raises:
        ValueError: there are such.
    """
    if not 0 <= overlap < lines:
        raise ValueError("lines is at least 1, and overlap is from 0 to below lines")


def _chunks(corpus: Corpus) -> Iterator[Passage]:
    for table in corpus.tables:
        lines = corpus.lines(table.path)
        for chunk in table.chunks:
            body = "".join("".join(lines[start - 1 : end]) for start, end in chunk.spans)
            text = f"{chunk.path} {chunk.name}\n{body}"
            yield Passage(chunk.path, chunk.start_line, chunk.end_line, chunk.name, text)


def _windows(corpus: Corpus, size: int, overlap: int) -> Iterator[Passage]:
    for table in corpus.tables:
        lines = corpus.lines(table.path)
        for start in range(0, max(1, len(lines) - overlap), size - overlap):
            window = lines[start : start + size]
            if any(line.strip() for line in window):
                text = f"{table.path}\n{''.join(window)}"
                yield Passage(table.path, start + 1, start + len(window), "", text)
