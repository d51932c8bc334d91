"""What an adapter returned, judged."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codebench.grading import canonical_path
from codebench.model import Hit
from codebench.results.tally import UNKNOWN
from codebench.runner.raw import is_list, raw_row
from codebench.runner.validate import CLIPPED, CUT, InvalidOutput, validate

ROOT = "/corpus"
LENGTHS = {"a.py": 10, "d/b.py": 5}


def judged(*items: Any, k: int = 50) -> tuple[tuple[Hit, ...], dict[str, int]]:
    """Send items through both sides, as the pipe does."""
    rows = json.loads(json.dumps([raw_row(item) for item in items[:k]]))
    return validate(rows, len(items), k, ROOT, LENGTHS)


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("a.py", "a.py"),
        ("./a.py", "a.py"),
        ("d//b.py", "d/b.py"),
        ("d/../a.py", "a.py"),
        ("/corpus/a.py", "a.py"),
        ("/corpus/./d/b.py", "d/b.py"),
        ("d\\b.py", "d\\b.py"),
        ("A.py", "A.py"),
        ("", None),
        (".", None),
        ("/corpus", None),
        ("/corpus/", None),
        ("../a.py", None),
        ("/corpus/../x", None),
        ("/corpusa.py", None),
        ("/etc/passwd", None),
        ("a\0b", None),
    ],
)
def test_a_path_has_one_spelling(path: str, known: str | None) -> None:
    assert canonical_path(path, ROOT) == known
    assert canonical_path(path, ROOT + "/") == known


@given(st.text("ab./", max_size=12))
def test_a_canonical_path_stays_under_the_root_and_is_its_own_spelling(path: str) -> None:
    known = canonical_path(path, ROOT)
    if known is not None:
        assert canonical_path(known, ROOT) == known
        assert canonical_path(f"{ROOT}/{known}", ROOT) == known
        assert not {"", ".", ".."} & set(known.split("/"))


def test_good_hits_pass_in_their_order() -> None:
    hits = [
        Hit("./d/b.py", 1, 5, "f", 0.1),
        Hit("/corpus/a.py", 3),
        Hit("a.py", score=7),
        Hit("a.py"),
        Hit("a.py"),
    ]
    assert judged(*hits) == (
        (
            Hit("d/b.py", 1, 5, "f", 0.1),
            Hit("a.py", 3, 3),
            Hit("a.py", score=7.0),
            Hit("a.py"),
            Hit("a.py"),
        ),
        {},
    )


def test_numbers_of_numpy_are_numbers() -> None:
    hit: Any = Hit("a.py", np.int64(2), np.int32(3), np.str_("f"), np.float32(0.5))  # type: ignore[arg-type]
    assert judged(hit) == ((Hit("a.py", 2, 3, "f", 0.5),), {})


@pytest.mark.parametrize(
    ("hit", "said"),
    [
        (None, "hit 1: is a NoneType, not a Hit"),
        ("a.py", "is a str, not a Hit"),
        (("a.py", 1), "is a tuple, not a Hit"),
        (Hit(None), "path is a NoneType, not text"),  # type: ignore[arg-type]
        (Hit(b"a.py"), "path is a bytes, not text"),  # type: ignore[arg-type]
        (Hit("../a.py"), "path '../a.py' is not under the corpus directory"),
        (Hit("/etc/passwd"), "is not under the corpus directory"),
        (Hit(""), "is not under the corpus directory"),
        (Hit("a.py", 0, 3), "start_line is 0; lines count from 1"),
        (Hit("a.py", 1, -3), "end_line is -3; lines count from 1"),
        (Hit("a.py", 5, 4), "ends in line 4 before it starts in line 5"),
        (Hit("a.py", None, 4), "has an end_line and no start_line"),
        (Hit("a.py", 1.0, 4), "start_line is a float, not a whole number"),  # type: ignore[arg-type]
        (Hit("a.py", "1", 4), "start_line is a str, not a whole number"),  # type: ignore[arg-type]
        (Hit("a.py", True, 4), "start_line is a bool, not a whole number"),
        (Hit("a.py", 10**400), "start_line is a number of more than 63 bits"),
        (Hit("a.py", symbol=3), "symbol is a int, not text"),  # type: ignore[arg-type]
        (Hit("a.py", symbol="\ud800"), "is not Unicode text"),
        (Hit("a.py", score=math.nan), "score is nan, which is not finite"),
        (Hit("a.py", score=math.inf), "score is inf, which is not finite"),
        (Hit("a.py", score="0.9"), "score is a str, not a number"),  # type: ignore[arg-type]
        (Hit("a.py", score=True), "score is a bool, not a number"),
        (Hit("a.py", score=10**400), "score is a number of more than 63 bits, not a number"),
        (Hit("a.py", score=[1]), "score is a list, not a number"),  # type: ignore[arg-type]
    ],
)
def test_a_hit_that_means_nothing_spoils_the_answer(hit: Any, said: str) -> None:
    with pytest.raises(InvalidOutput) as caught:
        judged(hit)
    assert said in str(caught.value)
    with pytest.raises(InvalidOutput, match="hit 2: "):
        judged(Hit("a.py"), hit)


def test_what_has_one_meaning_is_repaired_and_counted() -> None:
    assert judged(*[Hit("a.py")] * 10_000, k=10) == ((Hit("a.py"),) * 10, {CUT: 9990})
    assert judged(Hit("a.py", 9, 12), Hit("a.py", 11, 12)) == (
        (Hit("a.py", 9, 10), Hit("a.py")),
        {CLIPPED: 2},
    )
    assert judged(Hit("gone.py", 1, 99), Hit("d")) == (
        (Hit("gone.py", 1, 99), Hit("d")),
        {UNKNOWN: 2},
    )


@pytest.mark.parametrize("rows", [None, "x", {}, [3], [[1, 2]], [["a.py", 1, 2, None, None, 0]]])
def test_a_reply_of_another_shape_is_no_answer(rows: Any) -> None:
    with pytest.raises(InvalidOutput):
        validate(rows, 1, 50, ROOT, LENGTHS)


def test_lists_are_told_from_what_only_looks_like_one() -> None:
    assert is_list([])
    assert is_list((Hit("a"),))
    for wrong in (None, "abc", b"abc", {"a": 1}, {1}, iter((Hit("a"),)), 3, np.zeros(2)):
        assert not is_list(wrong)
