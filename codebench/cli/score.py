"""`codebench score`: measures from a stored run, or from TREC files; nothing is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import (
    RUN,
    add_format,
    add_measures,
    as_path,
    exit_code,
    measures_aside,
    measures_of,
    show,
    stored,
)
from codebench.cli.parsing import VerbParser
from codebench.errors import NothingMeasured, UsageError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from codebench.judging.scored import ScoredRun
    from codebench.report.judgments import Judged
    from codebench.trec import Ties

_EXAMPLES = (
    (
        "other measures of a stored run, one retriever, cut by a tag",
        "codebench score latest -m 'R(rel=3)@20' -m Tokens@32000 -r bm25 --by language",
    ),
    ("every query's values, for a spreadsheet", "codebench score latest -q --format csv"),
    (
        "TREC files, as trec_eval does",
        "codebench score --qrels qrels.txt --run run.txt --ties trec --empty-gold zero",
    ),
)

JUDGED = ("RR@10", "R@10", "P@10", "AP", "nDCG@10")
"""What is measured of TREC files where nothing is asked for."""

AGGREGATES = ("macro", "unweighted", "micro", "repositories")
_LONGEST_CURVE = 1000


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench score",
        description="Measures from a stored run, or from TREC files. Nothing is run.",
        examples=_EXAMPLES,
    )
    own.add_argument("stored", metavar="RUN", nargs="?", type=as_path, help=RUN)
    add_measures(own)
    own.add_argument(
        "--aggregate",
        choices=AGGREGATES,
        default="macro",
        help="which mean: over queries by weight, unweighted, of all units (P, R and F only), or "
        "over repositories (default: macro)",
    )
    own.add_argument("--curve", action="store_true", help="recall by K, from 1 to the depth")
    own.add_argument("-q", "--per-query", action="store_true", help="every query's values")
    add_format(own, "csv")
    of_run = own.add_argument_group("of a stored run")
    of_run.add_argument(
        "-r",
        "--retriever",
        action="append",
        default=[],
        metavar="NAME",
        help="only this retriever or floor; may be repeated",
    )
    of_run.add_argument(
        "--by", action="append", default=[], metavar="TAG", help="slices by a tag; may be repeated"
    )
    trec = own.add_argument_group("of TREC files")
    trec.add_argument(
        "--qrels", type=as_path, metavar="FILE", help="judgments, plain or gzip, or a BEIR folder"
    )
    trec.add_argument("--run", type=as_path, metavar="FILE", help="a TREC run, plain or gzip")
    trec.add_argument("--split", metavar="NAME", help="of a BEIR folder (default: test)")
    trec.add_argument(
        "--ties",
        choices=("order", "trec"),
        help="equal scores: in the order of the lines, or as trec_eval sorts (default: order)",
    )
    trec.add_argument(
        "--empty-gold",
        choices=("exclude", "zero"),
        help="a query without a relevant document: left out, or 0 (default: exclude)",
    )
    trec.add_argument(
        "--lenient",
        action="store_true",
        help="a repeated document keeps its slot and counts once, in place of an error",
    )
    return own


def run(arguments: argparse.Namespace) -> int:
    """Score and print."""
    _check_words(arguments)
    if arguments.stored is None:
        judged = _judged(arguments)
        _print_judged(judged, arguments)
        return 0
    arguments.stored = stored(arguments.stored)
    measures = measures_of(arguments.measure, lambda: _depth(arguments.stored))
    from codebench.judging.scoring import score_run  # noqa: PLC0415  # wrong words fail before imports

    scored = score_run(arguments.stored, measures, arguments.retriever)
    _print_run(scored, arguments)
    return exit_code([scored], noted=arguments.format in {"table", "markdown"})


def _depth(run: Path) -> int:
    from codebench.judging.scoring import depth_of  # noqa: PLC0415  # as in `run`

    return depth_of(run)


def _check_words(arguments: argparse.Namespace) -> None:
    """Refuse words that do not go together, before anything is read."""
    trec = {
        f"--{name}": getattr(arguments, name.replace("-", "_"))
        for name in ("qrels", "run", "split", "ties", "empty-gold", "lenient")
    }
    given = [name for name, value in trec.items() if value]
    if arguments.stored is not None and given:
        raise UsageError(f"{given[0]} is for TREC files; give it without RUN")
    if arguments.stored is None:
        if arguments.qrels is None or arguments.run is None:
            raise UsageError("name a RUN folder, or TREC files by --qrels and --run")
        for name in ("retriever", "by"):
            if getattr(arguments, name):
                raise UsageError(f"--{name} is for a stored RUN, not for TREC files")
    tables = [
        name
        for name, asked in (
            ("--by", arguments.by),
            ("--curve", arguments.curve),
            ("--per-query", arguments.per_query),
        )
        if asked
    ]
    if arguments.format == "csv" and len(tables) > 1:
        raise UsageError(f"csv holds one table: give one of {', '.join(tables)}")


def _judged(arguments: argparse.Namespace) -> Judged:
    from codebench.measures.names import parse  # noqa: PLC0415  # `--help` needs none

    measures = [parse(name) for name in arguments.measure or JUDGED]
    from codebench.evaluation import UNANSWERED, evaluate  # noqa: PLC0415  # as above
    from codebench.report.judgments import Judged  # noqa: PLC0415
    from codebench.trec import read_beir, read_qrels, read_run  # noqa: PLC0415

    ties: Ties = arguments.ties or "order"
    lenient: bool = arguments.lenient
    notes: tuple[str, ...] = ()
    if arguments.qrels.is_dir():
        grades = read_beir(arguments.qrels, arguments.split or "test").grades
    else:
        if arguments.split:
            raise UsageError(f"--split is of a BEIR folder, and {arguments.qrels} is a file")
        judgments = read_qrels(arguments.qrels, lenient=lenient)
        grades, notes = judgments.grades, judgments.notes
    rankings = read_run(arguments.run, ties=ties, lenient=lenient)
    evaluation = evaluate(
        grades, rankings.documents, measures, empty_gold=arguments.empty_gold or "exclude"
    )
    if all(status == UNANSWERED for status in evaluation.statuses):
        raise NothingMeasured(
            f"{arguments.run}: answers none of the {len(grades)} queries of {arguments.qrels}; "
            "do their query IDs agree?"
        )
    cutoffs = sorted({one.cutoff for one in measures if one.cutoff and not one.tokens})
    return Judged(
        name=rankings.name or arguments.run.name,
        evaluation=evaluation,
        ties=ties,
        tied={cutoff: rankings.tied_at(cutoff) for cutoff in cutoffs},
        depth=max(map(len, rankings.documents.values())),
        notes=(*notes, *rankings.notes),
    )


def _print_judged(judged: Judged, arguments: argparse.Namespace) -> None:
    from codebench.report import details  # noqa: PLC0415  # as above
    from codebench.report.judgments import judged_json, judged_text  # noqa: PLC0415

    own, how = {judged.name: judged.evaluation}, arguments.aggregate
    asked = details.Details(
        how=how,
        curve=min(judged.depth, _LONGEST_CURVE) if arguments.curve else 0,
        per_query=arguments.per_query,
    )
    if arguments.format == "json":
        print(judged_json(judged, how, details.more_data(judged.evaluation, asked)))
    elif arguments.format == "csv":
        print(details.one_csv(own, asked))
    else:
        markdown = arguments.format == "markdown"
        blocks = [judged_text(judged, how, markdown=markdown)]
        text = "\n\n".join([*blocks, *details.more_text(own, asked, markdown=markdown)])
        show(text, arguments.format)


def _print_run(scored: ScoredRun, arguments: argparse.Namespace) -> None:
    from codebench.report import details  # noqa: PLC0415  # as above
    from codebench.report.summary import as_json, summary  # noqa: PLC0415

    rows = sorted(scored.retrievers, key=lambda one: one.floor)
    own = {one.name: one.evaluation for one in rows if one.evaluation}
    asked = details.Details(
        how=arguments.aggregate,
        curve=scored.run.depth if arguments.curve else 0,
        per_query=arguments.per_query,
        by=tuple(dict.fromkeys(arguments.by)),
        suite=scored.suite,
    )
    if arguments.format == "json":
        more = {name: details.more_data(evaluation, asked) for name, evaluation in own.items()}
        print(as_json(scored, asked.how, more))
    elif arguments.format == "csv":
        print(details.one_csv(own, asked))
    else:
        markdown = arguments.format == "markdown"
        aside = measures_aside(arguments.measure, scored.run.depth, arguments.format)
        own = {name: evaluation.without(aside) for name, evaluation in own.items()}
        blocks = [summary(scored, markdown=markdown, how=asked.how, aside=aside)]
        text = "\n\n".join([*blocks, *details.more_text(own, asked, markdown=markdown)])
        show(text, arguments.format)
