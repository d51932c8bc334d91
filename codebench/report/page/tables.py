"""The page's tables: the three layers of the dashboard, and the slices."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from codebench.evaluation import slices
from codebench.report.page import markup as mk
from codebench.report.page.board import COVERAGE, FIRST, TOKENS, VALUE, standings
from codebench.report.text import NONE, digits_of, milliseconds, number, size, tag_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.evaluation import Slice
    from codebench.measures.names import Measure
    from codebench.measures.statistics import Figure
    from codebench.report.page.board import Board, Row, Standing

_MOST_VALUES = 12
_MS = 1e6
_FIRST_TAGS = ("leak", "member", "repository")
_NO_STRATA = ("cluster",)


def first_screen(board: Board) -> str:
    """Return the first layer: what stands on an agent's first screen."""
    measures = [*map(board.bound, FIRST), board.primary]
    measures += [board.bound(VALUE)] if board.weighted else []
    measures += [one for one in board.asked if one not in measures]
    note = "the first results that are read, and latency beside"
    return _figures(board, "First screen", note, list(dict.fromkeys(measures)))


def coverage(board: Board) -> str:
    """Return the second layer: how much is found further down."""
    note = "the share of right files (rel=2) and exact symbols (rel=3) within K"
    measures = list(dict.fromkeys(map(board.bound, COVERAGE)))
    return _figures(board, "What is found within K", note, measures)


def _figures(board: Board, caption: str, note: str, measures: Sequence[Measure]) -> str:
    leading = standings(board, measures)
    rows = [
        (
            _attributes(row),
            _name(row),
            [*(_cell(row, one, leading.get(one)) for one in measures), _ms(row, "p95")],
        )
        for row in board.rows
    ]
    headers = ["retriever", *(one.short for one in measures), "p95 ms"]
    return mk.table(caption, headers, rows, note=note)


def _attributes(row: Row) -> str:
    if row.floor:
        return ' class="floor-row"'
    return f' data-series="{row.series}"'


def _name(row: Row) -> str:
    floor = " <small>floor</small>" if row.floor else ""
    css = mk.series_class(row.series, floor=row.floor)
    return (
        f'<span class="dot {css}" aria-hidden="true"></span><bdi>{mk.esc(row.label)}</bdi>{floor}'
    )


def _cell(row: Row, measure: Measure, standing: Standing | None) -> str:
    text = _value(row.evaluation.figures[str(measure)], measure)
    if standing is None or row.floor:
        return text
    if row.label == standing.best:
        return f'<span class="best"><abbr title="the best">*</abbr>{text}</span>'
    if row.label in standing.level:
        return f'<span class="level"><abbr title="not shown to be worse">=</abbr>{text}</span>'
    return text


def _value(figure: Figure, measure: Measure) -> str:
    if figure.value is None:
        return NONE
    digits = digits_of(measure)
    if not digits:
        return f"{figure.value:,.0f}"
    if figure.low is None or figure.high is None:
        return number(figure.value, digits)
    low, high = (number(end, 2) for end in (figure.low, figure.high))
    return f"{number(figure.value, digits)} <small>[{low}, {high}]</small>"


def _ms(row: Row, share: str) -> str:
    value = getattr(row.scored.latency, share)
    return NONE if row.floor or value is None else milliseconds(value / _MS)


def cost(board: Board) -> str:
    """Return the third layer: latency, tokens, the index, failures."""
    tokens = board.bound(TOKENS)
    leading = standings(board, [tokens]).get(tokens)
    rows = []
    for row in board.rows:
        index = row.scored.run.index
        first = row.scored.run.first_ns
        cells = [
            *(_ms(row, share) for share in ("p50", "p95", "p99")),
            NONE if row.floor or first is None else milliseconds(first / _MS),
            _cell(row, tokens, leading),
            NONE if index is None else number(index.seconds, 2),
            NONE if index is None else size(index.bytes),
            NONE if index is None else size(index.peak_rss_bytes),
            _failures(row),
        ]
        attributes = _attributes(row)
        if not row.floor:
            attributes += f' id="r{row.series}" tabindex="-1"'
        rows.append((attributes, _name(row), cells))
    headers = ["retriever", "p50 ms", "p95 ms", "p99 ms", "first query ms"]
    headers += ["tokens to the first target", "index s", "index size", "peak memory", "failed"]
    note = "latency of a search alone; tokens read until the first target, 32,000 where none"
    return mk.table("What it takes", headers, rows, note=note)


def _failures(row: Row) -> str:
    counts = row.evaluation.failures
    if not counts:
        return "0"
    return mk.esc(", ".join(f"{count} {status}" for status, count in counts.items()))


def sliced(board: Board) -> str:
    """Return a table a tag and measure, in groups of which the page shows one measure."""
    measures = dict.fromkeys([*map(board.bound, COVERAGE), board.exact, board.primary])
    tags = _tags(board)
    if not tags:
        return ""
    groups = []
    for at, measure in enumerate(measures):
        tables = "".join(_folded(board, tag, measure, first=tag == tags[0]) for tag in tags)
        groups.append(f'<div class="group" data-measure="{at}">{tables}</div>')
    options = "".join(
        f'<option value="{at}">{mk.esc(one.short)}</option>' for at, one in enumerate(measures)
    )
    control = (
        '<p class="control js"><label>Measure '
        f'<select id="slice-measure">{options}</select></label></p>'
    )
    return f'{control}<div id="slices">{"".join(groups)}</div>'


def _folded(board: Board, tag: str, measure: Measure, *, first: bool) -> str:
    opened = " open" if first or tag in _FIRST_TAGS else ""
    inside = _slice_table(board, tag, measure)
    return f"<details{opened}><summary>by {mk.esc(tag)}</summary>{inside}</details>"


def _tags(board: Board) -> list[str]:
    """Return the tags that cut the queries into a few parts; those about leaks come first."""
    values: dict[str, Counter[str]] = {}
    for query in board.suite.queries:
        for tag, value in query.tags.items():
            values.setdefault(tag, Counter())[value] += 1
    asked = len(board.suite.queries)
    few = [
        tag
        for tag, own in values.items()
        if len(own) + (own.total() < asked) >= 2
        and len(own) <= _MOST_VALUES
        and tag not in _NO_STRATA
    ]
    return sorted(few, key=lambda tag: (tag not in _FIRST_TAGS, tag))


def _slice_table(board: Board, tag: str, measure: Measure) -> str:
    by_row: list[Mapping[str, Slice]] = []
    suite = board.suite
    for row in board.rows:
        found = slices(row.evaluation, suite, tag)
        by_row.append({one.value: one for one in found})
    rows = []
    for value, first in by_row[0].items():
        cells = [
            _value(own[value].figures[str(measure)], measure) if value in own else NONE
            for own in by_row
        ]
        rows.append(("", mk.esc(value or "(none)"), [str(first.n), *cells]))
    headers = [tag, "queries", *(row.label for row in board.rows)]
    return mk.table(f"{measure.short} by {tag}", headers, rows, note=tag_words(tag))


def differences(board: Board, found: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return the figures of the differences as a table; each row a name and its cells."""
    headers = ["candidate - baseline", "measure", "verdict", "before", "after", "Δ"]
    headers += ["95 % interval", "p", "won/tied/lost"]
    asked = len(board.suite.queries)
    rows = [("", mk.esc(name), [mk.esc(cell) for cell in cells]) for name, cells in found]
    return mk.table("Paired differences", headers, rows, note=f"paired over {asked} queries")
