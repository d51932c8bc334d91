"""The calls of `codebench suite build` that would ask younger code than this one did."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

_FLAGS = ("pull_requests", "mask_leaks")
_MOMENTS = ("since", "until")
_LISTS = ("include", "exclude")


def younger(arguments: argparse.Namespace, queries: int, most_epochs: int) -> tuple[str, ...]:
    """Return them: fewer queries, and more snapshots; what else was said stays, but a snapshot.

    Args:
        arguments: of the call.
        queries: how many it made.
        most_epochs: that `--mode` takes.
    """
    from codebench.gold.age import fewer  # noqa: PLC0415  # `--help` needs none of it

    mode, epochs = arguments.mode
    ways = [["--max-queries", str(count)] for count in [fewer(queries)] if count]
    own = [] if mode == "frozen" else ["--mode", f"epochs={epochs}"]
    ways = [[*own, *way] for way in ways]
    more = 4 if mode == "frozen" else min(2 * epochs, most_epochs)
    if more > epochs:
        most = arguments.max_queries
        ways.append(["--mode", f"epochs={more}", "--max-queries", str(most)])
    end = ["-o", str(arguments.output), "--force"]
    start = ["codebench", "suite", "build", *arguments.repositories, *_kept(arguments)]
    return tuple(shlex.join([*start, *way, *end]) for way in ways)


def _kept(arguments: argparse.Namespace) -> list[str]:
    from datetime import UTC, datetime  # noqa: PLC0415  # as above

    words = [f"--{name.replace('_', '-')}" for name in _FLAGS if getattr(arguments, name)]
    for name in _MOMENTS:
        moment = getattr(arguments, name)
        if moment is not None:
            words += [f"--{name}", datetime.fromtimestamp(moment, UTC).isoformat()]
    for name in _LISTS:
        words += [f"--{name}={glob}" for glob in getattr(arguments, name)]
    return words + (["--text", "long"] if arguments.text == "long" else [])
