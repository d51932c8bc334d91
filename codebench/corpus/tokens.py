"""Fingerprints: digests of a definition's tokens, whatever its layout.

Comments and docstrings are cut out before. What formatters change is ignored where that is
cheap: white space outside strings, a comma before a closing bracket, and, where the language
does not care, the kind of quotes and the semicolon at the end of a statement.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

_WORD = rb"[\w\x80-\xff]++"
_LONG = rb'"""(?:[^"\\]++|\\.|"(?!""))*+"""' + rb"|'''(?:[^'\\]++|\\.|'(?!''))*+'''"
_DOUBLE = rb'"(?:[^"\\\n]++|\\.)*+"'
_SINGLE = rb"'(?:[^'\\\n]++|\\.)*+'"
_CHARACTER = rb"'(?:\\[^'\n]{1,10}|[^'\\\n]{1,4})'"
_BACK = rb"`(?:[^`\\]++|\\.)*+`"
_REST = rb"[^\w\s]"

_TOKEN = re.compile(
    b"|".join((_WORD, rb"[^\w\s\"'`]", _LONG, _DOUBLE, _SINGLE, _BACK, _REST)), re.DOTALL
)
_TOKEN_LIFETIMES = re.compile(
    b"|".join((_WORD, rb"[^\w\s\"'`]", _LONG, _DOUBLE, _CHARACTER, _REST)), re.DOTALL
)
_BEFORE_CLOSING = re.compile(rb" ,(?= [)\]}>](?: |$))")
_SEMICOLON = re.compile(rb" ;(?= |$)")

OPEN = b"\x02"
CLOSE = b"\x03"
MARK = b"\x04"
"""Pieces that stand for layout: a block opens, closes; punctuation that is no formatter's."""

_HELD = 20_000
"""Prints that are remembered, by digest: some megabytes."""

_MASK = b"\x05"
_SCOPE = b"\x06"


class Prints(NamedTuple):
    """Digests of some tokens.

    Attributes:
        fingerprint: 32 hexadecimal digits.
        masked: the same with the name masked.
        size: bytes of the normalised tokens.
    """

    fingerprint: str
    masked: str
    size: int


class Tokeniser:
    """Makes the prints of one language's code."""

    def __init__(self, *, same_quotes: bool, optional_semicolons: bool, lifetimes: bool) -> None:
        self._find = (_TOKEN_LIFETIMES if lifetimes else _TOKEN).findall
        self._same_quotes = same_quotes
        self._optional_semicolons = optional_semicolons
        self._held: dict[tuple[bytes, bytes, bytes], Prints] = {}

    def prints(self, code: bytes, name: bytes = b"", scope: bytes = b"") -> Prints:
        """Return the prints of code.

        Args:
            code: own bytes, with what does not count cut out.
            name: masked wherever it is a token (at the definition and where it calls itself).
            scope: what the name belongs to, where the definition itself says so.
        """
        # The versions of a file share nearly all of their definitions.
        key = (blake2b(code, digest_size=16).digest(), name, scope)
        found = self._held.get(key)
        if found is None:
            if len(self._held) >= _HELD:
                self._held.clear()
            found = self._held[key] = self._prints(code, name, scope)
        return found

    def _prints(self, code: bytes, name: bytes, scope: bytes) -> Prints:
        text = self._normal(code)
        fingerprint = _digest(text)
        if not name:
            return Prints(fingerprint, fingerprint, len(text))
        masked = b" " + text + b" "
        for word, mask in ((name, _MASK), (scope, _SCOPE)):
            if word:
                masked = masked.replace(b" " + self._normal(word) + b" ", b" " + mask + b" ")
        return Prints(fingerprint, _digest(masked), len(text))

    def _normal(self, code: bytes) -> bytes:
        # A continued line is layout.
        text = b" ".join(self._find(code.replace(b"\\\n", b" ")))
        if b" ," in text:
            text = _BEFORE_CLOSING.sub(b"", text)
        if self._same_quotes:
            text = text.replace(b"'", b'"')
        if self._optional_semicolons:
            text = _SEMICOLON.sub(b"", text)
        return text


@cache
def tokeniser(same_quotes: bool, optional_semicolons: bool, lifetimes: bool) -> Tokeniser:
    """Return the tokeniser for a language's ways."""
    return Tokeniser(
        same_quotes=same_quotes, optional_semicolons=optional_semicolons, lifetimes=lifetimes
    )


def _digest(text: bytes) -> str:
    return blake2b(text, digest_size=16).hexdigest()
