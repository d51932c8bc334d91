"""Patterns over what others wrote: none takes a time that grows with the square of the text.

Each pattern of the rooms that read untrusted text, compiled in a module or handed to `re` in place,
meets texts made of its own alphabet: beginnings of what it matches, repeated, and followed by one
character over and over. A match that turns slow there turns slow in a hostile repository or log.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import signal
from dataclasses import dataclass
from itertools import accumulate, chain, product
from typing import TYPE_CHECKING, Any

import pytest

from codebench.gold.text import MAX_SUBJECT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType, ModuleType

ROOMS = ("codebench.corpus", "codebench.gold", "codebench.protocols")
METHODS = frozenset("match fullmatch search findall finditer sub subn split".split())
LENGTH = 10_000
"""Characters: their square is seconds of work, a few times as many a millisecond."""
CPU_SECONDS = 0.08
MOST_WAYS = 6
MOST_TEXTS = 150
SHORT = dict.fromkeys(
    ("gold.filters._CHORE", "gold.text._DANGLING", "gold.text._ISSUE_WORDS"), MAX_SUBJECT
)
"""Patterns that meet the first line of a message only, and to how many characters it is cut."""

_PARSER: Any = importlib.import_module("re._parser")
_CATEGORIES = {"SPACE": " \n", "DIGIT": "1", "WORD": "a", "NOT_SPACE": "a", "NOT_DIGIT": "a"}


@dataclass(frozen=True)
class Used:
    """A pattern, whether it is tried at each place of a text, and how long the text is."""

    pattern: re.Pattern[Any]
    everywhere: bool
    length: int = LENGTH


def in_modules() -> dict[str, Used]:
    """Return the patterns of the rooms, by module and name or line."""
    found: dict[str, Used] = {}
    for module in _modules():
        tree = ast.parse(inspect.getsource(module))
        called = _called(tree)
        short = module.__name__.removeprefix("codebench.")
        for name, value in vars(module).items():
            for number, pattern in enumerate(_patterns(value)):
                key = f"{short}.{name}" + (f"[{number}]" if value is not pattern else "")
                methods = called.get(name, METHODS)
                found[key] = Used(pattern, bool(methods - {"match", "fullmatch"}))
        for node in ast.walk(tree):
            method = _method(node, "re")
            if method and isinstance(node, ast.Call) and isinstance(node.args[0], ast.Constant):
                flags = re.MULTILINE if "MULTILINE" in ast.unparse(node) else re.NOFLAG
                pattern = re.compile(node.args[0].value, flags)
                key = f"{short}:{node.lineno}"
                found[key] = Used(pattern, method not in {"match", "fullmatch"})
    return found


def _modules() -> Iterator[ModuleType]:
    for room in ROOMS:
        package = importlib.import_module(room)
        yield package
        for one in pkgutil.walk_packages(package.__path__, f"{room}."):
            yield importlib.import_module(one.name)


def _patterns(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _patterns(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _patterns(one)


def _called(tree: ast.Module) -> dict[str, set[str]]:
    """Return which methods a module calls on which of its names."""
    called: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            called.setdefault(node.value.id, set()).add(node.attr)
    return {name: methods for name, methods in called.items() if methods <= METHODS}


def _method(node: ast.AST, name: str) -> str:
    """Return the method of a call such as `re.search(…)`; empty for anything else."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    owner = node.func.value
    called = isinstance(owner, ast.Name) and owner.id == name and node.func.attr in METHODS
    return node.func.attr if called else ""


def ways(steps: Iterable[Any]) -> list[list[str]]:
    """Return texts that a parsed pattern matches, some of many, each as one text a step."""
    found: list[list[str]] = [[]]
    for kind, value in steps:
        found = [[*one, *more] for more, one in product(_step(str(kind), value), found)]
        found = [_whole(one) for one in found[:MOST_WAYS]]
    return found


def _whole(way: list[str]) -> list[str]:
    """Join words: a beginning of `import` is no place where a pattern is slow."""
    if len(way) > 1 and way[-1].isalpha() and way[-2].isalpha():
        return [*way[:-2], way[-2] + way[-1]]
    return way


def _step(kind: str, value: Any) -> list[list[str]]:
    if kind == "IN":
        return [[_members(value)[0]]]
    if kind == "BRANCH":
        return list(chain.from_iterable(ways(branch) for branch in value[1]))
    if kind in {"SUBPATTERN", "ATOMIC_GROUP"}:
        return ways(value[-1] if kind == "SUBPATTERN" else value)
    if kind.endswith("_REPEAT"):
        least, _, inside = value
        some = [one * max(1, min(least, 40)) for one in ways(inside)]
        return some if least else [*some, []]
    if kind == "LITERAL":
        return [[chr(value)]]
    return [["a"]] if kind in {"ANY", "NOT_LITERAL"} else [[]]


def _members(value: Iterable[Any]) -> list[str]:
    """Return characters of a set: of each range its first, of each category its kind."""
    found: list[str] = []
    for kind, inside in value:
        if str(kind) == "LITERAL":
            found.append(chr(inside))
        elif str(kind) == "RANGE":
            found.append(chr(inside[0]))
        elif str(kind) == "CATEGORY":
            found.extend(_CATEGORIES.get(str(inside).removeprefix("CATEGORY_"), "-"))
    negated = any(str(kind) == "NEGATE" for kind, _ in value)
    return [one for one in "a -\n" if one not in found] if negated else found


def alphabet(steps: Iterable[Any]) -> set[str]:
    """Return characters that a parsed pattern speaks of."""
    found: set[str] = set()
    for kind, value in steps:
        if str(kind) == "IN":
            found.update(_members(value))
        elif str(kind) == "BRANCH":
            found.update(*(alphabet(branch) for branch in value[1]))
        elif str(kind) in {"SUBPATTERN", "ATOMIC_GROUP"}:
            found |= alphabet(value[-1] if str(kind) == "SUBPATTERN" else value)
        elif str(kind).endswith("_REPEAT"):
            found |= alphabet(value[2])
        elif str(kind) in {"ANY", "NOT_LITERAL"}:
            found |= {"a", "\n"}
    return found


def hostile(pattern: re.Pattern[Any], length: int) -> Iterator[Any]:
    """Yield texts on which a pattern that goes back and forth is slow."""
    text = pattern.pattern
    plain = text.decode("latin-1") if isinstance(text, bytes) else text
    parsed = _PARSER.parse(plain, pattern.flags & ~re.UNICODE)
    repeated = sorted(alphabet(parsed))
    beginnings = dict.fromkeys(
        "".join(one) for way in ways(parsed) for one in accumulate([[], *([s] for s in way)])
    )
    wholes = [("", beginning) for beginning in beginnings if beginning]
    ends = [(beginning, one) for one in repeated for beginning in beginnings]
    pairs = [*wholes, *ends]
    for lead, unit in pairs[:: 1 + len(pairs) // MOST_TEXTS]:
        made = lead + unit * (length // len(unit)) + "\0"
        yield made.encode("latin-1", "replace") if isinstance(text, bytes) else made


def slow(used: Used) -> str:
    """Return the beginning of a text that a pattern needs too long for; empty where none is."""
    for text in hostile(used.pattern, used.length):
        signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
        try:
            if used.everywhere:
                for _ in used.pattern.finditer(text):
                    pass
            else:
                used.pattern.match(text)
                used.pattern.fullmatch(text)
        except TimeoutError:
            return f"{text[:60]!r}… ({len(text)} characters)"
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return ""


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    """End a match that takes too much of the processor, whoever else uses it."""
    before = signal.signal(signal.SIGVTALRM, _too_long)
    yield
    signal.signal(signal.SIGVTALRM, before)


def test_no_pattern_is_slow_on_its_own_alphabet() -> None:
    found = in_modules()
    assert len(found) > 90  # all of them are looked at
    too_slow = {}
    for key, used in found.items():
        length = SHORT.get(key, LENGTH)
        why = slow(Used(used.pattern, used.everywhere, length))
        if why:
            too_slow[key] = why
    assert not too_slow, "\n".join(f"{key}: {why}" for key, why in too_slow.items())


@pytest.mark.parametrize(
    ("pattern", "everywhere"),
    [
        (r"from\s*(\.*+)\s*([\w.]*)\s*import\b", False),
        (r"<([a-z][a-z-]*)>.*?</\1>", True),
        (r"\s+$", True),
        (r"(?:\w|\w\w)+-", False),
    ],
)
def test_the_check_finds_patterns_that_are_slow(pattern: str, everywhere: bool) -> None:
    assert slow(Used(re.compile(pattern, re.DOTALL), everywhere))
