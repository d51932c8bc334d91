"""What a query's text gives away of its gold."""

from __future__ import annotations

import pytest

from codebench.gold.tags import age, history_tags, leak, masked, words_of
from codebench.model import Target

TARGET = Target("shop/order_book.py", "shop/order_book.py::OrderBook.close_all~2")


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("close_all forgets the last order", "name"),
        ("in shop/order_book.py the last one is lost", "path"),
        ("order_book.py loses the last one", "path"),
        ("OrderBook loses the last one", "container"),
        ("close the last order of the day", "word"),
        ("the evening report misses one entry", "none"),
        ("disclosure of overall sums", "none"),
    ],
)
def test_how_much_a_text_leaks(text: str, level: str) -> None:
    assert leak(text, [TARGET]) == level


def test_a_plain_word_is_a_name_only_where_it_is_written_as_code() -> None:
    target = Target("shop/lock.py", "shop/lock.py::Lock.run")
    assert leak("run the evening report", [target]) == "word"
    assert leak("`run` blocks for ever", [target]) == "name"
    assert leak("run() blocks for ever", [target]) == "name"
    assert leak("the lock blocks for ever", [target]) == "stem"


def test_the_worst_leak_over_all_targets_counts() -> None:
    other = Target("b.py", "b.py::very_special")
    assert leak("the evening report is very_special", [TARGET, other]) == "name"


def test_masking_takes_names_out_and_leaves_words() -> None:
    text = "OrderBook.close_all() in shop/order_book.py: close the last order, please"
    assert masked(text, [TARGET]) == "in: close the last order, please"
    assert leak(masked(text, [TARGET]), [TARGET]) == "word"
    assert masked("call `close_all` twice", [TARGET]) == "call twice"


def test_identifiers_are_split() -> None:
    assert words_of("HTTPServer_v2/parseURL") == {"http", "server", "v", "2", "parse", "url"}


def test_every_query_has_its_strata() -> None:
    tags = history_tags(
        "fix(book): crash when the evening report is empty",
        "crash when the evening report is empty",
        [TARGET, Target("b.py", "b.py::f")],
        "python",
    )
    assert tags == {
        "files": "multi",
        "kind": "fix",
        "language": "python",
        "leak": "none",
        "length": "short",
        "symbols": "multi",
    }


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("speed up parsing of headers", "performance"),
        ("allow callbacks to be removed", "refactor"),
        ("support nested routes", "feature"),
        ("simplify the parser", "refactor"),
        ("the parser reads ahead", "other"),
    ],
)
def test_kinds(message: str, kind: str) -> None:
    assert history_tags(message, message, [TARGET], "python")["kind"] == kind


def test_ages() -> None:
    day = 86_400
    ages = [age(days * day) for days in (0, 31, 100, 400, 2000)]
    assert ages == ["month", "quarter", "year", "three years", "older"]
