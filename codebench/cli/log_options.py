"""`codebench suite build --from-log`: what it takes, and what it does."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from codebench.cli.options import as_path, on_terminal
from codebench.cli.progress import Progress
from codebench.errors import UsageError

if TYPE_CHECKING:
    from codebench.corpus.rules import SnapshotRules

LOG_FORMATS = ("ubi", "jsonl", "csv", "swe-agent", "openhands", "claude-code", "codex")
"""Those of `codebench.gold.logs.formats`, named here because `--help` imports nothing heavy."""


class _Format(argparse.Action):
    """One option says how figures are printed and which format a log has: no name is both."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Store a value where it belongs."""
        del parser, option_string
        setattr(namespace, "log_format" if values in LOG_FORMATS else "format", values)


def add_log(parser: argparse.ArgumentParser) -> None:
    """Add what goes with `--from-log`, and `--format`, which names the log's format too."""
    printed = ("table", "markdown", "json")
    parser.set_defaults(log_format="")
    parser.add_argument(
        "--format",
        action=_Format,
        choices=(*printed, *LOG_FORMATS),
        metavar="NAME",
        default="table",
        help=f"how figures are printed: {', '.join(printed)} (default: table); with --from-log "
        f"also the log's: {', '.join(LOG_FORMATS)} (default: told by its files)",
    )
    group = parser.add_argument_group("logs (docs/logs.md)")
    group.add_argument(
        "--columns",
        type=as_path,
        metavar="FILE",
        help="YAML: which column of a jsonl or csv log holds what",
    )
    group.add_argument(
        "--salt",
        default="",
        metavar="TEXT",
        help="of the users' hashes (default: random; never stored)",
    )


def build_by_log(arguments: argparse.Namespace, rules: SnapshotRules) -> int:
    """Make a suite of what people, or agents, did."""
    if len(arguments.repositories) != 1:
        raise UsageError("--from-log: name the one repository that the log is about")
    if arguments.dry_run:
        raise UsageError("--dry-run: shows a history's funnel; leave it out for a log")
    if arguments.columns and arguments.log_format not in {"", "jsonl", "csv"}:
        raise UsageError("--columns: only a jsonl or csv log has columns")
    from codebench.gold.logs.building import LogRequest, build_from_log  # noqa: PLC0415  # heavy
    from codebench.gold.logs.columns import read_columns  # noqa: PLC0415
    from codebench.report.suite_log import built_from_log  # noqa: PLC0415

    asked = LogRequest(
        logs=tuple(arguments.from_log),
        rules=rules,
        form=arguments.log_format,
        columns=read_columns(arguments.columns) if arguments.columns else None,
        snapshot=arguments.snapshot,
        salt=arguments.salt,
    )
    progress = Progress(shown=on_terminal())
    try:
        built = build_from_log(
            arguments.repositories[0],
            asked,
            arguments.output,
            progress.step,
            jobs=arguments.jobs,
            force=arguments.force,
        )
    finally:
        progress.clear()
    print(built_from_log(built, arguments.output, arguments.format))
    return 0
