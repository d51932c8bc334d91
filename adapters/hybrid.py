"""Two retrievers as one, by reciprocal rank fusion; each is a row of the run as well."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from codebench import Hit, Retriever
from codebench.adapter import Unavailable, load, make, parse_reference, without_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus


_YAML = re.compile(r"\.ya?ml(:|$)")


class Hybrid(Retriever):
    """Reciprocal rank fusion (Cormack et al., SIGIR 2009) of any two retrievers.

    A place scores the sum of weight / (k + rank) over the arms that found it. Hits are one place
    where they name one chunk, or overlap it most (a hit without lines is its file's); the place
    is shown as the arm shows it that ranked it higher, the first arm's where they agree. A later
    hit of an arm on the same place adds nothing.
    """

    def __init__(
        self,
        first: str = "bm25",
        second: str = "lsa",
        k: int = 60,
        depth: int = 100,
        weight: float = 0.5,
        arms: bool = True,
    ) -> None:
        if k < 0 or depth < 1 or not 0 < weight < 1:
            raise ValueError("k is at least 0, depth at least 1, weight (the first's) in (0, 1)")
        self.references = [first, second]
        self.made = [_made(reference) for reference in self.references]
        self.version = "1, " + " + ".join(one.version or "?" for one in self.made)
        self.k = k
        self.depth = depth
        self.weights = (weight, 1 - weight)
        self.arms = arms

    def beside(self) -> Sequence[str]:
        return self.references if self.arms else ()

    def index(self, corpus: Corpus) -> None:
        self.tables = corpus.by_path
        self.places: dict[tuple[object, ...], str] = {}
        self.root = str(corpus.path)
        for one in self.made:
            one.index(corpus)

    def search(self, text: str, k: int) -> Sequence[Hit]:
        scores: dict[str, float] = {}
        shown: dict[str, tuple[int, int, Hit]] = {}
        for arm, (one, weight) in enumerate(zip(self.made, self.weights, strict=True)):
            seen = set()
            for rank, hit in enumerate(one.search(text, self.depth)[: self.depth], start=1):
                place = self._place(hit)
                if place not in seen:
                    seen.add(place)
                    scores[place] = scores.get(place, 0.0) + weight / (self.k + rank)
                    shown[place] = min(
                        shown.get(place, (rank, arm, hit)), (rank, arm, hit), key=_by
                    )
        best = sorted(scores, key=lambda place: (-scores[place], shown[place][:2], place))[:k]
        return [_scored(shown[place][2], scores[place]) for place in best]

    def _place(self, hit: Hit) -> str:
        """Return the chunk that a hit names or overlaps most; else its file."""
        known = (hit.path, hit.start_line, hit.end_line, hit.symbol)
        if known not in self.places:
            self.places[known] = self._found(hit)
        return self.places[known]

    def _found(self, hit: Hit) -> str:
        path = hit.path.removeprefix(f"{self.root}/").removeprefix("./")
        table = self.tables.get(path)
        if table is None or hit.start_line is None:
            return path
        start, end = hit.start_line, hit.end_line or hit.start_line
        common, place = 0, path
        for chunk in table.chunks:
            if hit.symbol == chunk.name and start == chunk.start_line:
                return chunk.id
            lines = sum(max(0, min(b, end) - max(a, start) + 1) for a, b in chunk.spans)
            if lines > common:
                common, place = lines, chunk.id
        return place

    def index_bytes(self) -> int | None:
        sizes = [one.index_bytes() for one in self.made]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    def close(self) -> None:
        for one in self.made:
            one.close()


def _made(reference: str) -> Retriever:
    if _YAML.search(without_options(reference)):
        raise ValueError(
            f"{reference}: an entry of a retrievers file is no arm; write NAME:options, or "
            "{here}/mine.py:MyTool"
        )
    name, options = parse_reference(reference)
    if name.partition(":")[0].endswith(".py") and not os.path.isabs(name):  # noqa: PTH117  # a text
        raise ValueError(f"{reference}: write {{here}}/{name} for a file of your own")
    kind = load(name)
    absent = kind.missing()
    if absent:
        raise Unavailable(f"{reference}: {absent}")
    return make(kind, options)


def _by(shown: tuple[int, int, Hit]) -> tuple[int, int]:
    return shown[:2]


def _scored(hit: Hit, score: float) -> Hit:
    return Hit(hit.path, hit.start_line, hit.end_line, hit.symbol, score)
