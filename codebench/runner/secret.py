"""Keeping secrets out of what is written: options and variables whose names say that they are."""

from __future__ import annotations

import dataclasses
import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from codebench.model import Candidate

MASK = "***"

_NAMED = re.compile(
    r"(?:^|[_-])(?:api_?key|key|token|secret|password|passwd|pwd|auth|authorization|credentials?|bearer|cookie)s?"
    r"(?:$|[_-])",
    re.IGNORECASE,
)
_FOLDER = "PWD"
"""The variable that a shell sets to the current folder; an option named so is a password."""

_SHORTEST = 6
"""A shorter value is found in too many words that are no secret."""


def is_secret(name: str) -> bool:
    """Tell from an option's or a variable's name whether its value is a secret."""
    return bool(_NAMED.search(name))


def masked(candidate: Candidate) -> Candidate:
    """Return a candidate as it may be written: secrets among its options are masked."""
    options = tuple((name, _masked(name, value)) for name, value in candidate.options)
    return dataclasses.replace(candidate, options=options)


def _masked(name: str, value: Any) -> Any:
    """Mask an option's value, or what is secret inside it."""
    if is_secret(name):
        return MASK
    if isinstance(value, dict):
        return {inner: _masked(str(inner), own) for inner, own in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(name, own) for own in value]
    return value


def _secrets(name: str, value: Any) -> Iterator[str]:
    """Yield the secret texts of an option or a variable."""
    if isinstance(value, dict):
        for inner, own in value.items():
            yield from _secrets(name if is_secret(name) else str(inner), own)
    elif isinstance(value, list | tuple):
        for own in value:
            yield from _secrets(name, own)
    elif is_secret(name):
        yield str(value)


def masked_text(text: str, options: Mapping[str, Any]) -> str:
    """Return what a person typed with its secret options masked: it becomes a name."""
    for name, value in options.items():
        if is_secret(name):
            text = re.sub(
                rf"(\b{re.escape(name)}\s*=\s*)(?:'[^']*'|\"[^\"]*\"|[^,]*)", rf"\g<1>{MASK}", text
            )
            text = text.replace(str(value), MASK) if len(str(value)) >= _SHORTEST else text
    return text


def redactor(
    candidates: Iterable[Candidate], environment: Mapping[str, str] | None = None
) -> Callable[[str], str]:
    """Return what takes the known secrets out of a text.

    Args:
        candidates: their secret options are known.
        environment: its secret variables are known; the process's by default.
    """
    options = [pair for one in candidates for pair in one.options]
    own = os.environ if environment is None else environment
    variables = [pair for pair in own.items() if pair[0] != _FOLDER]
    values = {text for name, value in (*options, *variables) for text in _secrets(name, value)}
    known = sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True)

    def redact(text: str) -> str:
        for value in known:
            text = _without_start(text.replace(value, MASK), value)
        return text

    return redact


def _without_start(text: str, secret: str) -> str:
    """Mask the start of a secret that was cut off with the text that it stood in."""
    if secret[:_SHORTEST] in text:
        for length in range(min(len(secret), len(text)) - 1, _SHORTEST - 1, -1):
            text = text.replace(f"{secret[:length]}...", f"{MASK}...")
    return text
