"""`codebench compare`: pairs, verdicts, latency, refusals."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from codebench.cli.main import main
from codebench.model import Target
from tests.runs import MACHINE, Row, made_run, suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = {
    "random": Row("--f-----f---", floor=True),
    "fair": Row("sl-fslf-slsf", ms=2.0),
    "good": Row("sssslslsssss", ms=40.0),
    "bad|one": Row("-----------f", ms=1.0),
}


def told(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    capsys.readouterr()
    assert main(["compare", *map(str, words)]) == code, capsys.readouterr().err
    return capsys.readouterr().out


def data_of(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> Any:
    text = told(capsys, *words, "--format", "json", code=code)
    return json.loads(text, parse_constant=pytest.fail)


def refused(capsys: pytest.CaptureFixture[str], *words: object, code: int = 2) -> str:
    capsys.readouterr()
    assert main(["compare", *map(str, words)]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def pairs(data: Any) -> list[tuple[str, str]]:
    return list(dict.fromkeys((one["baseline"], one["candidate"]) for one in data["differences"]))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a made run's folder, relative to the current directory."""
    monkeypatch.chdir(tmp_path)
    return str(made_run(tmp_path / "results", ROWS).relative_to(tmp_path))


@pytest.mark.parametrize("form", ["table", "markdown", "json", "csv"])
def test_golden_output(
    run: str, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None], form: str
) -> None:
    golden(f"compare.{form}", told(capsys, run, "-m", "Tokens@32000", "--format", form))


def test_golden_output_of_two_runs(
    run: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
) -> None:
    rows = ROWS | {"fair": Row("ssssslssslss", ms=3.0, version="2", digest="sha256:1")}
    other = {**MACHINE, "cores": 2}
    later = made_run(tmp_path / "results", rows, minute=5, machine=other).relative_to(tmp_path)
    golden("compare-runs.table", told(capsys, run, later))


def test_by_default_the_first_is_the_baseline_and_floors_are_left_out(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of(capsys, run)
    assert pairs(data) == [("fair", "good"), ("fair", "bad|one")]
    assert [one["measure"] for one in data["differences"][:2]] == [
        "nDCG(dcg='exp-log2')@10",
        "R(rel=3)@10",
    ]
    assert data["test"] == {
        "comparisons": 4,
        "flipping": "query",
        "flips": 10000,
        "seed": 0,
        "alpha": 0.05,
    }
    assert data["scope"] == "the claim holds for this repository alone"
    good, *_, bad = data["differences"]
    assert good["delta"] == pytest.approx(good["candidate_value"] - good["baseline_value"])
    assert (bad["verdict"], bad["wins"], bad["losses"]) == ("worse", 0, 7)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--baseline", "good"], [("good", "fair"), ("good", "bad|one")]),
        (["--baseline", "best"], [("good", "fair"), ("good", "bad|one")]),
        (["--baseline", "first"], [("fair", "good"), ("fair", "bad|one")]),
        (["--baseline", "all"], [("fair", "good"), ("fair", "bad|one"), ("good", "bad|one")]),
        (["-r", "good", "-r", "random"], [("good", "random")]),
        (
            ["--floors"],
            [("fair", "good"), ("fair", "bad|one"), ("fair", "random")],
        ),
    ],
)
def test_who_is_compared_with_whom(
    run: str, capsys: pytest.CaptureFixture[str], words: list[str], expected: list[tuple[str, str]]
) -> None:
    assert pairs(data_of(capsys, run, *words)) == expected


def test_of_several_runs_each_is_compared_with_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = made_run(tmp_path, {"a": Row("s" * 12), "gone": Row("-" * 12)}, minute=1)
    changed = Row("f" * 12, version="2", digest="sha256:1", options={"k": 1})
    new = made_run(tmp_path, {"new": Row("f" * 12), "a": changed}, minute=2, depth=10)
    data = data_of(capsys, old, new)
    assert pairs(data) == [(f"a @ {old.name}", f"a @ {new.name}")]
    assert {one["verdict"] for one in data["differences"]} == {"worse"}
    notes = "\n".join(data["notes"])
    assert 'a differs: version "1" -> "2", options {} -> {"k": 1}, the adapter\'s file' in notes
    assert "depth 20 -> 10" in notes
    assert "in one run only, so not compared: gone, new" in notes
    against = data_of(capsys, old, new, "--baseline", "gone")
    assert pairs(against) == [
        ("gone", f"a @ {old.name}"),
        ("gone", "new"),
        ("gone", f"a @ {new.name}"),
    ]


def test_different_retrievers_of_two_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = made_run(tmp_path, {"a": Row("s" * 12)}, minute=1)
    new = made_run(tmp_path, {"b": Row("f" * 12)}, minute=2)
    assert pairs(data_of(capsys, old, new)) == [("a", "b")]


def test_other_suites_are_refused_and_the_fields_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = suite()
    first = made_run(tmp_path, {"a": Row("s" * 12)}, minute=1)
    queries = list(own.queries)
    queries[2] = replace(queries[2], text="another question")
    queries[4] = replace(queries[4], targets=(Target("f04.py", "f04.py::b"),))
    cases = {
        "corpus_digest sha256:": replace(own, corpus_digest="sha256:" + "0" * 64),
        "queries gone: q10, q11": replace(own, queries=own.queries[:10]),
        "text of q02; targets of q04": replace(own, queries=tuple(queries)),
    }
    for minute, (words, asked) in enumerate(cases.items(), start=2):
        found = "s" * len(asked.queries)
        other = made_run(tmp_path, {"a": Row(found)}, asked=asked, minute=minute)
        error = refused(capsys, first, other, code=4)
        assert words in error
        assert str(first) in error
    renamed = made_run(tmp_path, {"a": Row("f" * 12)}, asked=suite(name="other"), minute=9)
    assert data_of(capsys, first, renamed)["queries"] == 12


def test_latency_is_compared_on_one_machine_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"a": Row("s" * 12, ms=2.0)}
    old = made_run(tmp_path, rows, minute=1)
    same = made_run(tmp_path, {"a": Row("s" * 12, ms=4.0)}, minute=2)
    other = made_run(tmp_path, rows, machine={**MACHINE, "cores": 2}, minute=3)
    unknown = made_run(tmp_path, rows, machine={}, minute=4)
    (latency,) = data_of(capsys, old, same)["latency"]
    assert latency["compared"]
    assert latency["median"]["ratio"] == pytest.approx(4.5 / 2.5)
    assert latency["p95"]["ratio"] == pytest.approx(5.1 / 3.1)
    assert latency["median"]["low"] <= latency["median"]["ratio"] <= latency["median"]["high"]
    (latency,) = data_of(capsys, old, other)["latency"]
    assert (latency["compared"], latency["median"]) == (False, None)
    assert latency["reason"] == "other machines (cores 8 / 2)"
    out = told(capsys, old, other)
    assert "not compared" in out
    assert "latency not compared for a: other machines (cores 8 / 2)" in out
    (latency,) = data_of(capsys, old, unknown)["latency"]
    assert latency["reason"] == "the machine is not known"


def test_settings_that_differ_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = {"query_timeout": 5.0, "repeats": 1, "floors": []}
    old = made_run(tmp_path, {"a": Row("s" * 12)}, minute=1, settings=short)
    long = {"query_timeout": 20.0, "repeats": 3, "floors": ["random"]}
    new = made_run(tmp_path, {"a": Row("s" * 12)}, minute=2, settings=long)
    data = data_of(capsys, old, new)
    assert data["notes"] == [
        f"{old} and {new} differ: query_timeout 5.0 -> 20.0, repeats 1 -> 3",
    ]
    assert data["latency"][0]["compared"]
    late = made_run(tmp_path, {"a": Row("s" * 11 + "t")}, minute=3, settings=long)
    (latency,) = data_of(capsys, old, late, code=3)["latency"]
    assert latency["reason"] == "other timeouts (5.0 / 20.0 s), and one ran into its own"


def test_undecided_says_what_it_could_have_seen(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of(capsys, run, "-r", "fair", "-r", "good", "--margin", "0.9")
    one = data["differences"][0]
    assert one["verdict"] == "undecided"
    assert one["margin"] == 0.9
    assert one["smallest"] > 0
    table = told(capsys, run, "-r", "fair", "-r", "good", "--margin", "0.9")
    assert f"{one['smallest']:.3f}" in table
    assert "at least 0.9; otherwise undecided" in table


def test_failures_count_as_worst_and_exit_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = made_run(tmp_path, {"a": Row("s" * 12), "b": Row("ssssssxxxxxx")})
    data = data_of(capsys, made, code=3)
    exact = data["differences"][1]
    assert (exact["candidate_value"], exact["losses"]) == (0.5, 6)
    assert "b: 6 crashed" in told(capsys, made, code=3)
    cut = made_run(
        tmp_path, {"a": Row("s" * 12), "b": Row("ssss........")}, complete=False, minute=2
    )
    assert "the run is incomplete" in told(capsys, cut, code=3)


def test_a_measure_without_gold_at_its_level_is_left_out_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lesser = tuple(
        replace(query, targets=(replace(query.targets[0], grade=2),)) for query in suite().queries
    )
    asked = replace(suite(), queries=lesser)
    made = made_run(tmp_path, {"a": Row("s" * 12), "b": Row("-" * 12)}, asked=asked)
    data = data_of(capsys, made)
    primary, exact = data["differences"]
    assert primary["verdict"] == "worse"
    assert (exact["n"], exact["excluded"], exact["verdict"]) == (0, 12, "undecided")
    assert "12 queries without gold at that level left out" in told(capsys, made)


def test_a_shallow_run_is_compared_by_what_it_can_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = made_run(tmp_path, {"a": Row("s" * 12), "b": Row("-" * 12)}, depth=5)
    data = data_of(capsys, made, "-m", "R(rel=3)@5")
    assert [one["measure"] for one in data["differences"]] == ["R(rel=3)@5"]
    assert "name one with -m" in refused(capsys, made)
    assert "above the depth 5" in refused(capsys, made, "-m", "R@10")


def test_what_cannot_be_compared_is_refused(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = made_run(tmp_path, {"a": Row("s" * 12)}, minute=7)
    assert "needs at least two retrievers" in refused(capsys, alone)
    assert 'did you mean "good"?' in refused(capsys, run, "--baseline", "goof")
    assert 'did you mean "good"?' in refused(capsys, run, "-r", "goof")
    assert "this run is given twice" in refused(capsys, run, f"{run}/../{run.split('/')[1]}")
    assert "is not a number from 0 to 1" in refused(capsys, run, "--margin", "nan")
    assert "is not a whole number from 0" in refused(capsys, run, "--seed", "-1")
    assert "is no run" in refused(capsys, alone / "suite")


def test_the_seed_decides_the_resampling(
    tiny_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, again, other = (data_of(capsys, tiny_run, "--seed", seed) for seed in (1, 1, 2))
    assert one == again
    assert one["differences"][0]["p"] != other["differences"][0]["p"]
    assert one["differences"][0]["delta"] == other["differences"][0]["delta"]


def test_csv_has_numbers_as_numbers(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(told(capsys, run, "--format", "csv"))))
    assert len(rows) == 4
    assert float(rows[-1]["delta"]) < 0
    assert float(rows[0]["median_ratio"]) > 1
    assert rows[-1]["candidate"] == "bad|one"


def test_a_table_of_one_run_ends_with_what_to_look_at(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(capsys, run).endswith(f"\n\nnext: codebench show {run} --worst 5\n")
    assert "next:" not in told(capsys, run, "--format", "markdown")


def test_tiny(tiny_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_of(capsys, tiny_run)
    assert pairs(data) == [("bm25", "ripgrep")]
    assert all(one["n"] == 24 for one in data["differences"])
    assert data["latency"][0]["compared"]
