"""One file of each language, whole: which chunks it has, of which kind, with which lines.

`REWRITE_GOLDEN=1 pytest tests/test_chunks_languages.py` writes what is expected anew; read it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codebench.corpus.chunks import outline
from codebench.corpus.languages import LANGUAGES, grammar, language_of

if TYPE_CHECKING:
    from codebench.corpus.chunks import Outline
    from codebench.model import Chunk

DATA = Path(__file__).parent / "data" / "chunks"


def written(found: Outline) -> str:
    imports = " ".join(found.imports)
    return "\n".join([f"imports {imports}", *(line_of(chunk) for chunk in found.chunks), ""])


def line_of(chunk: Chunk) -> str:
    spans = ",".join(f"{first}-{last}" for first, last in chunk.spans)
    return f"{chunk.id.removeprefix('::')} {chunk.kind} {spans}"


def test_every_language_has_a_file_here() -> None:
    assert {file.stem for file in DATA.glob("*.source")} == set(LANGUAGES)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_chunks_of_a_whole_file(language: str) -> None:
    found = outline(language, (DATA / f"{language}.source").read_bytes())
    expected = DATA / f"{language}.expected"
    if os.environ.get("REWRITE_GOLDEN"):
        expected.write_text(written(found), encoding="utf-8")
    assert found.sound
    assert found.language == language
    assert written(found) == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_line_that_is_not_blank_has_one_owner(language: str) -> None:
    data = (DATA / f"{language}.source").read_bytes()
    found = outline(language, data)
    owned = [
        line
        for chunk in found.chunks
        for first, last in chunk.spans
        for line in range(first, last + 1)
    ]
    filled = {number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()}
    assert len(owned) == len(set(owned))
    assert filled <= set(owned)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_windows_line_ends_and_a_byte_order_mark_change_no_fingerprint(language: str) -> None:
    data = (DATA / f"{language}.source").read_bytes()
    found = outline(language, data)
    windows = outline(language, b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
    assert windows.chunks == found.chunks
    assert windows.sound
    assert sum(windows.line_bytes) == len(data) + 3 + data.count(b"\n")


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_more_blank_lines_change_no_fingerprint(language: str) -> None:
    data = (DATA / f"{language}.source").read_bytes()
    spaced = data.replace(b"\n\n", b"\n\n\n")
    found, again = outline(language, data), outline(language, spaced)
    prints = [(chunk.id, chunk.fingerprint, chunk.masked) for chunk in found.chunks]
    assert prints == [(chunk.id, chunk.fingerprint, chunk.masked) for chunk in again.chunks]


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_suffix_leads_to_its_language(language: str) -> None:
    for suffix in LANGUAGES[language].suffixes:
        assert language_of(f"a.b/file{suffix}") == language
        assert language_of(f"file{suffix.upper()}") == language
    assert grammar(language) is grammar(language)
