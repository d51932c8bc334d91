"""`codebench suite import`: others' data sets as suites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.options import add_format, add_jobs, as_path, on_terminal
from codebench.cli.progress import Progress
from codebench.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from codebench.gold.judgments import Imported

EXAMPLES = (
    ("a BEIR or CoIR folder", "codebench suite import beir data/cosqa -o suites/cosqa"),
    (
        "TREC files",
        "codebench suite import trec qrels.txt --topics t.tsv --documents docs -o suites/mine",
    ),
    (
        "issues with their patches",
        "codebench suite import swe-bench tasks.jsonl --repository ../flask -o suites/tasks",
    ),
)

NOTES = """\
Documents become files of the suite's own corpus, named in documents.jsonl. Of SWE-bench-style
lines the gold is what the patch edits at the base commit. Where they name several repositories:
--repository pallets/flask=../flask --repository psf/requests=https://example.org/requests.
docs/import.md says more.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("form", choices=("beir", "trec", "swe-bench"), help="what is imported")
    parser.add_argument(
        "source", type=as_path, metavar="SOURCE", help="BEIR folder, qrels file, or JSON Lines"
    )
    parser.add_argument(
        "-o", "--output", type=as_path, required=True, metavar="FOLDER", help="the suite's folder"
    )
    parser.add_argument("--split", metavar="NAME", help="of a BEIR folder (default: test)")
    parser.add_argument("--topics", type=as_path, metavar="FILE", help="the TREC topics")
    parser.add_argument(
        "--documents", type=as_path, metavar="PATH", help="the TREC documents: a folder or a file"
    )
    parser.add_argument(
        "--repository",
        action="append",
        default=[],
        metavar="[NAME=]PATH",
        help="of SWE-bench-style lines: path or URL, of one name in the field `repo` or of all; "
        "may be repeated",
    )
    parser.add_argument("--force", action="store_true", help="replace a suite that is there")
    add_jobs(parser)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Import, write and tell."""
    _check_words(arguments)
    from codebench.report.suite_exchange import imported  # noqa: PLC0415  # wrong words fail before

    progress = Progress(shown=on_terminal())
    try:
        found = _imported(arguments, progress)
    finally:
        progress.clear()
    print(imported(found, arguments.output, arguments.format))
    return 0


def _check_words(arguments: argparse.Namespace) -> None:
    needed = {
        "beir": {"--split": arguments.split},
        "trec": {"--topics": arguments.topics, "--documents": arguments.documents},
        "swe-bench": {"--repository": arguments.repository},
    }
    for name, value in needed[arguments.form].items():
        if not value and name != "--split":
            raise UsageError(f"{name}: is needed to import {arguments.form}")
    for form, words in needed.items():
        for name, value in words.items():
            if value and form != arguments.form:
                raise UsageError(f"{name}: belongs to {form}, not to {arguments.form}")
    if not arguments.source.exists():
        raise UsageError(f"{arguments.source}: is not there")


def _imported(arguments: argparse.Namespace, progress: Progress) -> Imported:
    from codebench.corpus.rules import SnapshotRules  # noqa: PLC0415  # as in `run`
    from codebench.gold import instances, judgments  # noqa: PLC0415

    jobs, force = arguments.jobs, arguments.force
    if arguments.form == "beir":
        return judgments.import_beir(
            arguments.source,
            arguments.output,
            progress.step,
            split=arguments.split or "test",
            jobs=jobs,
            force=force,
        )
    if arguments.form == "trec":
        return judgments.import_trec(
            arguments.source,
            arguments.topics,
            arguments.documents,
            arguments.output,
            progress.step,
            jobs=jobs,
            force=force,
        )
    return instances.import_instances(
        arguments.source,
        dict(_named(one) for one in arguments.repository),
        arguments.output,
        progress.step,
        rules=SnapshotRules(),
        jobs=jobs,
        force=force,
    )


def _named(text: str) -> tuple[str, str]:
    """Read `NAME=PATH`; a path alone is for every name."""
    name, equals, place = text.partition("=")
    if not equals or "://" in name or as_path(text).exists():
        return "", text
    return name, place
