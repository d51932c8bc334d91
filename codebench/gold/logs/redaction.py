"""What of a log must not be kept: who did it, secrets, addresses and home folders."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codebench.gold.logs.record import Record

_MAX_TEXT = 100_000
"""Characters of one text; what is longer is cut: patterns must not meet a megabyte."""

_TOKENS = (
    r"sk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{16,}",
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",
    r"gh[oprsu]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"glpat-[A-Za-z0-9_-]{16,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"(?:AKIA|ASIA|AGPA|AROA)[A-Z0-9]{16}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"ya29\.[A-Za-z0-9_-]{20,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{30,}",
    r"hf_[A-Za-z0-9]{20,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
)
_NAMED = (
    r"(?i:api[_-]?key|access[_-]?key|secret(?:[_-]?(?:key|access[_-]?key))?|auth[_-]?token|"
    r"access[_-]?token|refresh[_-]?token|token|passw(?:or)?d|passwd|pwd|client[_-]?secret|"
    r"private[_-]?key|credentials?)"
)
_VALUE = r"[^\s'\"`,;)\]}<>]{6,200}"

_PATTERNS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    (
        "private keys",
        re.compile(
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}-----|\Z)",
            re.DOTALL,
        ),
        "<private key>",
    ),
    ("tokens", re.compile(rf"\b(?:{'|'.join(_TOKENS)})"), "<token>"),
    ("tokens", re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}"), r"\1 <token>"),
    (
        "passwords in URLs",
        re.compile(r"\b([a-z][a-z0-9+.-]{1,20}://)[^\s/@:]{1,100}:[^\s/@]{1,200}@"),
        r"\1<password>@",
    ),
    (
        "secrets by name",
        # A value that is code (a name, a call) stays: what is asked about `token` is no secret.
        re.compile(
            rf"(?<![A-Za-z0-9])([\w-]{{0,30}}?{_NAMED}['\"]?"
            rf"(?:[=:]['\"]?(?![=:])|\s*[=:]\s*['\"]?(?=\S*\d)))(?![\w.]+\()({_VALUE})"
        ),
        r"\1<secret>",
    ),
    (
        "e-mail addresses",
        re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}\b"),
        "<e-mail>",
    ),
    ("home folders", re.compile(r"(?:/home|/Users|/var/home)/[^\s/'\"`:,;)\]]{1,64}"), "<home>"),
    ("home folders", re.compile(r"(?i)\b[A-Z]:\\+Users\\+[^\s\\/'\"`:,;)\]]{1,64}"), "<home>"),
    ("home folders", re.compile(r"(?<![\w/.])/root(?=/|\b)"), "<home>"),
)
_DENSE = re.compile(r"(?<![\w/+-])(?=[A-Za-z0-9_+/-]*\d)[A-Za-z0-9_+/-]{32,}={0,2}(?![\w/+-])")
_HEX = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Redactor:
    """Takes out of a log what must not be kept, and counts it.

    Args:
        salt: of the users' hashes; random where none is given, and never stored.

    Attributes:
        counts: what was taken out, by kind.
    """

    def __init__(self, salt: str = "") -> None:
        self._salt = salt.encode() or secrets.token_bytes(32)
        self._users: set[str] = set()
        self.counts: Counter[str] = Counter()

    @property
    def users(self) -> int:
        """How many users there were."""
        return len(self._users)

    def record(self, record: Record) -> Record:
        """Return a record with its names hashed, and its text redacted.

        The texts of an edit are kept as they are until its symbols are known, and no longer.
        """
        user = record.user or record.session
        hashed = self.hashed(user) if user else ""
        if hashed:
            self._users.add(hashed)
        return replace(
            record,
            user=hashed,
            session=self.hashed(record.session) if record.session else "",
            query=self.text(record.query) if record.query else "",
            retriever=self.text(record.retriever) if record.retriever else "",
        )

    def hashed(self, name: str) -> str:
        """Return a name that cannot be read back without the salt."""
        return hmac.new(self._salt, name.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[
            :24
        ]

    def text(self, text: str) -> str:
        """Return a text without secrets, addresses and home folders."""
        text = text[:_MAX_TEXT].encode("utf-8", "replace").decode()
        for kind, pattern, instead in _PATTERNS:
            text, count = pattern.subn(instead, text)
            self.counts[kind] += count
        return _DENSE.sub(self._dense, text)

    def _dense(self, found: re.Match[str]) -> str:
        """Take out what is long and mixed as only keys are; a commit's ID and a path are not."""
        word = found[0]
        mixed = [any(map(test, word)) for test in (str.islower, str.isupper, str.isdigit)]
        if _HEX.fullmatch(word) or not all(mixed) or word.count("/") > 2 or "__" in word:
            return word
        self.counts["tokens"] += 1
        return "<token>"
