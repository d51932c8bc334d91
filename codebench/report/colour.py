"""Colour for a terminal, laid over the finished text: it changes no width and no word."""

from __future__ import annotations

import os
import re
import sys

_BEST = re.compile(r"(?<=\s)\*\d[\d.]*(?: ±\S+)?")
_LEVEL = re.compile(r"(?<=\s)=\d[\d.]*(?: ±\S+)?")
_VERDICT = re.compile(r"(?<=\s\s)(?:better|worse)(?=\s\s)")

_BOLD_GREEN, _GREEN, _RED, _DIM, _PLAIN = "\x1b[1;32m", "\x1b[32m", "\x1b[31m", "\x1b[2m", "\x1b[0m"


def wanted() -> bool:
    """Tell whether standard output is a terminal whose reader has not turned colour off."""
    off = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not off


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


def for_terminal(text: str) -> str:
    """Return a table's text, coloured where it goes to a terminal."""
    return painted(text) if wanted() else text
