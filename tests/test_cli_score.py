"""`codebench score`: what it prints, refuses and returns."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import pytrec_eval

from codebench.cli.main import main
from codebench.gold.tags import LEAKS
from codebench.measures.names import DEFAULT, EXTRA
from tests.runs import Row, made_run, suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = {
    "random": Row("--f-----f---", floor=True),
    "good": Row("sssslslsssss", ms=40.0),
    "fair": Row("sl-fslf-slsf", ms=2.0),
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a made run's folder, relative to the current directory."""
    monkeypatch.chdir(tmp_path)
    return str(made_run(tmp_path / "results", ROWS).relative_to(tmp_path))


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(["score", *words]) == code, capsys.readouterr().err
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(["score", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize("form", ["table", "markdown", "json", "csv"])
def test_golden_output(
    run: str, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None], form: str
) -> None:
    golden(f"score.{form}", told(capsys, run, "--format", form))


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_golden_details(
    run: str, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None], form: str
) -> None:
    words = ["--by", "language", "--curve", "-q", "-m", "R(rel=3)@10", "-m", "Tokens@32000"]
    golden(f"score-details.{form}", told(capsys, run, *words, "--format", form))


def test_json_of_a_run_over_tiny_is_strict_and_holds_everything(
    tiny_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--by", "kind", "--curve", "-q", "--format", "json", "--aggregate", "unweighted"]
    data = json.loads(told(capsys, str(tiny_run), *words), parse_constant=pytest.fail)
    assert data["queries"] == 24
    by_name = {one["name"]: one for one in data["retrievers"]}
    bm25 = by_name["bm25"]
    assert list(bm25["measures"]) == [str(measure.bind(2)) for measure in (*DEFAULT, *EXTRA)]
    assert set(bm25["measures"]["nDCG@10"]) == {"value", "low", "high", "n"}
    assert len(bm25["per_query"]) == 24
    assert sum(one["queries"] for one in bm25["slices"]["kind"]) == 24
    curve = bm25["curve"]["3"]
    assert len(curve) == 50
    assert curve == sorted(curve)
    weighted = json.loads(told(capsys, str(tiny_run), "-r", "bm25", "--format", "json"))
    assert curve[9] == pytest.approx(weighted["measures"]["R(rel=3)@10"]["value"])
    mean = sum(one["nDCG@10"] for one in bm25["per_query"].values()) / 24
    assert mean == pytest.approx(bm25["measures"]["nDCG@10"]["value"])
    assert by_name["random"]["latency_ms"] is None


def test_one_retriever_alone_has_its_measures_at_the_top(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(told(capsys, run, "-r", "fair", "--format", "json"))
    assert [one["name"] for one in data["retrievers"]] == ["fair"]
    assert data["measures"] == data["retrievers"][0]["measures"]
    assert "measures" not in json.loads(told(capsys, run, "--format", "json"))


def test_the_best_is_marked_and_so_is_what_is_level_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"a": Row("ssssssssssss"), "b": Row("ssssssssssf-"), "c": Row("-" * 12)}
    made = str(made_run(tmp_path, rows))
    by_name = {
        line.split()[0]: line.split()[1]
        for line in told(capsys, made, "-m", "R(rel=3)@10").splitlines()
        if line[:2] in {"a ", "b ", "c "}
    }
    assert by_name == {"a": "*1.000", "b": "=0.833", "c": "0.000"}


def test_aggregates_say_which_mean(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "weighted by query weight" in told(capsys, run)
    assert "each weighing the same" in told(capsys, run, "--aggregate", "unweighted")
    micro = told(capsys, run, "--aggregate", "micro")
    assert "(micro)" in micro
    assert "nDCG@10" not in micro.splitlines()[2]
    assert "no such mean" in micro
    assert "repository" in refused(capsys, run, "--aggregate", "repositories")


def test_failed_answers_and_unfinished_runs_exit_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = made_run(tmp_path, {"bad": Row("ssssxtssssss"), "good": Row("s" * 12)}, minute=1)
    out = told(capsys, str(failed), "-m", "R(rel=3)@10", code=3)
    assert "0.833" in out
    assert "bad: 1 crashed, 1 timeout (first: killed by \\u001b[31m|signal 9)" in out
    assert "\x1b" not in out
    assert told(capsys, str(failed), "-r", "good")
    cut = made_run(tmp_path, {"cut": Row("ssssss......")}, complete=False, minute=2)
    out = told(capsys, str(cut), "-m", "R(rel=3)@10", code=3)
    assert "0.500" in out
    assert "6 unanswered" in out
    assert "the run is incomplete: what was not asked counts as unanswered" in out
    assert "with --resume, goes on" in out
    skipped = {"good": Row("s" * 12), "absent": Row("", state="skipped", reason="not installed")}
    out = told(capsys, str(made_run(tmp_path, skipped, minute=3)))
    assert "absent skipped: not installed" in out


def test_a_run_without_any_answer_measures_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = made_run(tmp_path, {"gone": Row("", state="failed", reason="it would not start")})
    assert "no retriever answered anything (gone: it would not start)" in refused(capsys, str(made))
    rows = {"random": Row("-" * 12, floor=True), "mute": Row("x" * 12)}
    out = told(capsys, str(made_run(tmp_path, rows, minute=1)), code=2)
    assert "mute: 12 crashed" in out
    assert told(capsys, str(made_run(tmp_path, rows, minute=2)), "-r", "random")


def test_a_retriever_that_was_given_up_before_it_answered_has_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {
        "random": Row("-" * 12, floor=True),
        "gone": Row("", state="failed", reason="it would not start"),
        "absent": Row("", state="skipped", reason="not installed"),
        "good": Row("s" * 12),
    }
    made = made_run(tmp_path, rows, complete=False)
    out = told(capsys, str(made), "-m", "RR@10", code=3)
    named = [line.split()[0] for line in out.splitlines() if line and line[-1] not in "-=:"]
    assert [line.split() for line in out.splitlines() if line.startswith("gone  ")] == [
        ["gone", "-", "-", "-", "-", "failed"]
    ]
    assert named.index("good") < named.index("gone") < named.index("random")
    assert not any(line.startswith("absent  ") for line in out.splitlines())


def test_the_default_set_is_lowered_to_a_shallow_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shallow = str(made_run(tmp_path, ROWS, depth=1))
    out = told(capsys, shallow)
    assert "nDCG-exp@1 " in out
    assert "@10" not in out
    assert "RR(rel=2)@2: the cutoff is above the depth 1" in refused(capsys, shallow, "-m", "RR@2")


def test_words_that_do_not_fit_are_refused(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 'did you mean "good"?' in refused(capsys, run, "-r", "goood")
    assert "there are language" in refused(capsys, run, "--by", "leak")
    assert "above the depth 20" in refused(capsys, run, "-m", "R@50")
    assert "did you mean nDCG" in refused(capsys, run, "-m", "nDCC@10")
    assert "--ties is for TREC files" in refused(capsys, run, "--ties", "trec")
    assert "name a RUN folder" in refused(capsys)
    assert "name a RUN folder" in refused(capsys, "--qrels", "q")
    assert "--by is for a stored RUN" in refused(capsys, "--qrels", "q", "--run", "r", "--by", "x")
    assert "csv holds one table" in refused(capsys, run, "-q", "--curve", "--format", "csv")
    assert "is no run" in refused(capsys, "results/local")
    assert "invalid choice" in refused(capsys, run, "--format", "xml")


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_csv_holds_one_table_and_no_formula(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    head, *rows = rows_of(told(capsys, run, "--by", "language", "--format", "csv"))
    assert head[:5] == ["tag", "slice", "queries", "retriever", "measure"]
    assert {row[1] for row in rows} == {"go", "python", "'=cmd()|\\u202e"}
    head, *rows = rows_of(told(capsys, run, "-q", "--format", "csv"))
    assert head[:3] == ["query", "retriever", "status"]
    assert len(rows) == 12 * 3
    head, *rows = rows_of(told(capsys, run, "--curve", "--format", "csv"))
    assert head == ["retriever", "rel", "k", "recall"]
    assert len(rows) == 3 * 3 * 20


def test_hostile_tags_are_text_in_every_format(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for form in ("table", "markdown", "json", "csv"):
        out = told(capsys, run, "--by", "language", "--format", form)
        assert "\u202e" not in out
    markdown = told(capsys, run, "--by", "language", "--format", "markdown")
    (row, *_) = (line for line in markdown.splitlines() if "cmd" in line)
    assert "=cmd()\\|\\\\u202e" in row
    data = json.loads(told(capsys, run, "--by", "language", "--format", "json"))
    values = {one["value"] for one in data["retrievers"][0]["slices"]["language"]}
    assert "=cmd()|\u202e" in values


# --- TREC files


def trec_pair(folder: Path, seed: int) -> tuple[dict[str, dict[str, int]], dict[str, Any], Path]:
    """Write random judgments and a run with ties, out of order; return both and the folder."""
    source = random.Random(seed)  # noqa: S311  # made-up cases, no secrets
    names = [f"q{at}" for at in range(25)]
    documents = [f"d{at}" for at in range(40)]
    qrels = {
        name: {
            document: source.choice([0, 0, 1, 2, 3]) for document in source.sample(documents, 12)
        }
        for name in names
    }
    qrels["q3"] = dict.fromkeys(documents[:4], 0)
    run = {
        name: {document: float(source.randint(1, 6)) for document in source.sample(documents, 30)}
        for name in names
        if name != "q7"
    }
    lines = [f"{q} 0 {d} {g}\n" for q, own in qrels.items() for d, g in own.items()]
    folder.mkdir(exist_ok=True)
    (folder / "qrels.txt").write_text("".join(lines))
    with gzip.open(folder / "run.gz", "wt") as file:
        file.writelines(
            f"{q} Q0 {d} 1 {s} mine\n" for q, own in run.items() for d, s in own.items()
        )
    return qrels, run, folder


MEASURES = {
    "AP": "map",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "nDCG@10": "ndcg_cut_10",
    "nDCG": "ndcg",
    "P@5": "P_5",
    "R@5": "recall_5",
    "Success@5": "success_5",
}


@pytest.mark.parametrize("seed", range(5))
def test_parity_with_trec_eval_per_query_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    qrels, run, folder = trec_pair(tmp_path / "pair", seed)
    theirs = pytrec_eval.RelevanceEvaluator(
        qrels,
        {"map", "recip_rank", "Rprec", "bpref", "ndcg_cut.10", "ndcg", "P.5", "recall.5"}
        | {"success.5"},
    ).evaluate(run)
    asked = [word for name in MEASURES for word in ("-m", name)]
    files = ["--qrels", str(folder / "qrels.txt"), "--run", str(folder / "run.gz")]
    out = told(
        capsys, *files, *asked, "--ties", "trec", "--empty-gold", "zero", "-q", "--format", "json"
    )
    data = json.loads(out)
    assert data["queries"] == 25
    assert data["unanswered"] == ["q7"]
    for name, theirs_name in MEASURES.items():
        values = {query: own[theirs_name] for query, own in theirs.items()} | {"q7": 0.0}
        for query, value in values.items():
            assert data["per_query"][query][name] == pytest.approx(value, abs=1e-9), (query, name)
        mean = sum(values.values()) / 25
        assert data["measures"][name]["value"] == pytest.approx(mean, abs=1e-9), name
        assert data["measures"][name]["n"] == 25


def test_trec_files_in_a_table(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trec_pair(tmp_path, 1)
    monkeypatch.chdir(tmp_path)
    words = ["--qrels", "qrels.txt", "--run", "run.gz", "--curve"]
    golden("score-trec.table", told(capsys, *words))
    golden("score-trec.csv", told(capsys, *words[:-1], "--format", "csv"))
    assert "1 query not answered: q7" in told(capsys, *words)
    out = told(capsys, *words, "--empty-gold", "zero")
    assert "without a relevant document" not in out


def test_ties_at_the_cut_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n1 0 c 0\n2 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n1 Q0 c 3 1 t\n2 Q0 a 1 2 t\n")
    words = ["--qrels", str(tmp_path / "q"), "--run", str(tmp_path / "r"), "-m", "P@2", "-m", "P@1"]
    data = json.loads(told(capsys, *words, "--format", "json"))
    assert data["tied_at_cut"] == {"1": 0, "2": 1}
    assert "1 query with equal scores on both sides of the cut at 2" in told(capsys, *words)


def test_a_repeated_document_is_an_error_that_names_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 b 1 3 t\n1 Q0 a 2 2 t\n1 Q0 a 3 1 t\n")
    words = ["--qrels", str(tmp_path / "q"), "--run", str(tmp_path / "r"), "-m", "RR@10"]
    assert f"{tmp_path / 'r'}:3: document: 'a' stands twice" in refused(capsys, *words)
    data = json.loads(told(capsys, *words, "--lenient", "--format", "json"))
    assert data["measures"]["RR@10"]["value"] == 0.5
    assert any("1 repeated documents" in note for note in data["notes"])


def test_a_run_of_other_queries_measures_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("01 Q0 a 1 3 t\n")
    error = refused(capsys, "--qrels", str(tmp_path / "q"), "--run", str(tmp_path / "r"))
    assert "answers none of the 1 queries" in error


def test_a_beir_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "queries.jsonl").write_text('{"_id": "1", "text": "x"}\n')
    for split, document in (("test", "a"), ("dev", "b")):
        (folder / "qrels" / f"{split}.tsv").write_text(
            f"query-id\tcorpus-id\tscore\n1\t{document}\t1\n"
        )
    (tmp_path / "r").write_text("1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n")
    words = [
        "--qrels",
        str(folder),
        "--run",
        str(tmp_path / "r"),
        "-m",
        "RR@10",
        "--format",
        "json",
    ]
    assert json.loads(told(capsys, *words))["measures"]["RR@10"]["value"] == 1.0
    dev = json.loads(told(capsys, *words, "--split", "dev"))
    assert dev["measures"]["RR@10"]["value"] == 0.5
    assert "has no split 'train'" in refused(capsys, *words, "--split", "train")
    (tmp_path / "q").write_text("1 0 a 1\n")
    words[1] = str(tmp_path / "q")
    assert "is a file" in refused(capsys, *words, "--split", "dev")


def test_hostile_document_and_run_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q").write_text("=1+1 0 a 1\n")
    (tmp_path / "r").write_text("=1+1 Q0 a 1 3 \x1b[31m|@SUM(A1)\n")
    words = ["--qrels", str(tmp_path / "q"), "--run", str(tmp_path / "r"), "-q"]
    for form in ("table", "markdown", "json", "csv"):
        assert "\x1b" not in told(capsys, *words, "--format", form)
    _, row = rows_of(told(capsys, *words, "--format", "csv"))
    assert row[:2] == ["'=1+1", "\\u001b[31m|@SUM(A1)"]
    data = json.loads(told(capsys, *words, "--format", "json"))
    assert data["run"] == "\x1b[31m|@SUM(A1)"


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_what_a_leak_is_is_said_where_it_cuts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    asked = suite()
    leaky = [replace(query, tags={"leak": "stem"}) for query in asked.queries]
    run = str(made_run(tmp_path, ROWS, asked=replace(asked, queries=tuple(leaky))))
    out = told(capsys, run, "--by", "leak", "--format", form)
    assert "leak: the most that a text gives away of an answer: " in out
    assert all(f"{level} (" in out.replace("\\", "") for level in LEAKS[:-1])
    assert "gives away" not in told(capsys, run, "--format", form)
