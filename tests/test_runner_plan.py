"""Order of questions, warm-up, floors and lists of retrievers."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from codebench.errors import AdapterError, InputError
from codebench.model import Chunk, Corpus, FileTable, Hit, Query, Target
from codebench.runner import floors
from codebench.runner.candidates import candidates, default_candidates, read_retrievers
from codebench.runner.machine import fingerprint
from codebench.runner.plan import RunSettings, order, warmup_texts

if TYPE_CHECKING:
    from pathlib import Path


def chunk(path: str, name: str, start: int, end: int, ordinal: int = 1) -> Chunk:
    return Chunk(path, name, ordinal, "function", ((start, end),), "", "", 1)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    tables = (
        FileTable("a/parser.py", "python", (9,) * 30, (
            chunk("a/parser.py", "<module>", 1, 5),
            chunk("a/parser.py", "readHeader", 6, 15),
            chunk("a/parser.py", "Parser.parse_body", 16, 30),
        )),
        FileTable("b.go", "go", (9,) * 20, (
            chunk("b.go", "init", 1, 9), chunk("b.go", "init", 10, 20, 2),
        )),
        FileTable("notes.txt", "", (9,) * 3, (chunk("notes.txt", "", 1, 3),)),
    )  # fmt: skip
    return Corpus(tmp_path, "sha256:1", tables)


def test_the_text_of_what_is_no_chunk_says_what_is_wanted(corpus: Corpus) -> None:
    with pytest.raises(TypeError, match=r"a chunk of corpus.chunks\(\), not a FileTable; the text"):
        corpus.text(corpus.tables[0])  # type: ignore[arg-type]  # as a person would


def query(name: str, text: str, *chunks: str) -> Query:
    targets = tuple(Target(one.partition("::")[0], one) for one in chunks)
    return Query(name, text, targets)


QUERIES = tuple(query(f"q{number}", f"text {number}", "b.go::init") for number in range(30))


def test_every_query_is_asked_in_each_round_in_a_seeded_order() -> None:
    settings = RunSettings(repeats=3)
    asks = order(QUERIES, settings)
    assert asks == order(QUERIES[::-1], settings)
    rounds = [asks[start : start + 30] for start in (0, 30, 60)]
    for number, asked in enumerate(rounds):
        assert {ask.repeat for ask in asked} == {number}
        assert Counter(ask.query.id for ask in asked) == Counter(q.id for q in QUERIES)
    orders = [[ask.query.id for ask in asked] for asked in rounds]
    assert orders[0] != orders[1] != orders[2]
    other = order(QUERIES, dataclasses.replace(settings, seed=1))
    assert [ask.query.id for ask in other[:30]] != orders[0]


def test_warm_up_uses_words_of_the_corpus_and_none_of_the_suites_texts(corpus: Corpus) -> None:
    texts = warmup_texts(list(corpus.chunks()), RunSettings(warmups=20))
    assert len(texts) == 20
    assert set(texts) == {"read header", "parser parse body", "init"}
    assert texts == warmup_texts(list(corpus.chunks()), RunSettings(warmups=20))
    assert warmup_texts([], RunSettings(warmups=2)) == ["warm up", "warm up"]


def hits_of(name: str, one: Query, corpus: Corpus, **recency: int) -> tuple[Hit, ...]:
    settings = RunSettings(depth=4)
    (answer,) = floors.answers(name, [one], corpus, settings, recency)
    assert (answer.query, answer.status, answer.latency_ns) == (one.id, "ok", None)
    return answer.hits


def test_the_random_floor_is_seeded_and_differs_by_query(corpus: Corpus) -> None:
    found = [hits_of("random", one, corpus) for one in QUERIES]
    assert found == [hits_of("random", one, corpus) for one in QUERIES]
    assert len(set(found)) > 10
    assert all(len(set(hits)) == 4 for hits in found)


def test_path_match_counts_the_querys_tokens_in_path_and_name(corpus: Corpus) -> None:
    hits = hits_of("path-match", query("q", "parse the body of a header", "b.go"), corpus)
    assert hits == (
        Hit("a/parser.py", 16, 30, "Parser.parse_body"),  # a, parse, body
        Hit("a/parser.py", 6, 15, "readHeader"),  # a, header
        Hit("a/parser.py", 1, 5, "<module>"),  # a
    )
    assert hits_of("path-match", query("q", "nothing of it", "b.go"), corpus) == ()


def test_recent_goes_by_last_change_and_needs_one(corpus: Corpus) -> None:
    ranks = {"notes.txt": 0, "a/parser.py": 2, "b.go::init~2": 1}
    hits = hits_of("recent", QUERIES[0], corpus, **ranks)
    assert [hit.path for hit in hits] == ["notes.txt", "b.go", "a/parser.py", "a/parser.py"]
    assert floors.available(("random", "recent"), {}) == ["random"]
    assert floors.available(("random", "recent"), ranks) == ["random", "recent"]


def test_right_file_is_in_the_file_and_never_the_symbol(corpus: Corpus) -> None:
    for number in range(20):
        asked = query(f"q{number}", "t", "a/parser.py::readHeader", "a/parser.py::<module>")
        hits = hits_of("right-file", asked, corpus)
        assert hits == (Hit("a/parser.py", 16, 30, "Parser.parse_body"),) * 2
    assert hits_of("right-file", query("q", "t", "b.go::init"), corpus) == (Hit("b.go"),)
    assert hits_of("right-file", query("q", "t", "notes.txt"), corpus) == (Hit("notes.txt"),)
    assert hits_of("right-file", query("q", "t", "gone.py::f"), corpus) == (Hit("gone.py"),)
    chosen = {
        hits_of("right-file", query(f"q{number}", "t", "a/parser.py::readHeader"), corpus)[0].symbol
        for number in range(20)
    }
    assert chosen == {"<module>", "Parser.parse_body"}


def test_the_defaults_are_the_three_that_need_nothing() -> None:
    assert [one.name for one in default_candidates()] == ["bm25", "ripgrep", "git-grep"]


def test_candidates_come_from_words_and_from_yaml(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    (tmp_path / "list.yaml").write_text(
        "retrievers:\n"
        "  - bm25:k1=2\n"
        "  - {name: tuned, use: 'bm25:k1=1.5', options: {b: 0.5}}\n"
        "  - {use: 'mine.py:Mine', options: {list: [0.5]}}\n"
    )
    found = candidates(["bm25:b=0.1,k1=1.0", "list.yaml"], tmp_path)
    assert [(one.name, one.reference, one.options) for one in found] == [
        ("bm25:b=0.1,k1=1.0", "bm25", (("b", 0.1), ("k1", 1.0))),
        ("bm25:k1=2", "bm25", (("k1", 2),)),
        ("tuned", "bm25", (("b", 0.5), ("k1", 1.5))),
        ("mine.py:Mine:list=0.5", f"{tmp_path}/mine.py:Mine", (("list", 0.5),)),
    ]
    assert [one.name for one in candidates(["list.yaml:tuned"], tmp_path)] == ["tuned"]
    assert candidates(["mine.py:Mine"], tmp_path)[0].reference == "mine.py:Mine"


def test_all_wrong_references_are_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("retrievers: [bm25]\n")
    with pytest.raises(AdapterError) as caught:
        candidates(["bm26", "bm25:k1", "list.yaml:bm2", "ripgrep", "ripgrep"], tmp_path)
    said = str(caught.value).splitlines()
    assert len(said) == 4
    assert "'bm26' is no retriever" in said[0]
    assert "'k1' is not an option" in said[1]
    assert "has no 'bm2'; did you mean \"bm25\"?" in said[2]
    assert said[3] == "ripgrep: this retriever is asked for twice"


def test_a_file_among_the_options_is_not_the_file_of_the_reference(tmp_path: Path) -> None:
    text = "hybrid:first='bm25:k1=2',second=list.yaml:tuned"
    (one,) = candidates([text], tmp_path)
    assert (one.name, one.reference) == (text, "hybrid")
    assert dict(one.options) == {"first": "bm25:k1=2", "second": "list.yaml:tuned"}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("mine:Mine", "mine.py:Mine"),
        ("mine:Mine:k=1", "mine.py:Mine:k=1"),
        ("./mine:Mine", "./mine.py:Mine"),
        ("tools.mine:Mine", "tools/mine.py:Mine"),
        ("tools/mine", "tools/mine.py"),
    ],
)
def test_a_file_without_its_ending_is_understood(tmp_path: Path, text: str, meant: str) -> None:
    (tmp_path / "tools").mkdir()
    for folder in (tmp_path, tmp_path / "tools"):
        (folder / "mine.py").write_text("class Mine: ...\n")
    with pytest.raises(AdapterError) as caught:
        candidates([text], tmp_path)
    assert str(caught.value) == f"{text!r} is no retriever; did you mean {meant}?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("retrievers: [bm26]", "retrievers[1]: 'bm26' is no retriever"),
        ("retrievers: [3]", "retrievers[1]: is neither a reference nor an entry"),
        ("retrievers: [{name: x}]", "retrievers[1].use: is missing"),
        ("retrievers: [{use: bm25, k1: 3}]", "retrievers[1].k1: is not a field here"),
        ("retrievers: [bm25, bm25]", "'bm25' is the name of two entries"),
        ("retrievers: []", "lists no retriever"),
        ("retriever: [bm25]", 'retriever: is not a field here; did you mean "retrievers"?'),
        ("retrievers: {a: 1}", "retrievers: '{\"a\": 1}' is not a list"),
    ],
)
def test_a_wrong_list_of_retrievers_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "list.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_retrievers(tmp_path / "list.yaml")
    assert said in str(caught.value)


def test_the_fingerprint_names_the_machine_and_nobody() -> None:
    found = fingerprint()
    assert found == fingerprint()
    assert {"cpu", "cores", "memory_bytes", "system", "kernel", "python"} <= set(found)
    assert found["cores"] >= 1


def test_what_a_worker_imports_is_light() -> None:
    heavy = ("numpy", "yaml", "bm25s", "tree_sitter", "git", "importlib.metadata")
    code = f"import sys, codebench.runner.worker; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
