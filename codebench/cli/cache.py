"""`codebench cache`: what is kept between runs, and how to have it gone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from codebench.cli.options import add_format
from codebench.cli.parsing import VerbParser

if TYPE_CHECKING:
    import argparse

    from codebench.runner.cache import Room


_EXAMPLES = (
    ("where the cache is, and how large each room of it", "codebench cache info"),
    ("have the indexes gone, and nothing else", "codebench cache clear indexes"),
)


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench cache",
        description="Show or clear what is kept between runs. All of it can be made again.",
        examples=_EXAMPLES,
    )
    own.add_argument("what", choices=("info", "clear"), help="show it, or delete it")
    own.add_argument("rooms", nargs="*", metavar="ROOM", help="only these (default: all)")
    add_format(own)
    return own


def run(arguments: argparse.Namespace) -> int:
    """Show or clear the cache."""
    from codebench.home import cache_dir  # noqa: PLC0415
    from codebench.runner.cache import chosen, clear  # noqa: PLC0415

    place = cache_dir()
    rooms = chosen(place, arguments.rooms)
    if arguments.what == "clear":
        clear(rooms)
    if arguments.format == "json":
        data = {
            "folder": str(place),
            "cleared": arguments.what == "clear",
            "rooms": [
                {"name": room.name, "entries": room.entries, "bytes": room.bytes} for room in rooms
            ],
        }
        print(json.dumps(data, indent=2))
        return 0
    _print(place, rooms, cleared=arguments.what == "clear", markdown=arguments.format == "markdown")
    return 0


def _print(place: object, rooms: list[Room], *, cleared: bool, markdown: bool) -> None:
    from codebench.report.text import table  # noqa: PLC0415

    print(f"{place}{': cleared' if cleared else ''}\n")
    rows = [[room.name, room.what, str(room.entries), f"{room.bytes / 1e6:.1f}"] for room in rooms]
    total = sum(room.bytes for room in rooms)
    rows.append(["all", "", str(sum(room.entries for room in rooms)), f"{total / 1e6:.1f}"])
    print(table(["room", "what", "entries", "MB"], rows, markdown=markdown))
