from __future__ import annotations

import subprocess
import sys

import pytest

from codebench.errors import UsageError
from codebench.measures.catalogue import KINDS
from codebench.measures.names import BESIDE, DEFAULT, EXTRA, PRIMARY, check_depth, parse, parse_all


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
        ("nDGC@10", "near names: .*nDCG"),
        ("mrr@10", "near names: .*MRR"),
        ("zzz", "there are RR, R, P"),
        ("R", "needs a cutoff: R@10"),
        ("R@0", "at least 1"),
        ("Rprec@5", "takes no cutoff"),
        ("AP@50tokens", "not counted by tokens"),
        ("nDCG(rel=2)@10", "takes no rel"),
        ("RR(rel=0)", "rel must be a grade"),
        ("RR(rel=True)", "rel must be a grade"),
        ("RR(rel='x')", "rel must be a grade"),
        ("RR(level=2)", "has no 'level'; it takes rel"),
        ("Value(rel=2)@5", "takes no rel"),
        ("nDCG(dcg='x')@10", "dcg is"),
        ("nDCG(gains={3:1,2:2})@10", "never falls"),
        ("nDCG(gains={0:1})@10", "never falls"),
        ("nDCG(gains={})@10", "never falls"),
        ("nDCG(gains=3)@10", "never falls"),
        ("nDCG(dcg='log2',gains={1:1})@10", "not both"),
        ("RBP(p=1)", "between 0 and 1"),
        ("F(beta=0)@5", "above 0"),
        ("F1(beta=2)@5", r"F1 is F\(beta=1\)"),
        ("ERR(max_rel=0)@5", "max_rel must be"),
        ("RR(2)", "is not a list such as"),
        ("RR(rel=__import__('os'))", "is not a list such as"),
        ("RR(rel=2", "is not a measure"),
        ("RR(**{'a':1})", "is not a list such as|has no"),
        ("RR@٣", "is not a measure"),
        ("R@-1", "is not a measure"),
        ("", "is not a measure"),
        ("R" * 400, "longer than"),
        ("RR(" + "(" * 250 + ")", "is not a list"),
    ],
)
def test_wrong_names_say_what_is_wrong(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        parse(name)
    assert "\n" not in str(caught.value)


def test_no_measure_and_one_text_are_refused() -> None:
    with pytest.raises(UsageError, match="no measure was named"):
        parse_all([], 1)
    with pytest.raises(UsageError, match="must be a list"):
        parse_all("RR@10", 1)


def test_a_cutoff_above_the_depth_is_named() -> None:
    measures = [parse(name) for name in ("R@50", "RR@60", "AP", "R@9000tokens", "Tokens@32000")]
    with pytest.raises(UsageError, match=r"^RR@60: the cutoff is above the depth 50"):
        check_depth(measures, 50)
    check_depth(measures, 60)


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
