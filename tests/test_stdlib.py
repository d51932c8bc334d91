"""The built-in suite stdlib: whole here, asked of the Python that runs, and honest about it."""

from __future__ import annotations

import dataclasses
import json
import platform
import sys
from typing import TYPE_CHECKING

import pytest

from codebench.cli.main import main
from codebench.corpus.installed import open_installed
from codebench.corpus.rules import SnapshotRules
from codebench.errors import CorpusError, NothingMeasured
from codebench.gold.fitting import fitted
from codebench.gold.questions import read_questions
from codebench.gold.tags import leak
from codebench.gold.target import open_suite, rules_of
from codebench.gold.workshop import workshop
from codebench.home import builtin
from codebench.reading import Faults
from codebench.suite import read_suite, suite_digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codebench.gold.target import Opened
    from codebench.gold.workshop import Workshop

FOLDER = builtin("suites") / "stdlib"
KINDS = {"behaviour", "decision", "lookup", "symptom"}


def quiet(*_: object) -> None:
    """Tell nobody."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODEBENCH_CACHE", str(tmp_path_factory.mktemp("stdlib")))
        with workshop(quiet, 1) as made:
            yield made


@pytest.fixture(scope="module")
def opened(shop: Workshop) -> Opened:
    return open_suite(FOLDER, shop)


def test_its_questions_are_many_of_all_kinds_and_mostly_give_nothing_away() -> None:
    queries = read_suite(FOLDER).queries
    assert len(queries) >= 120
    assert len({query.text for query in queries}) == len(queries)
    by_kind = {
        kind: [query for query in queries if query.tags["kind"] == kind] for kind in sorted(KINDS)
    }
    assert {query.tags["kind"] for query in queries} == KINDS
    assert all(len(own) >= 20 for own in by_kind.values())
    leaks = [leak(query.text, query.targets) for query in queries]
    assert leaks == [query.tags["leak"] for query in queries]
    assert leaks.count("none") * 3 >= len(queries) * 2
    files = {target.path for query in queries for target in query.targets}
    assert len(files) >= 60


def test_the_suite_is_what_its_questions_say() -> None:
    faults = Faults(FOLDER / "questions.yaml")
    questions = read_questions(FOLDER / "questions.yaml", faults)
    assert not faults.found
    asked = {query.id: query for query in read_suite(FOLDER).queries}
    assert {one.id for one in questions} == set(asked)
    for one in questions:
        query = asked[one.id]
        assert query.text == one.question
        assert query.tags["kind"] == one.kind
        assert [(target.chunk, target.grade) for target in query.targets] == [
            (judged.name, judged.grade) for judged in one.targets
        ]


def test_nearly_all_of_it_is_in_this_python_and_all_in_the_one_it_was_read_in(
    opened: Opened,
) -> None:
    written = read_suite(FOLDER).queries
    asked = opened.suite.queries
    if sys.version_info[:2] == (3, 11):
        assert len(asked) == len(written)
        assert len(opened.notes) == 1
    assert len(asked) >= 0.85 * len(written)
    places = {chunk.id for chunk in opened.corpus.chunks()} | set(opened.corpus.by_path)
    for query in asked:
        assert {target.chunk for target in query.targets} <= places
        assert {one.path for one in query.related} <= places


def test_the_digest_is_that_of_this_version_and_its_corpus_holds_no_tests(
    opened: Opened, shop: Workshop
) -> None:
    assert opened.suite.corpus_digest == opened.corpus.digest
    assert not read_suite(FOLDER).corpus_digest
    assert opened.suite.recipe["python"] == platform.python_version()
    assert suite_digest(opened.suite) != suite_digest(read_suite(FOLDER))
    paths = set(opened.corpus.by_path)
    assert {"json/decoder.py", "shutil.py"} <= paths
    assert all(path.endswith(".py") for path in paths)
    assert not any(path.startswith(("test/", "site-packages/")) for path in paths)
    assert 200 <= len(paths) <= 400
    files = {p.relative_to(opened.corpus.path).as_posix() for p in opened.corpus.path.rglob("*.py")}
    assert files == paths  # what a retriever sees on disk is the corpus and nothing else
    again = open_suite(FOLDER, shop)
    assert again.corpus.digest == opened.corpus.digest
    assert again.corpus.path == opened.corpus.path


def test_a_copy_that_somebody_edited_is_made_again(opened: Opened, shop: Workshop) -> None:
    file = opened.corpus.path / "shutil.py"
    before = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(b"x = 1\n")
    assert open_suite(FOLDER, shop).corpus.digest == opened.corpus.digest
    assert file.read_bytes() == before


def test_what_a_version_lacks_is_left_out_and_counted(opened: Opened) -> None:
    written = read_suite(FOLDER)
    tables = tuple(table for table in opened.corpus.tables if table.path != "shutil.py")
    corpus = dataclasses.replace(opened.corpus, tables=tables, digest="sha256:other")
    suite, notes = fitted(written, corpus)
    lost = {query.id for query in written.queries} - {query.id for query in suite.queries}
    asked = {query.id: query for query in written.queries}
    assert lost
    for name in lost:
        assert any(target.path == "shutil.py" for target in asked[name].targets)
    assert f"with them {len(lost)} of {len(written.queries)} queries" in notes[1]
    assert suite_digest(suite) != suite_digest(opened.suite)
    pinned = dataclasses.replace(written, corpus_digest="sha256:x")
    assert fitted(pinned, corpus) == (pinned, ())
    with pytest.raises(NothingMeasured):
        fitted(written, dataclasses.replace(corpus, tables=()))


def test_a_folder_that_python_does_not_have(shop: Workshop) -> None:
    def ask(name: str, rules: SnapshotRules) -> None:
        open_installed(name, cache=shop.corpora, outliner=shop.outliner, rules=rules)

    with pytest.raises(CorpusError, match="Python knows no such folder; known: stdlib"):
        ask("sysconfig:nonsense", SnapshotRules())
    with pytest.raises(CorpusError, match="holds none of the files"):
        ask("sysconfig:stdlib", SnapshotRules(include=("nothing/*",), exclude=("*/*",)))


@pytest.mark.slow
def test_it_is_checked_and_run_and_a_table_tells_retrievers_from_floors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", "check", "stdlib"]) == 0
    assert "nothing is wrong" in capsys.readouterr().out
    words = ["run", "stdlib", "-r", "bm25", "--repeats", "1", "--format", "json"]
    assert main([*words, "-o", str(tmp_path)]) == 0
    data = json.loads(capsys.readouterr().out)
    score = {one["name"]: one["measures"]["R(rel=3)@10"]["value"] for one in data["retrievers"]}
    assert score["bm25"] > score["path-match"] + 0.2 > score["random"] + 0.25
    assert score["right-file"] == 0
    (run,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert suite_digest(read_suite(run / "suite")) == data["suite"]["digest"]


def test_the_rules_are_those_that_the_suite_was_built_by() -> None:
    suite = read_suite(FOLDER)
    assert suite.repository == "sysconfig:stdlib"
    rules = rules_of(suite)
    assert rules.takes("json/decoder.py")
    assert not rules.takes("site-packages/yaml/__init__.py")
    assert not rules.takes("json/tool.txt")
