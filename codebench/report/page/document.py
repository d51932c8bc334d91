"""Scored runs -> one HTML file that opens offline."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import TYPE_CHECKING

from codebench.judging.contest import BEST, contest
from codebench.reading import counted
from codebench.report.contest import contest_cells
from codebench.report.page import bars, charts, tables
from codebench.report.page import markup as mk
from codebench.report.page.board import board as board_of
from codebench.report.page.choice import BUDGET_MS, choice_for, choices
from codebench.report.page.listing import Listing, embedded
from codebench.report.summary import run_notes
from codebench.report.text import queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.judging.scored import ScoredRun
    from codebench.measures.names import Measure
    from codebench.report.page.board import Board
    from codebench.report.page.choice import Choice

LIMIT = 2_000_000
"""Bytes of a page: what a mail or a ticket takes. Rankings and code are cut until it fits."""

_LEAST_ROOM = 200_000
MARGIN = 0.03


def page(runs: Sequence[ScoredRun], asked: Sequence[Measure] = (), limit: int = LIMIT) -> str:
    """Return the report of runs of one suite as HTML.

    Args:
        runs: their order is the page's. All must have answered the same suite.
        asked: measures beside the page's own.
        limit: bytes that the page should have at most.

    Raises:
        NoBaseline: the runs answered different suites.
    """
    board = board_of(runs, asked)
    found = choices(board)
    script, style = _asset("report.js"), _asset("report.css")
    body = _body(board, found)
    chosen = [[one.from_ms, one.best, one.series, list(one.lines)] for one in found]
    room = max(_LEAST_ROOM, limit - len((body + script + style).encode()) - 5000)
    data = Listing(board).json(room)
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    title = mk.esc(f"{board.suite.name}: codebench report")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>{style}</style></head>\n<body>\n{body}\n"
        f'<script type="application/json" id="choices">{embedded(_printable(chosen))}</script>\n'
        f'<script type="application/json" id="data">{data}</script>\n'
        f"<script>{script}</script>\n</body></html>\n"
    )


def _printable(chosen: list[list[object]]) -> list[list[object]]:
    from codebench.report.text import printable  # noqa: PLC0415

    return [
        [
            [printable(str(line)) for line in one] if isinstance(one, list) else one
            for one in (entry[0], printable(str(entry[1])), *entry[2:])
        ]
        for entry in chosen
    ]


def _asset(name: str) -> str:
    text = (resources.files("codebench.report") / "assets" / name).read_text("utf-8")
    return f"\n{text.strip()}\n"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _body(board: Board, found: tuple[Choice, ...]) -> str:
    sections = [
        _section("choice", "Which one to use", _choice(board, found)),
        _section("coverage", "Coverage", tables.coverage(board) + _curves(board)),
        _section("slices", "Slices", tables.sliced(board)),
        _section(
            "cost",
            "Cost",
            tables.cost(board)
            + _rows("Latency of a search", bars.latencies(board, BUDGET_MS), _BOX),
        ),
        _section("differences", "Is a difference a difference?", _differences(board)),
        _section("queries", "Queries", _QUERIES),
        _section("notes", "How to read this", _notes(board)),
    ]
    present = [one for one in sections if one[1]]
    links = "".join(f'<li><a href="#{name}">{mk.esc(title)}</a></li>' for name, title, _ in present)
    main = "".join(
        f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{mk.esc(title)}</h2>'
        f"{inside}</section>"
        for name, title, inside in present
    )
    return (
        '<a class="skip" href="#main">Skip to the report</a>'
        f'<header>{_head(board)}<nav aria-label="Sections"><ul>{links}</ul></nav></header>'
        f'<main id="main">{main}</main>'
    )


def _section(name: str, title: str, inside: str) -> tuple[str, str, str]:
    return (name, title if inside else "", inside)


def _head(board: Board) -> str:
    suite, manifest = board.suite, board.runs[0].run.manifest
    at = f" at {suite.snapshot[:12]}" if suite.snapshot else ""
    corpus = manifest.get("corpus", {})
    machine = manifest.get("machine", {})
    facts = [
        queries(len(suite.queries)),
        ", ".join(counted(corpus.get(f"{what}s", "?"), what) for what in ("file", "chunk")),
        ", ".join(str(run.run.path.resolve().name) for run in board.runs),
        " ".join(str(machine[key]) for key in ("cpu", "system") if key in machine),
        str(manifest.get("started", ""))[:16].replace("T", " "),
        f"codebench {manifest.get('codebench', '?')}",
    ]
    listed = "".join(f"<li>{mk.esc(fact)}</li>" for fact in facts if fact)
    return f'<h1>{mk.esc(suite.name)}{mk.esc(at)}</h1><ul class="facts">{listed}</ul>'


def _choice(board: Board, found: tuple[Choice, ...]) -> str:
    control = (
        '<p class="control js"><label for="budget">An agent may wait for a search at most '
        f'<input id="budget" type="number" min="0.01" step="any" value="{BUDGET_MS:g}" '
        'inputmode="decimal"> ms</label> '
        + "".join(
            f'<button type="button" class="preset" data-ms="{ms}">{ms} ms</button>'
            for ms in (1, 10, 50, 200, 1000)
        )
        + "</p>"
    )
    own = choice_for(found, BUDGET_MS)
    lines = "".join(f"<li>{mk.esc(line)}</li>" for line in own.lines) if own else ""
    name = f"<bdi>{mk.esc(own.best)}</bdi>" if own else "none of them"
    answer = (
        '<div id="answer" aria-live="polite"><p class="answer">Within '
        f'<span id="answer-ms">{BUDGET_MS:g}</span> ms (p95) use '
        f'<strong id="answer-name">{name}</strong></p><ul id="answer-lines">{lines}</ul></div>'
    )
    legend = charts.legend(board, floors=False)
    figure = _figure(charts.pareto(board, BUDGET_MS), legend)
    return (
        f'<div class="lead"><div>{control}{answer}</div>{figure}</div>'
        f"{tables.first_screen(board)}"
        '<p class="key-line">* the best of its column, = not shown to be worse than it (undecided '
        "in a paired comparison). Small figures are 95 % intervals. Floors are reference rows that "
        "the harness itself answers.</p>"
    )


def _figure(svg: str, legend: str = "") -> str:
    return f"<figure>{svg}{legend}</figure>" if svg else ""


_BOX = "The box is the middle half of the searches, the line 98 % of them, the mark p95."


def _rows(title: str, svg: str, words: str) -> str:
    if not svg:
        return ""
    caption = f"{mk.esc(title)} <small>{mk.esc(words)}</small>"
    return f'<figure class="rows"><figcaption>{caption}</figcaption>{svg}</figure>'


def _curves(board: Board) -> str:
    drawn = []
    for level, words in charts.LEVELS.items():
        for draw, by in ((charts.recall_by_k, "K"), (charts.recall_by_tokens, "tokens")):
            svg = draw(board, level)
            if svg:
                drawn.append(
                    f"<figure><figcaption>Recall of {words} by {by}</figcaption>{svg}</figure>"
                )
    if not drawn:
        return ""
    return f'{charts.legend(board, floors=True)}<div class="grid">{"".join(drawn)}</div>'


def _differences(board: Board) -> str:
    if len(board.retrievers) < 2:
        return ""
    measures = list(dict.fromkeys([board.primary, board.exact]))
    with_itself = len({row.scored.name for row in board.retrievers}) < len(board.retrievers)
    found = contest(board.contenders, measures, baseline="" if with_itself else BEST, margin=MARGIN)
    rows = [
        (f"{one.candidate} - {one.baseline}", contest_cells(one))
        for one in found.comparison.differences
    ]
    notes = [
        f"The band is the margin of ±{MARGIN:g}: a smaller difference does not count.",
        f"Scope: {found.comparison.scope}.",
        *found.notes,
    ]
    listed = "".join(f"<li>{mk.esc(note)}</li>" for note in notes)
    drawn = bars.differences(found.comparison, MARGIN)
    figure = _rows("Paired differences", drawn, "A dot the difference, a line its interval.")
    folded = mk.details("Figures", tables.differences(board, rows))
    return f'{figure}{folded}<ul class="notes">{listed}</ul>'


_QUERIES = """<noscript><p>The list of queries needs JavaScript; \
<code>codebench show RUN QUERY</code> prints the same.</p></noscript>\
<div class="js"><p class="control"><label>Search <input id="search" type="search" \
placeholder="words, an ID, leak:none, a path" autocomplete="off"></label> \
<label>Sort by <select id="sort"></select></label> \
<span id="count" role="status"></span></p>\
<div class="wide" role="region" tabindex="0" aria-labelledby="queries-h">\
<table id="list"><caption class="away">Queries with each retriever's value</caption>\
<thead></thead><tbody></tbody></table></div>\
<p><button type="button" id="more">Show more</button></p></div>"""


_READING = (
    "Values are means over queries by query weight. A failed query scores the worst value.",
    "A hit that shows an exact symbol has grade 3, elsewhere in its file 2, in a related module 1.",
    "Each of these is paid once, at the first hit that reaches it.",
    "A point is on the Pareto front where no other retriever is both better and faster.",
)


def _notes(board: Board) -> str:
    notes = list(_READING)
    for run in board.runs:
        prefix = f"{run.run.path.resolve().name}: " if len(board.runs) > 1 else ""
        notes += [prefix + note for note in run_notes(run)]
    machines = {str(run.run.manifest.get("machine")) for run in board.runs}
    if len(machines) > 1:
        notes.append(
            "The runs were taken on different machines: their latencies are not comparable, and "
            "neither is the choice within a budget."
        )
    return f'<ul class="notes">{"".join(f"<li>{mk.esc(note)}</li>" for note in notes)}</ul>'
