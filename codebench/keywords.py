"""Words of questions and of code, and what a text search shows of a file."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from codebench.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")

_STOP_WORDS = """
    a about after all also an and any are as at be because been before but by can cannot could did
    do does done for from get gets had has have how if in into is it its just like make makes may
    more most must no not of off on one only onto or other our out over own same should so some
    such than that the their them then there these they this those to too under up use used uses
    using very via was we were what when where which while who why will with without would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

MAX_KEYWORDS = 16
WINDOW_LINES = 40
"""One screen: a longer range is not shown as one window."""

_GAP = 10
_LONGEST = 100


@lru_cache(maxsize=100_000)
def split_identifier(word: str) -> tuple[str, ...]:
    """Return the lower-case parts of an identifier: `parseHTTP_v2` is parse, http, v, 2."""
    return tuple(part.lower() for part in _PART.findall(word))


@lru_cache(maxsize=100_000)
def _tokens_of(word: str) -> tuple[str, ...]:
    parts = split_identifier(word)
    whole = word.lower()
    return parts if parts == (whole,) else (whole, *parts)


def tokens(text: str) -> list[str]:
    """Return every word of a text in lower case, each followed by its parts if it has several."""
    return [token for word in _WORD.findall(text) for token in _tokens_of(word)]


def keywords(question: str) -> list[str]:
    """Return the words of a question that are worth searching for, in its order.

    Without stop words, single letters, what is too long for a word, and repeats; at most
    MAX_KEYWORDS.
    """
    words = (word.lower() for word in _WORD.findall(question))
    kept = dict.fromkeys(
        word for word in words if 1 < len(word) <= _LONGEST and word not in STOP_WORDS
    )
    return list(kept)[:MAX_KEYWORDS]


def windows(matches: Iterable[tuple[str, int, str]], words: Sequence[str], k: int) -> list[Hit]:
    """Fold matched lines into the ranges that somebody would look at, best first.

    Lines of one file at most 10 apart share a window of at most 40 lines.
    A window ranks by how many different words it holds, then by how many lines matched, then
    by path and place, so the order never depends on the order in which a tool printed them.

    Args:
        matches: (path, 1-based line number, the line).
        words: what was searched for, in lower case.
        k: how many windows are wanted.
    """
    found: list[tuple[int, int, str, int, int]] = []
    group: list[tuple[str, int, str]] = []
    for match in sorted(matches):
        if group and (
            match[0] != group[0][0]
            or match[1] - group[-1][1] > _GAP
            or match[1] - group[0][1] >= WINDOW_LINES
        ):
            found.append(_window(group, words))
            group = []
        group.append(match)
    if group:
        found.append(_window(group, words))
    return [
        Hit(path, start, end, score=float(-distinct))
        for distinct, _, path, start, end in sorted(found)[:k]
    ]


def _window(
    group: Sequence[tuple[str, int, str]], words: Sequence[str]
) -> tuple[int, int, str, int, int]:
    text = "\n".join(line for _, _, line in group).lower()
    distinct = sum(word in text for word in words)
    return -distinct, -len(group), group[0][0], group[0][1], group[-1][1]
