"""The built-in adapters, over the suite tiny and over hostile words."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codebench.adapter import Retriever, load, make
from codebench.corpus.cache import ChunkCache
from codebench.corpus.directory import open_directory
from codebench.corpus.outliner import Outliner
from codebench.home import builtin
from codebench.keywords import keywords, split_identifier, tokens, windows
from codebench.model import Corpus, Hit
from codebench.runner.raw import raw_row
from codebench.runner.validate import validate
from codebench.suite import read_suite

if TYPE_CHECKING:
    from collections.abc import Iterator

GREPS = ("ripgrep", "git-grep")
BY_DEFAULT = ("bm25", *GREPS)
"""What runs everywhere; test_candidates.py holds all of them to the same."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The corpus of tiny, copied: a tool may write into what it searches."""
    folder = tmp_path_factory.mktemp("adapters")
    shutil.copytree(builtin("suites") / "tiny" / "corpus", folder / "corpus")
    with Outliner(ChunkCache(folder / "cache" / "chunks.sqlite"), jobs=1) as outliner:
        return open_directory(folder / "corpus", outliner)


@pytest.fixture(params=BY_DEFAULT)
def retriever(request: pytest.FixtureRequest, corpus: Corpus) -> Iterator[Retriever]:
    yield from indexed(request.param, corpus)


def indexed(name: str, corpus: Corpus, **options: object) -> Iterator[Retriever]:
    kind = load(name)
    reason = kind.missing()
    if reason:
        pytest.skip(reason)
    made = make(kind, options)
    made.index(corpus)
    yield made
    made.close()


def test_answers_are_valid_within_depth_and_the_same_twice(
    retriever: Retriever, corpus: Corpus
) -> None:
    lengths = {table.path: len(table.line_bytes) for table in corpus.tables}
    found = 0
    for query in read_suite(builtin("suites") / "tiny").queries:
        hits = list(retriever.search(query.text, 10))
        rows = [raw_row(hit) for hit in hits]
        judged, repairs = validate(rows, len(rows), 10, str(corpus.path), lengths)
        assert repairs == {}
        assert list(retriever.search(query.text, 10)) == hits
        assert list(retriever.search(query.text, 3)) == hits[:3]
        assert len(set(judged)) == len(judged)
        found += any(hit.path == query.targets[0].path for hit in judged)
    assert found >= 18  # of 24: the right file is among ten


def test_the_right_place_comes_first_for_a_plain_question(retriever: Retriever) -> None:
    hits = retriever.search("exponential backoff with jitter", 5)
    assert hits[0].path == "worker/retry.go"


@pytest.mark.parametrize(
    "text",
    ["", " ", "?!", "the of and", "--help", "-e x -- /etc", "$(touch pwned) `touch pwned`", "a\0b",
     "--pre=touch", "-f /etc/passwd", "'\"\\", "(", "[", "*", "\ud800", "ünïcödé 日本語 💥",
     "x" * 100_000, "word " * 20_000, "\n--version\n"],
)  # fmt: skip
def test_hostile_words_are_only_words(retriever: Retriever, corpus: Corpus, text: str) -> None:
    hits = retriever.search(text, 10)
    assert all((corpus.path / hit.path).is_file() for hit in hits)
    assert not list(Path.cwd().glob("pwned"))
    assert not list(corpus.path.rglob("pwned"))


def test_nothing_is_found_in_a_corpus_without_words(retriever: Retriever, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    with Outliner(ChunkCache(tmp_path.parent / "empty.sqlite"), jobs=1) as outliner:
        retriever.index(open_directory(tmp_path, outliner))
    assert list(retriever.search("anything at all", 10)) == []


@pytest.mark.parametrize("name", GREPS)
def test_greps_heed_no_configuration_and_no_ignore_file(
    name: str, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "ripgreprc"
    config.write_text("--max-count=0\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    (tmp_path / ".gitconfig").write_text("[grep]\n\tpatternType = perl\n\tcolumn = true\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    folder = tmp_path / "corpus"
    shutil.copytree(corpus.path, folder)
    for ignore in (".gitignore", ".ignore", ".rgignore"):
        (folder / ignore).write_text("*\n")
    (folder / ".hidden.py").write_text("dunning_rainbow = 1\n")
    other = Corpus(folder, "", ())
    for made in indexed(name, other):
        assert made.search("dunning_rainbow", 5)[0].path == ".hidden.py"
        assert made.search("Backoff jitter", 5)[0].path == "worker/retry.go"


@pytest.mark.parametrize("name", GREPS)
def test_greps_name_odd_paths_as_they_are(name: str, tmp_path: Path) -> None:
    odd = ["a b.py", "tab\there.py", "new\nline.py", "ü.py", "-x.py", "a:3:b.py", '"q".py']
    for path in odd:
        (tmp_path / path).write_text("one\nneedle\n")
    for made in indexed(name, Corpus(tmp_path, "", ())):
        hits = made.search("needle", 50)
        assert sorted(hit.path for hit in hits) == sorted(odd)
        assert {(hit.start_line, hit.end_line) for hit in hits} == {(2, 2)}


def test_ripgrep_and_git_grep_agree(corpus: Corpus) -> None:
    for query in read_suite(builtin("suites") / "tiny").queries:
        found = [made.search(query.text, 50) for name in GREPS for made in indexed(name, corpus)]
        assert found[0] == found[1]


@pytest.mark.parametrize("name", GREPS)
def test_a_program_that_is_not_there_is_missing_with_its_mend(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kind = load(name)
    assert kind.missing() is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "is not there; apt install" in (kind.missing() or "")


def test_bm25_takes_its_options_and_refuses_impossible_ones(corpus: Corpus) -> None:
    (plain,) = (m.search("signed tokens that expire", 5) for m in indexed("bm25", corpus))
    (flat,) = (m.search("signed tokens that expire", 5) for m in indexed("bm25", corpus, b=0))
    assert [hit.score for hit in plain] != [hit.score for hit in flat]
    scores = [hit.score or 0 for hit in plain]
    assert scores == sorted(scores, reverse=True)
    with pytest.raises(Exception, match="k1 is at least 0"):
        make(load("bm25"), {"k1": -1})


def test_bm25_finds_parts_of_identifiers_and_breaks_ties_by_place(tmp_path: Path) -> None:
    for name in ("b.py", "a.py"):
        (tmp_path / name).write_text("def parseHttpHeader():\n    pass\n")
    with Outliner(ChunkCache(tmp_path.parent / "ties.sqlite"), jobs=1) as outliner:
        small = open_directory(tmp_path, outliner)
    for made in indexed("bm25", small):
        found = [(hit.path, hit.symbol) for hit in made.search("header", 9)]
        assert found == [("a.py", "parseHttpHeader"), ("b.py", "parseHttpHeader")]
        assert made.search("parsehttpheader", 1)[0].path == "a.py"
        assert made.search("nothingofit", 9) == []


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("parseHTTPResponse", ["parse", "http", "response"]),
        ("snake_case_2x", ["snake", "case", "2", "x"]),
        ("_private", ["private"]),
        ("ABC", ["abc"]),
        ("iOS12App", ["i", "os", "12", "app"]),
        ("größe", ["gr", "öß", "e"]),
        ("日本", ["日本"]),
        ("___", []),
    ],
)
def test_identifiers_are_split(word: str, parts: list[str]) -> None:
    assert list(split_identifier(word)) == parts


def test_tokens_keep_the_whole_and_keywords_drop_the_small() -> None:
    assert tokens("getUser(id)") == ["getuser", "get", "user", "id"]
    assert keywords("Where is the user_id of a session checked? Session!") == [
        "user_id", "session", "checked",
    ]  # fmt: skip
    assert len(keywords(" ".join(f"word{number}" for number in range(99)))) == 16


def test_windows_cluster_and_rank_whatever_order_lines_come_in() -> None:
    lines = [
        ("b.py", 3, "alpha"), ("b.py", 9, "Beta"), ("b.py", 40, "alpha"), ("b.py", 41, "alpha"),
        ("a.py", 7, "alpha"), *(("c.py", number, "beta") for number in range(1, 100)),
    ]  # fmt: skip
    found = windows(lines, ["alpha", "beta"], 50)
    assert found == windows(lines[::-1], ["alpha", "beta"], 50)
    assert [(hit.path, hit.start_line, hit.end_line) for hit in found] == [
        ("b.py", 3, 9),
        ("c.py", 1, 40),
        ("c.py", 41, 80),
        ("c.py", 81, 99),
        ("b.py", 40, 41),
        ("a.py", 7, 7),
    ]
    assert windows([], ["x"], 5) == []
    assert windows(lines, ["alpha", "beta"], 1) == [Hit("b.py", 3, 9, score=2.0)]


def test_a_failing_program_is_an_error_and_not_an_empty_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, program in zip(GREPS, ("rg", "git"), strict=True):
        for made in indexed(name, Corpus(tmp_path, "", ())):
            fake = tmp_path / "bin" / program
            fake.parent.mkdir(exist_ok=True)
            fake.write_text("#!/bin/sh\necho no >&2\nexit 2\n")
            fake.chmod(0o755)
            with monkeypatch.context() as patch:
                patch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
                with pytest.raises(RuntimeError, match="ended with status 2"):
                    made.search("anything", 5)
