"""Which commits can be asked: messages, authors and paths."""

from __future__ import annotations

import pytest

from codebench.gold import filters
from codebench.gold.filters import (
    cheap_verdicts,
    path_verdict,
    reverted_ids,
    source_changes,
)
from codebench.gold.history import Change, Commit
from codebench.gold.paths import path_kind
from codebench.gold.recipe import Recipe
from codebench.gold.text import clean_subject, content_words, query_text, subject_of


def commit(
    message: str,
    *paths: str,
    author: str = "Ada",
    email: str = "ada@example.org",
    parents: tuple[str, ...] = ("0" * 40,),
    number: int = 1,
) -> Commit:
    changes = tuple(Change("M", path, path, "1" * 40, "2" * 40, regular=True) for path in paths)
    return Commit(f"{number:040x}", parents, 1_700_000_000, author, email, message, changes)


@pytest.mark.parametrize(
    ("subject", "cleaned"),
    [
        (
            "fix(router): keep trailing slash in redirects (#1234)",
            "keep trailing slash in redirects",
        ),
        ("feat!: allow callbacks to be removed", "allow callbacks to be removed"),
        ("Fixes #12: crash when the body is empty", "crash when the body is empty"),
        ("[3.2.x] Fixed #31 -- Prevent lookup loops", "Prevent lookup loops"),
        ("see https://example.org/x?y=1 for parser details", "see for parser details"),
        ("Cookies expire GH-77 at midnight.", "Cookies expire at midnight"),
        ("add a lazy message related to #12", "add a lazy message"),
        ("see what comes in", "see what comes in"),
        ("http: parse the header lazily", "http: parse the header lazily"),
    ],
)
def test_a_subject_is_cleaned(subject: str, cleaned: str) -> None:
    assert clean_subject(subject) == cleaned


def test_a_subject_of_which_cleaning_leaves_little_is_no_query() -> None:
    assert query_text("ok https://example.org/a/very/long/address/that/says/nothing") == ""


def test_the_long_text_holds_prose_and_leaves_out_code_and_trailers() -> None:
    message = (
        "stop workers cleanly\n\nThe pool waited for ever.\n\n    $ run --it\n    Traceback\n\n"
        "Signed-off-by: Ada <ada@example.org>\nCo-authored-by: Bob <bob@example.org>\n"
    )
    assert query_text(message, long=True) == "stop workers cleanly The pool waited for ever."
    words = query_text("grow\n\n" + "word " * 500, long=True).split()
    assert len(words) == 120


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fix the bug", 0),
        ("parse header lazily", 3),
        ("parse the parse", 1),
        ("修复空指针异常崩溃", 4),
        ("修复空指", 0),
        ("12 34 x", 0),
    ],
)
def test_words_that_carry_meaning(text: str, words: int) -> None:
    assert content_words(text) == words


@pytest.mark.parametrize(
    ("message", "author", "verdict"),
    [
        ("parse headers lazily in proxies", "Ada", ""),
        ("parse headers lazily in proxies", "dependabot[bot]", filters.BOT),
        ("parse headers lazily in proxies", "ci-bot", filters.BOT),
        ("parse headers lazily in proxies", "Berenice Abbott", ""),
        ("parse headers lazily in proxies", "Robotham", ""),
        ('Revert "parse headers lazily"', "Ada", filters.REVERT),
        ("Bump requests from 2.31.0 to 2.32.0", "Ada", filters.DEPENDENCIES),
        ("upgrade build dependencies of images", "Ada", filters.DEPENDENCIES),
        ("release version 2.3.1", "Ada", filters.CHORE),
        ("docs: explain header parsing twice", "Ada", filters.CHORE),
        ("rewrite class-based view docs", "Ada", filters.CHORE),
        ("fix typo in header parser message", "Ada", filters.CHORE),
        ("apply black to header parser", "Ada", filters.CHORE),
        ("drop support for Python 3.7 everywhere", "Ada", filters.CHORE),
        ("fix tests", "Ada", filters.FEW_WORDS),
    ],
)
def test_a_message_is_judged(message: str, author: str, verdict: str) -> None:
    one = commit(message, "a.py", author=author)
    assert cheap_verdicts([one], Recipe())[0][one.id] == verdict


def test_a_subject_that_is_no_subject_is_cut() -> None:
    assert len(subject_of("a-" * 5000)) == 1000
    assert len(query_text("a-" * 5000)) <= 1000


def test_an_abbreviated_revert_is_one() -> None:
    bad = commit("parse headers lazily in proxies", "a.py", number=0xABC << 140)
    good = commit("stop the worker pool cleanly", "a.py", number=0xABD << 140)
    undo = commit(f"undo lazy parsing\n\nThis reverts {bad.id[:9]}.", "a.py", number=2)
    assert reverted_ids([undo, good, bad]) == {bad.id}


def test_what_a_later_commit_reverts_is_dropped_too() -> None:
    bad = commit("parse headers lazily in proxies", "a.py", number=0xABC)
    undo = commit(f"undo lazy parsing\n\nThis reverts commit {bad.id}.", "a.py", number=2)
    verdicts, _ = cheap_verdicts([undo, bad], Recipe())
    assert verdicts[bad.id] == filters.REVERT


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/parser.py", "source"),
        ("tests/parser.py", "test"),
        ("src/parser_test.go", "test"),
        ("src/parser.spec.ts", "test"),
        ("src/ParserTest.java", "test"),
        ("src/test_parser.py", "test"),
        ("src/latest.py", "source"),
        ("contest/rules.py", "source"),
        ("src/attestation.go", "source"),
        ("docs/conf.py", "docs"),
        ("vendor/lib/x.go", "vendored"),
        ("web/node_modules/x/y.js", "vendored"),
        ("api/types.pb.go", "generated"),
        ("web/app.min.js", "generated"),
        ("dist/app.js", "generated"),
    ],
)
def test_what_kind_of_file_a_path_names(path: str, kind: str) -> None:
    assert path_kind(path) == kind


def test_paths_are_judged() -> None:
    def verdict(*paths: str) -> str:
        one = commit("parse headers lazily", *paths)
        return path_verdict(one, source_changes(one))

    assert verdict("README.md") == filters.NO_CODE
    assert verdict("tests/test_a.py", "docs/conf.py") == filters.NO_SOURCE
    assert verdict(*(f"src/f{number}.py" for number in range(11))) == filters.MANY_FILES
    assert verdict("src/a.py", "tests/test_a.py", "README.md") == ""


def test_roots_merges_and_repeats() -> None:
    root = commit("parse headers lazily in proxies", "a.py", parents=(), number=1)
    older = commit("stop the worker pool cleanly", "a.py", number=2)
    newer = commit("Stop the worker pool cleanly", "b.py", number=3)
    merge = commit("weave both header branches", "a.py", parents=("1" * 40, "2" * 40), number=4)
    verdicts, texts = cheap_verdicts([merge, newer, older, root], Recipe())
    assert [verdicts[one.id] for one in (merge, newer, older, root)] == [
        filters.MERGE,
        "",
        filters.REPEATED,
        filters.ROOT,
    ]
    assert texts[newer.id] == "Stop the worker pool cleanly"


def test_a_time_window() -> None:
    one = commit("parse headers lazily in proxies", "a.py")
    for recipe, verdict in (
        (Recipe(since=one.time), ""),
        (Recipe(since=one.time + 1), filters.OUTSIDE),
        (Recipe(until=one.time), ""),
        (Recipe(until=one.time - 1), filters.OUTSIDE),
    ):
        assert cheap_verdicts([one], recipe)[0][one.id] == verdict


def test_a_pull_request_is_asked_by_its_title() -> None:
    two = ("1" * 40, "2" * 40)
    message = "Merge pull request #12 from ada/lazy\n\nParse proxy headers lazily (#11)\n\nMore."
    merge = commit(message, "a.py", parents=two, number=1)
    bare = commit("Merge branch 'main' into topic", "a.py", parents=two, number=2)
    plain = commit("stop the worker pool cleanly", "a.py", number=3)
    verdicts, texts = cheap_verdicts([merge, bare, plain], Recipe(pull_requests=True))
    assert verdicts == {merge.id: "", bare.id: filters.FEW_WORDS, plain.id: ""}
    assert texts[merge.id] == "Parse proxy headers lazily"
