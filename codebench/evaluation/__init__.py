"""Measures over a run: a row a query, and the aggregates."""

from __future__ import annotations

from codebench.evaluation.answers import evaluate_answers, evaluate_columns
from codebench.evaluation.cutting import Slice, recall_curve, slices, tied_at
from codebench.evaluation.merging import merge
from codebench.evaluation.plain import evaluate
from codebench.evaluation.table import (
    JUDGMENTS_REL,
    SUITE_REL,
    UNANSWERED,
    Aggregate,
    ByName,
    Evaluation,
    How,
    aggregate,
)

__all__ = [
    "JUDGMENTS_REL",
    "SUITE_REL",
    "UNANSWERED",
    "Aggregate",
    "ByName",
    "Evaluation",
    "How",
    "Slice",
    "aggregate",
    "evaluate",
    "evaluate_answers",
    "evaluate_columns",
    "merge",
    "recall_curve",
    "slices",
    "tied_at",
]
