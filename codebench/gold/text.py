"""A commit's message -> the text of a query."""

from __future__ import annotations

import re

_PREFIX = re.compile(
    r"^\s*(?:(?:fix|feat|feature|bugfix|hotfix|perf|refactor|refact|chore|build|ci|docs?|style|"
    r"test|tests|types|workflow|revert|wip|dx|release|improve|polish)"
    r"(?:\([^()\n]*\))?!?:\s+)+",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"^[A-Z][A-Za-z]*(?:-[A-Za-z]+)+:\s.*$|^(?:git-svn-id|cc|CC):.*$", re.MULTILINE
)
_URL = re.compile(r"<?\b(?:https?|ftp)://[^\s<>()]+>?")
_ISSUE_WORDS = re.compile(
    r"[(\[]?\b(?:fix(?:e[sd])?|clos(?:e[sd]?|ing)|resolv(?:e[sd]?|ing)|refs?|see|issue|ticket|bug|"
    r"pr|part of|for|via)?:?\s*(?:[\w.-]+/[\w.-]+)?(?:#\d+|\bGH-?\d+|\b[A-Z][A-Z0-9]+-\d+)"
    r"(?:\s*(?:,|and|&)\s*(?:#\d+|GH-?\d+))*[)\]]?",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_ISSUE = re.compile(r"(?:#\d+|\bGH-?\d+\b)")
_TAG = re.compile(r"^\s*\[[^\]\n]{1,20}\]\s*")
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_DANGLING = re.compile(
    # From the beginning of a run, and all of it: from each of its characters is its square.
    r"(?<![\s,;:(-])[\s,;:(-]++"
    r"(?:related to|relates to|as in|as per|according to|because of|due to|reported in|"
    r"see|from|for|in|by|of|to|via|with|and|this|closes|fixes|refs?)\s*$",
    re.IGNORECASE,
)
_EMPTY_BRACKETS = re.compile(r"\(\s*\)|\[\s*\]|<\s*>")
_STOP = frozenset(
    """a about after again all also an and any are as at be because been before being but by can
    cleanup clean code could did do does doing don done down few for from further get had has have
    having he her here his how i if in into is isn it its just let like make makes making me minor
    misc more most my no nor not now of off on once only or other our out over own please s same
    should simple small so some still stuff such t tests test than that the their them then there
    these they this those through to too trivial try tweak tweaks under until up update updated
    updates use used uses using various very was wasn we were what when where which while who why
    will with wip work works would you your fix fixes fixed fixing bug bugs add added adds adding
    remove removed removes change changed changes changing improve improved""".split()
)

MAX_SUBJECT = 1_000
"""Characters; what is longer is no subject, and patterns take the square of its length."""

LONG_WORDS = 120
"""The `long` text keeps prose up to this many words."""


def subject_of(message: str) -> str:
    """Return a message's first line, cut at 1,000 characters."""
    return message.strip().partition("\n")[0][:MAX_SUBJECT]


def clean_subject(subject: str) -> str:
    """Return a subject without prefixes, issue references, URLs and tags."""
    text = _TAG.sub("", _PREFIX.sub("", subject))
    text = _URL.sub(" ", text)
    if _DIGIT.search(text):  # which every reference has, and few subjects
        text = _ISSUE.sub(" ", _ISSUE_WORDS.sub(" ", text))
    text = _SPACE.sub(" ", _EMPTY_BRACKETS.sub(" ", text)).strip(" \t-:;,.")
    # What an issue's number was the object of means nothing without it.
    removed = len(text) < len(_SPACE.sub(" ", _PREFIX.sub("", subject)).strip(" \t-:;,."))
    return _DANGLING.sub("", text).strip(" \t-:;,.") if removed else text


def query_text(message: str, *, long: bool = False) -> str:
    """Return what a retriever is asked: the cleaned subject, and with `long` the prose too.

    Empty when cleaning eats more than half of the subject: what is left says little.
    """
    subject, body = subject_of(message), message.strip().partition("\n")[2]
    cleaned = clean_subject(subject)
    if len(cleaned) * 2 < len(_PREFIX.sub("", subject).strip()):
        return ""
    if not long:
        return cleaned
    words = " ".join([cleaned, *_prose(body)]).split()
    return " ".join(words[:LONG_WORDS])


def content_words(text: str) -> int:
    """Count words that carry meaning; in scripts without spaces three characters are one."""
    unspaced = len(_UNSPACED.findall(text))
    spaced = {word.lower() for word in _WORD.findall(_UNSPACED.sub(" ", text))}
    words = [word for word in spaced if word not in _STOP and len(word) > 1 and not word.isdigit()]
    return len(words) + (unspaced // 2 if unspaced >= 6 else 0)


def _prose(body: str) -> list[str]:
    paragraphs = re.split(r"\n\s*\n", _TRAILER.sub("", body))
    kept = []
    for paragraph in paragraphs:
        lines = paragraph.splitlines()
        code = sum(line.startswith(("    ", "\t", ">", "```", "$ ")) for line in lines)
        text = _SPACE.sub(" ", _ISSUE.sub(" ", _URL.sub(" ", paragraph))).strip()
        if text and code * 2 <= len(lines):
            kept.append(text)
    return kept
