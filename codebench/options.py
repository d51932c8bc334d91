"""Fitting option values to a constructor's parameters."""

from __future__ import annotations

import inspect
import types
import typing
from typing import TYPE_CHECKING, Any

from codebench.reading import near

if TYPE_CHECKING:
    from collections.abc import Mapping


def fitting(kind: type, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as a class's constructor wants them.

    A whole number fits `float`, and fits `str` as its digits; nothing else is converted. A
    parameter whose annotation is not made of bool, int, float, str, None and Literal takes
    any value.

    Raises:
        ValueError: a name is unknown, a value is of another type, or one that has no default
            is missing; one line for all of them.
    """
    parameters = _parameters(kind)
    anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    named = {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
    }
    faults = []
    arguments = {}
    for name, value in options.items():
        if name not in named:
            arguments[name] = value
            if not anything:
                hint = near(name, named) or "it has none"
                faults.append(f"there is no option {name!r}; {hint}")
            continue
        allowed = _allowed(named[name].annotation)
        fits, arguments[name] = _fit(value, allowed)
        if not fits:
            wanted = " or ".join(_word(choice) for choice in allowed or ())
            quotes = f" (write {name}='{value}')" if str in (allowed or ()) else ""
            faults.append(f"{name}={value!r} is not {wanted}{quotes}")
    faults += [
        f"the option {name!r} is missing"
        for name, parameter in named.items()
        if parameter.default is parameter.empty and name not in options
    ]
    if faults:
        raise ValueError("; ".join(faults))
    return arguments


def _parameters(kind: type) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(kind, eval_str=True).parameters
    except NameError:  # an annotation that is imported for type checkers only
        return inspect.signature(kind).parameters
    except (ValueError, TypeError):
        return {}


def _allowed(annotation: Any) -> tuple[Any, ...] | None:
    """Return the plain types and values that an annotation admits, or None for anything."""
    if isinstance(annotation, str):
        parts = [_NAMES.get(part.strip(), object) for part in annotation.split("|")]
        return None if object in parts else tuple(parts)
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        return tuple(_Value(value) for value in typing.get_args(annotation))
    if origin in {typing.Union, types.UnionType}:
        found = [_allowed(choice) for choice in typing.get_args(annotation)]
        if any(choice is None for choice in found):
            return None
        return tuple(choice for choices in found for choice in choices or ())
    if annotation in {bool, int, float, str, type(None)}:
        return (annotation,)
    return None


class _Value:
    """One value of a Literal."""

    def __init__(self, value: Any) -> None:
        self.value = value


_NAMES: Mapping[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "None": type(None),
}


def _fit(value: Any, allowed: tuple[Any, ...] | None) -> tuple[bool, Any]:
    if allowed is None or type(value) in allowed:
        return True, value
    for choice in allowed:
        if isinstance(choice, _Value) and (type(value), value) == (
            type(choice.value),
            choice.value,
        ):
            return True, value
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and float in allowed:
        return True, float(value)
    if whole and str in allowed:
        return True, str(value)
    return False, value


def _word(choice: Any) -> str:
    if isinstance(choice, _Value):
        return repr(choice.value)
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    return words.get(choice, "nothing")
