"""Which commits can be asked as queries: the cheap tests on message and paths, and the funnel.

Every commit gets a verdict: empty when it is kept, else the reason for which it was dropped.
The order of `REASONS` is the order of the tests, cheapest first.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from codebench.corpus.languages import language_of
from codebench.gold.paths import path_kind
from codebench.gold.text import content_words, query_text, subject_of

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from codebench.gold.history import Change, Commit
    from codebench.gold.recipe import Recipe

ROOT = "root or shallow boundary"
MERGE = "merge"
BOT = "bot"
REVERT = "reverted or revert"
DEPENDENCIES = "dependency bump"
CHORE = "release, style or docs message"
FEW_WORDS = "fewer than 3 content words"
NO_CODE = "no code file"
NO_SOURCE = "tests, docs, generated or vendored only"
MANY_FILES = "more than 10 source files"
REPEATED = "repeated text"
MISSING = "blob missing or too large"
UNCHANGED = "nothing changed structurally"
TOP_LEVEL = "imports or top-level statements only"
MOVED = "moved or renamed only"
DELETED = "deleted only"
NEW = "only new symbols"
UNSOUND = "syntax errors"
MANY_TARGETS = "more than 10 targets"
LOST = "targets not in the snapshot"
DRIFTED = "targets drifted"
MASKED = "fewer than 3 content words when masked"
OUTSIDE = "outside the time window"

REASONS = (
    OUTSIDE,
    *(ROOT, MERGE, BOT, REVERT, DEPENDENCIES, CHORE, FEW_WORDS, NO_CODE, NO_SOURCE, MANY_FILES),
    *(REPEATED, MISSING, UNCHANGED, TOP_LEVEL, MOVED, DELETED, NEW, UNSOUND),
    *(MANY_TARGETS, LOST, DRIFTED, MASKED),
)

MAX_SOURCE_FILES = 10

_BOT = re.compile(
    r"\[bot\]|(?:^|[\s._+-])bot(?:$|[\s._+@-])|dependabot|renovate|greenkeeper|pre-commit-ci|"
    r"github-actions|pyup|snyk|imgbot|allcontributors|weblate|transifex",
    re.IGNORECASE,
)
_REVERT = re.compile(r"^\s*(?:revert|reapply|roll\s?back)\b|^\s*Back(?:ed)? out\b", re.IGNORECASE)
_REVERTED = re.compile(r"reverts\s+(?:commit\s+)?([0-9a-f]{7,64})", re.IGNORECASE)
_DEPENDENCIES = re.compile(
    r"\b(?:bump|upgrade|update|pin|unpin|lock)\b.{0,60}?(?:\bdependenc|\brequirements?\b|\bdeps?\b|"
    r"\block\s?files?\b|\bsubmodule|\bto v?\d+(?:\.\d+)+|\bfrom v?\d+(?:\.\d+)+|\bpre-?commit\b|"
    r"\bpackages\b|\bpre-commit hooks?\b)|"
    r"^(?:build|chore|fix|ci)\(deps(?:-dev)?\)|^(?:update|bump) [\w@/.-]+ (?:requirement|action)",
    re.IGNORECASE,
)
_CHORE = re.compile(
    r"^\s*(?:chore|build|ci|docs?|style|test|tests|release|workflow|types|lint)(?:\([^)]*\))?!?:|"
    r"^\s*(?:prepare|preparing|release|releasing|tag(?:ging)?|bump|start|begin|back to dev)\b"
    r".{0,30}(?:\bv?\d+\.\d+|\bversion\b|\brelease\b|\bdevelopment\b)|"
    r"^\s*v?\d+\.\d+(?:\.\d+)*\S*\s*$|"
    r"\b(?:changelog|change log|release notes?|readme|docstrings?|typos?|spelling|grammar|"
    r"copyright|licen[cs]e|whitespace|white space|white-space|formatting|reformat\w*|"
    r"pep-?8|flake8|pylint|isort|gofmt|goimports|go fmt|go vet|golint|golangci\S*|eslint|prettier|"
    r"clang-format|rustfmt|cargo fmt|clippy|pyflakes|ruff|mypy|pyright|pyupgrade|pre-commit|"
    r"lint|linter|linting|"
    r"codespell|authors|contributors|code style|coding style|style fix\w*|black)\b|"
    r"^\s*(?:run|apply|use|reformat\w* with) black\b|"
    r"^\s*(?:update|improve|fix|add|clarify|correct|tweak|more|better|minor|small|some)?\s*"
    r"(?:the\s+)?(?:docs?|documentation|comments?|doc ?strings?|examples?|tutorial)\b|"
    r"\b(?:docs|documentation|comments|docstrings?)\s*$|"
    r"\b(?:type (?:hints?|annotations?)|typing|annotations)\b|"
    r"\b(?:drop\w*|remov\w*|add\w*|end|requir\w*|support\w*|minimum)\b.{0,40}\b"
    r"(?:python|py|go|node|rust|java|php|ruby|msrv|jdk)\s?v?\d",
    re.IGNORECASE,
)
_MERGED = re.compile(r"^\s*Merge (?:pull request|PR|branch|remote-tracking branch)\b|^\s*Merged ")
_RENAME = re.compile(r"^(?:[\w./-]+: )?(?:rename|renaming|renamed)\b", re.IGNORECASE)
_SYNC = re.compile(
    r"^\s*(?:sync|merge|import|vendor|update|port)\b.{0,40}\b(?:upstream|from master|from main|"
    r"into master|into main|branch)\b|^\s*Merge\b",
    re.IGNORECASE,
)


def reverted_ids(commits: Sequence[Commit]) -> frozenset[str]:
    """Return the IDs of the commits that some message, perhaps abbreviating, says it reverts."""
    ids = sorted(commit.id for commit in commits)
    prefixes = {
        found.group(1).lower()
        for commit in commits
        if "revert" in commit.message.lower()
        for found in _REVERTED.finditer(commit.message)
    }
    return frozenset(
        found
        for prefix in prefixes
        for found in ids[bisect_left(ids, prefix) : bisect_left(ids, prefix + "g")]
    )


def _message_verdict(commit: Commit, message: str, reverted: Set[str]) -> str:
    """Judge a commit by its author and its message's first line.

    Args:
        commit: as history tells it.
        message: its own, or its pull request's.
        reverted: IDs of reverted commits.
    """
    subject = subject_of(message)
    if _BOT.search(commit.author) or _BOT.search(commit.email.split("@")[0]):
        return BOT
    if _REVERT.search(subject) or commit.id in reverted:
        return REVERT
    if _DEPENDENCIES.search(subject):
        return DEPENDENCIES
    if _CHORE.search(subject) or _SYNC.search(subject):
        return CHORE
    return ""


def renames_something(message: str) -> bool:
    """Tell whether a message is about a new name."""
    return bool(_RENAME.match(query_text(message)))


def source_changes(commit: Commit) -> tuple[Change, ...]:
    """Return the changes of a commit to source files in a language that is parsed."""
    return tuple(
        change
        for change in commit.changes
        if change.regular and language_of(change.path) and path_kind(change.path) == "source"
    )


def path_verdict(commit: Commit, sources: Sequence[Change]) -> str:
    """Judge a commit by the paths that it touched."""
    if not any(change.regular and language_of(change.path) for change in commit.changes):
        return NO_CODE
    if not sources:
        return NO_SOURCE
    if len(sources) > MAX_SOURCE_FILES:
        return MANY_FILES
    return ""


def cheap_verdicts(
    commits: Sequence[Commit], recipe: Recipe
) -> tuple[dict[str, str], dict[str, str]]:
    """Judge every commit by its time, message and paths.

    Args:
        commits: newest first; of a repeated text the newest is kept.
        recipe: the window, the unit and the length of the text.

    Returns:
        Verdicts of all commits, and the texts of those that are kept, each by commit ID.
    """
    reverted = reverted_ids(commits)
    verdicts: dict[str, str] = {}
    texts: dict[str, str] = {}
    seen: set[str] = set()
    for commit in commits:
        message = pull_request_message(commit) if recipe.pull_requests else commit.message
        verdict = _structure(commit, recipe) or _message_verdict(commit, message, reverted)
        if not verdict:
            text = query_text(message, long=recipe.long_text)
            verdict = FEW_WORDS if content_words(text) < 3 else ""
            verdict = verdict or path_verdict(commit, source_changes(commit))
            if not verdict and text.lower() in seen:
                verdict = REPEATED
            if not verdict:
                seen.add(text.lower())
                texts[commit.id] = text
        verdicts[commit.id] = verdict
    return verdicts, texts


def pull_request_message(commit: Commit) -> str:
    """Return a merge's message with the pull request's title, from the body, as its subject."""
    subject, _, body = commit.message.strip().partition("\n")
    if len(commit.parents) < 2 or not _MERGED.match(subject):
        return commit.message
    return body.strip()


def _structure(commit: Commit, recipe: Recipe) -> str:
    if recipe.since is not None and commit.time < recipe.since:
        return OUTSIDE
    if recipe.until is not None and commit.time > recipe.until:
        return OUTSIDE
    if not commit.parents:
        return ROOT
    if len(commit.parents) > 1 and not recipe.pull_requests:
        return MERGE
    return ""
