"""What is a secret, and that it is masked wherever it stands."""

from __future__ import annotations

import pytest

from codebench.model import Candidate
from codebench.runner.secret import MASK, is_secret, masked, masked_text, redactor


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("api_key", True), ("API-KEY", True), ("apikey", True), ("key", True), ("keys", True),
        ("OPENAI_API_KEY", True), ("token", True), ("GITHUB_TOKEN", True), ("password", True),
        ("Authorization", True), ("client_secret", True), ("cookie", True),
        ("k1", False), ("keyword", False), ("monkey", False), ("tokens", True),
        ("tokenizer", False), ("author", False), ("passes", False), ("secretary", False),
    ],
)  # fmt: skip
def test_names_say_what_is_secret(name: str, secret: bool) -> None:
    assert is_secret(name) is secret


def test_secrets_inside_options_are_masked() -> None:
    options = (
        ("headers", {"Authorization": "Bearer abcdef", "Accept": "json"}),
        ("list", [{"token": "123456"}, "plain"]),
        ("k1", 1.2),
    )
    one = Candidate("x", "x", options)
    assert masked(one).options == (
        ("headers", {"Authorization": MASK, "Accept": "json"}),
        ("list", [{"token": MASK}, "plain"]),
        ("k1", 1.2),
    )
    redact = redactor([one], {"MY_TOKEN": "from-the-environment", "PATH": "/usr/bin"})
    said = "sent Bearer abcdef and 123456 and from-the-environment along /usr/bin"
    assert redact(said) == f"sent {MASK} and {MASK} and {MASK} along /usr/bin"


def test_a_short_value_is_not_looked_for_in_texts() -> None:
    redact = redactor([Candidate("x", "x", (("key", "a"),))], {})
    assert redact("a cat sat") == "a cat sat"


def test_the_start_of_a_secret_that_was_cut_off_is_masked() -> None:
    redact = redactor([Candidate("x", "x", (("key", "abcdefghijkl"),))], {})
    assert redact("401 for abcdefghi... at x.py:3") == f"401 for {MASK}... at x.py:3"
    assert redact("abcdefghijkl... abcde...") == f"{MASK}... abcde..."


def test_the_current_folder_is_no_password() -> None:
    one = Candidate("x", "x", (("pwd", "hunter-22"),))
    redact = redactor([one], {"PWD": "/home/me/tools", "MY_PWD": "hunter-33"})
    said = "/home/me/tools/find.sh with hunter-22 or hunter-33"
    assert redact(said) == f"/home/me/tools/find.sh with {MASK} or {MASK}"


def test_a_name_shows_no_secret() -> None:
    text = "svc.py:S:api_key='a,b',k=3,token=xyz"
    options = {"api_key": "a,b", "k": 3, "token": "xyz"}
    assert masked_text(text, options) == "svc.py:S:api_key=***,k=3,token=***"
