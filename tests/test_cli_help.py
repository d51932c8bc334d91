"""What `--help` tells of every verb, and what a mistyped word is answered with."""

from __future__ import annotations

import shlex

import pytest

from codebench.cli.main import VERBS, main
from codebench.cli.options import PRIMARY
from codebench.cli.tree import parsers
from codebench.measures import names

ALL = parsers()


@pytest.mark.parametrize("words", sorted(ALL))
def test_help_ends_with_examples_that_parse(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*words.split(), "--help"]) == 0
    out = capsys.readouterr().out
    lines = out.partition("\nexamples:\n")[2].splitlines()
    assert lines[::2] == [f"  # {purpose}" for purpose, _ in ALL[words].examples]
    assert 1 <= len(lines[::2]) <= 3
    for line in lines[1::2]:
        assert line.startswith(f"  codebench {words}"), line
        own = line.partition(" > ")[0]
        ALL[words.partition(" ")[0]].parse_args(shlex.split(own)[2:])
    assert max(map(len, out.splitlines())) <= 100


def test_help_takes_a_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "suite", "build"]) == 0
    assert capsys.readouterr().out.startswith("usage: codebench suite build [")
    assert main(["help", "rnu"]) == 2
    assert "did you mean run?" in capsys.readouterr().err


def test_every_verb_and_action_is_in_the_tree() -> None:
    assert {words.split()[0] for words in ALL} == set(VERBS)
    assert sum(words.startswith("suite ") for words in ALL) == len(ALL["suite"].commands) == 7


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("rnu .", "no verb 'rnu'; did you mean run?"),
        ("-v", "no option '-v' before a verb, where -V/--version and -h/--help are known"),
        ("run . --tiemout 3", "run: no option --tiemout; did you mean --timeout? ("),
        ("run . --max-querys=3", "run: no option --max-querys; did you mean --max-queries? ("),
        # What is required is missing too, and is not what went wrong.
        ("bisect q --god A --bad B", "bisect: no option --god; did you mean --good? ("),
        ("suite biuld . -o s", "; did you mean build? ("),
        ("suite build . --mdoe parent", "suite build: no option --mdoe; did you mean --mode? ("),
        ("list retrievres", "; did you mean retrievers? ("),
        ("run . --format jsno", "; did you mean json? ("),
        ("run . bm25", "run: unexpected 'bm25' (`codebench run --help` lists what it takes)"),
        ("run . -x", "run: unexpected '-x' ("),
        ("run . -k many", "-k/--depth: 'many' is not a whole number above 0 and below 10^9 ("),
        ("run . --timeout nan", "--timeout: 'nan' is not a number above 0 and below 10^9 ("),
        ("run . --seed -1", "--seed: '-1' is not a whole number from 0 ("),
    ],
)
def test_a_wrong_word_is_one_line_with_the_near_one(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    out, error = capsys.readouterr()
    assert not out
    assert said in error
    assert error.startswith("codebench: ")
    assert error.count("\n") == 1


def test_a_value_is_never_taken_for_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    """What has a space in it, or comes after `--`, is a value: a question may begin with dashes."""
    assert main(["show", "nowhere", "--worst is slow"]) == 2
    assert "no option" not in capsys.readouterr().err
    assert main(["show", "nowhere", "--", "--wrost"]) == 2
    assert "no option" not in capsys.readouterr().err


def test_the_primary_measure_is_named_as_the_measures_have_it() -> None:
    assert names.parse(PRIMARY) == names.PRIMARY
    assert names.PRIMARY.short == PRIMARY


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run tiny --max-queries 9", "--max-queries is of a repository, and tiny is a suite"),
        ("run tiny --snapshot HEAD", "--snapshot is of a repository, and tiny is a suite"),
        ("list suites -o results", "-o is of runs, not of suites"),
        ("list retrievers --check bm25 -o results", "-o is of runs, not of retrievers"),
        ("compare x -r bm25 --floors", "--floors adds all floors; with -r name those"),
        ("show x q1 -r bm25 --floors", "--floors adds all floors; with -r name those"),
        ("show x --worst 3 -k 5", "--top is of one QUERY, and a list was asked for"),
        ("show x --worst 3 --all", "--all is of one QUERY"),
        ("show x --broken-since y --floors", "--floors is of one QUERY"),
        ("gate x -l nDCG@10:>=0.5 --against bm25", "--against is a name in the baseline"),
        ("gate x --accept --strict", "--strict beside --accept needs --baseline"),
        ("gate x --accept -r bm25", "--retriever beside --accept needs --baseline"),
        ("gate x --accept --annotations", "--annotations beside --accept needs --baseline"),
        ("suite show tiny --all", "--all is of a QUERY"),
        (
            "suite import trec q -o s --topics t --documents d --split dev",
            "--split: belongs to beir",
        ),
        ("suite build . -o s --salt x", "--salt: is of a log; add --from-log"),
        ("suite build . -o s --columns c.yaml", "--columns: is of a log; add --from-log"),
        (
            "suite build . -o s --questions q.yaml --mask-leaks",
            "--mask-leaks: --questions reads no history; leave it out",
        ),
        (
            "suite build . -o s --from-log l --since 2020-01-01",
            "--since: --from-log reads no history; leave it out",
        ),
        (
            "suite build -o s --recipe flask --max-queries 9",
            "--max-queries: --recipe says that itself; leave it out",
        ),
        ("suite build -o s --recipe flask --include a", "--include: --recipe says that itself"),
    ],
)
def test_what_would_be_left_unread_is_refused(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    out, error = capsys.readouterr()
    assert not out
    assert said in error
