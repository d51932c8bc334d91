"""Small rules of how figures and foreign text are printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from codebench.reading import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codebench.measures.names import Measure
    from codebench.measures.statistics import Figure

NONE = "-"
"""Stands where there is no figure."""

_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&$])")
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")

Value = str | int | float | None
"""What a CSV cell holds."""


def printable(text: str) -> str:
    """Return foreign text on one line, its control and direction characters made visible.

    A repository's text must not move the cursor, change colours or turn a line around.
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


_TAGS = {
    "leak": "the most that a text gives away of an answer: name (a code-like name of its own), "
    "path (its file's path or name), container (its class), stem (its file's name without the "
    "ending), word (a word of its name) or none",
    "length": "content words of a text: short up to 5, medium up to 10, long above",
    "age": "of the question's commit, after the snapshot: month, quarter, year, three years, older",
}


def tag_words(tag: str) -> str:
    """Return what the values of a tag mean, where a suite's builder set it; else nothing."""
    return _TAGS.get(tag, "")


def queries(count: int) -> str:
    """Return how many queries, in words."""
    return counted(count, "query", "queries")


def number(value: float | None, digits: int = 3) -> str:
    """Return a figure with its digits; a dash where there is none."""
    return NONE if value is None else f"{value:.{digits}f}"


def digits_of(measure: Measure, small: int = 3) -> int:
    """Return how many digits a measure's values are printed with; tokens are whole."""
    return small if measure.scale == 1 else 0


def figure_cell(figure: Figure, measure: Measure) -> str:
    """Return `value ±half` of a figure; the half width is the wider side of the interval."""
    if figure.value is None:
        return NONE
    digits = digits_of(measure)
    if figure.low is None or figure.high is None:
        return number(figure.value, digits)
    half = max(figure.high - figure.value, figure.value - figure.low)
    return f"{number(figure.value, digits)} ±{half:.{digits}f}".replace("±0.", "±.")


def milliseconds(value: float | None) -> str:
    """Return a latency with three figures that matter."""
    if value is None:
        return NONE
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def size(count: float | None) -> str:
    """Return bytes in the unit that reads best."""
    if count is None:
        return NONE
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("the last unit takes all")


def escaped(text: str, *, markdown: bool) -> str:
    """Return foreign text for a table or a note; in Markdown it is text and nothing else."""
    plain = printable(text)
    return _MARKDOWN.sub(r"\\\1", plain) if markdown else plain


def lines(notes: Sequence[str], *, markdown: bool) -> str:
    """Return notes a line each; in Markdown as a list, so that the lines stay apart."""
    mark = "- " if markdown else ""
    return "\n".join(f"{mark}{escaped(note, markdown=markdown)}" for note in notes)


def table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], *, markdown: bool, left: int = 1
) -> str:
    """Return rows as an aligned table, the first `left` columns left and the others right."""
    from tabulate import tabulate  # noqa: PLC0415  # formats are imported when they are used

    align = ["left"] * left + ["right"] * (len(headers) - left)
    return tabulate(
        [[escaped(cell, markdown=markdown) for cell in row] for row in rows],
        headers=[escaped(header, markdown=markdown) for header in headers],
        tablefmt="pipe" if markdown else "simple",
        colalign=align[: len(headers)] if rows else None,
        disable_numparse=True,
    )


def json_text(data: Any) -> str:
    """Return data as strict JSON whose control and direction characters stand as escapes.

    Raises:
        ValueError: a number is not finite.
    """
    import json  # noqa: PLC0415  # only one of the formats needs it

    text = json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)
    # What json itself breaks lines with is never inside a string.
    return "\n".join(printable(line) for line in text.split("\n"))


def csv_text(headers: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Return rows as CSV (RFC 4180, line feeds), with full precision and no last newline.

    A cell of text that begins with `=`, `+`, `-` or `@` gets an apostrophe before it, so that a
    spreadsheet does not run it as a formula; numbers never do. None is an empty cell.
    """
    import csv  # noqa: PLC0415  # as above
    import io  # noqa: PLC0415

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_csv_cell(header) for header in headers])
    writer.writerows([[_csv_cell(value) for value in row] for row in rows])
    return out.getvalue().removesuffix("\n")


def _csv_cell(value: Value) -> Value:
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text
