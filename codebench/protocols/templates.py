"""What is sent to a tool: texts with placeholders, filled in one pass.

    {query}         the question as it was asked
    {words}         its words that are worth searching for, with spaces between
    {alternatives}  the same words with `|` between: a regular expression that needs no quoting
    {k}             how many hits are wanted
    {corpus}        the directory that is searched, absolute
    ${NAME}         a variable of the environment, in headers and environments only

What was filled in is never looked at again, so a question that holds `{k}` stays as it is.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from codebench.keywords import keywords
from codebench.reading import near

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from codebench.reading import Fields

QUESTION = ("query", "words", "alternatives")
"""Placeholders that carry the question."""

NAMES = (*QUESTION, "k", "corpus")

_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_]+)\}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def values(text: str, k: int, root: Path) -> dict[str, str]:
    """Return what the placeholders stand for.

    NUL, which no argument can hold, becomes a space; half a character pair becomes `?`.
    """
    clean = text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    words = keywords(clean)
    return {
        "query": clean,
        "words": " ".join(words),
        "alternatives": "|".join(words),
        "k": str(k),
        "corpus": str(root),
    }


def fill(template: Any, given: Mapping[str, str], quote: Callable[[str], str] = str) -> Any:
    """Return a template (text, or lists and mappings of texts) with its placeholders filled.

    A text that is `{k}` and nothing else becomes a number.
    """
    if isinstance(template, str):
        if template == "{k}" and "k" in given:
            return int(given["k"])
        return _PLACEHOLDER.sub(
            lambda found: quote(given[found[1]]) if found[1] in given else found[0], template
        )
    if isinstance(template, dict):
        return {name: fill(value, given, quote) for name, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill(value, given, quote) for value in template]
    return template


def placeholders(template: Any) -> set[str]:
    """Return the names of all placeholders of a template."""
    return {name for text in texts(template) for name in _PLACEHOLDER.findall(text)}


def texts(template: Any) -> Iterator[str]:
    """Yield every text in a template, keys of mappings apart."""
    if isinstance(template, str):
        yield template
    elif isinstance(template, dict):
        for value in template.values():
            yield from texts(value)
    elif isinstance(template, list | tuple):
        for value in template:
            yield from texts(value)


def asks(template: Any) -> bool:
    """Return whether a template carries the question."""
    return not placeholders(template).isdisjoint(QUESTION)


def is_wordless(template: Any, given: Mapping[str, str]) -> bool:
    """Return whether a template asks for words alone, and the question has none worth it.

    An empty pattern would find every line.
    """
    names = placeholders(template)
    return "query" not in names and bool(names & {"words", "alternatives"}) and not given["words"]


def check(fields: Fields, field: str, template: Any, more: tuple[str, ...] = ()) -> None:
    """Report the placeholders of a template that do not exist."""
    known = (*NAMES, *more)
    for name in sorted(placeholders(template) - set(known)):
        fields.fault(
            field,
            "is no placeholder",
            f"{{{name}}}",
            f"{near(name, known)} (a brace that is none wants a space behind it)",
        )


def from_environment(text: str) -> str:
    """Return a text with its `${NAME}` replaced by the environment's variables.

    Raises:
        ValueError: one is not set; its name is in the message.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise ValueError(f"the variable {found[1]} is not set")
        return os.environ[found[1]]

    return _VARIABLE.sub(value, text)


def environment_values(fields: Fields, field: str) -> dict[str, str]:
    """Read a mapping of texts whose `${NAME}` come from the environment."""
    found = {}
    for name, text in fields.mapping(field, {}).items():
        if not isinstance(text, str):
            fields.fault(f"{field}.{name}", "is not text", str(text)[:60], "put it in quotes")
            continue
        try:
            found[name] = from_environment(text)
        except ValueError as problem:
            fields.fault(f"{field}.{name}", str(problem), mend="export it")
    return found
