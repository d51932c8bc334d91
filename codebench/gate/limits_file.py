"""`gate.yaml` -> limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codebench.errors import UsageError
from codebench.gate.limits import parse_limit, repeated
from codebench.reading import Faults, Fields, read_yaml, shown

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.gate.limits import Limit


@dataclass(frozen=True, slots=True)
class LimitsFile:
    """What a file says of a gate.

    Attributes:
        limits: in the file's order.
        retriever: who is gated; empty where the file does not say.
        strict: whether what is undecided fails.
    """

    limits: tuple[Limit, ...]
    retriever: str = ""
    strict: bool = False


def read_limits(path: Path) -> LimitsFile:
    """Read a YAML file with a list `limits`, and `retriever` and `strict` where they are wanted.

    A limit is a text as on the command line, or a mapping of `limit` (such a text) and `where`
    (tags and the values that the queries must have).

    Raises:
        InputError: the file is wrong; every fault is listed.
    """
    faults = Faults(path)
    fields = read_yaml(path, faults, begins="limits")
    found = []
    for number, entry in enumerate(fields.items("limits"), start=1):
        limit = _limit(entry, f"limits[{number}]", faults)
        if limit is not None:
            found.append(limit)
    retriever = fields.text("retriever", "")
    strict = fields.flag("strict", default=False)
    fields.finish()
    for problem in repeated(found):
        faults.add(problem, field="limits")
    if not found and not faults.found:
        faults.add("sets no limit", field="limits", mend="list one, as nDCG@10:-0.03")
    faults.check()
    return LimitsFile(tuple(found), retriever, strict)


def _limit(entry: Any, place: str, faults: Faults) -> Limit | None:
    text, tags = entry, {}
    if isinstance(entry, dict):
        before = len(faults.found)
        fields = Fields(
            {str(key): value for key, value in entry.items()}, faults, prefix=f"{place}."
        )
        text = fields.text("limit", empty=False)
        inner = Fields(fields.mapping("where", {}), faults, prefix=f"{place}.where.")
        tags = {tag: inner.text(tag) for tag in inner.data}
        fields.finish()
        if len(faults.found) > before:
            return None
    elif not isinstance(entry, str):
        faults.add(
            "is neither a limit nor a mapping with limit and where",
            field=place,
            value=shown(entry),
            mend="write it as text, as nDCG@10:-0.03",
        )
        return None
    try:
        return parse_limit(text, tuple(tags.items()))
    except UsageError as error:
        faults.add(str(error), field=place)
        return None
