from __future__ import annotations

import subprocess
import sys

import pytest

from codebench.errors import UsageError
from codebench.measures.catalogue import KINDS
from codebench.measures.names import (
    BESIDE,
    DEFAULT,
    EXTRA,
    PRIMARY,
    check_depth,
    lowered,
    parse,
    parse_all,
    within_depth,
)


@pytest.mark.parametrize(
    "name",
    [
        "RR", "RR@10", "R(rel=3)@10", "P@5", "F1@10", "F(beta=2)@10", "F(beta=0.5,rel=2)@10", "AP",
        "AP@100", "nDCG@10", "nDCG", "nDCG(dcg='exp-log2')@10", "nDCG(gains={3:7,2:3,1:1})@10",
        "Success@5", "Acc@5", "Rprec", "Bpref", "RBP(p=0.9)", "RBP(p=0.9,rel=2)@10", "ERR@10",
        "Judged@10", "Value@10", "R@4000tokens", "Tokens@32000", "Success(rel=3)@100tokens",
    ],
)  # fmt: skip
def test_names_read_and_printed_alike(name: str) -> None:
    assert str(parse(name)) == name
    assert parse(str(parse(name))) == parse(name)


@pytest.mark.parametrize("rel", [None, 1, 2, 3])
@pytest.mark.parametrize("name", ["RR@10", "F(beta=2)@10", "RBP(p=0.9)", "R@4000tokens", "nDCG@10"])
def test_the_written_name_keeps_its_level_in_any_context(name: str, rel: int | None) -> None:
    measure = parse(name) if rel is None else parse(name).bind(rel)
    assert parse(measure.written) == measure


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("MRR@10", "RR@10"),
        ("MAP", "AP"),
        ("NDCG@10", "nDCG@10"),
        ("Recall@5", "R@5"),
        ("Precision@5", "P@5"),
        ("Hit@1", "Success@1"),
        ("nDCG-exp@10", "nDCG(dcg='exp-log2')@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("F(beta=1)@10", "F1@10"),
        ("RBP(p=0.8)", "RBP"),
        (" R ( rel = 2 ) @ 10 ", "R(rel=2)@10"),
        ("R(rel=1)@10", "R@10"),
        ("R@10" + " " * 296, "R@10"),
        ("R(rel=1000)@10", "R(rel=1000)@10"),
        ("F(beta=0.000001)@5", "F(beta=1e-06)@5"),
        ("F(beta=1000000)@5", "F(beta=1000000)@5"),
        ("ERR(max_rel=1)", "ERR(max_rel=1)"),
        ("ERR(max_rel=1000)", "ERR(max_rel=1000)"),
        (
            "nDCG(gains={1000:1e300,2:0.5,1:0.5,0:0})",
            f"nDCG(gains={{1000:{int(1e300)},2:0.5,1:0.5,0:0}})",
        ),
        ("nDCG(gains={1: 1, 3: 7.5})@5", "nDCG(gains={3:7.5,1:1})@5"),
    ],
)
def test_aliases_and_spellings(given: str, printed: str) -> None:
    assert str(parse(given)) == printed


def test_the_level_comes_from_the_context_unless_it_is_named() -> None:
    assert str(parse("RR@10").bind(2)) == "RR(rel=2)@10"
    assert str(parse("RR@10").bind(1)) == "RR@10"
    assert str(parse("RR(rel=1)@10").bind(2)) == "RR@10"
    assert str(parse("nDCG@10").bind(2)) == "nDCG@10"
    assert parse_all(["MRR@10", "RR@10", parse("R@5")], 2) == (
        parse("RR(rel=2)@10"),
        parse("R(rel=2)@5"),
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nDGC@10", r"'nDGC'; did you mean nDCG or nDCG-exp\?$"),
        ("mrr@10", "did you mean MRR"),
        ("bprec", r"did you mean Rprec or Bpref or Precision or Recall\?$"),
        ("zzz", "there are RR, R, P"),
        ("R", "^'R' needs a cutoff: R@10$"),
        ("R@0", "at least 1"),
        ("Rprec@5", "takes no cutoff"),
        ("AP@50tokens", "not counted by tokens"),
        ("nDCG(rel=2)@10", "takes no rel"),
        ("RR(rel=0)", r"^'RR\(rel=0\)': rel must be a grade, 1 to 1000$"),
        ("RR(rel=True)", "rel must be a grade"),
        ("RR(rel='x')", "rel must be a grade"),
        ("RR(level=2)", "has no 'level'; it takes rel"),
        ("Value(rel=2)@5", "takes no rel"),
        ("RBP(k=2)", r"': RBP has no 'k'; it takes p, rel$"),
        ("nDCG(k=2)@5", "nDCG has no 'k'; it takes dcg, gains$"),
        ("Judged(k=2)@5", "Judged has no 'k'; it takes no parameter$"),
        ("nDCG(dcg='x')@10", "dcg is"),
        ("nDCG(gains={3:1,2:2})@10", "never falls"),
        ("nDCG(gains={0:1})@10", "never falls"),
        ("nDCG(gains={})@10", "never falls"),
        ("nDCG(gains=3)@10", "never falls"),
        ("nDCG(gains={'a':1})@10", r"^.nDCG\(gains={'a':1}\)@10.: gains must be a map such as"),
        ("nDCG(gains={True:1})@10", "never falls"),
        ("nDCG(gains={1.5:1})@10", "never falls"),
        ("nDCG(gains={-1:1})@10", "never falls"),
        ("nDCG(gains={1001:1})@10", "never falls"),
        ("nDCG(gains={1:'a'})@10", "never falls"),
        ("nDCG(gains={1:-1})@10", "never falls"),
        ("nDCG(gains={1:1e999})@10", "never falls"),
        ("nDCG(gains={1:1e301})@10", r"@10': a gain must be at most 1e300$"),
        ("nDCG(dcg='log2',gains={1:1})@10", "not both"),
        ("RBP(p=1)", "between 0 and 1"),
        ("RBP(p='0.5')", r"\": p must lie between 0 and 1$"),
        ("RBP(p='x')", "between 0 and 1"),
        ("RBP(p=True)", "between 0 and 1"),
        ("F(beta=0)@5", r"^'F\(beta=0\)@5': beta must lie between 0.000001 and 1000000$"),
        ("F(beta=1000001)@5", "beta must lie between"),
        ("F1(beta=2)@5", r"F1 is F\(beta=1\)"),
        ("ERR(max_rel=0)@5", "max_rel must be"),
        ("RR(2)", r"^'RR\(2\)': \(2\) is not a list such as \(rel=2\) or"),
        ("RR(2,rel=2)", "is not a list such as"),
        ("RR( 2,\n 3 )", r": \(2, 3\) is not a list such as"),
        ("RR(1)+(2)", "is not a list such as"),
        ("RR(rel=__import__('os'))", "is not a list such as"),
        ("RR(rel=2", "is not a measure"),
        ("RR(**{'a':1})", "is not a list such as|has no"),
        ("RR@٣", "is not a measure"),
        ("R@-1", "is not a measure"),
        ("", "is not a measure"),
        ("R" * 301, f"^measure '{'R' * 40}'… is longer than 300 characters$"),
        ("RR(" + "(" * 250 + ")", "is not a list"),
    ],
)
def test_wrong_names_say_what_is_wrong(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        parse(name)
    assert "\n" not in str(caught.value)


def test_no_measure_and_one_text_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^no measure was named; name one such as RR@10$"):
        parse_all([], 1)
    with pytest.raises(UsageError, match=f"must be a list of names, not the text '{'R' * 40}'$"):
        parse_all("R" * 41, 1)


def test_a_cutoff_above_the_depth_is_named() -> None:
    measures = [parse(name) for name in ("R@50", "RR@60", "AP", "R@9000tokens", "Tokens@32000")]
    with pytest.raises(UsageError, match=r"^RR@60: the cutoff is above the depth 50"):
        check_depth(measures, 50)
    with pytest.raises(UsageError) as caught:
        check_depth(measures, 49)
    assert str(caught.value) == (
        "R@50, RR@60: the cutoff is above the depth 49; ask for a depth of at least the cutoff"
    )
    check_depth(measures, 60)


def test_measures_that_a_depth_cannot_answer_are_left_out_or_lowered() -> None:
    names = ["R@50", "RR@60", "RR@50", "AP", "R@9000tokens", "Tokens@32000"]
    kept = ["R@50", "RR@50", "AP", "R@9000tokens", "Tokens@32000"]
    assert [str(one) for one in within_depth(map(parse, names), 50)] == kept
    assert [str(one) for one in lowered(map(parse, names), 50)] == kept  # RR@60 falls upon RR@50
    assert [str(one) for one in lowered([parse("RR@60")], 9)] == ["RR@9"]


def test_the_default_set() -> None:
    assert [str(measure.bind(2)) for measure in DEFAULT] == [
        "RR(rel=2)@10", "R(rel=2)@10", "R(rel=3)@10", "nDCG@10", "nDCG(dcg='exp-log2')@10",
    ]  # fmt: skip
    assert [str(measure.bind(1)) for measure in DEFAULT][:2] == ["RR@10", "R@10"]
    assert [str(measure) for measure in EXTRA] == [
        "Success(rel=3)@1",
        "RR(rel=3)@10",
        "Tokens@32000",
    ]
    assert parse("nDCG(dcg='exp-log2')@10") == PRIMARY
    assert parse("R(rel=3)@10") == BESIDE
    assert PRIMARY.short == "nDCG-exp@10"
    assert [measure.higher_is_better for measure in EXTRA] == [True, True, False]
    assert EXTRA[2].worst == EXTRA[2].scale == 32000


def test_the_catalogue_and_the_formulas_are_the_same() -> None:
    from codebench.measures.formulas import FORMULAS

    assert [kind.name for kind in KINDS] == list(FORMULAS)
    assert all(kind.words and kind.use for kind in KINDS)


def test_names_cost_no_numpy() -> None:
    code = "import sys, codebench.measures.names; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
