"""The strata that every query from history carries, and whether its text gives its gold away."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from codebench.gold.text import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.model import Target

_WORD = re.compile(r"[A-Za-z0-9]+")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_KIND_WORDS = {
    "fix": r"fix\w*|bug\w*|crash\w*|regress\w*|correct\w*|wrong|broken|leak\w*|prevent\w*|"
    r"avoid\w*|handle\w*|ensure\w*|hotfix|don'?t|do not",
    "performance": r"perf\w*|speed\w*|faster|optimi[sz]\w*|cache\w*|slow",
    "refactor": r"refactor\w*|renam\w*|mov(?:e[sd]?|ing)|extract\w*|simplif\w*|clean\w*|"
    r"reorgani[sz]\w*|split\w*|unify|dedup\w*|inline[sd]?|deprecat\w*|remov\w*|drop\w*",
    "feature": r"feat\w*|add\w*|support\w*|implement\w*|introduc\w*|allow\w*|new|enabl\w*|"
    r"expos\w*|accept\w*|provid\w*",
}
_KINDS = {
    kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in _KIND_WORDS.items()
}


def words_of(name: str) -> frozenset[str]:
    """Return the lower-case words of an identifier or path: `HTTPServer_v2` -> http server v 2."""
    return frozenset(part.lower() for word in _WORD.findall(name) for part in _CAMEL.findall(word))


def leak(text: str, targets: Sequence[Target]) -> str:
    """Return how much of a target's name or place the text holds: the worst over its targets.

    `name`: the target's own name, where it looks like code; `path`: its path or file name;
    `container`: its class; `stem`: its file's stem; `word`: a word of its name; else `none`.
    """
    identifiers = set(_IDENTIFIER.findall(text))
    words = {word for one in identifiers for word in (one.lower(), *words_of(one))}
    found = {_leak_of(text, identifiers, words, target) for target in targets}
    return next(level for level in LEAKS if level in found)


LEAKS = ("name", "path", "container", "stem", "word", "none")


def masked(text: str, targets: Sequence[Target]) -> str:
    """Return a text without the names, classes, paths and file stems of its targets.

    Single words of a name stay: they are the words that a person would use too.
    """
    for target in targets:
        *containers, name = _names(target)
        file = posixpath.basename(target.path)
        qualified = ".".join([*containers, name])
        for one in (target.path, file, qualified, name, *containers, file.split(".")[0]):
            if len(one) > 2 or one == name:
                quoted = rf"[`'\"]?(?<![\w.]){re.escape(one)}(?!\w)(?:\(\))?[`'\"]?"
                text = re.sub(quoted, " ", text)
    return re.sub(r" ([,.;:)])", r"\1", " ".join(text.split())).strip(" .,:;-")


def age(seconds: int) -> str:
    """Return how long after its snapshot a query came, in a handful of steps."""
    days = seconds / 86_400
    steps = ((30, "month"), (91, "quarter"), (365, "year"), (3 * 365, "three years"))
    return next((name for most, name in steps if days <= most), "older")


def history_tags(
    message: str, text: str, targets: Sequence[Target], language: str
) -> dict[str, str]:
    """Return the tags of a query from history.

    Args:
        message: the commit's whole message (its prefix tells the kind).
        text: the query's text.
        targets: its targets.
        language: of its first target's file.
    """
    files = {target.path for target in targets}
    count = content_words(text)
    return {
        "files": "single" if len(files) == 1 else "multi",
        "kind": _kind(message),
        "language": language,
        "leak": leak(text, targets),
        "length": "short" if count <= 5 else "medium" if count <= 10 else "long",
        "symbols": "single" if len(targets) == 1 else "multi",
    }


def _leak_of(text: str, identifiers: set[str], words: set[str], target: Target) -> str:
    *containers, name = _names(target)
    file = posixpath.basename(target.path)
    stem = file.split(".")[0]
    if name in identifiers and (_looks_like_code(name) or f"`{name}" in text or f"{name}(" in text):
        return "name"
    if target.path in text or file in text:
        return "path"
    if any(one in identifiers and len(one) > 2 for one in containers):
        return "container"
    if len(stem) > 2 and stem.lower().strip("_") in words:
        return "stem"
    return "word" if any(len(word) > 2 and word in words for word in words_of(name)) else "none"


def _names(target: Target) -> list[str]:
    return target.chunk.partition("::")[2].split("~")[0].split(".")


def _looks_like_code(name: str) -> bool:
    return "_" in name.strip("_") or name.startswith("_") or bool(re.search(r"[a-z][A-Z]|\d", name))


def _kind(message: str) -> str:
    subject = message.strip().partition("\n")[0]
    return next((kind for kind, pattern in _KINDS.items() if pattern.search(subject)), "other")
