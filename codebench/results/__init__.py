"""Run folders <-> Run.

    manifest.json          what was asked of whom, where and when; sealed last
    suite/                 the suite folder that was asked
    chunks.jsonl.gz        the corpus's chunk tables
    answers/NAME.jsonl     a retriever's rows, in the order in which they happened
    answers/NAME.jsonl.gz  the same in a sealed run
    columns/               what scoring reads of a sealed run in place of the answers

Rows are flushed one by one, so a run that was killed at any moment can be read: a torn last
line is dropped, and a manifest that was not sealed says that the run is incomplete. A folder
without a manifest was given up before anything was asked.
"""

from __future__ import annotations

from codebench.results.folder import Run, read_ends, read_run
from codebench.results.layout import ANSWERS, FORMAT, MANIFEST, SUITE, TABLES, candidate_row
from codebench.results.retriever import Fall, RetrieverRun, State

__all__ = [
    "ANSWERS",
    "FORMAT",
    "MANIFEST",
    "SUITE",
    "TABLES",
    "Fall",
    "RetrieverRun",
    "Run",
    "State",
    "candidate_row",
    "read_ends",
    "read_run",
]
