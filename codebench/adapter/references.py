"""A retriever as it is named on a command line: its reference and its options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from codebench.errors import AdapterError
from codebench.home import builtin
from codebench.reading import plain_line

if TYPE_CHECKING:
    from pathlib import Path

IN_FILE = re.compile(
    r"(?P<reference>(?P<file>.+?\.py)(?::(?P<name>[^\W\d]\w*))?)(?::(?P<options>.*))?", re.DOTALL
)
_OPTIONS = re.compile(r":\s*[^\W\d]\w*\s*=")
_LONGEST = 4000
_PART = re.compile(r"""(?:'[^']*'|"[^"]*"|\[[^\]]*\]|[^,])+""")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")


def builtin_names() -> list[str]:
    """Return the names of the built-in adapters, sorted."""
    return sorted(file.stem.replace("_", "-") for file in builtin("adapters").glob("[a-z]*.py"))


def without_options(text: str) -> str:
    """Return what stands before the options: the values of these may name files, too."""
    options = _OPTIONS.search(text)
    return text[: options.start()] if options else text


def parse_reference(text: str) -> tuple[str, dict[str, Any]]:
    """Split `bm25:k1=1.2,b=0.75` into a reference and its options.

    The reference is a built-in name, an entry point's name, or `file.py[:Class]`. An option's
    value is a whole number, a number, `true` or `false`, text, or a list of these in brackets
    (`k1=[0.9,1.2]`); quotes keep it text (`tag='7'`) and let it hold a comma.

    Raises:
        AdapterError: an option is not `name=value`, or is given twice.
    """
    if len(text) > _LONGEST:
        raise AdapterError(f"{text[:60]!r}... is no reference: it has {len(text)} characters")
    match = IN_FILE.fullmatch(without_options(text))
    if match:
        reference = match["reference"]
        tail = text[len(reference) + 1 :]
    else:
        reference, _, tail = text.partition(":")
    if not reference.strip():
        raise AdapterError(f"{text!r} names no retriever")
    options: dict[str, Any] = {}
    for part in _PART.findall(tail):
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            hint = _no_option(reference, part, tail)
            raise AdapterError(
                f"{plain_line(text)}: {part!r} is not an option; write name=value{hint}"
            )
        if name in options:
            raise AdapterError(f"{plain_line(text)}: the option {name!r} is given twice")
        options[name] = _value(value.strip())
    return reference.strip(), options


def _no_option(reference: str, part: str, tail: str) -> str:
    """Return what a part that is no option was probably meant to be."""
    if reference.endswith(".py") and part.isidentifier() and tail.startswith(f"{part},"):
        options = tail.removeprefix(f"{part},").strip()
        return f"; did you mean {reference}:{part}{options and f':{options}'}?"
    if part.startswith(":"):
        return f"; the class follows one colon, as {reference}{part}"
    if part.strip() in builtin_names():
        return f"; another retriever is another -r, as -r {reference} -r {part.strip()}"
    return "; several values are a list, as k1=[0.9,1.2]" if _NUMBER.fullmatch(part) else ""


def _value(text: str) -> Any:
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return text[1:-1]
    if text.startswith("[") and text.endswith("]"):
        return [_value(part.strip()) for part in _PART.findall(text[1:-1])]
    if text in {"true", "false"}:
        return text == "true"
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    return text


def placed(options: Any, folder: Path) -> Any:
    """Return options with `{here}` in their texts replaced by a folder.

    It is the folder of the retrievers file that they stand in, so that such a file can name what
    lies beside it, and options stay the same wherever it lies.
    """
    if isinstance(options, str):
        return options.replace("{here}", str(folder))
    if isinstance(options, dict):
        return {name: placed(value, folder) for name, value in options.items()}
    if isinstance(options, list | tuple):
        return [placed(value, folder) for value in options]
    return options
