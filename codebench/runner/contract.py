"""What an adapter is held to: the questions that show it, and what their answers say. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal

from codebench.reading import counted
from codebench.results.tally import UNKNOWN, meant_path
from codebench.runner.validate import CUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codebench.model import Answer, FileTable, Hit

Outcome = Literal["passed", "failed", "not judged"]

DEPTH = 10
DEPTHS = (1, 3)
DEEPER = 1000
"""More hits than the corpus has places: a list that is short, and not filled up."""

PLAIN, NOTHING, DEPTHS_ASKED, DEEP = "plain", "nothing", "depths", "deep"
UNICODE, QUOTES, OPTIONS, SHELL, LONG = "unicode", "quotes", "options", "shell", "long"

HOSTILE: Mapping[str, tuple[str, ...]] = {
    NOTHING: ("qzxvkjw wqzzkxj", "", " ", "?!", "the of and"),
    UNICODE: (
        "größe der Warteschlange naïve",
        "表示 検索 ошибка",
        "retry 💥🔁 after \u202eerror\u202c",
        "مفتاح الجلسة expired",
        "e\u0301tat cafe\u0301",
        "half a pair \ud800",
    ),
    QUOTES: (
        "\"unbalanced 'quotes` \\",
        "session\ntoken\r\nexpired\t\n",
        "NUL\0inside",
        "why does self._parse_http(x)[0] != user_id?",
        "100%s {query} ${HOME} $1 \\1 %n",
        "a AND (b OR NOT c) near/3 field:value ^2 ~1 *",
        "( [ { < . * + ? |",
    ),
    OPTIONS: ("--version", "--help", "-rf --pre=sh", "-e session -- /etc", "@/etc/passwd", "-"),
    LONG: ("session " * 1250, "x" * 10_000, "token " * 4000),
}
"""Questions that are text and nothing else, by what they try."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One question, once, and its answer.

    Attributes:
        group: what it tries.
        text: as it was asked.
        k: how many hits were asked for.
        turn: 0, 1 for the second time, 2 after `index` was called again.
        answer: as a run would judge it.
        wall_ns: from the question to the answer, seen from outside.
    """

    group: str
    text: str
    k: int
    turn: int
    answer: Answer
    wall_ns: int


@dataclass(frozen=True, slots=True)
class Record:
    """What was seen of an adapter.

    Attributes:
        asked: every question.
        tables: the files of the corpus by path.
        index_again: why a second `index` failed; empty where it did not.
        closing: what two calls of `close` raised; empty where nothing.
        left: processes that were still running after `close`.
        written: what was written outside of its folders.
        executed: what a question made run.
        falls: how its process fell.
        corpus_files: files that it wrote into its copy of the corpus.
    """

    asked: tuple[Probe, ...]
    tables: Mapping[str, FileTable]
    index_again: str = ""
    closing: str = ""
    left: int = 0
    written: tuple[str, ...] = ()
    executed: tuple[str, ...] = ()
    falls: tuple[str, ...] = ()
    corpus_files: tuple[str, ...] = ()

    def of(self, *groups: str) -> list[Probe]:
        """Return the questions of some groups."""
        return [one for one in self.asked if one.group in groups]

    def good(self) -> list[Probe]:
        """Return the questions that were answered."""
        return [one for one in self.asked if one.answer.status == "ok"]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that an adapter is held to, and how it did."""

    name: str
    outcome: Outcome
    detail: str = ""


def judge(record: Record) -> list[Item]:
    """Return every item of the contract, in the order in which a report has them."""
    return [
        _answers(record, "answers questions", PLAIN),
        _finds(record),
        _lines(record),
        _paths(record),
        _depths(record),
        _short(record),
        _answers(record, "nothing found is an empty answer, no error", NOTHING),
        _answers(record, "unicode questions", UNICODE),
        _answers(record, "quotes and newlines in questions", QUOTES),
        _answers(record, "options in questions are text", OPTIONS),
        _answers(record, "questions of 10,000 characters", LONG),
        _shell(record),
        _twice(record, "the same answer twice", 1, ""),
        _twice(record, "index twice", 2, record.index_again),
        _said("close twice", record.closing),
        _said("writes in its own folders only", _some(record.written), _corpus_note(record)),
        _said("leaves no process", f"{record.left} left after close" if record.left else ""),
        _latency(record),
    ]


def _said(name: str, problem: str, note: str = "") -> Item:
    return Item(name, "failed" if problem else "passed", problem or note)


def _some(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _corpus_note(record: Record) -> str:
    files = record.corpus_files
    return f"writes into its copy of the corpus: {_some(files)}" if files else ""


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 40 else f"{text[:37]}...")


def _answers(record: Record, name: str, group: str) -> Item:
    asked = record.of(group)
    bad = [one for one in asked if one.answer.status != "ok"]
    if not asked:
        return Item(name, "not judged", "nothing was asked")
    if bad:
        first = bad[0]
        why = f"{first.answer.status}: {first.answer.error}"
        return Item(name, "failed", f"{len(bad)} of {len(asked)}; {_shown(first.text)} {why}")
    found = sum(bool(one.answer.hits) for one in asked)
    return Item(name, "passed", f"{len(asked)} asked, {found} found something")


def _finds(record: Record) -> Item:
    """Judge that not every answer is empty: what finds nothing keeps every other item."""
    name = "finds something"
    answered = [one for one in record.of(PLAIN) if one.answer.status == "ok"]
    if not answered:
        return Item(name, "not judged", "nothing was answered")
    found = sum(bool(one.answer.hits) for one in answered)
    if not found:
        asked = f"{len(answered)} questions, names of the corpus among them, found nothing"
        return Item(name, "failed", asked)
    return Item(name, "passed", f"{found} of {counted(len(answered), 'question')}")


def _shell(record: Record) -> Item:
    if record.executed:
        return Item("nothing in a question is run", "failed", _some(record.executed))
    return _answers(record, "nothing in a question is run", SHELL)


def _lines(record: Record) -> Item:
    name = "lines count from 1"
    wrong = _invalid(record, "line", "ends in")
    if wrong:
        return Item(name, "failed", wrong)
    hits = {hit for one in record.good() for hit in one.answer.hits}
    ranged = [hit for hit in hits if hit.start_line is not None]
    if not ranged:
        return Item(name, "not judged", "no hit has lines")
    starts = _starts(record.tables)
    named = [
        (hit.start_line or 0) - starts[hit.path, hit.symbol.rpartition(".")[2]]
        for hit in ranged
        if hit.symbol and (hit.path, hit.symbol.rpartition(".")[2]) in starts
    ]
    above = sum(offset == -1 for offset in named)
    if len(named) >= 3 and above == len(named):
        return Item(name, "failed", f"all {above} hits with a symbol start a line above it")
    by_name = f", {len(named)} checked by their symbols" if named else ""
    return Item(name, "passed", f"{counted(len(ranged), 'place')} with lines{by_name}")


def _starts(tables: Mapping[str, FileTable]) -> dict[tuple[str, str], int]:
    """Return where the definitions start whose last name their file has once."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for table in tables.values():
        for chunk in table.chunks:
            found[table.path, chunk.name.rpartition(".")[2]].append(chunk.start_line)
    return {place: lines[0] for place, lines in found.items() if len(lines) == 1 and place[1]}


def _invalid(record: Record, *words: str) -> str:
    """Return the first answer that was refused for something, or nothing."""
    for one in record.asked:
        error = one.answer.error
        if one.answer.status == "invalid_output" and any(word in error for word in words):
            return f"{_shown(one.text)}: {error}"
    return ""


def _paths(record: Record) -> Item:
    name = "paths are files of the corpus"
    outside = _invalid(record, "path")
    if outside:
        return Item(name, "failed", outside)
    strange = [
        hit.path
        for one in record.good()
        if one.answer.repairs.get(UNKNOWN)
        for hit in one.answer.hits
        if hit.path not in record.tables
    ]
    if strange:
        wrong = sorted(set(strange))
        meant = meant_path(wrong[0], record.tables)
        known = f"; {wrong[0]} is {meant} in the corpus" if meant else ""
        return Item(name, "failed", f"no files: {_some(wrong)}{known}")
    paths = {hit.path for one in record.good() for hit in one.answer.hits}
    if not paths:
        return Item(name, "not judged", "nothing was found")
    return Item(name, "passed", f"{counted(len(paths), 'file')} found")


def _depths(record: Record) -> Item:
    name = "k is kept"
    over = [one for one in record.good() if one.answer.repairs.get(CUT)]
    if over:
        cut = over[0].answer.repairs[CUT]
        return Item(name, "failed", f"{over[0].k} asked for, {over[0].k + cut} returned")
    wide = {one.text: one.answer.hits for one in record.of(PLAIN) if one.turn == 0}
    asked = record.of(DEPTHS_ASKED)
    if not any(one.answer.hits for one in asked):
        return Item(name, "not judged", "nothing was found")
    other = sum(_places(one.answer) != _places_of(wide[one.text])[: one.k] for one in asked)
    note = f"; {other} of {len(asked)} short lists are not the start of the longer" if other else ""
    return Item(name, "passed", f"k of {', '.join(map(str, (*DEPTHS, DEPTH, DEEPER)))}{note}")


def _short(record: Record) -> Item:
    name = "a list shorter than k is not filled up"
    judged = _answers(record, name, DEEP)
    if judged.outcome != "passed":
        return judged
    longest = 0
    for one in record.of(DEEP):
        counts = Counter(_places(one.answer))
        place, times = counts.most_common(1)[0] if counts else ((), 1)
        if times > 1:
            return Item(name, "failed", f"{_shown(one.text)}: {place[:3]} stands {times} times")
        longest = max(longest, len(one.answer.hits))
    return Item(name, "passed", f"{DEEPER} asked for, {longest} at most returned")


def _twice(record: Record, name: str, turn: int, problem: str) -> Item:
    if problem:
        return Item(name, "failed", problem)
    first = {one.text: one for one in record.of(PLAIN) if one.turn == 0}
    again = [one for one in record.of(PLAIN) if one.turn == turn]
    if not again:
        return Item(name, "not judged", "nothing was asked")
    answered = [one for one in again if "ok" in (one.answer.status, first[one.text].answer.status)]
    other = [one.text for one in answered if _differ(one, first[one.text])]
    if other:
        what = f"{len(other)} of {len(again)} answers are others, first of {_shown(other[0])}"
        return Item(name, "failed", what)
    few = _few(len(answered), len(again))
    if few:
        return Item(name, "not judged", few)
    return Item(name, "passed", f"{len(answered)} answers are the same")


def _few(answered: int, asked: int) -> str:
    """Say that most questions were not answered, so that nothing follows from the others."""
    return f"{answered} of {asked} questions were answered" if 2 * answered < asked else ""


def _differ(one: Probe, other: Probe) -> bool:
    return _places(one.answer) != _places(other.answer)


def _places(answer: Answer) -> list[tuple[object, ...]]:
    return _places_of(answer.hits)


def _places_of(hits: Iterable[Hit]) -> list[tuple[object, ...]]:
    return [(hit.path, hit.start_line, hit.end_line, hit.symbol) for hit in hits]


_OUTSIDE_NS = 50_000_000
_CACHE_NS = 5_000_000


def _latency(record: Record) -> Item:
    """Judge whether what `search` takes is what a question takes."""
    name = "latency is plausible"
    plain = [one for one in record.of(PLAIN) if one.answer.latency_ns is not None]
    if not plain:
        return Item(name, "not judged", "nothing was timed")
    few = _few(sum(one.answer.status == "ok" for one in plain), len(record.of(PLAIN)))
    if few:
        return Item(name, "not judged", few)
    inside = median(one.answer.latency_ns or 0 for one in plain)
    beyond = median(one.wall_ns - (one.answer.latency_ns or 0) for one in plain)
    shown = f"p50 {inside / 1e6:.2f} ms"
    if beyond > _OUTSIDE_NS and beyond > inside:
        detail = f"{shown} in search, and {beyond / 1e6:.0f} ms a question outside of it"
        return Item(name, "failed", detail)
    first, second = (
        median([one.answer.latency_ns or 0 for one in plain if one.turn == turn] or [0])
        for turn in (0, 1)
    )
    if first > _CACHE_NS and second and first > 10 * second:
        shown += f"; what was asked before comes {first / second:.0f} times faster: a cache"
    return Item(name, "passed", shown)
