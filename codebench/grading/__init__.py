"""Hits x gold -> first-reach ranks by level; the only overlap rule."""

from __future__ import annotations

from codebench.grading.files import Files, lines_show
from codebench.grading.gold import Gold, Place, Unit, compile_gold
from codebench.grading.paths import canonical_path
from codebench.grading.reaching import (
    Reached,
    Step,
    reach,
    reaches,
    read_bytes,
    trace,
)

__all__ = [
    "Files",
    "Gold",
    "Place",
    "Reached",
    "Step",
    "Unit",
    "canonical_path",
    "compile_gold",
    "lines_show",
    "reach",
    "reaches",
    "read_bytes",
    "trace",
]
