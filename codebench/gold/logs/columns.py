"""Which column of a table of events holds what: the map that a person writes in YAML."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from codebench.gold.logs.record import KINDS
from codebench.reading import Faults, Fields, read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codebench.gold.logs.record import Kind

COLUMNS = (
    "session",
    "user",
    "time",
    "repository",
    "commit",
    "kind",
    "query",
    "query_id",
    "results",
    "path",
    "lines",
    "symbol",
    "rank",
    "dwell",
    "ok",
    "source",
    "retriever",
)
"""What the record knows of; `results` is a list, all else one value."""

_KIND_WORDS: Mapping[str, Kind] = {
    **{kind: kind for kind in KINDS},
    "search": "query",
    "view": "click",
    "open": "click",
    "copy": "click",
}


@dataclass(frozen=True)
class ColumnMap:
    """How a table's rows are read.

    Attributes:
        columns: the log's own name of each column, by what it holds; of JSON a name may lead
            inside, as `user.id`.
        kinds: what the log's values of `kind` mean.
        constants: what holds for every row, where it has no column for it.
        separator: between the results in one cell of CSV.
        delimiter: between the cells of CSV.
        dwell_unit: seconds in one unit of `dwell`.
    """

    columns: Mapping[str, str] = field(default_factory=lambda: {name: name for name in COLUMNS})
    kinds: Mapping[str, Kind] = field(default_factory=lambda: dict(_KIND_WORDS))
    constants: Mapping[str, str] = field(default_factory=dict)
    separator: str = ";"
    delimiter: str = ","
    dwell_unit: float = 1.0


def read_columns(path: Path) -> ColumnMap:
    """Read a column map.

    Raises:
        InputError: something in it is wrong; every fault is listed with its field.
    """
    faults = Faults(path)
    fields = read_yaml(path, faults)
    names = _texts(fields, "columns", COLUMNS)
    kinds = _texts(fields, "kinds", None)
    for word, kind in kinds.items():
        if kind not in KINDS:
            fields.fault(f"kinds.{word}", "is no kind", kind, f"known: {', '.join(KINDS)}")
    constants = _texts(fields, "constants", COLUMNS)
    separator = fields.text("separator", ";", empty=False)
    delimiter = fields.text("delimiter", ",")
    if len(delimiter) != 1:
        fields.fault("delimiter", "is not one character", delimiter)
    unit = fields.text("dwell_unit", "s")
    if unit not in {"s", "ms"}:
        fields.fault("dwell_unit", "is neither s nor ms", unit)
    fields.finish()
    faults.check()
    return ColumnMap(
        columns={name: name for name in COLUMNS} | names,
        kinds={**_KIND_WORDS, **cast("dict[str, Kind]", kinds)},
        constants=constants,
        separator=separator,
        delimiter=delimiter,
        dwell_unit=0.001 if unit == "ms" else 1.0,
    )


def _texts(fields: Fields, name: str, known: tuple[str, ...] | None) -> dict[str, str]:
    inner = Fields(fields.mapping(name, {}), fields.faults, prefix=f"{name}.")
    if known is not None:
        inner.known.update(known)
    found = {
        key: inner.text(key, empty=False) for key in inner.data if known is None or key in known
    }
    inner.finish()
    return found
