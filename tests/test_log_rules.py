"""The rules between a log's records and its queries: tasks, grades, bias, edits, redaction."""

from __future__ import annotations

import random
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from codebench.gold.logs.applying import applied
from codebench.gold.logs.behaviour import gather
from codebench.gold.logs.clicks import QueryEvidence, harvest, judge, margin_winner
from codebench.gold.logs.patches import apply_patch, between, unified
from codebench.gold.logs.propensity import CLIP, Propensities, effective, raw, root
from codebench.gold.logs.record import Change, Place, Record
from codebench.gold.logs.redaction import Redactor
from codebench.gold.logs.shell import results_of, steps_of, unwrapped
from codebench.gold.logs.skipped import Skipped
from codebench.gold.logs.store import Store
from codebench.gold.logs.streams import json_items, json_lines
from codebench.gold.logs.tasks import Task, tasks_of
from codebench.gold.logs.times import iso_of, seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Tasks.


def asked(text: str, time: float | None, *results: str, session: str = "") -> Record:
    places = tuple(Place(path, rank=rank) for rank, path in enumerate(results, 1))
    return Record("query", user="u", time=time, query=text, results=places, session=session)


def did(kind: str, time: float | None, path: str = "a.py", **more: float | bool | str) -> Record:
    return Record(kind, user="u", time=time, place=Place(path), **more)  # type: ignore[arg-type]


def cut(*records: Record) -> list[list[str]]:
    """Return the texts of the queries of each task."""
    return [[one.query for one in task.queries] for task in tasks_of((1, one) for one in records)]


def test_a_session_ends_with_half_an_hour_of_nothing() -> None:
    assert cut(asked("parse the config", 0), asked("parse config", 1800)) == [
        ["parse the config", "parse config"]
    ]
    assert cut(asked("parse the config", 0), asked("parse config", 1801)) == [
        ["parse the config"],
        ["parse config"],
    ]


def test_a_new_task_shares_no_token_and_no_result_with_the_last_two() -> None:
    assert cut(asked("parse config", 0), asked("open socket", 10)) == [
        ["parse config"],
        ["open socket"],
    ]
    assert len(cut(asked("parse config", 0, "a.py"), asked("open socket", 10, "a.py"))) == 1
    # The last but one counts, the one before that does not.
    chain = [asked("parse config", 0), asked("config load", 1), asked("parse", 2)]
    assert len(cut(*chain)) == 1
    chain = [asked("alpha b2", 0), asked("b2 c3", 1), asked("c3 d4", 2), asked("alpha", 3)]
    assert cut(*chain) == [["alpha b2", "b2 c3", "c3 d4"], ["alpha"]]


def test_words_that_say_nothing_join_nothing() -> None:
    assert len(cut(asked("where is the parser", 0), asked("where is the socket", 1))) == 2


def test_parts_of_identifiers_join() -> None:
    assert len(cut(asked("parseConfig", 0), asked("config files", 1))) == 1


def test_without_times_the_logs_own_sessions_count() -> None:
    one, other = asked("parse config", None, session="s"), asked("parse config", None, session="t")
    assert len(cut(one, other)) == 2
    assert len(cut(one, one)) == 1


def test_an_edit_belongs_to_the_task_for_a_day() -> None:
    def last(time: float, kind: str) -> int:
        records = [asked("parse config", 0), did("click", 5), did(kind, time)]
        (task,) = tasks_of((1, one) for one in records)
        return len(task.records)

    assert last(86_400, "edit") == 3
    assert last(86_401, "edit") == 2
    assert last(3_600, "click") == 2
    assert last(600, "click") == 3


# What people clicked.


def gathered(*records: Record) -> dict[str, QueryEvidence]:
    from collections import defaultdict

    everything: dict[str, QueryEvidence] = defaultdict(QueryEvidence)
    gather(Task(1, list(records)), lambda place, _: place.path, everything)
    return everything


def grades(*records: Record) -> dict[str, int]:
    evidence = gathered(*records)
    return dict(judge(evidence["parse config"], harvest(evidence)).grades)


def test_a_click_is_1_and_a_satisfied_one_2() -> None:
    query = asked("parse config", 0, "a", "b", "c")
    assert grades(query, did("click", 1, "a", dwell=29), did("click", 40, "b", dwell=31)) == {
        "a": 1,
        "b": 2,
    }
    # The last click satisfied; the one before it by the time until the next thing.
    assert grades(query, did("click", 1, "a"), did("click", 31, "b")) == {"a": 2, "b": 2}
    assert grades(query, did("click", 1, "a"), did("click", 30, "b")) == {"a": 1, "b": 2}


def test_an_edit_is_3_with_or_without_a_click() -> None:
    query = asked("parse config", 0, "a", "b")
    assert grades(query, did("click", 1, "a", dwell=1), did("edit", 900, "z")) == {"a": 2, "z": 3}
    assert grades(query, did("click", 1, "a"), did("edit", 9, "z", ok=False)) == {"a": 2}


def test_a_click_belongs_to_the_query_that_it_names() -> None:
    first = Record("query", user="u", time=0, query="parse config", query_id="1")
    second = Record("query", user="u", time=1, query="config", query_id="2")
    click = Record("click", user="u", time=2, place=Place("a"), query_id="1")
    evidence = gathered(first, second, click)
    assert sorted(evidence["parse config"].places) == ["a"]
    assert not evidence["config"].places


def test_what_was_passed_over_three_times_is_0_and_what_lies_below_is_not_judged() -> None:
    evidence = QueryEvidence()
    for _ in range(2):
        evidence.impression(["a", "b", "c"], {"b"})
    assert judge(evidence, harvest({})).zeros == ()
    evidence.impression(["a", "b", "c"], {"b"})
    assert judge(evidence, harvest({})).zeros == ("a",)
    evidence.click("a", "u", satisfied=False)
    assert judge(evidence, harvest({})).zeros == ()


def test_impressions_of_their_own_say_what_was_seen() -> None:
    query = asked("parse config", 0, "a", "b", "c")
    seen = Record("impression", user="u", time=1, place=Place("b", rank=1))
    evidence = gathered(query, seen, did("click", 2, "b"))
    assert sorted(evidence["parse config"].places) == ["b"]


def test_the_margin_rule_wants_three_satisfied_users_and_half_as_much_again() -> None:
    def winner(users: int, runner_up: int) -> str:
        evidence = QueryEvidence()
        for number in range(6):
            evidence.impression(["b", "a"], {"a"} if number < users else set())
        for number in range(users):
            evidence.click("a", f"u{number}", satisfied=True)
        for number in range(runner_up):
            evidence.impression(["b", "a"], {"b"})
            evidence.click("b", f"v{number}", satisfied=True)
        rates = {
            name: sum(one.clicked.values()) / evidence.impressions
            for name, one in evidence.places.items()
        }
        return margin_winner(evidence, rates)

    assert winner(3, 2) == "a"
    assert winner(2, 0) == ""
    assert winner(4, 3) == ""


# Position bias, in simulation.

ATTRACTION = (0.6, 0.25, 0.25, *[0.05] * 7)
QUERIES = 400
NAMES = "abcdefghij"


def simulated(impressions: int, seed: int = 0) -> dict[str, QueryEvidence]:
    """Return 400 queries of 10 results, of which the first is the best and is examined by 1/rank.

    Each query's ranking is that of a retriever which sees attraction with noise (0.4), and varies
    a little (0.1) from one impression to the next; so raw rates are right in 79 % at 100.
    """
    choose = random.Random(seed)  # noqa: S311
    everything = {}
    for query in range(QUERIES):
        evidence = QueryEvidence()
        scores = [one + choose.gauss(0, 0.4) for one in ATTRACTION]
        for number in range(impressions):
            now = [score + choose.gauss(0, 0.1) for score in scores]
            order = sorted(range(10), key=lambda one: -now[one])
            clicked = {
                NAMES[one]
                for rank, one in enumerate(order, 1)
                if choose.random() < 1 / rank and choose.random() < ATTRACTION[one]
            }
            evidence.impression([NAMES[one] for one in order], clicked)
            for name in sorted(clicked):
                evidence.click(name, f"u{number}", satisfied=True)
        everything[f"q{query}"] = evidence
    return everything


def right(everything: dict[str, QueryEvidence], weigh: Callable[[int], float]) -> float:
    """Return the share of queries whose best place has the best rate, alone."""
    count = 0
    for evidence in everything.values():
        rates = {
            name: sum(number * weigh(rank) for rank, number in one.clicked.items())
            for name, one in evidence.places.items()
        }
        best = max(rates.values())
        count += [name for name, rate in rates.items() if rate == best] == ["a"]
    return count / len(everything)


def test_at_100_impressions_harvested_propensities_find_the_best() -> None:
    everything = simulated(100)
    harvested = harvest(everything)
    assert 0.75 <= right(everything, raw) <= 0.83
    assert right(everything, harvested.weight) >= 0.90
    tops = [judge(one, harvested) for one in everything.values()]
    assert {one.correction for one in tops} == {"harvested"}
    assert sum(one.weights.get("a") == 1.0 for one in tops) >= 0.90 * QUERIES
    # What was harvested is what was simulated: 1 / rank.
    for rank in range(1, 8):
        assert harvested.chances[rank] == pytest.approx(1 / rank, rel=0.25)


def test_from_20_impressions_on_the_root_of_the_rank_beats_raw_rates() -> None:
    everything = simulated(20)
    assert right(everything, root) >= right(everything, raw) + 0.05
    harvested = harvest(everything)
    corrections = {judge(one, harvested).correction for one in everything.values()}
    assert corrections == {"root"}


@pytest.mark.parametrize("impressions", [5, 10, 19])
def test_under_20_impressions_the_margin_rules_labels_are_right(impressions: int) -> None:
    everything = simulated(impressions)
    harvested = harvest(everything)
    judged = [judge(one, harvested) for one in everything.values()]
    assert {one.correction for one in judged} == {"raw"}
    labels = [name for one in judged for name, grade in one.grades.items() if grade == 3]
    assert len(labels) >= 40
    assert labels.count("a") / len(labels) >= 0.90


def test_weights_are_clipped_and_go_on_where_nothing_was_seen() -> None:
    assert root(10_000) == CLIP
    assert Propensities([]).weight(9) == 3
    seen = Propensities([{1: (100, 60), 2: (100, 3)}])
    assert seen.weight(2) == pytest.approx(10)
    assert seen.weight(8) == CLIP
    assert seen.weight(1) == 1
    assert seen.pairs == 1


def test_the_effective_sample_size() -> None:
    assert effective([]) == 0
    assert effective([2.0] * 7) == pytest.approx(7)
    assert effective([10.0, 1.0, 1.0]) == pytest.approx(144 / 102)


# Edits and shells.

TEXT = "one\ntwo\nthree\ntwo\n"


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        ([Change("two", "2")], "one\n2\nthree\ntwo\n"),
        ([Change("two", "2", every=True)], "one\n2\nthree\n2\n"),
        ([Change("two\n", "2\n", 4)], "one\ntwo\nthree\n2\n"),
        ([Change("", "new\n", 2)], "one\nnew\ntwo\nthree\ntwo\n"),
        ([Change("", "x\n", 2, until=3)], "one\nx\ntwo\n"),
        ([Change("", "\n", 2, until=3)], "one\ntwo\n"),
        ([Change(None, "all")], "all"),
        ([Change("gone", "x")], None),
        ([Change("", "x", 99)], None),
        ([Change("two", "2"), Change("2", "two")], TEXT),
    ],
)
def test_edits_are_done_again(changes: list[Change], after: str | None) -> None:
    assert applied(TEXT, changes) == after


def test_the_last_line_may_have_no_end() -> None:
    assert applied("a\nb", [Change("b\n", "c\n")]) == "a\nc"


def test_patches_do_what_they_say() -> None:
    patch = (
        "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -2,3 +2,3 @@ f\n two\n-three\n+3\n"
        " two\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+q\n--- a/o.py\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-q\n"
    )
    changed, new, gone = unified(patch)
    assert applied(TEXT, changed.changes) == "one\ntwo\n3\ntwo\n"
    assert (new.path, new.created, gone.path, gone.deleted) == ("n.py", True, "o.py", True)
    assert unified("no patch\n--- is here") == ()
    (one, two) = apply_patch(
        "*** Begin Patch\n*** Update File: x.py\n@@ f\n one\n-two\n+2\n*** Delete File: y.py\n"
        "*** End Patch"
    )
    assert applied(TEXT, one.changes) == "one\n2\nthree\ntwo\n"
    assert two.deleted


def test_what_makes_one_text_the_other_does() -> None:
    choose = random.Random(1)  # noqa: S311
    for _ in range(200):
        old = "\n".join(choose.choice("abcdef") for _ in range(choose.randrange(30)))
        new = "\n".join(choose.choice("abcdef") for _ in range(choose.randrange(30)))
        made = between(old, new)
        assert len(made) != 1 or applied(old, made) == new or not old


@pytest.mark.parametrize(
    ("line", "steps"),
    [
        ('grep -rn "def f" --include="*.py" src/', [("search", "def f", None)]),
        ("cd /r && rg -n foo lib | head -20", [("search", "foo", None)]),
        ("sed -n '10,40p' a/b.py", [("read", "", (10, 40))]),
        ("head -50 a.py; tail -n +20 b.py", [("read", "", (1, 50)), ("read", "", (20, 10**8))]),
        ("bash -lc \"rg -n 'a b' .\"", [("search", "a b", None)]),
        ("find . -name '*.py' | xargs grep foo", [("find", "*.py", None)]),
        ("git grep -n Foo -- api", [("search", "Foo", None)]),
        ("grep -A 3 -e foo -e bar x.c", [("search", "foo|bar", None)]),
        ("cat > x.py <<'EOF'", []),
        ("python -c 'print(1)'", []),
        ("sed -i 's/a/b/' x.py", []),
        ("echo 'unclosed", []),
        ("", []),
    ],
)
def test_shell_lines(line: str, steps: list[tuple[str, str, tuple[int, int] | None]]) -> None:
    found = [
        (
            one.kind,
            one.pattern,
            (one.place.start or 0, one.place.end or 0)
            if one.place and one.kind == "read"
            else None,
        )
        for one in steps_of(line)
    ]
    assert found == steps


def test_argument_vectors_and_results() -> None:
    assert unwrapped(["bash", "-lc", "rg x"]) == "rg x"
    assert unwrapped(["cat", "a b.py"]) == "cat 'a b.py'"
    output = "a.py:3:def x\n./b/c.py:4: y\nBinary file x matches\nsrc/d.py\n"
    assert [(one.path, one.start, one.rank) for one in results_of(output)] == [
        ("a.py", 3, 1),
        ("b/c.py", 4, 2),
        ("src/d.py", None, 3),
    ]
    assert results_of("12:foo", Place("a.py"))[0].start == 12


# Privacy, times, size.


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("password=hunter", "password=<secret>"),
        ("api_key: ABC12345678", "api_key: <secret>"),
        ("Authorization: Bearer abcdef0123456789xyz", "Authorization: Bearer <token>"),
        ("key AKIAIOSFODNN7EXAMPLE here", "key <token> here"),
        ("mail a.b@c.example.org now", "mail <e-mail> now"),
        ("in /home/x/y and /Users/x/y", "in <home>/y and <home>/y"),
        ("C:\\Users\\x\\y", "<home>\\y"),
        ("https://u:p@h/x", "https://<password>@h/x"),
        ("Zm9vYmFyMTIzNDU2Nzg5MEFCQ0RFRkdISUpLTE1O", "<token>"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII", "<private key>"),
        ("where is check_token: expires set", None),
        ("token = sign2(user)", None),
        ("passwordless login: how", None),
        ("class Token::Kind", None),
        ("since commit 52e50b430bc052e50b430bc052e50b430bc01234", None),
        ("src/main/java/com/Foo1/BarBazQuxLongNameOfAClass2", None),
    ],
)
def test_secrets_go_and_code_stays(text: str, kept: str | None) -> None:
    redactor = Redactor()
    assert redactor.text(text) == (text if kept is None else kept)
    assert redactor.counts.total() == (0 if kept is None else text.count("/y") or 1)


def test_users_are_hashed_with_the_salt() -> None:
    record = Record("query", user="ada", session="s", query="x")
    one = Redactor("salt").record(record)
    assert one == Redactor("salt").record(record)
    assert one.user != Redactor("other").record(record).user
    assert one.user != Redactor().record(record).user
    assert "ada" not in one.user
    assert Redactor("salt").record(Record("query", session="s")).user  # a session is somebody


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2024-05-12T08:00:01Z", 1715500801),
        ("2024-05-12T08:00:01", 1715500801),
        ("2024-05-12T10:00:01+02:00", 1715500801),
        (1715500801, 1715500801),
        (1715500801000, 1715500801),
        ("1715500801000000", 1715500801),
        ("yesterday", None),
        (-5, None),
        (True, None),
        (float("nan"), None),
        (10**400, None),
        (None, None),
    ],
)
def test_moments(value: object, seconds: float | None) -> None:
    assert seconds_of(value) == seconds


def test_moments_are_told_in_utc() -> None:
    assert iso_of(1715500801) == "2024-05-12T08:00:01+00:00"
    assert iso_of(None) == ""


def test_records_come_back_in_the_order_in_which_they_happened(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add(1, [did("click", 5, "b"), asked("x", 1), did("click", None, "no time")])
        store.add(2, [did("click", 3, "a"), Record("query", user="v", time=2, query="y")])
        people = [[(file, one.time) for file, one in records] for records in store.people()]
        assert len(list(tmp_path.iterdir())) == 1
    assert people == [[(1, None), (1, 1), (2, 3), (1, 5)], [(2, 2)]]
    assert not list(tmp_path.iterdir())


def test_a_large_file_does_not_come_into_memory(tmp_path: Path) -> None:
    lines, document = tmp_path / "x.jsonl", tmp_path / "x.json"
    row = '{"a": "' + "x" * 900 + '"}'
    with lines.open("w") as file, document.open("w") as whole:
        whole.write("[")
        for number in range(5_000):
            file.write(row + "\n")
            whole.write("," * (number > 0) + row)
        whole.write("]")
    tracemalloc.start()
    try:
        assert sum(1 for _ in json_lines(lines, Skipped())) == 5_000
        assert sum(1 for _ in json_items(document, Skipped())) == 5_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3_500_000 < lines.stat().st_size
