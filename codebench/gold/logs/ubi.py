"""User Behavior Insights 1.3, as OpenSearch, Elasticsearch and Solr write it.

Queries and events, as JSON Lines, each a document or a search hit with its `_source`; both kinds
may stand in one file. https://github.com/o19s/ubi, schema 1.3.0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codebench.gold.logs.record import Record, place_of
from codebench.gold.logs.streams import json_items, json_lines
from codebench.gold.logs.times import seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codebench.gold.logs.record import Kind
    from codebench.gold.logs.skipped import Skipped

ENDINGS = (".jsonl", ".ndjson", ".json")

COPIED_SECONDS = 30.0
"""Who copies a result was satisfied with it, however short the stay."""

_ACTIONS: dict[str, Kind] = {
    "click": "click",
    "click_through": "click",
    "view": "click",
    "watch": "click",
    "copy": "click",
    "impression": "impression",
    "read": "read",
    "edit": "edit",
    "end": "end",
}


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """Yield the records of a file of queries, of events, or of both."""
    for line, data in _documents(path, skipped):
        record: Record | str | None
        if "user_query" in data or "query_response_hit_ids" in data:
            record = _query(data)
        elif "action_name" in data:
            record = _event(data, skipped)
        else:
            skipped.line(path.name, line, "is neither a query nor an event of UBI")
            continue
        if record is None:
            continue
        if isinstance(record, str):
            skipped.line(path.name, line, record)
            continue
        yield replace(record, line=line)


def _documents(path: Path, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    rows: Iterator[tuple[int, dict[str, Any]]]
    if path.suffix == ".json":
        found = ((number, value) for number, _, value in json_items(path, skipped))
        rows = ((number, value) for number, value in found if isinstance(value, dict))
    else:
        rows = json_lines(path, skipped)
    for line, data in rows:
        inner = data.get("_source")
        if isinstance(inner, dict):
            yield line, inner
        elif "index" in data and len(data) == 1:
            continue  # the action line of a bulk request
        elif isinstance(data.get("hits"), list):
            own = (hit.get("_source") for hit in data["hits"] if isinstance(hit, dict))
            yield from ((line, one) for one in own if isinstance(one, dict))
        else:
            yield line, data


def _query(data: dict[str, Any]) -> Record | str:
    text = data.get("user_query")
    hits = data.get("query_response_hit_ids")
    if not isinstance(text, str) or not text.strip():
        return "user_query is not text"
    if hits is not None and not isinstance(hits, list):
        return "query_response_hit_ids is not a list"
    ids = [one for one in hits or () if isinstance(one, str | int)]
    more = _mapping(data.get("query_attributes"))
    return replace(
        _common(data, more),
        kind="query",
        query=text.strip(),
        results=tuple(place_of(str(one), rank) for rank, one in enumerate(ids, 1)),
    )


def _event(data: dict[str, Any], skipped: Skipped) -> Record | str | None:
    action = data["action_name"]
    kind = _ACTIONS.get(action) if isinstance(action, str) else None
    if kind is None:
        skipped.ignore(action)
        return None
    more = _mapping(data.get("event_attributes"))
    thing = _mapping(more.get("object"))
    name = thing.get("object_id")
    if kind != "end" and (not isinstance(name, str | int) or name == ""):
        return "event_attributes.object.object_id is missing"
    ordinal = _mapping(more.get("position")).get("ordinal")
    rank = ordinal if isinstance(ordinal, int) and ordinal > 0 else 0
    dwell = _dwell(more)
    return replace(
        _common(data, more),
        kind=kind,
        place=place_of(str(name), rank) if kind != "end" else None,
        dwell=COPIED_SECONDS if action == "copy" and dwell is None else dwell,
    )


def _common(data: dict[str, Any], more: dict[str, Any]) -> Record:
    return Record(
        "end",
        session=_text(data.get("session_id")),
        user=_text(data.get("user_id")) or _text(data.get("client_id")),
        time=seconds_of(data.get("timestamp")),
        repository=_text(more.get("repository")),
        commit=_text(more.get("commit")),
        query_id=_text(data.get("query_id")),
        retriever=_text(more.get("retriever")) or _text(data.get("application")),
    )


_LONGEST_DWELL = 10**12
"""In any unit; what is longer is no number that somebody measured."""


def _dwell(more: dict[str, Any]) -> float | None:
    for field, unit in (
        ("dwell", 1.0),
        ("dwell_time", 1.0),
        ("dwell_seconds", 1),
        ("dwell_ms", 1e3),
    ):
        value = more.get(field)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if 0 <= value <= _LONGEST_DWELL:
            return float(value / unit)
    return None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
