"""`codebench suite build`: from repositories to a suite folder."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from codebench.cli.log_options import add_log, build_by_log
from codebench.cli.options import add_jobs, as_path, on_terminal, positive, show
from codebench.cli.progress import Progress
from codebench.errors import UsageError

if TYPE_CHECKING:
    from codebench.gold.recipe import Mode, Recipe

EXAMPLES = (
    (
        "what the filters would leave of this repository's history",
        "codebench suite build . --dry-run",
    ),
    (
        "a suite of it: yesterday's code, tomorrow's questions",
        "codebench suite build . -o suites/mine --since 2023-01-01 --max-queries 400",
    ),
    (
        "questions by hand, in place of the history",
        "codebench suite build . --questions ours.yaml -o suites/ours",
    ),
)

NOTES = """\
Beside these: several repositories make one member each (suite build ../api ../web -o suites/both);
--from-log takes what people or agents did; --recipe mines a public repository as it is published;
--mode epochs=4 spreads the questions over four snapshots.

An interrupted build goes on where it was: what a commit edited is kept in the cache.
"""

_MAX_EPOCHS = 100
_MAX_QUERIES = 200

_OF_A_HISTORY = {
    "since": None,
    "until": None,
    "max_queries": _MAX_QUERIES,
    "mode": ("frozen", 1),
    "pull_requests": False,
    "text": "short",
    "mask_leaks": False,
}
_OF_A_SNAPSHOT: dict[str, object] = {"snapshot": "", "include": [], "exclude": []}
"""What may be said of a history, and of the code that is asked, with what each is unless said."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "repositories", nargs="*", metavar="REPOSITORY", help="a path or URL; several make members"
    )
    _add_sources(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=as_path,
        metavar="FOLDER",
        help="the new folder; its last part names the suite",
    )
    parser.add_argument("--force", action="store_true", help="replace a suite that is there")
    parser.add_argument(
        "--snapshot", default="", metavar="REVISION", help="the code that is asked (default: the "
        "newest after which so many queries survive)"
    )  # fmt: skip
    for name, what in (("include", "only files that match"), ("exclude", "no file that matches")):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="GLOB",
            help=f"{what}; may be repeated",
        )
    add_jobs(parser)
    _add_history(parser)
    add_log(parser)


def _add_sources(parser: argparse.ArgumentParser) -> None:
    """Add what is read in place of a repository's history."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--questions",
        type=as_path,
        metavar="FILE",
        help="YAML of questions by hand, in place of the history (docs/labelling.md)",
    )
    source.add_argument(
        "--from-log",
        type=as_path,
        action="append",
        metavar="FILE",
        help="a query log, or an agent's trajectories, in place of the history: a file or a "
        "folder of them; may be repeated",
    )
    source.add_argument(
        "--recipe",
        metavar="RECIPE",
        help="a built-in recipe or a YAML file: what to mine of which "
        "repository (a REPOSITORY given with it is a clone of that one)",
    )


def _add_history(parser: argparse.ArgumentParser) -> None:
    """Add what is asked of a history, and how."""
    history = parser.add_argument_group("of a history")
    history.add_argument("--since", type=_since, metavar="DATE", help="ask no older commit")
    history.add_argument(
        "--until", type=_until, metavar="DATE", help="ask no newer commit (a day counts whole)"
    )
    history.add_argument(
        "--max-queries",
        type=positive(int),
        metavar="N",
        default=_MAX_QUERIES,
        help=f"queries at most (default: {_MAX_QUERIES})",
    )
    history.add_argument(
        "--mode",
        type=_mode,
        default=("frozen", 1),
        metavar="MODE",
        help="frozen: one snapshot; epochs=N: N of them; parent: each commit's own parent "
        "(default: frozen)",
    )
    history.add_argument(
        "--pull-requests", action="store_true", help="ask merged pull requests, not commits"
    )
    history.add_argument(
        "--text", choices=("short", "long"), default="short", help="the subject, or prose too"
    )
    history.add_argument(
        "--mask-leaks", action="store_true", help="take what names the answer out of the texts"
    )
    history.add_argument("--dry-run", action="store_true", help="print the funnel, write nothing")


def run(arguments: argparse.Namespace) -> int:
    """Mine, write and tell."""
    if arguments.output is None and not arguments.dry_run:
        raise UsageError(
            "-o: say where the suite goes, as in -o suites/NAME (or --dry-run for the funnel alone)"
        )
    _check_words(arguments)
    if arguments.questions or arguments.recipe:
        return _by_hand(arguments) if arguments.questions else _by_recipe(arguments)
    if arguments.from_log:
        return build_by_log(arguments, _recipe(arguments).rules)
    if not arguments.repositories:
        raise UsageError("REPOSITORY: name at least one, as `.`; or add --recipe")
    from codebench.cli.younger import younger  # noqa: PLC0415  # wrong words fail before imports
    from codebench.gold import building  # noqa: PLC0415
    from codebench.report import suite as report  # noqa: PLC0415

    recipe = _recipe(arguments)
    progress = Progress(shown=on_terminal())
    try:
        if arguments.dry_run:
            funnels = building.preview(
                arguments.repositories, recipe, progress.step, jobs=arguments.jobs
            )
        else:
            built = building.build(
                arguments.repositories,
                recipe,
                arguments.output,
                progress.step,
                jobs=arguments.jobs,
                force=arguments.force,
            )
    finally:
        progress.clear()
    if arguments.dry_run:
        show(report.previewed(funnels, arguments.format), arguments.format)
    else:
        ways = younger(arguments, sum(len(one.suite.queries) for one in built), _MAX_EPOCHS)
        print(report.built(built, arguments.output, arguments.format, commands=ways))
    return 0


def _check_words(arguments: argparse.Namespace) -> None:
    """Refuse what would be left unread."""
    if arguments.log_format and not arguments.from_log:
        raise UsageError(f"--format: {arguments.log_format} is a log's; add --from-log")
    for name in ("columns", "salt"):
        if getattr(arguments, name) and not arguments.from_log:
            raise UsageError(f"--{name}: is of a log; add --from-log")
    sources = [name for name in ("questions", "from_log", "recipe") if getattr(arguments, name)]
    if not sources:
        return
    usual = _OF_A_HISTORY | (_OF_A_SNAPSHOT if arguments.recipe else {})
    given = [name for name, value in usual.items() if getattr(arguments, name) != value]
    if given:
        option, source = given[0].replace("_", "-"), sources[0].replace("_", "-")
        reads = "says that itself" if arguments.recipe else "reads no history"
        raise UsageError(f"--{option}: --{source} {reads}; leave it out")


def _by_hand(arguments: argparse.Namespace) -> int:
    """Make a suite of questions that people wrote."""
    if len(arguments.repositories) != 1:
        raise UsageError("--questions: name the one repository that they are asked of")
    if arguments.dry_run:
        raise UsageError("--dry-run: shows a history's funnel; questions have none")
    from codebench.gold.asking import build_from_questions  # noqa: PLC0415  # as above
    from codebench.report.suite_questions import asked  # noqa: PLC0415

    recipe = _recipe(arguments)
    progress = Progress(shown=on_terminal())
    try:
        suite = build_from_questions(
            arguments.repositories[0],
            arguments.questions,
            arguments.output,
            progress.step,
            snapshot=recipe.snapshot,
            rules=recipe.rules,
            jobs=arguments.jobs,
            force=arguments.force,
        )
    finally:
        progress.clear()
    print(asked(suite, arguments.output, arguments.format))
    return 0


def _by_recipe(arguments: argparse.Namespace) -> int:
    """Make the suite that a recipe describes."""
    if arguments.dry_run or len(arguments.repositories) > 1:
        raise UsageError("--recipe: takes at most one repository, and no --dry-run")
    from codebench.gold.published import build_recipe  # noqa: PLC0415  # as above
    from codebench.report.suite import built  # noqa: PLC0415

    progress = Progress(shown=on_terminal())
    try:
        made, notes = build_recipe(
            arguments.recipe,
            arguments.output,
            progress.step,
            clone="".join(arguments.repositories),
            jobs=arguments.jobs,
            force=arguments.force,
        )
    finally:
        progress.clear()
    print(built(made, arguments.output, arguments.format, notes))
    return 0


def _recipe(arguments: argparse.Namespace) -> Recipe:
    from codebench.corpus.rules import SnapshotRules  # noqa: PLC0415  # as above
    from codebench.gold.recipe import Recipe  # noqa: PLC0415

    mode, epochs = arguments.mode
    return Recipe(
        mode=mode,
        epochs=epochs,
        max_queries=arguments.max_queries,
        snapshot=arguments.snapshot,
        since=arguments.since,
        until=arguments.until,
        pull_requests=arguments.pull_requests,
        long_text=arguments.text == "long",
        mask_leaks=arguments.mask_leaks,
        rules=SnapshotRules(tuple(arguments.include), tuple(arguments.exclude)),
    )


def _mode(text: str) -> tuple[Mode, int]:
    if text == "frozen":
        return "frozen", 1
    if text == "parent":
        return "parent", 1
    found = re.fullmatch(r"epochs=(\d{1,3})", text)
    if not found or not 1 <= int(found[1]) <= _MAX_EPOCHS:
        raise argparse.ArgumentTypeError(
            f"{text} is not frozen, parent, or epochs=N with N from 1 to {_MAX_EPOCHS}"
        )
    return "epochs", int(found[1])


def _since(text: str) -> int:
    return _moment(text, "00:00:00")


def _until(text: str) -> int:
    return _moment(text, "23:59:59")


def _moment(text: str, of_day: str) -> int:
    """Return seconds since the epoch; what names no zone is UTC, what names no time `of_day`."""
    from datetime import UTC, date, datetime, time  # noqa: PLC0415  # `--help` reads no date

    try:
        day = date.fromisoformat(text) if len(text) <= len("2024-01-31") else None
        at = time.fromisoformat(of_day)
        moment = datetime.combine(day, at) if day else datetime.fromisoformat(text)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"{text} is not a date as 2024-01-31, or a time as 2024-01-31T12:00:00+00:00"
        ) from None
