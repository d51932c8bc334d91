"""`codebench show`: one query of a stored run, or the queries that are worth a look."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from codebench.cli.options import (
    RUN,
    add_format,
    add_measures,
    as_path,
    exit_code,
    positive,
    show,
    show_next,
    stored,
)
from codebench.cli.parsing import VerbParser
from codebench.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from codebench.measures.names import Measure

_EXAMPLES = (
    (
        "the query whose ID begins so, or whose text holds these words",
        'codebench show latest "session token" -k 20',
    ),
    ("where to look first", "codebench show latest --worst 20 -r bm25"),
    ("found in the older run, and missed now", "codebench show latest --broken-since results/shop"),
)

_FOUND_AT = 10
_MOST_HITS = 10


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench show",
        description="One query of a stored run: its gold with code, and each retriever's ranking "
        "with what every hit reached. Or a list of queries that are worth a look.",
        examples=_EXAMPLES,
    )
    own.add_argument("stored", metavar="RUN", type=as_path, help=RUN)
    own.add_argument(
        "query", metavar="QUERY", nargs="?", help="an ID, the beginning of one, or part of a text"
    )
    lists = own.add_mutually_exclusive_group()
    lists.add_argument("--worst", type=positive(int), metavar="N", help="list the N worst queries")
    lists.add_argument(
        "--fixed-since",
        type=as_path,
        metavar="RUN",
        help="list what was missed in that run and is found now",
    )
    lists.add_argument(
        "--broken-since",
        type=as_path,
        metavar="RUN",
        help="list what was found in that run and is missed now",
    )
    own.add_argument(
        "-r",
        "--retriever",
        action="append",
        default=[],
        metavar="NAME",
        help="only this retriever or floor; may be repeated (default: all but the floors)",
    )
    own.add_argument("--floors", action="store_true", help="show the floors' rankings too")
    own.add_argument(
        "-k",
        "--top",
        type=positive(int),
        metavar="K",
        help=f"hits of each ranking (default: {_MOST_HITS}; JSON holds all)",
    )
    own.add_argument("--all", action="store_true", help="print long targets whole")
    add_measures(own, "a list is made by the first")
    add_format(own)
    return own


def run(arguments: argparse.Namespace) -> int:
    """Show one, or list."""
    lists = (arguments.worst, arguments.fixed_since, arguments.broken_since)
    if (arguments.query is None) == (not any(lists)):
        raise UsageError("name a QUERY, or ask for --worst N, --fixed-since or --broken-since")
    if any(lists):
        given = [name for name in ("floors", "all") if getattr(arguments, name)]
        given += ["top"] if arguments.top is not None else []
        if given:
            raise UsageError(f"--{given[0]} is of one QUERY, and a list was asked for")
    if arguments.floors and arguments.retriever:
        raise UsageError("--floors adds all floors; with -r name those that are wanted")
    from codebench.measures import names  # noqa: PLC0415  # `--help` needs none

    asked = [names.parse(name) for name in arguments.measure]
    arguments.stored = stored(arguments.stored)
    if any(lists):
        return _list(arguments, asked)
    from codebench.judging.scoring import depth_of, score_run  # noqa: PLC0415
    from codebench.report.rankings import find, questions  # noqa: PLC0415  # as wrong words first
    from codebench.report.show import shown  # noqa: PLC0415

    usual = (names.PRIMARY, names.BESIDE)
    own = asked or list(names.within_depth(usual, depth_of(arguments.stored)))
    own = own or [names.Measure("RR", rel=2)]
    scored = score_run(arguments.stored, own, arguments.retriever)
    named = arguments.retriever or [
        one.name for one in scored.retrievers if arguments.floors or not one.floor
    ]
    lot, query = find(questions(scored, {name: name for name in named}), arguments.query)
    width = shutil.get_terminal_size().columns
    whole = arguments.all
    print(
        shown(
            lot, query, arguments.format, top=arguments.top or _MOST_HITS, width=width, whole=whole
        )
    )
    if arguments.format == "table":
        print()
        show_next("report", arguments.stored, "-o", "report.html")
    return exit_code([scored])


def _list(arguments: argparse.Namespace, asked: list[Measure]) -> int:
    from codebench.judging.scoring import depth_of, score_run  # noqa: PLC0415
    from codebench.measures import names  # noqa: PLC0415  # as in `run`
    from codebench.report.picked import changed, picked_text, worst  # noqa: PLC0415  # as in `run`

    baseline = arguments.fixed_since or arguments.broken_since
    paths = [arguments.stored, *([stored(baseline)] if baseline else [])]
    depth = min(depth_of(path) for path in paths)
    found = names.Measure("Success", min(_FOUND_AT, depth), rel=3)
    best = names.within_depth((names.PRIMARY,), depth) or (found,)
    measure = asked[0] if asked else found if baseline else best[0]
    scored = [score_run(path, [measure], arguments.retriever) for path in paths]
    if baseline:
        fixed = arguments.fixed_since is not None
        picks = changed(scored[0], scored[1], measure, fixed=fixed)
    else:
        picks = worst(scored[0], measure, arguments.worst)
    show(picked_text(picks, arguments.format), arguments.format)
    if arguments.format == "table" and picks.picked:
        print()
        show_next("show", arguments.stored, picks.picked[0].query.id)
    return exit_code(scored)
