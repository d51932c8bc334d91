"""The fields of a mapping, each checked as it is taken."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codebench.reading.words import is_text, near, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codebench.reading.faults import Faults

_REQUIRED: Any = object()
_NO_LINES: Mapping[str, int] = MappingProxyType({})


class Fields:
    """The fields of one mapping, taken one by one; what is wrong goes to `Faults`.

    A wrong field yields its default (or an empty value of its kind), so that reading goes on
    and every fault is found. `finish` reports the fields that nobody asked for.

    Args:
        data: the mapping.
        faults: told what is wrong in it.
        line: where it begins in its file; None where that is not known.
        prefix: stands before the name of each field, as `targets[1].`.
        lines: the line of each field and item by its full name, as `targets[1].grade`; empty
            where only `line` is known.
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        faults: Faults,
        *,
        line: int | None = None,
        prefix: str = "",
        lines: Mapping[str, int] = _NO_LINES,
    ) -> None:
        self.data = data
        self.faults = faults
        self.line = line
        self.prefix = prefix
        self.lines = lines
        self.known: set[str] = set()

    def fault(self, field: str, problem: str, value: str = "", mend: str = "") -> None:
        """Remember that a field is wrong."""
        name = self.prefix + field
        line = self.lines.get(name, self.line)
        self.faults.add(problem, line=line, field=name, value=value, mend=mend)

    def take(self, field: str, default: Any = _REQUIRED) -> Any:
        """Return a field's raw value; without a default a missing one is a fault."""
        self.known.add(field)
        if field in self.data:
            return self.data[field]
        if default is _REQUIRED:
            self.fault(field, "is missing")
        return default

    def text(self, field: str, default: str = _REQUIRED, *, empty: bool = True) -> str:
        """Return a string that can be written as UTF-8."""
        value = self.take(field, default)
        if value is _REQUIRED:
            return ""
        if not isinstance(value, str):
            self.fault(field, "is not text", shown(value), "put it in quotes")
            return ""
        if not is_text(value):
            self.fault(field, "holds half of a character pair", ascii(value)[:60])
            return ""
        if not empty and not value.strip() and field in self.data:
            self.fault(field, "is empty")
        return value

    def number(self, field: str, default: float = _REQUIRED, *, above: float = -math.inf) -> float:
        """Return a finite number greater than `above`."""
        value = self.take(field, default)
        if value is _REQUIRED:
            return 0.0
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fault(field, "is not a number", shown(value))
            return 0.0
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or number <= above:
            limit = f" above {above:g}" if math.isfinite(above) else ""
            self.fault(field, f"is not a finite number{limit}", str(value)[:60])
        return number

    def integer(self, field: str, default: int = _REQUIRED, *, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`."""
        value = self.take(field, default)
        if value is _REQUIRED:
            return low
        if isinstance(value, bool) or not isinstance(value, int):
            self.fault(field, f"is not a whole number from {low} to {high}", shown(value))
            return low
        if not low <= value <= high:
            self.fault(field, f"is not from {low} to {high}", shown(value))
            return low
        return value

    def flag(self, field: str, default: bool = _REQUIRED) -> bool:
        """Return true or false."""
        value = self.take(field, default)
        if isinstance(value, bool):
            return value
        if value is not _REQUIRED:
            self.fault(field, "is not true or false", shown(value))
        return False

    def mapping(self, field: str, default: Mapping[str, Any] = _REQUIRED) -> Mapping[str, Any]:
        """Return an object with text keys."""
        value = self.take(field, default)
        if value is _REQUIRED:
            return {}
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            self.fault(field, "is not an object with text keys", shown(value))
            return {}
        for key in value:
            if not is_text(key):
                self.fault(field, "holds half of a character pair", ascii(key)[:60])
                return {}
        return value

    def items(self, field: str, default: Sequence[Any] = _REQUIRED) -> Sequence[Any]:
        """Return a list."""
        value = self.take(field, default)
        if value is _REQUIRED:
            return ()
        if not isinstance(value, list | tuple):
            self.fault(field, "is not a list", shown(value))
            return ()
        return value

    def texts(self, field: str, default: Sequence[str] = _REQUIRED) -> tuple[str, ...]:
        """Return a list of strings."""
        values = self.items(field, default)
        for value in values:
            if not isinstance(value, str):
                self.fault(field, "is not text", shown(value), "every item is a string")
                return ()
            if not is_text(value):
                self.fault(field, "holds half of a character pair", ascii(value)[:60])
                return ()
        return tuple(values)

    def objects(self, field: str, default: Sequence[Any] = _REQUIRED) -> Iterator[Fields]:
        """Yield the fields of each object in a list; who asks calls `finish` on each."""
        for number, value in enumerate(self.items(field, default), start=1):
            place = f"{field}[{number}]"
            if isinstance(value, dict) and all(isinstance(key, str) for key in value):
                prefix = f"{self.prefix}{place}."
                line = self.lines.get(self.prefix + place, self.line)
                yield Fields(value, self.faults, line=line, prefix=prefix, lines=self.lines)
            else:
                self.fault(place, "is not an object", shown(value))

    def finish(self) -> None:
        """Report each field that was not asked for, with the names that are near it."""
        for field in self.data:
            if field not in self.known:
                self.fault(str(field), "is not a field here", mend=near(str(field), self.known))
