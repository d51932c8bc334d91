"""Hits x gold -> first-reach ranks by level; the only overlap rule."""

from __future__ import annotations

from codebench.grading.files import Files, lines_show
from codebench.grading.gold import Gold, Place, Unit, compile_gold
from codebench.grading.paths import canonical_path
from codebench.grading.reaching import Reached, explain, reach, reaches, read_bytes

__all__ = [
    "Files",
    "Gold",
    "Place",
    "Reached",
    "Unit",
    "canonical_path",
    "compile_gold",
    "explain",
    "lines_show",
    "reach",
    "reaches",
    "read_bytes",
]
