"""What a tool printed or replied -> hits, by a field map."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codebench.keywords import keywords, windows
from codebench.model import Hit
from codebench.protocols.routes import Route, Scopes, items_at, parse_route, value_at
from codebench.reading import near, parse_json, plain_line, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codebench.protocols.places import Places
    from codebench.reading import Fields

FORMATS = ("json", "lines", "pattern")
ORDERS = ("printed", "score", "place")
PARTS = ("path", "line", "end", "symbol", "score", "text")

_ROUTES: Mapping[str, tuple[str, ...]] = {
    "hits": ("[]", "results[]", "hits[]", "matches[]", "items[]"),
    "errors": ("error", "errors[0].message", "errors[0]"),
    "path": ("path", "file_path", "filePath", "file", "filename", "uri"),
    "line": ("start_line", "startLine", "line", "line_number", "lineNumber", "lines"),
    "end": ("end_line", "endLine"),
    "symbol": ("symbol",),
    "score": ("score",),
    "text": ("text",),
}

PLACE = r"(?P<path>[^\s:`*()\[\]]{1,1000}\.\w{1,40}):(?P<line>\d+)(?:-(?P<end>\d+))?"
"""`path:line` or `path:line-line`, as Markdown for agents has it; bounded, or what is no path
costs the square of its length."""

NOTHING = re.compile(
    r"\b(no|none|0|zero)\b[^.\n]{0,80}\b(results?|match(es)?|hits?|found|symbols?)"
    r"|\bnot? .{0,40}found\b",
    re.IGNORECASE,
)
_FEW_WORDS = 1000
"""Characters; in a longer text the words of `NOTHING` may be those of a result."""

_RANGE = re.compile(r"[lL]?(\d{1,9})(?:\s*(?:-|\.\.|:|,|–)\s*[lL]?(\d{1,9}))?")  # noqa: RUF001


class ToolError(RuntimeError):
    """A tool failed, or said what cannot be read as hits."""


@dataclass(frozen=True, slots=True)
class Found:
    """One result, before its path is settled."""

    path: str
    line: int | None = None
    end: int | None = None
    symbol: str | None = None
    score: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """How to read what a tool says; see `adapters/README.md` for each field.

    Attributes:
        routes: for `hits`, `errors`, and each part of a hit, the routes that are tried in turn.
        where: what an item must hold to be a result, as (route, value).
    """

    format: str
    pattern: re.Pattern[str]
    routes: Mapping[str, tuple[Route, ...]]
    where: tuple[tuple[Route, Any], ...]
    zero_based: bool
    end_exclusive: bool
    order: str
    repeats: bool
    fold: bool
    root: str

    def of_text(self, text: str) -> list[Found]:
        """Return the results in what a tool printed.

        Raises:
            ToolError: it is not of the format, or says that it failed.
        """
        if self.format == "pattern":
            found = self.of_prose(text)
            if not found and not says_nothing(text):
                raise ToolError(f"nothing in its output matches the pattern: {_start(text)}")
            return found
        if self.format == "json":
            return self.of_document(_json(text, "its output"))
        documents = [
            _json(line, f"line {number} of its output")
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]
        for document in documents:
            self._refuse_failure(document)
        return [one for document in documents for one in self._results([(document,)])]

    def of_document(self, document: Any) -> list[Found]:
        """Return the results in a JSON document.

        Raises:
            ToolError: it holds no results where they should be, or says that it failed.
        """
        self._refuse_failure(document)
        scopes = items_at(self.routes["hits"], document)
        if scopes is None:
            wanted = ", ".join(route.text for route in self.routes["hits"])
            raise ToolError(f"its output has none of {wanted}: {shown(document)}")
        return self._results(scopes)

    def of_prose(self, text: str) -> list[Found]:
        """Return what the pattern finds in a text.

        Raises:
            ToolError: it finds a line or a score that is none.
        """
        found = []
        for match in self.pattern.finditer(text):
            try:
                found.append(self._in_prose(match.groupdict()))
            except ValueError as problem:
                raise ToolError(f"{plain_line(match[0])[:80]}: {problem}") from None
        return found

    def _in_prose(self, groups: Mapping[str, str | None]) -> Found:
        line, end = self._lines(groups.get("line"), groups.get("end"))
        return Found(
            groups["path"] or "",
            line,
            end,
            groups.get("symbol") or None,
            _number(groups.get("score")),
            groups.get("text") or "",
        )

    def hits(self, found: Sequence[Found], places: Places, question: str, k: int) -> list[Hit]:
        """Return at most k hits in the order that is configured, with their paths settled."""
        paths = places.settle(one.path for one in found)
        if self.fold:
            lines = [(paths[one.path], one.line, one.text) for one in found]
            known = [(path, line, text) for path, line, text in lines if line is not None]
            return windows(known, keywords(question), k)
        hits = [Hit(paths[one.path], one.line, one.end, one.symbol, one.score) for one in found]
        return arranged(hits, self.order, repeats=self.repeats)[:k]

    def _results(self, scopes: Iterable[Scopes]) -> list[Found]:
        found = []
        for number, scope in enumerate(scopes, start=1):
            if any(value_at([route], scope) != value for route, value in self.where):
                continue
            try:
                found.append(self._result(scope))
            except ValueError as problem:
                raise ToolError(f"result {number}: {problem}: {shown(scope[-1])}") from None
        return found

    def _result(self, scope: Scopes) -> Found:
        if isinstance(scope[-1], str):  # a list of paths
            scope = (*scope, {"path": scope[-1]})
        values = {part: value_at(self.routes[part], scope) for part in PARTS}
        if not isinstance(values["path"], str):
            wanted = ", ".join(route.text for route in self.routes["path"])
            raise ValueError(f"has no text in any of {wanted}")  # noqa: TRY004
        line, end = self._lines(values["line"], values["end"])
        symbol, text = values["symbol"], values["text"]
        return Found(
            values["path"],
            line,
            end,
            symbol if isinstance(symbol, str) and symbol else None,
            _number(values["score"]),
            text if isinstance(text, str) else "",
        )

    def _lines(self, start: Any, end: Any) -> tuple[int | None, int | None]:
        first, last = _line(start)
        last = _line(end)[0] if end is not None else last
        more = 1 if self.zero_based else 0
        if first is None:
            return None, None
        if last is None:
            return first + more, None
        return first + more, max(last + more - self.end_exclusive, first + more)

    def _refuse_failure(self, document: Any) -> None:
        """Raise where a reply is an error that nothing else marks as one."""
        if not isinstance(document, dict):
            return
        said = value_at(self.routes["errors"], (document,))
        failed = document.get("success") is False or document.get("ok") is False
        failed = failed or document.get("status") in ("error", "failed", "failure")
        if failed or said not in (None, "", False, [], {}):
            text = said if isinstance(said, str) and said else shown(document)
            raise ToolError(f"it says that it failed: {plain_line(text)}")


def says_nothing(text: str) -> bool:
    """Whether a tool printed nothing, or in few words that it found nothing."""
    said = text.strip()
    return not said or (len(said) <= _FEW_WORDS and NOTHING.search(said) is not None)


def _start(text: str) -> str:
    return plain_line(text.strip()[:_FEW_WORDS])[:80]


def arranged(hits: Sequence[Hit], order: str, *, repeats: bool = False) -> list[Hit]:
    """Return hits in an order that does not hang on chance, each place once.

    Args:
        hits: as they came.
        order: `printed` keeps it; `score` sorts by score, the highest first, then by place;
            `place` by path, lines, symbol.
        repeats: keep hits of the very same path, lines and symbol; else the first stays. What
            only overlaps is never merged.
    """
    ranked = list(hits)
    if order != "printed":
        ranked.sort(key=_place)
    if order == "score":
        ranked.sort(key=lambda hit: -hit.score if hit.score is not None else float("inf"))
    if repeats:
        return ranked
    first = {(hit.path, hit.start_line, hit.end_line, hit.symbol): hit for hit in ranked[::-1]}
    kept = {id(hit) for hit in first.values()}
    return [hit for hit in ranked if id(hit) in kept]


def _place(hit: Hit) -> tuple[str, int, int, str]:
    return hit.path, hit.start_line or 0, hit.end_line or 0, hit.symbol or ""


def _json(text: str, what: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as problem:
        raise ToolError(f"{what} {problem}: {plain_line(text)[:80] or 'it is empty'}") from None


def _line(value: Any) -> tuple[int | None, int | None]:
    """Return the line, or the lines, that a value names; (None, None) for nothing."""
    if value is None or value == "":
        return None, None
    if isinstance(value, list) and 1 <= len(value) <= 2:
        return _line(value[0])[0], _line(value[-1])[0]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value, None
    match = _RANGE.fullmatch(value.strip()) if isinstance(value, str) else None
    if not match:
        raise ValueError(f"{shown(value)} is no line")
    return int(match[1]), int(match[2]) if match[2] else None


def _number(value: Any) -> float | None:
    if value is None or value == "":
        return None
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with contextlib.suppress(ValueError, OverflowError):
            return float(value)
    raise ValueError(f"{shown(value)} is no score")


def read_output(fields: Fields, formats: Sequence[str] = FORMATS) -> Output:
    """Read the mapping `output`; each of its fields may be left out."""
    inner = inner_fields(fields, "output")
    kind = choice(inner, "format", formats[0], formats)
    routes = {name: _routes(inner, name) for name in ("hits", "errors")}
    parts = inner_fields(inner, "fields")
    routes |= {part: _routes(parts, part) for part in PARTS}
    parts.finish()
    output = Output(
        format=kind,
        pattern=_pattern(inner, needed=kind == "pattern"),
        routes=routes,
        where=_where(inner),
        zero_based=inner.flag("zero_based", False),
        end_exclusive=inner.flag("end_exclusive", False),
        order=choice(inner, "order", "printed", ORDERS),
        repeats=choice(inner, "repeats", "merge", ("merge", "keep")) == "keep",
        fold=inner.flag("fold", False),
        root=inner.text("root", ""),
    )
    inner.finish()
    return output


def inner_fields(fields: Fields, name: str) -> Fields:
    """Return the fields of an optional mapping inside another; who asks calls `finish`."""
    return type(fields)(
        fields.mapping(name, {}), fields.faults, line=fields.line, prefix=f"{fields.prefix}{name}."
    )


def choice(fields: Fields, name: str, default: str, known: Sequence[str]) -> str:
    """Return one of a few words."""
    value = fields.text(name, default)
    if value not in known:
        fields.fault(name, f"is not one of {', '.join(known)}", value, near(value, known))
        return default
    return value


def _routes(fields: Fields, name: str) -> tuple[Route, ...]:
    value = fields.take(name, _ROUTES[name])
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not listed:
        fields.fault(name, "is neither a route nor a list of routes", shown(value))
        return ()
    found = []
    for text in listed:
        try:
            found.append(parse_route(text if isinstance(text, str) else ""))
        except ValueError as problem:
            fields.fault(name, str(problem), text if isinstance(text, str) else shown(text))
    for route in found:
        if name != "hits" and route.forks:
            fields.fault(name, "goes through a list", route.text, "only `hits` has []")
    return tuple(found)


def _where(fields: Fields) -> tuple[tuple[Route, Any], ...]:
    found = []
    for text, value in fields.mapping("where", {}).items():
        try:
            found.append((parse_route(text), value))
        except ValueError as problem:
            fields.fault("where", str(problem), text)
    return tuple(found)


def _pattern(fields: Fields, *, needed: bool) -> re.Pattern[str]:
    text = fields.text("pattern", PLACE)
    if needed and "pattern" not in fields.data:
        fields.fault("pattern", "is missing", mend="give a regular expression with (?P<path>…)")
    try:
        pattern = re.compile(text, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        fields.fault("pattern", f"is no regular expression ({error})", text[:60])
        return re.compile(PLACE)
    for group in sorted(set(pattern.groupindex) - set(PARTS)):
        fields.fault("pattern", "is no part of a hit", group, near(group, PARTS))
    if "path" not in pattern.groupindex:
        fields.fault("pattern", "has no group path", text[:60], "write (?P<path>…)")
    return pattern


def as_json(value: Any) -> str:
    """Return a filled template as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
