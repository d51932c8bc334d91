"""Colour for a terminal, laid over the finished text: it changes no width and no word."""

from __future__ import annotations

import os
import re

_BEST = re.compile(r"(?<=\s)\*\d[\d.]*(?: ±\S+)?")
_LEVEL = re.compile(r"(?<=\s)=\d[\d.]*(?: ±\S+)?")
_VERDICT = re.compile(r"(?<=\s\s)(?:better|worse)(?=\s\s)")

_BOLD_GREEN, _GREEN, _RED, _DIM, _PLAIN = "\x1b[1;32m", "\x1b[32m", "\x1b[31m", "\x1b[2m", "\x1b[0m"


def wanted() -> bool:
    """Tell whether a terminal's reader has not turned colour off."""
    return "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def painted(text: str) -> str:
    """Return a table's text with its best values, verdicts and floors coloured."""
    lines = []
    floors = False
    for line in text.split("\n"):
        if line.strip() == "floors":
            floors = True
        elif not line.strip():
            floors = False
        lines.append(f"{_DIM}{line}{_PLAIN}" if floors and line else _line(line))
    return "\n".join(lines)


def _line(line: str) -> str:
    line = _BEST.sub(lambda found: f"{_BOLD_GREEN}{found.group()}{_PLAIN}", line)
    line = _LEVEL.sub(lambda found: f"{_GREEN}{found.group()}{_PLAIN}", line)
    return _VERDICT.sub(_verdict, line)


def _verdict(found: re.Match[str]) -> str:
    colour = _GREEN if found.group() == "better" else _RED
    return f"{colour}{found.group()}{_PLAIN}"
