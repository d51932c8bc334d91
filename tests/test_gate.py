"""`codebench gate`: verdicts, exit codes, what a build reads, and accepting a baseline."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from codebench.cli.main import main
from codebench.results import MANIFEST
from tests.junit import check_junit
from tests.runs import MACHINE, Row, judged_suite, made_run, suite
from tests.test_layers import HEAVY, loaded_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GOOD = "ssssslssslss"
LIMITS = ("nDCG@10:-0.03", "R(rel=3)@10:-0.02", "p95:+10%", "failed:0")
HOSTILE = (
    "<script>alert(1)</script> ]]> \x1b[31mred \u202egnp.exe %0A::error::x ##[group] &amp;\uffff"
)


def gated(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["gate", *map(str, words)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def data_of(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    code, out, err = gated(capsys, *words, "--format", "json")
    data = json.loads(out, parse_constant=pytest.fail) if out else pytest.fail(err)
    assert data["exit_code"] == code
    return data


def limits(*texts: str) -> list[str]:
    return [word for text in texts for word in ("-l", text)]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    rows = {"random": Row("--f-----f---", floor=True), "own": Row(GOOD)}
    return made_run(tmp_path, rows)


def test_a_measure_of_plain_judgments_is_gated_at_their_level(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = judged_suite()
    base = made_run(tmp_path, {"own": Row("f" * 12)}, asked=asked)
    poor = made_run(tmp_path, {"own": Row("-" * 12)}, asked=asked, minute=1)
    code, out, _ = gated(capsys, poor, *limits("RR@10:>=0.9"))
    assert (code, "RR@10" in out) == (1, True)
    assert gated(capsys, base, *limits("RR@10:>=0.9"))[0] == 0
    code, _, err = gated(capsys, base, *limits("R(rel=3)@10:>=0.9", "RR@10:>=0.9"))
    assert code == 2
    assert "R(rel=3)@10:>=0.9: no query has gold at level 3" in err
    code, _, err = gated(capsys, base, *limits("RR@10:>=0.9", "RR(rel=1)@10:>=0.8"))
    assert (code, "is limited twice" in err) == (2, True)
    checked = data_of(capsys, poor, "--baseline", base)["checks"]
    assert [(one["limit"], one["outcome"]) for one in checked] == [
        ("nDCG(dcg='exp-log2')@10:-0.03", "failed")
    ]


FIVE = {
    "regression": ({"own": Row("ffffffffffff")}, MACHINE, 1, "failure"),
    "noise": ({"own": Row("sslssssslsss")}, MACHINE, 0, "skipped"),
    "same": ({"own": Row(GOOD)}, MACHINE, 0, ""),
    "machine": ({"own": Row(GOOD, ms=40.0)}, {**MACHINE, "cores": 2}, 0, "skipped"),
    "nothing": ({"own": Row("xxxxxxtttttt")}, MACHINE, 2, "error"),
    "no baseline": ({"own": Row(GOOD)}, MACHINE, 4, "error"),
    "incomplete": ({"own": Row("sssss.......", state="stopped")}, MACHINE, 3, "error"),
}


@pytest.mark.parametrize("case", FIVE)
def test_made_pairs_and_their_junit(
    case: str, base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, machine, expected, element = FIVE[case]
    run = made_run(tmp_path, rows, machine=machine, minute=1)
    junit, summary = tmp_path / "gate.xml", tmp_path / "summary.md"
    summary.write_text("before\n")
    against = tmp_path / "nowhere" if case == "no baseline" else base
    asked = limits("R(rel=1)@10:-0.99") if case == "incomplete" else limits(*LIMITS)
    words = [run, "--baseline", against, *asked, "--junit", junit, "--summary", summary]
    code, out, err = gated(capsys, *words, "--annotations")
    assert code == expected, err
    cases = check_junit(junit.read_text("utf-8"))
    found = [one for one in cases.values() if one]
    assert ("failure" in found) == (code == 1)
    assert ("error" in found) == (code in {2, 3, 4})
    assert (element in found) if element else not found
    told = summary.read_text("utf-8")
    assert told.startswith("before\n### gate ")
    assert bool(out) == (code not in {2, 4})
    commands = [line.partition(" ")[0] for line in err.split("\n") if line.startswith("::")]
    assert ("::error" in commands) == bool(code)


def test_a_regression_is_said_with_its_queries(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_run(tmp_path, {"own": Row("ffffffffffff")}, minute=1)
    data = data_of(capsys, run, "-b", base, *limits("nDCG@10:-0.03"))
    (check,) = data["checks"]
    assert (data["verdict"], check["outcome"], check["verdict"]) == ("failed", "failed", "worse")
    assert check["after"] == pytest.approx(2 / 3)
    assert check["change"] == pytest.approx(check["after"] - check["before"])
    assert (check["wins"], check["ties"], check["losses"]) == (0, 0, 12)
    assert [loss["query"] for loss in check["lost_most"]] == ["q00", "q01", "q02"]
    assert check["lost_most"][0]["text"] == "question 0"
    _, out, _ = gated(capsys, run, "-b", base, *limits("nDCG@10:-0.03"))
    assert "gate failed: own of " in out
    assert "nDCG@10 lost most at q00: 1.000 -> 0.667, question 0" in out


def test_within_noise_is_undecided_and_strict_fails(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_run(tmp_path, {"own": Row("sslssssslsss")}, minute=1)
    data = data_of(capsys, run, "-b", base, *limits("nDCG@10:-0.03"))
    (check,) = data["checks"]
    assert (check["outcome"], check["fails"], data["exit_code"]) == ("undecided", False, 0)
    assert check["bound"] > 0.03
    assert check["needed"] > 12
    code, out, _ = gated(capsys, run, "-b", base, *limits("nDCG@10:-0.03"), "--strict")
    assert code == 1
    assert "undecided (fails)" in out
    assert f"about {check['needed']} queries like these would decide" in out
    wide = data_of(capsys, run, "-b", base, *limits("nDCG@10:-0.05"))
    assert wide["checks"][0]["outcome"] == "passed"


def test_a_gate_that_passes_says_what_it_left_undecided(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = {**MACHINE, "cores": 2}
    run = made_run(tmp_path, {"own": Row("sslslssslsss")}, minute=1, machine=machine)
    asked = limits("nDCG-exp@10:-0.03", "R(rel=3)@10:-0.02", "p95:+10%")
    junit, summary, kept = tmp_path / "j.xml", tmp_path / "s.md", tmp_path / "kept"
    words = [run, "-b", base, *asked, "--junit", junit, "--summary", summary]
    code, out, err = gated(capsys, *words, "--accept", "-o", kept)
    told = "passed, 1 of 3 limits undecided, 1 not compared"
    assert (code, out.startswith(f"gate {told}: own of ")) == (0, True)
    assert summary.read_text("utf-8").startswith(f"### gate {told}: ")
    assert f'name="verdict" value="{told}"' in junit.read_text("utf-8")
    loss = r"nDCG-exp@10 -0\.\d{3}"
    warned = f"warning: accepted though undecided limits moved for the worse: {loss}\n"
    assert re.fullmatch(warned, err)
    data = data_of(capsys, *words)
    assert (data["verdict"], data["undecided"]) == ("passed", 1)
    better = gated(capsys, base, "-b", run, *limits("nDCG@10:-0"), "--accept", "-o", kept)
    assert (better[0], better[2]) == (0, "")
    assert better[1].startswith("gate passed, 1 of 1 limit undecided: ")
    assert gated(capsys, *words, "--strict")[1].startswith("gate failed: ")


def test_people_read_the_short_name_of_a_measure_and_files_hold_the_full_one(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_run(tmp_path, {"own": Row("f" * 12)}, minute=1)
    junit, summary = tmp_path / "j.xml", tmp_path / "s.md"
    full = "nDCG(dcg='exp-log2')@10[language=go]:-0.03"
    words = [run, "-b", base, *limits(full), "--junit", junit, "--summary", summary]
    _, out, err = gated(capsys, *words, "--annotations", "--strict")
    assert "::error title=codebench gate%3A nDCG-exp@10[language=go]%3A-0.03::" in err
    cases = check_junit(junit.read_text("utf-8"))
    assert list(cases) == ["nDCG-exp@10[language=go]:-0.03", "the run is whole"]
    assert "exp-log2" not in out + err + junit.read_text("utf-8") + summary.read_text("utf-8")
    (check,) = data_of(capsys, *words)["checks"]
    assert (check["limit"], check["name"]) == (full, "nDCG(dcg='exp-log2')@10")


def test_a_limit_of_nothing_is_kept_where_nothing_changed(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_run(tmp_path, {"own": Row(GOOD)}, minute=1)
    data = data_of(capsys, run, "-b", base, *limits("nDCG@10:-0", "Tokens@32000:+0"))
    assert [check["outcome"] for check in data["checks"]] == ["passed", "passed"]


def test_less_is_better_for_tokens(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_run(tmp_path, {"own": Row("llllllllllll")}, minute=1)
    worse = data_of(capsys, run, "-b", base, *limits("Tokens@32000:+10"))["checks"][0]
    assert (worse["outcome"], worse["change"] > 0) == ("failed", True)
    other = data_of(capsys, base, "-b", run, *limits("Tokens@32000:+10"))["checks"][0]
    assert (other["outcome"], other["change"] < 0, other["bound"] < 0) == ("passed", True, True)


def test_slices_are_tested_beside_the_whole(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Only the queries of `go` (every third) got worse.
    run = made_run(tmp_path, {"own": Row("fsssslfsslss")}, minute=1)
    asked = limits("R(rel=3)@10:-0.5", "R(rel=3)@10[language=go]:-0.5", "failed[language=go]:0")
    data = data_of(capsys, run, "-b", base, *asked)
    whole, go, failed = data["checks"]
    assert data["comparisons"] == 2
    assert (whole["n"], whole["change"]) == (12, pytest.approx(-2 / 12))
    assert (go["n"], go["change"], go["where"]) == (4, pytest.approx(-0.5), {"language": "go"})
    assert failed["n"] == 4
    code, _, err = gated(capsys, run, "-b", base, *limits("nDCG@10[language=rust]:-0.1"))
    assert code == 2
    assert "no query has language=rust; did you mean" in err


@pytest.mark.parametrize(
    ("ms", "outcome"), [(2.0, "passed"), (2.05, "passed"), (4.0, "failed"), (1.0, "passed")]
)
def test_latency_is_a_ratio(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], ms: float, outcome: str
) -> None:
    run = made_run(tmp_path, {"own": Row(GOOD, ms=ms)}, minute=1)
    (check,) = data_of(capsys, run, "-b", base, *limits("p95:+10%"))["checks"]
    assert check["outcome"] == outcome
    assert check["before"] == pytest.approx(3.1)
    assert check["after"] == pytest.approx(ms + 1.1)
    assert check["change"] == pytest.approx(check["after"] / check["before"] - 1)
    assert check["low"] <= check["change"] <= check["high"]


def test_costs_on_another_machine_are_not_compared(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = made_run(
        tmp_path, {"own": Row("f" * 12, ms=90)}, machine={**MACHINE, "cores": 2}, minute=1
    )
    asked = limits("nDCG@10:-0.03", "p50:+10%", "p95:+10%", "index:+20%")
    for strict in ([], ["--strict"]):
        data = data_of(capsys, other, "-b", base, *asked, *strict)
        assert [check["outcome"] for check in data["checks"]] == ["failed", *["not compared"] * 3]
        assert data["checks"][1]["reason"] == "other machines (cores 8 / 2)"


def test_what_is_wrong_with_the_baseline_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_run(tmp_path, {"own": Row(GOOD)}, minute=1)
    short = made_run(tmp_path, {"own": Row(GOOD[:8] + "....")}, complete=False, minute=2)
    poor = made_run(tmp_path, {"own": Row("xt" + GOOD[2:])}, minute=3)
    asked = limits("nDCG@10:-0.9")
    incomplete = "note: the baseline is incomplete: what was not asked counts as unanswered"
    assert incomplete in data_of(capsys, run, "-b", short, *asked)["notes"]
    failed = "note: 2 of the baseline's queries failed"
    assert failed in data_of(capsys, run, "-b", poor, *asked)["notes"]


def test_costs_that_were_not_measured_are_not_compared(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = made_run(tmp_path, {"own": Row(GOOD)}, minute=1)
    answers = bare / "answers" / "0.jsonl"
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    for row in rows:
        row.pop("latency_ns", None)
    kept = [json.dumps(row) + "\n" for row in rows if row["kind"] != "index"]
    answers.write_text("".join(kept))
    asked = limits("nDCG@10:-0.9", "p95:<=9ms", "index:<=9s", "p50:+10%", "index:+20%")
    checks = data_of(capsys, bare, "-b", base, *asked)["checks"]
    assert [check.get("reason") for check in checks[1:]] == [
        "no query was timed",
        "the run says nothing of an index",
        "no query was timed by both",
        "the run says nothing of an index",
    ]
    (check,) = data_of(capsys, base, "-b", bare, *limits("index:+20%"))["checks"]
    assert check["reason"] == "the baseline says nothing of an index"


def test_a_runs_own_values_need_no_baseline(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = limits("nDCG@10:>=0.9", "p95:<=3.2ms", "index:<=1.5s", "failed:0", "Tokens:<=1")
    data = data_of(capsys, base, *asked)
    outcomes = [check["outcome"] for check in data["checks"]]
    assert outcomes == ["passed", "passed", "passed", "passed", "failed"]
    assert data["baseline"] is None
    data = data_of(capsys, base, *limits("nDCG@10:>=0.99", "p50:<=2ms", "index:<=1"))
    assert [check["outcome"] for check in data["checks"]] == ["failed"] * 3


def test_failures_put_a_run_in_doubt_unless_a_limit_allows_them(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_run(tmp_path, {"own": Row("ssssslssslsx")}, minute=1)
    wide = limits("R(rel=3)@10:-0.9")
    code, out, _ = gated(capsys, run, "-b", base, *wide)
    assert code == 3
    assert "in doubt: 1 query of 12 failed" in out
    assert gated(capsys, run, "-b", base, *wide, *limits("failed:1"))[0] == 0
    assert gated(capsys, run, "-b", base, *wide, *limits("failed:0"))[0] == 1
    cut = made_run(tmp_path, {"own": Row(GOOD)}, complete=False, minute=2)
    assert gated(capsys, cut, "-b", base, *limits("failed:0"))[0] == 3


def test_other_suites_are_refused_and_the_fields_named(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = suite()
    queries = list(own.queries)
    queries[2] = replace(queries[2], text="another question")
    other = replace(own, queries=tuple(queries), corpus_digest="sha256:" + "0" * 64)
    run = made_run(tmp_path, {"own": Row(GOOD)}, asked=other, minute=1)
    code, _, err = gated(capsys, run, "--baseline", base)
    assert code == 4
    assert "corpus_digest" in err
    assert "text of q02" in err
    assert "`codebench suite build` keeps one" in err


def test_who_is_gated(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = made_run(tmp_path, {"own": Row(GOOD), "new": Row("f" * 12)}, minute=1)
    asked = limits("nDCG@10:-0.03")
    assert data_of(capsys, two, "-b", base, *asked)["run"]["retriever"] == "own"
    assert data_of(capsys, base, "-b", two, *asked)["run"]["retriever"] == "own"
    code, _, err = gated(capsys, two, "-b", two, *asked)
    assert (code, "name one retriever by -r; there are own, new" in err) == (2, True)
    data = data_of(capsys, two, "-b", base, *asked, "-r", "new", "--against", "own")
    assert (data["run"]["retriever"], data["baseline"]["retriever"]) == ("new", "own")
    assert data["exit_code"] == 1
    code, _, err = gated(capsys, two, "-b", base, *asked, "-r", "new")
    assert (code, "it holds own: name one, as --against own" in err) == (4, True)
    assert gated(capsys, two, "-b", base, *asked, "-r", "nwe")[0] == 2
    lone = made_run(tmp_path, {"new": Row(GOOD)}, minute=2)
    code, _, err = gated(capsys, lone, "-b", base, *asked)
    assert (code, "none of the retrievers" in err) == (4, True)
    assert "it holds own: name one, as --against own" in err
    mute = made_run(tmp_path, {"own": Row("x" * 12)}, minute=3)
    assert gated(capsys, base, "-b", mute, *asked)[0] == 4


def test_one_message_names_a_retriever_of_other_options_in_both_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, heavy = "./mine.py:MyTool", "./mine.py:MyTool:weight=9"
    base = made_run(tmp_path, {"ripgrep": Row(GOOD), "bm25": Row(GOOD), plain: Row(GOOD)})
    run = made_run(tmp_path, {heavy: Row(GOOD)}, minute=1)
    asked = limits("nDCG@10:-0.03")
    words = f"-r {heavy} --against {plain}"
    code, _, err = gated(capsys, run, "-b", base, *asked, "-r", plain)
    assert (code, err.count("\n")) == (2, 1)
    assert f"holds no retriever '{plain}'; name it, as {words}\n" in err
    assert gated(capsys, run, "-b", base, *asked, *words.split())[0] == 0
    assert gated(capsys, run, *limits("nDCG@10:>=0.1"), "-r", plain)[2].endswith(f"as -r {heavy}\n")
    tuned = "bm25:k1=0.1,b=1"
    other = made_run(tmp_path, {tuned: Row(GOOD)}, minute=2)
    for more in ([], ["-r", tuned], ["--against", "bm25:k1=7"]):
        code, _, err = gated(capsys, other, "-b", base, *asked, *more)
        assert (code, err.endswith(": name one, as --against bm25\n")) == (4, True)
    two = made_run(tmp_path, {"ugrep": Row(GOOD), tuned: Row(GOOD)}, minute=3)
    code, _, err = gated(capsys, two, "-b", base, *asked)
    assert (code, err.endswith(f": name one, as -r {tuned} --against bm25\n")) == (4, True)


def test_a_folder_of_runs_as_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "results"
    made_run(kept, {"own": Row("f" * 12)}, minute=1)
    newest = made_run(kept, {"own": Row(GOOD)}, minute=2)
    made_run(kept, {"own": Row("s" * 10)}, asked=suite(10, name="other"), minute=3)
    made_run(kept, {"own": Row(GOOD)}, complete=False, minute=4)
    run = made_run(tmp_path / "local", {"own": Row(GOOD)}, minute=5)
    assert data_of(capsys, run, "-b", kept)["baseline"]["folder"] == str(newest)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert gated(capsys, run, "-b", empty)[0] == 4


def test_depths(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shallow = made_run(tmp_path, {"own": Row(GOOD)}, depth=5, minute=1)
    assert gated(capsys, shallow, "-b", base, *limits("nDCG@10:-0.03"))[0] == 2
    assert gated(capsys, base, "-b", shallow, *limits("nDCG@10:-0.03"))[0] == 4
    code, out, _ = gated(capsys, base, "-b", base)
    assert (code, "latency, index time and failures are gated where limits name them" in out) == (
        0,
        1,
    )
    assert "\nnDCG-exp@10:-0.03 " in out
    assert "where limits name them" not in gated(capsys, base, "-b", base, *limits("AP:-0.03"))[1]
    code, _, err = gated(capsys, shallow, "-b", base)
    assert (code, "default limits need a depth of 10" in err) == (2, True)


def test_the_limits_of_a_file(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made_run(tmp_path, {"own": Row("sslssssslsss")}, minute=1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gate.yaml").write_text(
        "retriever: own\nstrict: true\nlimits:\n  - nDCG@10:-0.03\n"
        "  - limit: R(rel=3)@10:-0.02\n    where: {language: go}\n  - failed:0\n"
    )
    data = data_of(capsys, run, "-b", base)
    assert (data["strict"], data["exit_code"]) == (True, 1)
    assert [check["limit"] for check in data["checks"]] == [
        "nDCG@10:-0.03",
        "R(rel=3)@10[language=go]:-0.02",
        "failed:0",
    ]
    own = data_of(capsys, run, "-b", base, *limits("nDCG@10:-0.5"))
    assert [check["limit"] for check in own["checks"]] == ["nDCG@10:-0.5"]
    both = data_of(capsys, run, "-b", base, "--limits", "gate.yaml", *limits("nDCG@10:-0.5"))
    assert [check["limit"] for check in both["checks"]][-1] == "nDCG@10:-0.5"
    assert len(both["checks"]) == 3


@pytest.fixture
def hostile(tmp_path: Path) -> tuple[Path, Path]:
    own = suite()
    queries = list(own.queries)
    queries[0] = replace(queries[0], text=HOSTILE)
    asked = replace(own, queries=tuple(queries), name=f"::error::{HOSTILE}".replace("\uffff", ""))
    name = "::set-output name=a::<b>]]>|\x1b[31m\u202e"
    rows = [{name: Row(found)} for found in (GOOD, "f" * 12)]
    old, new = (
        made_run(tmp_path / folder, row, asked=replace(asked, name="x"))
        for folder, row in zip(("a", "b"), rows, strict=True)
    )
    for run in (old, new):
        yaml = run / "suite" / "suite.yaml"
        yaml.write_text(yaml.read_text().replace("name: x", f"name: {json.dumps(asked.name)}"))
    return old, new


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_hostile_text_is_text_in_every_output(
    hostile: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    old, new = hostile
    junit, summary = tmp_path / "j.xml", tmp_path / "s.md"
    words = [new, "-b", old, *limits("nDCG@10:-0.03"), "--junit", junit, "--summary", summary]
    code, out, err = gated(capsys, *words, "--annotations", "--format", form)
    assert code == 1
    texts = [out, err, junit.read_text("utf-8"), summary.read_text("utf-8")]
    for text in texts:
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
        assert "script" in text
    for text in (junit.read_text("utf-8"), summary.read_text("utf-8")):
        assert "<script>" not in text
    lines = out.split("\n")
    assert not [line for line in lines if line.lstrip().startswith("::")]
    if form != "json":
        assert "##[" not in out
    (command,) = [line for line in err.split("\n") if line]
    head, _, message = command.removeprefix("::error ").partition("::")
    assert head == "title=codebench gate%3A nDCG@10%3A-0.03"
    assert "%250A" in message  # what looked like an escape is text
    assert check_junit(junit.read_text("utf-8"))["nDCG@10:-0.03"] == "failure"
    root = ET.fromstring(junit.read_text("utf-8"))  # noqa: S314  # it is codebench's own
    body = root.findtext(".//failure") or ""
    assert "<script>alert(1)</script> ]]> \\u001b[31mred \\u202egnp.exe" in body


def test_golden_output(
    base: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_run(tmp_path, {"own": Row("sslfssssllss", ms=3.0, version="2")}, minute=1)
    monkeypatch.chdir(tmp_path)
    runs = sorted(path.name for path in tmp_path.glob("2024*"))
    asked = limits(*LIMITS, "nDCG@10[language=python]:-0.05", "index:+20%")
    for form in ("table", "markdown", "json"):
        words = [runs[1], "-b", base.name, *asked, "--junit", "j.xml", "--format", form]
        golden(f"gate.{form}", gated(capsys, *words)[1])
    golden("gate.junit.xml", (tmp_path / "j.xml").read_text("utf-8"))


def test_accepting_a_run(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = gated(capsys, base, "--accept")
    assert (code, out.splitlines()) == (
        0,
        [
            f"accepted {base} as the baseline: results/made",
            "next: codebench gate latest --baseline results/made",
        ],
    )
    kept = tmp_path / "results" / "made"
    assert (kept / MANIFEST).read_bytes() == (base / MANIFEST).read_bytes()
    later = made_run(tmp_path, {"own": Row("f" * 12)}, minute=1)
    asked = limits("nDCG@10:-0.03")
    code, out, _ = gated(capsys, later, "-b", kept, *asked, "--accept")
    assert (code, out.splitlines()[-2:]) == (
        1,
        [
            "not accepted: the gate failed; results/made is unchanged",
            f"next: codebench show {later} q00",
        ],
    )
    code, _, err = gated(capsys, later, "-b", kept, *asked, "--accept", "-o", "x", "--format=json")
    assert (code, err) == (1, "not accepted: the gate failed; x was not made\n")
    assert (kept / MANIFEST).read_bytes() == (base / MANIFEST).read_bytes()
    assert gated(capsys, later, "--accept", "-o", kept)[0] == 0
    assert (kept / MANIFEST).read_bytes() == (later / MANIFEST).read_bytes()
    assert [path.name for path in kept.parent.iterdir()] == ["made"]
    words = [*limits("R(rel=3)@10:-0.02"), "-r", "own", "--strict"]
    code, out, _ = gated(capsys, later, "-b", kept, *words, "--accept", "-o", "my baseline")
    again = "-l 'R(rel=3)@10:-0.02' -r own --strict"
    assert (code, out.splitlines()[-1]) == (
        0,
        f"next: codebench gate latest --baseline 'my baseline' {again}",
    )


def test_what_is_not_accepted(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cut = made_run(tmp_path, {"own": Row("sss.........")}, complete=False, minute=1)
    code, _, err = gated(capsys, cut, "--accept")
    assert (code, "--force" in err) == (2, True)
    assert gated(capsys, cut, "--accept", "--force")[0] == 0
    mute = made_run(tmp_path, {"own": Row("x" * 12)}, minute=2)
    assert gated(capsys, mute, "--accept", "-o", "mute")[0] == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("precious")
    assert gated(capsys, base, "--accept", "-o", "mine")[0] == 2
    assert (tmp_path / "mine" / "file").read_text() == "precious"
    assert gated(capsys, base, "--accept", "-o", base)[0] == 2
    assert gated(capsys, base, "--accept", "-o", base / "inner")[0] == 2
    (base / "answers" / "link").symlink_to("/etc/hostname")
    code, _, err = gated(capsys, base, "--accept", "-o", "linked")
    assert (code, "is a link" in err) == (2, True)
    assert not (tmp_path / "linked").exists()
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_failed_copy_leaves_the_baseline(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    assert gated(capsys, base, "--accept", "-o", kept)[0] == 0
    before = (kept / MANIFEST).read_bytes()
    later = made_run(tmp_path, {"own": Row("f" * 12)}, minute=1)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("codebench.gate.accepting.shutil.copytree", full)
    code, _, err = gated(capsys, later, "--accept", "-o", kept)
    assert (code, "No space left on device" in err) == (2, True)
    assert (kept / MANIFEST).read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ["--force"],
        ["-o", "x"],
        ["--accept", "-l", "failed:0"],
        ["--seed", "-1"],
        ["-l", "nonsense"],
        ["--limits", "none.yaml"],
    ],
)
def test_wrong_words(base: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    code, out, err = gated(capsys, base, *words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_files_that_cannot_be_written(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--junit", "--summary"):
        code, _, err = gated(capsys, base, *limits("failed:0"), option, tmp_path / "no" / "f")
        assert (code, "cannot be written" in err) == (2, True)


@pytest.mark.parametrize("verb", ["gate", "history", "bisect", "align"])
def test_help_loads_nothing_heavy(verb: str) -> None:
    statement = (
        "import contextlib, io\n"
        "from codebench.cli.main import main\n"
        f"with contextlib.redirect_stdout(io.StringIO()): assert main([{verb!r}, '--help']) == 0\n"
    )
    assert not loaded_by(f"exec({statement!r})") & HEAVY
