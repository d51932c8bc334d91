"""What an adapter file implements; finding one, loading it, and telling what it raised."""

from __future__ import annotations

from codebench.adapter.contract import RateLimited, Retriever, Unavailable, retry_after
from codebench.adapter.finding import ENTRY_POINTS, Source, find, meant_file
from codebench.adapter.loading import file_digest, load, make
from codebench.adapter.references import builtin_names, parse_reference, placed, without_options
from codebench.adapter.telling import file_of, one_line, told

__all__ = [
    "ENTRY_POINTS",
    "RateLimited",
    "Retriever",
    "Source",
    "Unavailable",
    "builtin_names",
    "file_digest",
    "file_of",
    "find",
    "load",
    "make",
    "meant_file",
    "one_line",
    "parse_reference",
    "placed",
    "retry_after",
    "told",
    "without_options",
]
