"""TREC topics and documents: all that is wrong is named, and nothing is left out silently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codebench.errors import InputError
from codebench.gold import topics
from codebench.gold.topics import read_documents, read_topics

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ["holds no topic; give ID<tab>text lines, JSON Lines or <top> blocks"]),
        (
            "1\tone\nalone\n\tnameless\n2\t \n1\tagain\n",
            [
                "t:2: 'alone' is not ID<tab>text",
                "t:3: 'nameless' is not ID<tab>text",
                "t:4: '2' is not ID<tab>text",
                "t: topic: '1' stands twice",
            ],
        ),
        (
            '{"id": 7, "text": "x"}\n{"text": "y"}\n{"id": true, "title": "z"}\n{"id": "8"}\n',
            [
                "t:2: _id: is missing; give one of _id, id, qid, query_id, docno, docid",
                "t:3: id: 'true' is not text; put it in quotes",
                "t:4: text: is missing; give one of text, title, query, contents",
            ],
        ),
        (
            "<top><num>Number: 1<title>one</top><top><title>x  y</top><top><num> 3 <desc> </top>",
            [
                "t: '<title>x y' a <top> has no <num>",
                "t: '<num> 3 <desc>' a <top> has no <title>",
            ],
        ),
    ],
)
def test_topics_that_are_wrong(tmp_path: Path, text: str, said: list[str]) -> None:
    path = tmp_path / "t"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_topics(path)
    found = str(caught.value).replace(str(path), "t").splitlines()
    assert [line.removeprefix("t: ") if len(said) == 1 else line for line in found] == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no document; give a folder, JSON Lines or <DOC> blocks"),
        ("<DOC><DOCNO> d </DOCNO>x</DOC><DOC>y  z</DOC>", "'y z' a <DOC> has no <DOCNO>"),
        ("<DOC><DOCNO></DOCNO>y</DOC>", "'<DOCNO></DOCNO>y' a <DOC> has no <DOCNO>"),
        ("<DOC><DOCNO>d</DOCNO>x</DOC>" * 2, "document: 'd' stands twice"),
        ('{"_id": "d", "text": "x"}\n' * 2, "document: 'd' stands twice"),
        ("<doc><docno>d</docno>never ends", "its last <DOC> does not end"),
    ],
)
def test_documents_that_are_wrong(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "d"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"^[^\n]*$") as caught:
        list(read_documents(path))
    assert said in str(caught.value)


def test_a_title_may_be_missing_and_the_description_speaks_then(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text("<TOP>\n<NUM> Number: 12 \n<desc> Description:\n a <b>bold</b> word\n</TOP>")
    assert read_topics(path) == {"12": "a bold word"}
    path.write_text('{"docno": 3, "title": null, "contents": "x"}\n')
    (document,) = read_documents(path)
    assert (document.id, document.title, document.text) == ("3", "", "x")


def test_blocks_may_be_cut_anywhere_by_the_piece_in_which_a_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d"
    path.write_text("noise<DOC a=b>\n<DOCNO>é1</DOCNO> one </DOC>\n<doc><docno>2</docno>two</doc>x")
    whole = list(read_documents(path))
    assert [(own.id, own.text) for own in whole] == [("é1", "one"), ("2", "two")]
    for size in (1, 2, 3, 7, 11):
        monkeypatch.setattr(topics, "_CHUNK", size)
        assert list(read_documents(path)) == whole


def test_a_block_without_an_end_is_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d"
    path.write_text("<DOC><DOCNO>1</DOCNO>" + "x" * 5000)
    monkeypatch.setattr(topics, "_CHUNK", 100)
    monkeypatch.setattr(topics, "_MAX_BLOCK", 1000)
    with pytest.raises(InputError, match="holds a <DOC> of more than 1000 bytes"):
        list(read_documents(path))
