"""Others' data sets as suites: built, run and scored, and equal to ir_measures on what goes out."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import ir_measures
import pytest

from codebench.cli.main import main
from codebench.gold.documents import document_ids, safe_path
from codebench.gold.topics import read_documents, read_topics
from codebench.judging.scoring import score_run
from codebench.results import read_run
from codebench.suite import members_of, read_suite
from tests.repositories import Repository

if TYPE_CHECKING:
    from pathlib import Path

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()


def coir(folder: Path) -> Path:
    """Write a folder as CoIR's tasks come: code snippets without files, titles mostly empty."""
    documents = [
        {
            "_id": f"d{number}",
            "title": "",
            "text": f"def f{number}():\n    return {WORDS[number % 10]} + {WORDS[number // 10]}\n",
            "metadata": {"lang": "python"},
        }
        for number in range(60)
    ]
    documents += [
        {"_id": "D1", "title": "Upper", "text": "alpha again"},
        {"_id": "a/../b c", "title": "", "text": "kappa\0 iota"},
        {"_id": "empty", "title": "", "text": ""},
    ]
    queries = [
        {"_id": f"q{number}", "text": f"return {WORDS[number % 10]}\nand {WORDS[number // 10]}"}
        for number in range(40)
    ]
    rows = [f"q{number}\td{number}\t{1 + number % 2}" for number in range(30)]
    rows += ["q0\td10\t0", "q0\ta/../b c\t1", "q1\tD1\t1", "q2\tnowhere\t1", "q30\td1\t0"]
    (folder / "qrels").mkdir(parents=True)
    with gzip.open(folder / "corpus.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in documents)
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))
    text = "query-id\tcorpus-id\tscore\n" + "".join(f"{row}\n" for row in rows)
    (folder / "qrels" / "test.tsv").write_text(text)
    return folder


def run_folder(suite: Path, results: Path, *words: str) -> Path:
    retrievers = ["-r", "bm25", "-r", "ripgrep"]
    limits = ["--repeats", "1", "-k", "20"]
    assert main(["run", str(suite), *retrievers, *limits, "-o", str(results), *words]) == 0
    (run,) = (path for path in results.iterdir() if path.is_dir())
    return run


def qrels_of(path: Path) -> list[Any]:
    return list(ir_measures.read_trec_qrels(str(path)))  # type: ignore[no-untyped-call]


def rankings_of(path: Path) -> list[Any]:
    return list(ir_measures.read_trec_run(str(path)))  # type: ignore[no-untyped-call]


def assert_equal_to_ir_measures(
    exported: Path, run: Path, qrels: str, runs: str, pairs: dict[str, str]
) -> None:
    """Compare every retriever's figures with ir_measures' on the exported files."""
    judgments = qrels_of(exported / qrels)
    queries = {one.query_id for one in judgments}
    scored = score_run(run, list(pairs))
    for one in scored.retrievers:
        ranking = rankings_of(exported / runs.format(one.name))
        theirs = ir_measures.calc_aggregate(
            [ir_measures.parse_measure(name) for name in pairs.values()], judgments, ranking
        )
        assert one.evaluation is not None
        for ours, name in pairs.items():
            value = one.evaluation.values[ours]
            assert value == pytest.approx(theirs[ir_measures.parse_measure(name)]), (one.name, ours)
            figure = one.evaluation.figures[str(one.evaluation.measures[list(pairs).index(ours)])]
            assert figure.n == len(queries)


def test_a_coir_folder_is_imported_run_and_scored_as_ir_measures_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite, out = tmp_path / "coir", tmp_path / "out"
    assert main(["suite", "import", "beir", str(coir(tmp_path / "data")), "-o", str(suite)]) == 0
    told = capsys.readouterr().out
    assert "30 queries, 33 targets, 63 documents" in told
    assert "without a relevant document, and left out: 1 query" in told
    assert "1 judged documents are not in the corpus" in told
    assert "held NUL" in told
    read = read_suite(suite)
    assert all(target.document for query in read.queries for target in query.targets)
    assert len(set(document_ids(suite).values())) == 63
    run = run_folder(suite, tmp_path / "results")
    words = ["suite", "export", str(suite), "--format", "trec", "--run", str(run)]
    assert main([*words, "-o", str(out)]) == 0
    names = ("RR@10", "R@10", "P@5", "AP@20", "nDCG@10", "Success@1")
    pairs = {name: name for name in names}
    assert_equal_to_ir_measures(out, run, "qrels.txt", "runs/{}.txt", pairs)
    capsys.readouterr()
    assert main(["score", str(run), "-r", "bm25"]) == 0
    assert "RR@10" in capsys.readouterr().out  # the level of relevant documents, not of files


def test_what_is_exported_comes_back_the_same(tmp_path: Path) -> None:
    suite = tmp_path / "coir"
    assert main(["suite", "import", "beir", str(coir(tmp_path / "data")), "-o", str(suite)]) == 0
    first = read_suite(suite)
    for form in ("beir", "trec"):
        out, again = tmp_path / form, tmp_path / f"again-{form}"
        assert main(["suite", "export", str(suite), "--format", form, "-o", str(out)]) == 0
        if form == "beir":
            words = ["beir", str(out)]
        else:
            words = ["trec", str(out / "qrels.txt"), "--topics", str(out / "topics.tsv")]
            words += ["--documents", str(out / "documents.jsonl")]
        assert main(["suite", "import", *words, "-o", str(again)]) == 0
        second = read_suite(again)
        assert [query.id for query in second.queries] == [query.id for query in first.queries]
        grades = [
            [sorted((one.grade, one.document) for one in query.targets) for query in read.queries]
            for read in (first, second)
        ]
        assert grades[0] == grades[1]
        zeros = [sum(len(one.not_relevant) for one in read.queries) for read in (first, second)]
        assert zeros == [1, 1]


def test_names_of_documents_never_leave_the_corpus_or_meet() -> None:
    names = ["a", "A", "../../etc/passwd", "/abs", "a b", "a\nb", "é", "", ".", "..", "x" * 500,
             "CON", "a-b", "con\0", "\ud800"]  # fmt: skip
    paths = [safe_path(name) for name in names]
    assert len({path.lower() for path in paths}) == len(names)
    for path in paths:
        folder, _, file = path.partition("/")
        assert len(folder) == 2
        assert "/" not in file
        assert file.isascii()
        assert file.isprintable()
        assert not file.startswith(".")
        assert len(file) < 100


def test_topics_and_documents_in_every_shape(tmp_path: Path) -> None:
    tabbed, lines, tagged = (tmp_path / name for name in ("a.tsv", "a.jsonl", "a.trec"))
    tabbed.write_text("301\tfast  sort\n302\tslow sort\n")
    lines.write_text('{"qid": 301, "title": "fast sort"}\n{"qid": "302", "title": "slow sort"}\n')
    tagged.write_text(
        "<top>\n<num> Number: 301\n<title> fast\nsort\n<desc> Description:\nlong\n</top>\n"
        "<top><num>302</num><title>slow sort</title></top>\n"
    )
    for path in (tabbed, lines, tagged):
        assert read_topics(path) == {"301": "fast sort", "302": "slow sort"}
    blocks, folder = tmp_path / "d.trec", tmp_path / "d"
    blocks.write_text("<DOC>\n<DOCNO> x.1 </DOCNO>\n<TEXT>\nbody\n</TEXT>\n</DOC>\n")
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "x.1").write_text("body")
    (folder / "link").symlink_to("/etc/passwd")
    assert [(one.id, one.text) for one in read_documents(blocks)] == [("x.1", "body")]
    assert [(one.id, one.text) for one in read_documents(folder)] == [("sub/x.1", "body")]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("corpus.jsonl", '{"_id": "d1"}\n{"_id": "d1", "text": "x"}\nno\n', "is not a text"),
        ("queries.jsonl", '{"_id": "q2", "text": "x"}\n', "is judged in test.tsv and has no text"),
        ("qrels/test.tsv", "q1\td1\n", "has 2 fields, not 3"),
        ("qrels/test.tsv", "q1\td1\t101\n", "is a grade above 100"),
        ("qrels/test.tsv", "q1\td1\t0\n", "no query has a text and a relevant document"),
        ("qrels/dev.tsv", "q1\td1\t1\n", ""),
    ],
)
def test_what_is_wrong_with_a_folder_is_told_and_nothing_is_left(
    name: str, content: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    (data / "qrels").mkdir(parents=True)
    (data / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n')
    (data / "queries.jsonl").write_text('{"_id": "q1", "text": "x"}\n')
    (data / "qrels" / "test.tsv").write_text("q1\td1\t1\n")
    (data / name).write_text(content)
    words = ["suite", "import", "beir", str(data), "-o", str(tmp_path / "suite")]
    assert main(words) == (2 if problem else 0)
    err = capsys.readouterr().err
    assert problem in err
    assert "Traceback" not in err
    left = {path.name for path in tmp_path.iterdir()}
    assert left == ({"data"} if problem else {"data", "suite"})


@pytest.mark.parametrize(
    "words",
    [
        ["trec", "x"],
        ["beir", "nowhere"],
        ["swe-bench", "x"],
        ["beir", "x", "--topics", "t"],
        ["zip", "x"],
    ],
)
def test_wrong_words(words: list[str], tmp_path: Path) -> None:
    assert main(["suite", "import", *words, "-o", str(tmp_path / "s")]) == 2


FIRST = """\
import os

LIMIT = 3


def read(path):
    with open(path) as file:
        return file.read()


class Store:
    def put(self, key, value):
        self.rows[key] = value

    def get(self, key):
        return self.rows[key]
"""


def swe(tmp_path: Path) -> tuple[Path, Repository]:
    """Write a repository, and lines as SWE-bench has them, with what real ones also hold."""
    repository = Repository(tmp_path / "repo")
    first = repository.commit(
        "First", {"lib/store.py": FIRST, "lib/other.py": "def other(): ...\n"}
    )
    fixed = FIRST.replace("return self.rows[key]", "return self.rows.get(key)")
    repository.commit("Fix", {"lib/store.py": fixed, "tests/test_store.py": "def test(): ...\n"})
    patch_fix = repository.git("diff", f"{first}..HEAD", "--", "lib")
    second = repository.git("rev-parse", "HEAD").strip()
    moved = fixed.replace("def read(path):", "def read(path, mode='r'):\n    check(mode)")
    moved += "\n    def clear(self):\n        self.rows = {}\n"
    repository.commit("More", {"lib/store.py": moved})
    patch_more = repository.git("diff", f"{second}..HEAD")
    repository.commit("Only new", {"lib/new.py": "def new():\n    return 1\n"})
    patch_new = repository.git("diff", "HEAD~1..HEAD")

    def row(name: str, commit: str, patch: str, **more: Any) -> dict[str, Any]:
        return {
            "instance_id": name,
            "repo": "acme/store",
            "base_commit": commit,
            "problem_statement": f"Title of {name}\r\n\r\nGetting a missing key raises KeyError",
            "patch": patch,
            "test_patch": "diff --git a/t b/t\n",
            "FAIL_TO_PASS": "[]",
            "created_at": "2020-01-01T00:00:00Z",
            **more,
        }

    rows = [
        row("acme__store-1", first, patch_fix),
        row("acme__store-2", second, patch_more, hints_text="x"),
        row("acme__store-3", second[:12], patch_new),
        row("acme__store-4", first, patch_more.replace("rows", "lines")),
        row("acme__store-5", first, "garbage"),
        row("acme__store-6", first, patch_fix.replace("lib/store.py", "lib/gone.py")),
    ]
    rows += [
        row(f"acme__store-{number}", first if number % 2 else second, patch_fix)
        for number in range(7, 36, 2)
    ]
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return file, repository


def test_swe_bench_lines_are_asked_of_their_base_commits_and_scored_as_ir_measures_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, repository = swe(tmp_path)
    suite = tmp_path / "tasks"
    words = ["suite", "import", "swe-bench", str(file), "-o", str(suite)]
    assert main([*words, "--repository", f"acme/store={repository.path}"]) == 0
    told = capsys.readouterr().out
    assert "17 queries of 2 snapshots" in told
    assert "21 instances: " in told
    assert "patch does not fit the base commit" in told
    gold = {
        query.id: sorted(target.chunk for target in query.targets)
        for _, folder in members_of(suite)
        for query in read_suite(folder).queries
    }
    assert gold["acme__store-1"] == ["lib/store.py::Store.get"]
    # `clear` is new and no gold; the class's own lines did not change.
    assert gold["acme__store-2"] == ["lib/store.py::read"]
    assert not gold.keys() & {"acme__store-3", "acme__store-5", "acme__store-6"}
    assert main(["suite", "check", str(suite)]) == 0
    member, place = members_of(suite)[0]
    run = run_folder(place, tmp_path / "results")
    out = tmp_path / "out"
    assert main(["suite", "export", f"{suite}/{member}", "--format", "trec", "-o", str(out),
                 "--run", str(run)]) == 0  # fmt: skip
    for level in (1, 2, 3):
        # Of one level alone nDCG is not what codebench prints; these are.
        names = ("RR@10", "R@10", "P@5", "AP@20", "Success@1")
        pairs = {name.replace("@", f"(rel={level})@"): name for name in names}
        assert_equal_to_ir_measures(
            out, run, f"qrels.level-{level}.txt", f"runs/{{}}.level-{level}.txt", pairs
        )


def test_a_repository_that_is_not_given_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, repository = swe(tmp_path)
    words = ["suite", "import", "swe-bench", str(file), "-o", str(tmp_path / "s")]
    assert main([*words, "--repository", f"acme/stor={repository.path}"]) == 2
    assert "none is given for acme/store" in capsys.readouterr().err
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows[0]["repo"] = "other/one"
    rows[1] |= {"instance_id": " x", "base_commit": "main", "patch": 3}
    rows[2]["instance_id"] = rows[3]["instance_id"]
    file.write_text("".join(json.dumps(one) + "\n" for one in rows) + "{")
    assert main([*words, "--repository", str(repository.path)]) == 2
    err = capsys.readouterr().err
    for problem in (
        "is no commit ID",
        "is not text",
        "is also in line 3",
        "white space",
        "not JSON",
    ):
        assert problem in err
    assert err.count("\n") >= 5


def test_code_goes_out_level_by_level_and_equals_ir_measures(
    tiny_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = ["suite", "export", "tiny", "--format", "trec", "-o", str(out), "--run", str(tiny_run)]
    assert main(words) == 0
    notes = (out / "README.txt").read_text()
    assert "what cannot be exported" in notes
    assert "queries have weights here" in notes
    assert "codebench score --aggregate unweighted has their figures" in notes
    inexact = "\n".join(line for line in notes.splitlines() if "several units" in line)
    compared = 0
    for level in (1, 2, 3):
        judgments = qrels_of(out / f"qrels.level-{level}.txt")
        names = [f"{one}(rel={level})@{k}" for one, k in (("RR", 10), ("R", 10), ("P", 5))]
        for one in score_run(tiny_run, names).retrievers:
            if f"{one.name}, level {level}: " in inexact:
                continue
            assert one.evaluation is not None
            path = out / "runs" / f"{one.name}.level-{level}.txt"
            ranking = rankings_of(path)
            measures = [ir_measures.parse_measure(name) for name in ("RR@10", "R@10", "P@5")]
            for found in ir_measures.iter_calc(measures, judgments, ranking):
                ours = str(found.measure).replace("@", f"(rel={level})@")
                value = one.evaluation.per_query[found.query_id][ours]
                assert value == pytest.approx(found.value), (one.name, found)
                compared += 1
    assert compared > 500


def test_a_run_of_another_suite_and_a_taken_folder_are_refused(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "coir"
    assert main(["suite", "import", "beir", str(coir(tmp_path / "data")), "-o", str(suite)]) == 0
    words = ["suite", "export", str(suite), "--format", "beir"]
    assert main([*words, "--run", str(tiny_run), "-o", str(tmp_path / "out")]) == 2
    assert "asked another suite" in capsys.readouterr().err
    assert main([*words, "-o", str(suite)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert read_run(tiny_run).complete


def test_retrievers_whose_names_meet_in_a_file_name_are_kept_apart(tmp_path: Path) -> None:
    named = [{"name": name, "use": "ripgrep"} for name in ("a/b", "A-B")]
    file = tmp_path / "retrievers.yaml"
    file.write_text(json.dumps({"retrievers": named}))
    words = ["run", "tiny", "-r", str(file), "--repeats", "1", "-o", str(tmp_path / "results")]
    assert main(words) == 0
    (run,) = (path for path in (tmp_path / "results").iterdir() if path.is_dir())
    out = tmp_path / "out"
    words = ["suite", "export", "tiny", "--format", "trec", "-o", str(out), "--run", str(run)]
    assert main(words) == 0
    assert len(list((out / "runs").glob("[aA]-[bB]*.level-3.txt"))) == 2
