"""Importing an adapter, and making a retriever of it. Both run others' code."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from codebench.adapter.contract import Retriever, Unavailable
from codebench.adapter.finding import Source, entry_points, find
from codebench.adapter.telling import LONGEST, file_of, line_in, one_line, told
from codebench.errors import AdapterError, InputError
from codebench.options import fitting
from codebench.reading import near

if TYPE_CHECKING:
    from collections.abc import Mapping


def load(reference: str, folder: Path | None = None) -> type[Retriever]:
    """Import an adapter and return its class. This runs the file's code.

    Raises:
        AdapterError: it cannot be found, raises when it is imported, or holds no such class.
    """
    source = find(reference, folder)
    if source.file is None:
        loaded = _load_entry(source.entry)
        if not _is_retriever(loaded):
            raise AdapterError(f"{reference}: the entry point is not a subclass of Retriever")
        return loaded
    names = _names_of(source.file)
    if source.attribute:
        found = names.get(source.attribute)
        if found is None:
            hint = near(source.attribute, (n for n, value in names.items() if _is_retriever(value)))
            raise AdapterError(f"{source.file}: there is no {source.attribute!r}; {hint}")
        if not _is_retriever(found):
            raise AdapterError(f"{source.file}: {source.attribute} is not a subclass of Retriever")
        return found
    own = [
        value
        for value in names.values()
        if _is_retriever(value) and value.__module__ == names["__name__"]
    ]
    if len(own) != 1:
        listed = ", ".join(kind.__name__ for kind in own) or "none"
        raise AdapterError(
            f"{source.file}: wants one subclass of Retriever and has {listed}; "
            f"name one as {source.file.name}:Class"
        )
    return own[0]


def _is_retriever(value: object) -> TypeGuard[type[Retriever]]:
    return isinstance(value, type) and issubclass(value, Retriever) and value is not Retriever


def _load_entry(name: str) -> Any:
    try:
        return entry_points()[name].load()
    except Exception as error:  # noqa: BLE001  # importing runs others' code
        raise AdapterError(f"{name}: the entry point cannot be loaded: {one_line(error)}") from None


def _names_of(file: Path) -> Mapping[str, Any]:
    """Run a file as a module; nothing is written beside it."""
    from importlib.util import module_from_spec, spec_from_file_location  # noqa: PLC0415

    name = f"codebench_adapter_{file.stem}_{hashlib.sha256(bytes(file)).hexdigest()[:8]}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise AdapterError(f"{file}: is not a Python file")
    module = module_from_spec(spec)
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.modules[name] = module  # dataclasses look their module up here
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # importing runs others' code
        del sys.modules[name]
        place = line_in(file, error)
        raise AdapterError(f"{place}: raises when it is imported: {one_line(error)}") from None
    finally:
        sys.dont_write_bytecode = before
    return vars(module)


def make(kind: type[Retriever], options: Mapping[str, Any]) -> Retriever:
    """Make a retriever with its options.

    Raises:
        AdapterError: an option is unknown or of another type, or the constructor raises.
        Unavailable: the constructor says that it cannot run here.
    """
    try:
        arguments = fitting(kind, options)
    except ValueError as error:
        raise AdapterError(f"{kind.__name__}: {error}") from None
    try:
        return kind(**arguments)
    except Unavailable:
        raise
    except InputError as faults:  # of options that the adapter checked itself
        raise AdapterError(str(faults)) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001  # it is others' code
        given = ", ".join(f"{name}={_brief(value)}" for name, value in sorted(options.items()))
        said = one_line(error) if isinstance(error, ValueError) else told(error, file_of(kind))
        raise AdapterError(f"{kind.__name__}({given}): {said}") from None


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def file_digest(source: Source, kind: type[Retriever]) -> str:
    """Return `sha256:…` of the file that holds an adapter."""
    file = source.file or Path(file_of(kind))
    return f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
