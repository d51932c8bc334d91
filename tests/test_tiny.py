"""The built-in suite tiny is whole, and runs in a moment."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from codebench.corpus.cache import ChunkCache
from codebench.corpus.directory import open_directory
from codebench.corpus.outliner import Outliner
from codebench.grading import compile_gold, reach
from codebench.home import builtin
from codebench.results import read_run
from codebench.runner.candidates import default_candidates
from codebench.runner.run import run
from codebench.suite import read_suite

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.model import Corpus

TINY = builtin("suites") / "tiny"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    cache = ChunkCache(tmp_path_factory.mktemp("tiny") / "chunks.sqlite")
    with Outliner(cache, jobs=1) as outliner:
        return open_directory(TINY / "corpus", outliner)


def test_the_corpus_is_the_one_that_the_suite_names(corpus: Corpus) -> None:
    assert read_suite(TINY).corpus_digest == corpus.digest, "write this digest into suite.yaml"


def test_it_is_small_and_in_many_languages(corpus: Corpus) -> None:
    assert 12 <= len(corpus.tables) <= 20
    languages = {table.language for table in corpus.tables if table.language}
    assert len(languages) >= 7
    assert all(table.sound for table in corpus.tables)
    assert all(len(table.line_bytes) < 100 for table in corpus.tables)


def test_every_place_that_the_gold_names_is_in_the_corpus(corpus: Corpus) -> None:
    places = {chunk.id for chunk in corpus.chunks()} | set(corpus.by_path)
    for query in read_suite(TINY).queries:
        assert {target.chunk for target in query.targets} <= places, query.id
        assert {related.path for related in query.related} <= set(corpus.by_path), query.id
        assert set(query.not_relevant) <= places, query.id
        files = {target.path for target in query.targets}
        assert {related.of for related in query.related} <= files, query.id
        assert not {related.path for related in query.related} & files, query.id
        modules = [related.path for related in query.related]
        assert len(set(modules)) == len(modules), query.id


def test_its_questions_cover_all_levels_and_shapes() -> None:
    queries = read_suite(TINY).queries
    assert 20 <= len(queries) <= 25
    assert len({query.text for query in queries}) == len(queries)
    grades = {target.grade for query in queries for target in query.targets}
    assert grades == {2, 3}
    assert any(target.chunk == target.path for query in queries for target in query.targets)
    assert any(len({target.path for target in query.targets}) > 1 for query in queries)
    assert any(len(query.targets) > len({t.path for t in query.targets}) for query in queries)
    assert any(query.related for query in queries)
    assert any(query.not_relevant for query in queries)
    assert any(query.weight != 1 for query in queries)


def test_it_runs_in_a_moment_with_figures_that_make_sense_and_come_twice(
    corpus: Corpus, tmp_path: Path
) -> None:
    suite = read_suite(TINY)
    start = time.monotonic()
    path = run(suite, corpus, default_candidates(), tmp_path)
    took = time.monotonic() - start
    assert took < 10  # about 1.5 s on a machine with nothing else to do
    found = read_run(path)
    assert found.complete
    golds = {query.id: compile_gold(query, corpus.by_path) for query in suite.queries}
    exact, files = {}, {}
    for one in found.retrievers:
        scored = [answer for answer in one.answers if answer.repeat == 0]
        assert len(scored) == len(suite.queries)
        reached = [reach(golds[answer.query], answer.hits) for answer in scored]
        first = [[level.ranks[:1] for level in map(r.levels.__getitem__, (3, 2))] for r in reached]
        exact[one.candidate.name] = sum(bool(three) and three[0] <= 10 for three, _ in first)
        files[one.candidate.name] = sum(bool(two) and two[0] <= 10 for _, two in first)
    assert files["right-file"] == len(suite.queries)
    assert exact["right-file"] <= 1  # the question whose target is a whole file
    assert exact["random"] < exact["path-match"] < exact["bm25"]
    for name in ("bm25", "ripgrep", "git-grep"):
        assert files[name] >= 20
        assert exact[name] >= 12
    again = read_run(run(suite, corpus, default_candidates(), tmp_path))
    answers = [
        [(answer.query, answer.hits) for one in both.retrievers for answer in one.answers]
        for both in (found, again)
    ]
    assert answers[0] == answers[1]
