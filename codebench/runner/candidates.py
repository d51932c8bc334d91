"""From what a person typed to the retrievers of a run."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.adapter import find, meant_file, parse_reference, without_options
from codebench.errors import AdapterError, Fault, InputError
from codebench.home import builtin
from codebench.model import Candidate
from codebench.reading import Faults, Fields, near, read_yaml, repeated
from codebench.runner.sweep import points, prefix_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_YAML = re.compile(r"(?P<file>.+\.ya?ml)(?::.+)?", re.DOTALL)


def candidates(texts: Sequence[str], folder: Path | None = None) -> tuple[Candidate, ...]:
    """Return the retrievers that were asked for, in that order.

    Args:
        texts: each `NAME[:options]`, `file.py[:Class][:options]`, `file.yaml` for all of its
            entries, or `file.yaml:NAME` for one of them.
        folder: what a relative file is relative to; the current directory by default.

    Raises:
        AdapterError: one of them cannot be found, or two have the same name; all are named.
        InputError: a YAML file is wrong.
    """
    folder = folder or Path.cwd()
    found: list[Candidate] = []
    problems: list[str] = []
    for text in texts:
        try:
            match = _YAML.fullmatch(without_options(text))
            if match:
                file = match["file"]
                found += _chosen(folder / file, text[len(file) + 1 :])
            else:
                one = candidate(text, folder)
                found += points(one, prefix_of(one), find(one.reference, folder))
        except AdapterError as error:
            problems.append(str(error))
    names = [one.name for one in found]
    twice = repeated(names)
    problems += [f"{name}: this retriever is asked for twice" for name in twice]
    if problems:
        raise AdapterError("\n".join(problems))
    return tuple(found)


def default_candidates() -> tuple[Candidate, ...]:
    """Return the retrievers that run where none is asked for."""
    return read_retrievers(builtin("adapters") / "default.yaml")


def candidate(text: str, folder: Path, name: str = "") -> Candidate:
    """Return the retriever of one reference; its code is not run.

    Raises:
        AdapterError: it cannot be found, or its options cannot be read.
    """
    try:
        reference, options = parse_reference(text)
    except AdapterError:
        meant = meant_file(text, folder)
        if not meant:
            raise
        raise AdapterError(f"{text!r} is no retriever; did you mean {meant}?") from None
    find(reference, folder)
    return Candidate(name or text, reference, tuple(sorted(options.items())))


def _chosen(path: Path, name: str) -> tuple[Candidate, ...]:
    found = read_retrievers(path)
    if not name:
        return found
    chosen = tuple(one for one in found if name in (one.name, one.sweep.partition(" over ")[0]))
    if not chosen:
        raise AdapterError(f"{path}: has no {name!r}; {near(name, (one.name for one in found))}")
    return chosen


def read_retrievers(path: Path) -> tuple[Candidate, ...]:
    """Read a YAML file with a list `retrievers`.

    An entry is a reference as on the command line, or `name` and `use` (a reference) with
    `options` (a mapping); a list among the options makes it a sweep. A relative adapter file is
    relative to the YAML file.

    Raises:
        InputError: the file is wrong, or an entry cannot be found; every fault is listed.
    """
    faults = Faults(path)
    fields = read_yaml(path, faults, begins="retrievers")
    found = []
    for number, entry in enumerate(fields.items("retrievers"), start=1):
        place = f"retrievers[{number}]"
        try:
            found += [
                dataclasses.replace(one, file=str(path.absolute()))
                for one in _entry(entry, place, faults, path.parent)
            ]
        except AdapterError as error:
            faults.add(str(error), field=place)
    fields.finish()
    names = [one.name for one in found]
    for name in repeated(names):
        faults.add("is the name of two entries", value=name)
    if not found and not faults.found:
        faults.found.append(Fault("lists no retriever", str(path)))
    if faults.found:
        raise InputError(faults.found)
    return tuple(found)


def _entry(entry: Any, place: str, faults: Faults, folder: Path) -> list[Candidate]:
    if isinstance(entry, str):
        return _spread(candidate(entry, folder), "", folder)
    data = entry if isinstance(entry, dict) else {}
    if not data:
        faults.add("is neither a reference nor an entry with name and use", field=place)
        return []
    fields = Fields(data, faults, prefix=f"{place}.")
    use = fields.text("use", empty=False)
    name = fields.text("name", use, empty=False)
    options = fields.mapping("options", {})
    fields.finish()
    if not use:
        return []
    base = candidate(use, folder, name)
    merged = dict(base.options) | dict(options)
    one = Candidate(name, base.reference, tuple(sorted(merged.items())))
    return _spread(one, name if name != use else "", folder)


def _spread(one: Candidate, name: str, folder: Path) -> list[Candidate]:
    """Return the points of an entry's sweep, or the entry; `name` is its own, if it has one."""
    prefix = f"{name}:" if name else prefix_of(one)
    return points(_settled(one, folder), prefix, find(one.reference, folder))


def _settled(one: Candidate, folder: Path) -> Candidate:
    """Make a relative adapter file absolute, as it is relative to the YAML file."""
    source = find(one.reference, folder)
    builtins = source.file is None or source.file.parent == builtin("adapters")
    if builtins and not one.reference.endswith(".py") and ".py:" not in one.reference:
        return one
    attribute = f":{source.attribute}" if source.attribute else ""
    return Candidate(one.name, f"{source.file}{attribute}", one.options)
