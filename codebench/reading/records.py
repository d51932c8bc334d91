"""Text files, JSON Lines and YAML, read record by record with every fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.reading.beside import meant_file
from codebench.reading.fields import Fields
from codebench.reading.files import open_file, read_text
from codebench.reading.strict_json import parse_json
from codebench.reading.words import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from codebench.reading.faults import Faults

MAX_LINE_BYTES = 10_000_000
"""A longer line is not a record that somebody meant to write."""

MAX_YAML_BYTES = 1_000_000
MAX_YAML_DEPTH = 40
_YAML = (".yaml", ".yml")


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
        _unread(error, path, faults)


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


def read_yaml(path: Path, faults: Faults, *, begins: str = "") -> Fields:
    """Return the fields of a YAML file that holds one mapping.

    Plain data only: tags, anchors and aliases are refused, dates stay text, no key comes
    twice, and size and nesting are bounded.

    Args:
        path: the file.
        faults: what is wrong in it.
        begins: the key with which such a file usually begins.

    Raises:
        InputError: the file cannot be read, or is not such a mapping.
    """
    return yaml_fields(yaml_text(path, faults), faults, begins=begins)


def yaml_text(path: Path, faults: Faults) -> str:
    """Return the text of a YAML file.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        return read_text(path, MAX_YAML_BYTES)
    except OSError as error:
        _unread(error, path, faults, _YAML)
    except ValueError as error:
        faults.add(str(error))
    faults.check()
    raise AssertionError  # check() has raised


def _unread(error: OSError, path: Path, faults: Faults, endings: Sequence[str] = ()) -> None:
    gone = isinstance(error, FileNotFoundError)
    mend = meant_file(path, endings or (path.suffix,)) if gone else ""
    faults.add(error.strerror or str(error), mend=mend)
    faults.check()


def yaml_fields(text: str, faults: Faults, *, begins: str = "") -> Fields:
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
        mend = f'begin with "{begins}:"' if begins else ""
        if value is None:
            faults.add("is empty", mend=mend)
        else:
            faults.add("is not a mapping with text keys", value=shown(value), mend=mend)
    faults.check()
    raise AssertionError  # check() has raised
