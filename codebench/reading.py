"""Reading files that somebody else wrote: bounded, strict, and every fault at once."""

from __future__ import annotations

import contextlib
import difflib
import gzip
import io
import json
import math
import os
import stat
from collections import Counter
from typing import TYPE_CHECKING, Any

from codebench.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

MAX_LINE_BYTES = 10_000_000
"""A longer line is not a record that somebody meant to write."""

MAX_YAML_BYTES = 1_000_000
MAX_YAML_DEPTH = 40
MAX_JSON_DEPTH = 100
"""Of lists and objects in each other; far below where Python's own recursion ends."""

MAX_FAULTS = 100
"""Beyond this many the file is of another kind, and the list helps nobody."""

_GIVE_UP = 1000
"""At so many faults nothing more is read: a file of nothing else may be of any size."""

_LONGEST_NAME = 240
"""Bytes; disks take 255, and some files have an ending put to theirs."""

_SMALL_BYTES = 64_000_000
_MOST_TIMES = 200
"""How many times its size on disk a gzip file may hold, where that is more than a little."""

_REQUIRED: Any = object()


def near(name: str, known: Iterable[str]) -> str:
    """Return `did you mean "x" or "y"?`, or what is known where nothing is near."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(f'"{other}"' for other in close) + "?"
    return "known: " + ", ".join(names) if names else ""


def repeated(names: Iterable[Any]) -> list[Any]:
    """Return what stands more than once, sorted."""
    return sorted(name for name, times in Counter(names).items() if times > 1)


def shown(value: Any) -> str:
    """Return a value as JSON, short enough for one line of a message."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):  # of bottomless nesting, of a number of 5,000 digits
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= 60 else text[:57] + "..."


def is_text(value: str) -> bool:
    """Whether a string can be written as UTF-8: it holds no half of a character pair."""
    return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)


def is_name(value: str) -> bool:
    """Whether a text can be the name of one file in a folder, on any disk."""
    plain = value not in {"", ".", ".."} and not any(char in "/\\\0" for char in value)
    return plain and is_text(value) and len(value.encode()) <= _LONGEST_NAME


def plain_line(text: object) -> str:
    """Return what somebody else wrote as one printable line of at most 300 characters."""
    printable = "".join(char if char.isprintable() else " " for char in str(text))
    line = " ".join(printable.split())
    return line if len(line) <= 300 else line[:297] + "..."


class Faults:
    """What is wrong in one file, gathered while it is read."""

    def __init__(self, file: Path | str) -> None:
        self.file = str(file)
        self.found: list[Fault] = []

    def add(
        self,
        problem: str,
        *,
        line: int | None = None,
        field: str = "",
        value: str = "",
        mend: str = "",
    ) -> None:
        """Remember a fault.

        Raises:
            InputError: there are so many that reading on helps nobody.
        """
        self.found.append(Fault(problem, self.file, line, field, value, mend))
        if len(self.found) >= _GIVE_UP:
            self.check()

    def check(self) -> None:
        """Raise what was found.

        Raises:
            InputError: at least one fault was added.
        """
        if not self.found:
            return
        more = len(self.found) - MAX_FAULTS
        rest = [Fault(f"and {more} more", self.file)] if more > 0 else []
        raise InputError([*self.found[:MAX_FAULTS], *rest])


class Fields:
    """The fields of one mapping, taken one by one; what is wrong goes to `Faults`.

    A wrong field yields its default (or an empty value of its kind), so that reading goes on
    and every fault is found. `finish` reports the fields that nobody asked for.
    """

    def __init__(
        self, data: Mapping[str, Any], faults: Faults, *, line: int | None = None, prefix: str = ""
    ) -> None:
        self.data = data
        self.faults = faults
        self.line = line
        self.prefix = prefix
        self.known: set[str] = set()

    def fault(self, field: str, problem: str, value: str = "", mend: str = "") -> None:
        """Remember that a field is wrong."""
        self.faults.add(problem, line=self.line, field=self.prefix + field, value=value, mend=mend)

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
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fault(field, f"is not a whole number from {low} to {high}", shown(value))
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
                yield Fields(value, self.faults, line=self.line, prefix=prefix)
            else:
                self.fault(place, "is not an object", shown(value))

    def finish(self) -> None:
        """Report each field that was not asked for, with the names that are near it."""
        for field in self.data:
            if field not in self.known:
                self.fault(str(field), "is not a field here", mend=near(str(field), self.known))


def parse_json(text: str) -> Any:
    """Parse strict JSON: no NaN or Infinity, no key twice, no bottomless nesting.

    Raises:
        ValueError: with a reason of a few words.
    """
    try:
        value = json.loads(
            text, parse_constant=_constant, parse_float=_finite, object_pairs_hook=_unique
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if text.count("[") + text.count("{") > MAX_JSON_DEPTH:
        _check_depth(value)
    return value


def _constant(name: str) -> Any:
    raise ValueError(f"holds {name}, which JSON does not have")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"holds {text[:60]}, which is too large for a number")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError(f"holds the key {repeated(name for name, _ in pairs)[0][:60]!r} twice")
    return data


def _check_depth(value: Any) -> None:
    layer = [value]
    for _ in range(MAX_JSON_DEPTH):
        layer = [
            inner
            for one in layer
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        if not layer:
            return
    raise ValueError("is nested too deeply")


def open_file(path: Path) -> io.BufferedReader:
    """Open a file to read its bytes, and nothing that could wait for ever or has no end.

    Raises:
        OSError: it cannot be opened, or is a folder, a pipe or a device.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except ValueError as error:  # NUL in its name
        raise OSError(str(error)) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        os.close(handle)
        raise OSError("is a folder" if is_folder else "is a pipe or a device, not a file")
    return os.fdopen(handle, "rb")


@contextlib.contextmanager
def unpacked(raw: io.BufferedReader) -> Iterator[io.BufferedReader]:
    """Give what a gzip file holds, as a file that ends where it swells beyond belief.

    Raises:
        OSError: in reading, where it is no gzip file or a bomb.
    """
    with gzip.open(raw, "rb") as file:
        yield io.BufferedReader(_Bounded(file, most_unpacked(raw)))


def most_unpacked(raw: io.BufferedReader) -> int:
    """Return how many bytes a packed file may hold before it is a bomb."""
    return max(_SMALL_BYTES, os.fstat(raw.fileno()).st_size * _MOST_TIMES)


class _Bounded(io.RawIOBase):
    """A file that may give so many bytes.

    Args:
        file: it.
        most: so many.
    """

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file = file
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise OSError("it unpacks to more than a file like it holds")
        buffer[: len(data)] = data
        return len(data)


def read_text(path: Path, most: int) -> str:
    """Return the whole text of a file.

    Args:
        path: the file.
        most: bytes that it may have.

    Raises:
        OSError: it cannot be read.
        ValueError: it is longer, or is not UTF-8.
    """
    with open_file(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"is longer than {most} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 at byte {error.start + 1}") from None


def is_file(path: Path) -> bool:
    """Whether there is such a file; False too where there can be none of that name."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; False too where there can be none of that name."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path, its links followed, lies in a folder or is it."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # of links in a circle, and of NUL
        return False


def read_lines(path: Path, faults: Faults) -> Iterator[tuple[int, str]]:
    """Yield a text file's lines that are not blank, numbered from 1; never a huge one.

    Raises:
        InputError: the file cannot be opened.
    """
    try:
        with open_file(path) as file:
            number = 0
            while data := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(data) > MAX_LINE_BYTES:
                    faults.add(f"is longer than {MAX_LINE_BYTES} bytes", line=number)
                    return
                try:
                    text = data.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    faults.add("is not UTF-8", line=number, value=f"byte {error.start + 1}")
                    continue
                if text.strip():
                    yield number, text
    except OSError as error:
        faults.add(error.strerror or str(error))
        faults.check()


def read_objects(path: Path, faults: Faults) -> Iterator[Fields]:
    """Yield the fields of each object in a JSON Lines file."""
    for number, text in read_lines(path, faults):
        try:
            data = parse_json(text)
        except ValueError as error:
            faults.add(str(error), line=number)
            continue
        if isinstance(data, dict):
            yield Fields(data, faults, line=number)
        else:
            faults.add("is not an object", line=number, value=shown(data))


def read_yaml(path: Path, faults: Faults) -> Fields:
    """Return the fields of a YAML file that holds one mapping.

    Plain data only: tags, anchors and aliases are refused, dates stay text, no key comes
    twice, and size and nesting are bounded.

    Raises:
        InputError: the file cannot be read, or is not such a mapping.
    """
    return yaml_fields(yaml_text(path, faults), faults)


def yaml_text(path: Path, faults: Faults) -> str:
    """Return the text of a YAML file.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        return read_text(path, MAX_YAML_BYTES)
    except OSError as error:
        faults.add(error.strerror or str(error))
    except ValueError as error:
        faults.add(str(error))
    faults.check()
    raise AssertionError  # check() has raised


def yaml_fields(text: str, faults: Faults) -> Fields:
    """Return the fields of a text that `read_yaml` would read.

    Raises:
        InputError: it is not one mapping of plain data.
    """
    from codebench.plain_yaml import YamlError, parse_yaml  # noqa: PLC0415  # it costs 20 ms

    try:
        value = parse_yaml(text, MAX_YAML_DEPTH)
    except YamlError as error:
        faults.add(error.problem, line=error.line)
    else:
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return Fields(value, faults)
        faults.add("is not a mapping with text keys", value=shown(value))
    faults.check()
    raise AssertionError  # check() has raised
