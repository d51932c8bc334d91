"""The page's queries as compact data: rankings by number, texts and code once each.

Everything is text that was made printable; the page's script puts it in as text only.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codebench.report import hits as words
from codebench.report.data import finite
from codebench.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codebench.gold.code import Code
    from codebench.measures.names import Measure
    from codebench.model import Query
    from codebench.report.page.board import Board
    from codebench.report.rankings import Questions, Ranking

DEPTHS = (20, 15, 10, 7, 5, 3)
"""How many hits of each ranking are kept: the most with which the page is small enough."""

MOST_QUERIES = 2000
_TEXT = 600
_LINE = 160
_GOLD_LINES = 60
_HIT_LINES = 24
_CODE_HITS = 10
_FIRST_SHARE = 0.7
"""Of the room for data, what rankings may take before their depth is cut; the rest is for code."""


class _Table:
    """Texts or rows by number, each once."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, row: Any) -> int:
        if row not in self._numbers:
            self._numbers[row] = len(self.rows)
            self.rows.append(row)
        return self._numbers[row]


class Listing:
    """The queries of a board with their rankings, read once."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._asked: list[tuple[Questions, Query, tuple[Ranking, ...]]] = []
        for lots in board.lots():
            first = lots[0]
            for query in _chosen(board, first):
                own = tuple(ranking for lot in lots for ranking in lot.rankings(query))
                self._asked.append((first, query, own))

    def json(self, room: int) -> str:
        """Return the data as JSON for a script element, in at most so many bytes if it can be."""
        for depth in DEPTHS:
            data = self._data(depth)
            text = embedded(data)
            if len(text) <= room * _FIRST_SHARE or depth == DEPTHS[-1]:
                break
        data["code"] = self._code(room - len(text), data["paths"])
        return embedded(data)

    def _data(self, depth: int) -> dict[str, Any]:
        paths, places, symbols, said = _Table(), _Table(), _Table(), _Table()
        said.number(words.NOT_JUDGED)
        rows = []
        for lot, query, rankings in self._asked:
            targets = [
                [
                    printable(words.short(target.chunk, target.path)),
                    paths.number(printable(target.path)),
                    target.grade,
                    [list(span) for span in lot.spans(target)],
                ]
                for target in query.targets
            ]
            answers = []
            for one in rankings:
                shown, reached = [], {}
                for rank, (hit, step) in enumerate(one.hits[:depth], 1):
                    start = hit.start_line or 0
                    end = hit.end_line or start
                    symbol = symbols.number(printable(hit.symbol or ""))
                    place = (paths.number(printable(hit.path)), start, end, symbol)
                    shown.append(places.number(place))
                    text = printable(words.reached(step, rank, hit, query))
                    if text != words.NOT_JUDGED:
                        paid = words.grade(step) if words.pays(step, rank) else 0
                        reached[rank - 1] = [said.number(text), paid]
                status = f"{one.status}: {one.error}" if one.error else one.status
                ms = None if one.latency_ms is None else round(one.latency_ms, 3)
                answer: list[Any] = [shown, reached, len(one.hits), ms]
                answers.append(answer if one.status == "ok" else [*answer, _cut(status)])
            rows.append([*self._head(lot, query, rankings), targets, answers])
        return {
            "names": [printable(row.label) for row in self._board.retrievers],
            "measure": self._board.primary.short,
            "depth": depth,
            "asked": len(self._board.suite.queries),
            "paths": paths.rows,
            "symbols": symbols.rows,
            "places": [number for place in places.rows for number in place],
            "said": said.rows,
            "queries": rows,
            "missing": printable(
                "; ".join(sorted({lot.code.missing for lot, _, _ in self._asked}))
            ),
        }

    def _head(self, lot: Questions, query: Query, rankings: Sequence[Ranking]) -> list[Any]:
        name = str(self._board.primary)
        values = [finite(one.values.get(name)) for one in rankings]
        own = f"{lot.member}/{query.id}" if lot.member else query.id
        tags = " ".join(f"{tag}:{value}" for tag, value in sorted(query.tags.items()))
        rounded = [None if value is None else round(value, 3) for value in values]
        return [_cut(own), _cut(query.text), _cut(tags), rounded]

    def _code(self, room: int, paths: Sequence[str]) -> dict[str, list[list[Any]]]:
        """Return lines by path's number as runs [first line, text…], gold first, while they fit."""
        numbers = {path: number for number, path in enumerate(paths)}
        kept: dict[int, dict[int, str]] = {}
        left = room
        for code, path, start, end in self._wanted():
            number = numbers.get(printable(path))
            lines = None if number is None else code.lines(path)
            if number is None or lines is None:
                continue
            own = kept.setdefault(number, {})
            for at in range(start, min(end, len(lines)) + 1):
                if at in own:
                    continue
                text = printable(lines[at - 1].rstrip().expandtabs(4)[:_LINE])
                left -= len(_escaped(json.dumps(text, ensure_ascii=False)).encode()) + 2
                if left < 0:
                    return _runs(kept)
                own[at] = text
        return _runs(kept)

    def _wanted(self) -> Iterable[tuple[Code, str, int, int]]:
        for lot, query, _ in self._asked:
            for target in query.targets:
                left = _GOLD_LINES
                for start, end in lot.spans(target):
                    if left > 0:
                        yield lot.code, target.path, start, min(end, start + left - 1)
                    left -= end - start + 1
        for rank in range(_CODE_HITS):
            for lot, _, rankings in self._asked:
                for one in rankings:
                    if rank < len(one.hits):
                        hit = one.hits[rank][0]
                        start = hit.start_line or 1
                        end = hit.end_line or start
                        yield lot.code, hit.path, start, min(end, start + _HIT_LINES - 1)


def _chosen(board: Board, lot: Questions) -> Sequence[Query]:
    """Return the queries that are listed: of very many, those at which retrievers differ most."""
    if len(board.suite.queries) <= MOST_QUERIES:
        return lot.queries
    share = len(lot.queries) / len(board.suite.queries)
    prefix = f"{lot.member}/" if lot.member else ""

    def spread(query: Query) -> tuple[float, str]:
        values = _values(board, board.primary, prefix + query.id)
        return (-(max(values, default=0.0) - min(values, default=0.0)), query.id)

    chosen = sorted(lot.queries, key=spread)[: max(1, int(MOST_QUERIES * share))]
    return sorted(chosen, key=lambda query: query.id)


def _values(board: Board, measure: Measure, query: str) -> list[float]:
    found = (row.evaluation.per_query[query][str(measure)] for row in board.retrievers)
    return [value for value in found if value is not None]


def _runs(kept: Mapping[int, Mapping[int, str]]) -> dict[str, list[list[Any]]]:
    found: dict[str, list[list[Any]]] = {}
    for number, lines in sorted(kept.items()):
        runs: list[list[Any]] = []
        before = -1
        for at in sorted(lines):
            if at != before + 1:
                runs.append([at])
            runs[-1].append(lines[at])
            before = at
        if runs:
            found[str(number)] = runs
    return found


def _cut(text: str) -> str:
    own = printable(text)
    return own if len(own) <= _TEXT else own[: _TEXT - 1] + "…"


def embedded(data: Any) -> str:
    """Return data as JSON that cannot end the script element that it stands in."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return _escaped(text)


def _escaped(text: str) -> str:
    # `<` is all that `</script` and `<!--` begin with; inside of JSON it stands in strings only.
    return text.replace("<", "\\u003c")
