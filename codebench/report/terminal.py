"""What a terminal gets that a file or a pipe never does: colour, and tables of its own width."""

from __future__ import annotations

import shutil
import sys

from codebench.report.colour import painted, wanted
from codebench.report.folding import folded


def for_terminal(text: str) -> str:
    """Return a text as it is, or folded and coloured where standard output is a terminal."""
    if not sys.stdout.isatty():
        return text
    text = folded(text, shutil.get_terminal_size().columns)
    return painted(text) if wanted() else text
