"""What is odd about a retriever's good answers, counted: empty, alike, of other files, mended."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from codebench.model import Answer, Hit

UNKNOWN = "not a file of the corpus"
"""The repair of a hit that keeps its rank and can reach nothing."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over the good answers that are scored.

    Attributes:
        good: all of them.
        empty: those without a hit.
        alike: those that point at the very places of the first, itself among them.
        astray: those with hits of which none is in a file of the corpus.
        stray: the first path that is no file of the corpus.
        meant: the file of the corpus that it was probably meant to be.
        hits: by kind of repair, how many hits, or times, were mended.
        answers: by kind of repair, in how many answers.
    """

    good: int = 0
    empty: int = 0
    alike: int = 0
    astray: int = 0
    stray: str = ""
    meant: str = ""
    hits: Mapping[str, int] = field(default_factory=dict)
    answers: Mapping[str, int] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """Return it as JSON; `of_row` reads it back."""
        return asdict(self)


def meant_path(path: str, files: Collection[str]) -> str:
    """Return the file of the corpus that a path which is none was probably meant to be, or nothing.

    Its separators may be others, or there are folders too many or too few in front of it: then
    the longest end that is a file, a bare name only where one file alone has it.
    """
    name = path.replace("\\", "/").strip("/")
    parts = name.split("/")
    for start in range(len(parts) - 1):
        if "/".join(parts[start:]) in files:
            return "/".join(parts[start:])
    tail = parts[-1] if parts[-1] in files else name
    ends = [file for file in files if file == tail or file.endswith(f"/{tail}")]
    return ends[0] if len(ends) == 1 else ""


class Counting:
    """Takes answers in, one by one.

    Args:
        files: the paths of the corpus.
    """

    def __init__(self, files: Collection[str]) -> None:
        self._files = files
        self._counts = Counter[str]()
        self._first: Sequence[Hit] | None = None
        self._stray = ""
        self._hits = Counter[str]()
        self._answers = Counter[str]()

    def add(self, hits: Sequence[Hit], repairs: Mapping[str, Any]) -> None:
        """Take a good answer in."""
        if self._first is None:
            self._first = hits
        own = {kind: times for kind, times in repairs.items() if type(times) is int and times > 0}
        astray = bool(hits) and own.get(UNKNOWN) == len(hits)
        if not self._stray and UNKNOWN in own:
            self._stray = next((hit.path for hit in hits if hit.path not in self._files), "")
        alike = _same(hits, self._first)
        self._counts.update(good=1, empty=int(not hits), alike=int(alike), astray=int(astray))
        self._hits.update(own)
        self._answers.update(own.keys())

    def tally(self) -> Tally:
        """Return what was counted."""
        hits, answers = dict(sorted(self._hits.items())), dict(sorted(self._answers.items()))
        return Tally(
            **self._counts,
            stray=self._stray,
            meant=meant_path(self._stray, self._files) if self._stray else "",
            hits=hits,
            answers=answers,
        )


def tally_of(answers: Iterable[Answer], files: Collection[str]) -> Tally:
    """Count over a retriever's answers, of a corpus with these files."""
    counting = Counting(files)
    for answer in answers:
        if answer.status == "ok" and not answer.repeat:
            counting.add(answer.hits, answer.repairs)
    return counting.tally()


def of_row(row: Any) -> Tally | None:
    """Return what `Tally.row` wrote; None where it is something else."""
    if not isinstance(row, dict):
        return None
    try:
        tally = Tally(**row)
    except TypeError:
        return None
    numbers = [tally.good, tally.empty, tally.alike, tally.astray]
    for counts in (tally.hits, tally.answers):
        if not isinstance(counts, dict):
            return None
        numbers += counts.values()
    plain = all(type(number) is int and number >= 0 for number in numbers)
    known = tally.hits.keys() == tally.answers.keys()
    texts = isinstance(tally.stray, str) and isinstance(tally.meant, str)
    return tally if plain and known and texts else None


def _same(hits: Sequence[Hit], first: Sequence[Hit]) -> bool:
    """Whether hits point at the same places; scores, which a service may vary, aside."""
    return len(hits) == len(first) and all(
        (one.path, one.start_line, one.end_line, one.symbol)
        == (other.path, other.start_line, other.end_line, other.symbol)
        for one, other in zip(hits, first, strict=True)
    )
