"""No bytes make the chunker raise, and none make it slow."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codebench.corpus.chunks import Outline, outline
from codebench.corpus.languages import LANGUAGES

DATA = Path(__file__).parent / "data" / "chunks"
SOURCES = {name: (DATA / f"{name}.source").read_bytes() for name in sorted(LANGUAGES)}

languages = st.sampled_from(sorted(LANGUAGES))


def check(found: Outline, data: bytes) -> None:
    lines = data.split(b"\n")
    owned = [
        line
        for chunk in found.chunks
        for first, last in chunk.spans
        for line in range(first, last + 1)
    ]
    assert len(owned) == len(set(owned))
    assert set(owned) <= set(range(1, len(lines) + 1))
    filled = {n for n, line in enumerate(lines, 1) if line.removeprefix(b"\xef\xbb\xbf").strip()}
    assert filled <= set(owned)
    assert sum(found.line_bytes) == len(data)
    assert len({chunk.id for chunk in found.chunks}) == len(found.chunks)
    for chunk in found.chunks:
        assert chunk.spans
        assert list(chunk.spans) == sorted(chunk.spans)
    assert Outline.from_row(found.row()) == found


@given(languages, st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_bytes(language: str, data: bytes) -> None:
    check(outline(language, data), data)


@given(
    languages,
    st.lists(
        st.tuples(
            st.integers(0, 5_000),
            st.integers(0, 40),
            st.sampled_from(
                [b"", b"{", b"}", b"(", b"\n", b"/*", b'"', b"class A", b"\xff", b"\r\n"]
            ),
        ),
        max_size=6,
    ),
)
@settings(max_examples=200, deadline=None)
def test_damaged_code(language: str, cuts: list[tuple[int, int, bytes]]) -> None:
    data = SOURCES[language]
    for at, length, piece in cuts:
        data = data[:at] + piece + data[at + length :]
    check(outline(language, data), data)


@given(languages, st.data())
@settings(max_examples=60, deadline=None)
def test_parts_of_code_in_any_language(language: str, draw: st.DataObject) -> None:
    text = SOURCES[draw.draw(languages)]
    first = draw.draw(st.integers(0, len(text)))
    last = draw.draw(st.integers(first, len(text)))
    check(outline(language, text[first:last]), text[first:last])


HOSTILE = {
    "open brackets": b"(\n" * 200_000,
    "open classes": b"class A {\n" * 40_000,
    "open calls": b"`a\n" * 50_000,
    "generics": b"a<\n" * 100_000,
    "comments": b"/*\n" * 20_000,
    "unary": b"x = " + b"!\n" * 200_000 + b"x",
}


@pytest.mark.parametrize("kind", sorted(HOSTILE))
@pytest.mark.parametrize("language", ["python", "javascript", "go", "java"])
def test_hostile_files_end_soon(language: str, kind: str) -> None:
    started = time.monotonic()
    found = outline(language, HOSTILE[kind])
    assert time.monotonic() - started < 30
    assert found.chunks


def test_names_do_not_grow_with_the_depth_of_nesting() -> None:
    depth = 3_000
    data = b"".join(b" " * level + b"class A:\n" for level in range(depth))
    found = outline("python", data + b" " * depth + b"x = 1\n")
    assert max(len(chunk.name) for chunk in found.chunks) < 100


def test_a_parser_that_was_stopped_reads_the_next_file_from_its_start() -> None:
    expected = outline("java", SOURCES["java"])
    assert outline("java", b"a<\n" * 100_000).language == ""
    assert outline("java", SOURCES["java"]) == expected
