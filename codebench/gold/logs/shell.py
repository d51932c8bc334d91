"""Shell commands of agents -> what they searched for and what they read."""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from codebench.gold.logs.record import Place, lines_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_RESULTS = 200
"""So many results of one search are kept: nobody looks at more."""

_MAX_COMMAND = 20_000
_MAX_DEPTH = 3
_SEARCHERS = frozenset({"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"})
_FINDERS = frozenset({"find", "fd", "fdfind", "locate"})
_READERS = frozenset({"cat", "bat", "batcat", "nl", "less", "more", "head", "tail", "sed"})
_WRAPPERS = frozenset({"sudo", "time", "command", "env", "timeout", "nice"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_JOINTS = frozenset({"|", "||", "&&", ";", "&", "|&", "(", ")"})
_WITH_VALUE = {
    **dict.fromkeys(_SEARCHERS, frozenset("A B C m f g t T j M".split())),
    **dict.fromkeys(("head", "tail", "bat", "nl"), frozenset("n c r".split())),
}
_LONG_WITH_VALUE = frozenset(
    "--glob --type --type-not --max-count --context --after-context --before-context --iglob "
    "--include-dir --max-depth --lines --bytes --sort --threads".split()
)
_RANGE = re.compile(r"^(\d+)(?:,(\d+|\$))?p;?(?:\d+q)?$")
_HIT = re.compile(r"^(?P<path>[^\s:][^:\n]*?)[:-](?P<line>\d+)[:-]")
_LINE_ONLY = re.compile(r"^(?P<line>\d+)[:-]")
_WRITES = re.compile(r"1?>")
_PATH = re.compile(r"^[\w./@+-][^\n:]*\.\w+$|^[\w.@+-]+(?:/[\w.@+-]+)+$")


@dataclass(frozen=True, slots=True)
class Step:
    """What one command of a line did.

    Attributes:
        kind: `search` by content, `find` by file name, or `read`.
        pattern: what was searched for.
        place: what was read, or the only file that was searched.
        folder: where, after `cd`; empty for where the line began.
    """

    kind: str
    pattern: str = ""
    place: Place | None = None
    folder: str = ""


def steps_of(command: str) -> tuple[Step, ...]:
    """Return what a shell line searched for and read; nothing where it is no such line."""
    if len(command) > _MAX_COMMAND:
        return ()
    return tuple(_steps(command, "", 0))


def unwrapped(command: Sequence[object]) -> str:
    """Return an argument vector as the shell line that it runs."""
    words = [word for word in command if isinstance(word, str)]
    if len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1].startswith("-"):
        return words[2]
    return shlex.join(words)


def results_of(output: str, only: Place | None = None) -> tuple[Place, ...]:
    """Return the places that a search printed, in its order.

    Args:
        output: `path:line:text`, `line:text` of one file, or paths.
        only: the one file that was searched, where it was one.
    """
    found: dict[Place, None] = {}
    for line in output.split("\n"):
        place = _result(line[:1000], only)
        if place is not None:
            found.setdefault(place)
        if len(found) >= MAX_RESULTS:
            break
    return tuple(
        Place(one.path, one.start, one.end, one.symbol, rank) for rank, one in enumerate(found, 1)
    )


def _result(line: str, only: Place | None) -> Place | None:
    hit = _HIT.match(line)
    if hit:
        number = whole_number(hit["line"])
        return Place(hit["path"].removeprefix("./"), number, number) if number else None
    own = _LINE_ONLY.match(line)
    number = whole_number(own["line"]) if own else None
    if only is not None and number:
        return Place(only.path, number, number)
    bare = line.strip()
    return Place(bare.removeprefix("./")) if _PATH.match(bare) else None


def _steps(command: str, folder: str, depth: int) -> Iterator[Step]:
    for words in _commands(command):
        name, arguments = _unprefixed(words)
        if name == "cd" and arguments:
            folder = posixpath.join(folder, arguments[0])
        elif name in _SHELLS:
            if len(arguments) > 1 and re.fullmatch(r"-\w*c", arguments[0]) and depth < _MAX_DEPTH:
                yield from _steps(arguments[1], folder, depth + 1)
        else:
            yield from _step(name, arguments, folder)


def _commands(command: str) -> Iterator[list[str]]:
    """Cut a line at its pipes and joints; only what begins a pipe reads files itself."""
    for text in command.split("\n"):
        lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;()")
        lexer.whitespace_split = True
        lexer.commenters = ""
        words: list[str] = []
        piped = False
        try:
            for word in lexer:
                if word in _JOINTS or set(word) <= set("|&;()"):
                    if words and not piped:
                        yield words
                    piped = word in {"|", "|&"}
                    words = []
                else:
                    words.append(word)
        except ValueError:  # a quote without its end: a here-document, or no shell at all
            return
        if words and not piped:
            yield words


def _unprefixed(words: list[str]) -> tuple[str, list[str]]:
    """Return a command's name and arguments, without what only wraps it."""
    at = 0
    while at < len(words) and (words[at] in _WRAPPERS or re.match(r"\w+=", words[at])):
        at += 2 if words[at] == "timeout" else 1
    if at >= len(words):
        return "", []
    name = words[at].rpartition("/")[2]
    rest = words[at + 1 :]
    if name == "git" and "grep" in rest[:3]:
        return "grep", rest[rest.index("grep") + 1 :]
    return name, rest


def _step(name: str, arguments: list[str], folder: str) -> Iterator[Step]:
    if name in _SEARCHERS:
        pattern, places = _search(name, arguments)
        if name == "rg" and "--files" in arguments:
            yield Step("find", pattern, folder=folder)
        elif pattern:
            only = Place(places[0]) if len(places) == 1 and _PATH.match(places[0]) else None
            yield Step("search", pattern, only, folder)
    elif name in _FINDERS:
        pattern = _file_pattern(name, arguments)
        if pattern:
            yield Step("find", pattern, folder=folder)
    elif name in _READERS and not any(_WRITES.match(word) for word in arguments):
        for place in _read(name, arguments):
            yield Step("read", place=place, folder=folder)


def _search(name: str, arguments: list[str]) -> tuple[str, list[str]]:
    patterns: list[str] = []
    plain, values = _split(arguments, _WITH_VALUE[name])
    for flag, value in values:
        if flag in {"-e", "--regexp"}:
            patterns.append(value)
    if not patterns and plain:
        patterns.append(plain.pop(0))
    return "|".join(patterns), plain


def _split(
    arguments: list[str], with_value: frozenset[str]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Part arguments into plain ones and the values of flags."""
    plain: list[str] = []
    values: list[tuple[str, str]] = []
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == "--":
            plain += arguments[at + 1 :]
            break
        short = word.startswith("-") and not word.startswith("--")
        takes = (short and word[-1:] in with_value | {"e"}) or word in _LONG_WITH_VALUE | {
            "--regexp"
        }
        if takes and at + 1 < len(arguments):
            values.append((f"-{word[-1]}" if short else word, arguments[at + 1]))
            at += 2
            continue
        if word.startswith("-") and len(word) > 1:
            flag, _, value = word.partition("=")
            values.append((flag, value))
        elif not re.fullmatch(r"\d?>+.*|<.*", word):
            plain.append(word)
        at += 1
    return plain, values


def _file_pattern(name: str, arguments: list[str]) -> str:
    if name == "find":
        for flag, value in pairwise(arguments):
            if flag in {"-name", "-iname", "-path", "-ipath", "-wholename", "-regex"}:
                return value
        return ""
    plain, _ = _split(arguments, frozenset("e t d".split()))
    return plain[0] if plain else ""


def _read(name: str, arguments: list[str]) -> Iterator[Place]:
    if name == "sed":
        plain = [word for word in arguments if not word.startswith("-")]
        script = plain[0] if plain else ""
        found = _RANGE.match(script)
        if "-i" in arguments or not found:
            return
        start, end = lines_of(found[1], found[2] if found[2] != "$" else None)
        for path in plain[1:]:
            yield Place(path, start, end if found[2] != "$" else 10**8)
        return
    plain, values = _split(arguments, _WITH_VALUE.get(name, frozenset()))
    count = next((value for flag, value in values if flag in {"-n", "--lines"}), "")
    count = count or next((flag[1:] for flag, _ in values if flag[1:].isdigit()), "")
    for path in plain:
        if name == "head":
            yield Place(path, 1, whole_number(count) or 10)
        elif name == "tail" and count.startswith("+") and whole_number(count, 0) is not None:
            yield Place(path, whole_number(count) or 1, 10**8)
        else:
            yield Place(path)
