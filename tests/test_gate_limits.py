"""Limits as they are written: on a command line and in gate.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codebench.errors import InputError, UsageError
from codebench.gate.limits import default_limits, parse_limit, parse_limits
from codebench.gate.limits_file import read_limits

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "printed", "kind", "bound", "amount"),
    [
        ("nDCG@10:-0.03", "nDCG@10:-0.03", "measure", "change", 0.03),
        ("R(rel=3)@10:-0.02", "R(rel=3)@10:-0.02", "measure", "change", 0.02),
        ("MRR@10 : -.5", "RR@10:-0.5", "measure", "change", 0.5),
        (
            "nDCG(gains={3:7,2:3})@10:-0.1",
            "nDCG(gains={3:7,2:3})@10:-0.1",
            "measure",
            "change",
            0.1,
        ),
        ("nDCG@10:>=0.6", "nDCG@10:>=0.6", "measure", "least", 0.6),
        ("Tokens@32000:+500", "Tokens@32000:+500", "measure", "change", 500),
        ("Tokens@32000:<=4000", "Tokens@32000:<=4000", "measure", "most", 4000),
        ("p95:+10%", "p95:+10%", "latency", "change", 0.1),
        ("p50:+2.5%", "p50:+2.5%", "latency", "change", 0.025),
        ("p99:<=50", "p99:<=50ms", "latency", "most", 50),
        ("p90:<=50ms", "p90:<=50ms", "latency", "most", 50),
        ("index:+20%", "index:+20%", "index", "change", 0.2),
        ("index:<=60s", "index:<=60s", "index", "most", 60),
        ("failed:0", "failed:0", "failed", "most", 0),
        ("failed:<=3", "failed:3", "failed", "most", 3),
    ],
)
def test_what_is_understood(text: str, printed: str, kind: str, bound: str, amount: float) -> None:
    limit = parse_limit(text)
    assert (str(limit), limit.kind, limit.bound) == (printed, kind, bound)
    assert limit.amount == pytest.approx(amount)
    assert parse_limit(str(limit)) == limit


def test_slices() -> None:
    limit = parse_limit("nDCG@10[leak=none, language=a:b]:-0.05")
    assert limit.where == (("language", "a:b"), ("leak", "none"))
    assert str(limit) == "nDCG@10[language=a:b,leak=none]:-0.05"
    assert parse_limit("p95[leak=]:+10%").where == (("leak", ""),)
    assert parse_limit("failed:0", (("a", "]x,"),)).where == (("a", "]x,"),)


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("nDCG@10", "is no limit"),
        ("", "is no limit"),
        ("nDCG@10:0.03", "write how far it may fall, as nDCG@10:-0.03"),
        ("nDCG@10:+0.03", "may fall"),
        ("nDCG@10:-3%", "may fall"),
        ("nDCG@10:<=0.5", "least value"),
        ("nDCG@10:-nan", "may fall"),
        ("nDCG@10:-1e-2", "may fall"),
        ("Tokens@32000:-500", "may rise, as Tokens@32000:+500"),
        ("nDCF@10:-0.03", "did you mean nDCG"),
        ("nDCG:@10:-0.03", "nDCG:"),
        ("p95:10%", "p95:+10%"),
        ("p95:-10%", "p95:+10%"),
        ("p95:<=5s", "p95:<=50ms"),
        ("p42:+10%", "p42"),
        ("index:+20", "index:+20%".replace("20", "10")),
        ("index[a=b]:+20%", "leave the slice out"),
        ("failed:-1", "failed:0"),
        ("failed:\u00b2", "failed:0"),
        ("nDCG@10[leak]:-0.1", "write [tag=value]"),
        ("nDCG@10[a=b,a=c]:-0.1", "twice"),
        ("nDCG@10[:-0.1", "is no limit"),
        ("x" * 2000 + ":-1", "is no limit"),
    ],
)
def test_what_is_refused_says_how_it_is_written(text: str, mend: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_limit(text)
    assert mend in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nDCG@10:>=1.5", "no run can keep it, as nDCG@10 is at most 1"),
        ("nDCG-exp@10:>=0", "every run keeps it, as nDCG-exp@10 is never below 0"),
        ("R(rel=3)@10:-1", "every run keeps it, as R(rel=3)@10 cannot fall by more than 1"),
        ("nDCG@10:-1.5", "every run keeps it, as nDCG@10 cannot fall by more than 1"),
        ("Tokens@500:<=500", "every run keeps it, as Tokens@500 is at most 500"),
        ("Tokens@500:<=0", "no run can keep it, as Tokens@500 is above 0"),
        ("Tokens@500:+500", "every run keeps it, as Tokens@500 cannot rise by more than 500"),
        ("Value@10:>=0", "every run keeps it, as Value@10 is never below 0"),
        ("p95:<=0ms", "no run can keep it, as everything takes some time"),
        ("index:<=0", "no run can keep it, as everything takes some time"),
    ],
)
def test_a_limit_that_decides_nothing_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_limit(text)
    assert str(caught.value) == f"{text!r}: {why}"


def test_limits_that_decide_little_are_a_persons_own() -> None:
    texts = ["nDCG@10:>=1", "nDCG@10:-0", "AP:-0.999", "Value@10:>=7", "Tokens@500:<=499"]
    assert len(parse_limits(texts)) == 5


def test_people_read_the_short_name_and_files_hold_the_full_one() -> None:
    limit = parse_limit("nDCG-exp@10[leak=none]:-0.03")
    assert limit == parse_limit("nDCG(dcg='exp-log2')@10[leak=none]:-0.03")
    assert limit.shown == "nDCG-exp@10[leak=none]:-0.03"
    assert limit.label == "nDCG-exp@10[leak=none]"
    assert str(limit) == "nDCG(dcg='exp-log2')@10[leak=none]:-0.03"
    assert parse_limit("p95:+10%").shown == "p95:+10%"


def test_every_fault_at_once() -> None:
    with pytest.raises(InputError) as caught:
        parse_limits(["nDCG@10:3", "p95:+10%", "p95:+20%", "what"])
    told = str(caught.value).split("\n")
    assert len(told) == 3
    assert told[2] == "--limit: 'p95' is limited twice"
    assert len(parse_limits(["nDCG@10:-0.1", "nDCG@10:>=0.5"])) == 2


def test_the_default() -> None:
    texts = [str(limit) for limit in default_limits(50)]
    assert texts == ["nDCG(dcg='exp-log2')@10:-0.03", "R(rel=3)@10:-0.03"]
    assert default_limits(9) == ()


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "gate.yaml"
    file.write_text(
        "limits:\n- nDCG@10:-0.03\n- nDCG(gains={3:7,2:3})@10:-0.1\n- p95:+10%\n- failed:0\n"
        "- limit: nDCG@10[leak=none]:-0.05\n  where: {kind: 'a,b]'}\n"
    )
    found = read_limits(file)
    assert [limit.name for limit in found.limits][2:] == ["p95", "failed", "nDCG@10"]
    assert found.limits[-1].where == (("kind", "a,b]"), ("leak", "none"))
    assert (found.retriever, found.strict) == ("", False)


def test_a_wrong_file_names_every_fault(tmp_path: Path) -> None:
    file = tmp_path / "gate.yaml"
    file.write_text(
        "limits:\n- nDCG@10:3\n- 7\n- {limit: 'p95:+10%', where: {leak: no}, wher: 1}\n"
        "- {where: {a: b}}\n- failed:0\n- failed:1\nstrct: true\nretriever: 5\n"
    )
    with pytest.raises(InputError) as caught:
        read_limits(file)
    told = str(caught.value)
    assert [line.partition(": ")[2].partition(": ")[0] for line in told.split("\n")] == [
        "limits[1]",
        "limits[2]",
        "limits[3].where.leak",
        "limits[3].wher",
        "limits[4].limit",
        "retriever",
        "strct",
        "limits",
    ]
    assert "'failed' is limited twice" in told


@pytest.mark.parametrize("text", ["", "limits: []", "limits: {}", "- a", "limits: &a [*a]"])
def test_a_file_without_limits(tmp_path: Path, text: str) -> None:
    file = tmp_path / "gate.yaml"
    file.write_text(text)
    with pytest.raises(InputError):
        read_limits(file)
