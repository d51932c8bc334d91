"""`codebench suite build` as a person types it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codebench.cli.main import main
from codebench.cli.progress import Progress
from codebench.cli.tree import parsers
from codebench.cli.younger import younger
from codebench.gold.recipe import Recipe
from codebench.gold.target import open_target
from codebench.suite import members_of, read_suite
from tests.repositories import DAY, EPOCH, Repository, grown

if TYPE_CHECKING:
    from codebench.model import Query

FILES = ("carry.jsonl", "queries.jsonl", "suite.yaml")
YEAR = 365 * DAY


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def built(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    status = main(["suite", "build", *map(str, words)])
    captured = capsys.readouterr()
    assert (status, captured.err) == (0, "")
    return captured.out


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert main(["suite", "build", *map(str, words)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def queries(folder: str) -> dict[str, Query]:
    return {query.text: query for query in read_suite(Path(folder)).queries}


def checked(folder: str) -> None:
    assert main(["suite", "check", folder, "--jobs", "1"]) == 0


def test_a_suite_is_a_folder_that_a_person_can_read(
    tmp_path: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = grown(tmp_path / "shop")
    out = built(capsys, repository.path, "-o", "suites/mine")
    snapshot = repository.git("rev-parse", "HEAD~6").strip()
    assert out.splitlines() == [
        "suites/mine: 6 queries",
        f"snapshot {snapshot[:12]} of 2020-09-15; the newest query is of 2020-09-21, 6 days later",
        "6 commits after the snapshot = 6 queries",
        "next: codebench suite check suites/mine",
    ]
    assert sorted(path.name for path in (here / "suites/mine").iterdir()) == list(FILES)
    suite = read_suite(here / "suites/mine")
    assert (suite.name, suite.snapshot) == ("mine", snapshot)
    assert suite.repository == str(repository.path)
    assert suite.recipe["tip"] == repository.head
    report = [
        json.loads(row) for row in (here / "suites/mine/carry.jsonl").read_text().split("\n")[:-1]
    ]
    assert [row["query"] for row in report] == [query.id for query in suite.queries]
    assert report[0].keys() == {"query", "from", "fate", "to", "rule", "similarity"}
    checked("suites/mine")


def test_the_figures_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = grown(tmp_path / "shop")
    data: Any = json.loads(built(capsys, repository.path, "-o", "mine", "--format", "json"))
    (member,) = data["members"]
    assert member["snapshot"] == repository.git("rev-parse", "HEAD~6").strip()
    assert member["queries"] == member["funnel"]["queries"] == 6
    assert member["age_days"] == 6
    assert "| epoch-1" in built(
        capsys, repository.path, "-o", "e", "--mode", "epochs=2", "--format", "markdown"
    )


@pytest.mark.parametrize("mode", ["frozen", "epochs=3", "parent"])
def test_the_same_input_gives_the_same_bytes(
    tmp_path: Path, mode: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever `--jobs` is, and whether the caches are cold or warm."""
    repository = grown(tmp_path / "shop", edits=9)
    found = []
    for number, (cache, jobs) in enumerate([("a", 1), ("a", 2), ("b", 2), ("b", 1)]):
        monkeypatch.setenv("CODEBENCH_CACHE", str(tmp_path / cache))
        folder = tmp_path / f"{number}/suite"
        built(capsys, repository.path, "-o", folder, "--mode", mode, "--jobs", jobs)
        found.append(
            {
                str(path.relative_to(folder)): path.read_bytes()
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }
        )
    assert len(found[0]) >= 3
    assert found[0] == found[1] == found[2] == found[3]


def test_a_folder_that_is_taken(
    tmp_path: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = grown(tmp_path / "shop")
    (here / "empty").mkdir()
    built(capsys, repository.path, "-o", "empty")
    before = (here / "empty/suite.yaml").read_bytes()
    err = refused(capsys, repository.path, "-o", "empty", "--max-queries", 2)
    assert err == (
        "codebench: empty: holds a suite already; choose another folder, or add --force\n"
    )
    assert (here / "empty/suite.yaml").read_bytes() == before
    built(capsys, repository.path, "-o", "empty", "--max-queries", 2, "--force")
    assert len(queries("empty")) == 2
    (here / "notes").mkdir()
    (here / "notes/mine.txt").write_text("keep me")
    assert "holds something that is no suite" in refused(
        capsys, repository.path, "-o", "notes", "--force"
    )
    assert (here / "notes/mine.txt").read_text() == "keep me"
    (here / "file").write_text("x")
    assert "holds something" in refused(capsys, repository.path, "-o", "file")
    assert sorted(path.name for path in here.iterdir()) == ["empty", "file", "notes"]


def test_a_build_that_fails_leaves_nothing(
    tmp_path: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dull = Repository(tmp_path / "dull")
    dull.commit("first", {"a.py": "x = 1\n"})
    assert "no query could be made" in refused(capsys, dull.path, "-o", "out/suite")
    assert list(here.iterdir()) == []


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "file").write_text("x")
    repository = grown(tmp_path / "shop")
    err = refused(capsys, repository.path, "-o", "file/suite")
    assert err.startswith("codebench: file/suite: ")
    assert err.count("\n") == 1


def test_a_dry_run_prints_the_funnel_and_writes_nothing(
    tmp_path: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = grown(tmp_path / "shop")
    repository.commit("docs: explain the shelf", {"README.md": "# more\n"})
    out = built(capsys, repository.path, "--dry-run")
    assert "7 commits after the snapshot - 1 release, style or docs message = 6 queries" in out
    data = json.loads(built(capsys, repository.path, "--dry-run", "--format", "json"))
    assert data["funnels"][str(repository.path)] == {
        "commits": 7,
        "release, style or docs message": 1,
        "queries": 6,
    }
    assert list(here.iterdir()) == []


def test_epochs_ask_each_commit_of_the_last_snapshot_before_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = grown(tmp_path / "shop", edits=9)
    repository.commit("docs: explain the shelf", {"README.md": "# more\n"})
    out = built(capsys, repository.path, "-o", "e", "--mode", "epochs=3")
    members = members_of(Path("e"))
    assert [name for name, _ in members] == ["epoch-1", "epoch-2", "epoch-3"]
    line = repository.git("rev-list", "--reverse", "HEAD").split()
    last = -1
    asked: list[str] = []
    for _, folder in members:
        suite = read_suite(folder)
        place = line.index(suite.snapshot)
        assert place > last
        last = place
        assert {query.origin for query in suite.queries} <= set(line[place + 1 : place + 4])
        asked += [query.origin for query in suite.queries]
    assert sorted(asked) == sorted(line[2:-1])
    assert "3 snapshots of 2020-09-15 to 2020-09-21; no query is more than 3 days younger" in out
    checked("e")


def test_parents_are_asked_what_their_commit_edited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = grown(tmp_path / "shop", edits=6)
    built(capsys, repository.path, "-o", "p", "--mode", "parent", "--max-queries", 4)
    suites = [read_suite(folder) for _, folder in members_of(Path("p"))]
    newest = repository.git("rev-list", "HEAD").split()
    assert {suite.snapshot for suite in suites} == set(newest[1:5])
    for suite in suites:
        (query,) = suite.queries
        assert repository.git("rev-parse", f"{query.origin}~").strip() == suite.snapshot
    checked("p")


def test_more_snapshots_than_a_person_reads_are_summed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = grown(tmp_path / "shop", edits=22)
    out = built(capsys, repository.path, "-o", "p", "--mode", "parent")
    assert len(members_of(Path("p"))) > 20
    assert len(out.splitlines()) == 4


def merged(
    repository: Repository, number: int, title: str, files: dict[str, str | bytes | None]
) -> str:
    """Make a branch of two commits and merge it as a pull request."""
    repository.git("checkout", "--quiet", "-b", f"topic-{number}")
    repository.commit("work in progress on something", files)
    repository.git("checkout", "--quiet", "main")
    message = f"Merge pull request #{number} from ada/topic-{number}\n\n{title}\n"
    moment = f"{EPOCH + (100 + number) * DAY} +0000"
    repository.git(
        *("merge", "--quiet", "--no-ff", f"topic-{number}", "-m", message),
        GIT_AUTHOR_DATE=moment,
        GIT_COMMITTER_DATE=moment,
    )
    return repository.head


def test_pull_requests_are_asked_with_their_titles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = grown(tmp_path / "shop", edits=1)
    clock = (repository.path / "shop/clock.py").read_text()
    merge = merged(
        repository,
        7,
        "Answer differently around noon",
        {"shop/clock.py": clock.replace("42", "43")},
    )
    built(capsys, repository.path, "-o", "pr", "--pull-requests")
    found = queries("pr")
    assert found["Answer differently around noon"].origin == merge
    (target,) = found["Answer differently around noon"].targets
    assert target.chunk == "shop/clock.py::now"
    assert not any("work in progress" in text for text in found)
    built(capsys, repository.path, "-o", "commits")
    assert "Answer differently around noon" not in queries("commits")
    assert read_suite(Path("pr")).recipe["unit"] == "pull request"


def test_the_masked_twin_gives_nothing_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = grown(tmp_path / "shop", edits=4)
    clock = (repository.path / "shop/clock.py").read_text()
    repository.commit(
        "make elapsed() in shop/clock.py survive leap seconds gracefully",
        {"shop/clock.py": clock.replace("now() - start", "now() - start - leap")},
    )
    built(capsys, repository.path, "-o", "open")
    built(capsys, repository.path, "-o", "masked", "--mask-leaks")
    plain = {query.id: query for query in queries("open").values()}
    for query in queries("masked").values():
        assert query.targets == plain[query.id].targets
        assert query.tags["leak"] in {"none", "word"}
    twin = next(one for one in queries("masked").values() if one.origin == repository.head)
    assert plain[twin.id].tags["leak"] == "path"
    assert twin.tags["masked"] == "yes"
    assert twin.text == "make in survive leap seconds gracefully"


def test_the_long_text_holds_the_prose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = grown(tmp_path / "shop", edits=2)
    clock = (repository.path / "shop/clock.py").read_text()
    repository.commit(
        "answer differently at noon\n\nThe sun stands high, and the\nclock must know.\n",
        {"shop/clock.py": clock.replace("42", "43")},
    )
    built(capsys, repository.path, "-o", "long", "--text", "long")
    assert "answer differently at noon The sun stands high, and the clock must know." in queries(
        "long"
    )
    built(capsys, repository.path, "-o", "short")
    assert "answer differently at noon" in queries("short")


@pytest.mark.parametrize(
    "globs", [["--exclude", "*/clock.py"], ["--include", "shop/s*.py", "--include", "*.md"]]
)
def test_globs_choose_what_is_in_the_corpus(
    tmp_path: Path, globs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    repository = grown(tmp_path / "shop", edits=8)
    out = built(capsys, repository.path, "-o", "g", *globs, "--max-queries", 3)
    found = queries("g").values()
    assert {target.path for query in found for target in query.targets} == {"shop/store.py"}
    assert len(found) == 3  # the snapshot is old enough for three of those alone
    assert "targets not in the snapshot" in out
    checked("g")


def test_a_window_of_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = grown(tmp_path / "shop", edits=8)
    built(capsys, repository.path, "-o", "w", "--since", "2020-09-18", "--until", "2020-09-20")
    days = sorted(query.time[:10] for query in queries("w").values())
    assert days == ["2020-09-18", "2020-09-19", "2020-09-20"]
    suite = read_suite(Path("w"))
    assert suite.recipe["since"] == "2020-09-18T00:00:00+00:00"
    assert suite.recipe["until"] == "2020-09-20T23:59:59+00:00"
    moment = "2020-09-19T12:26:40+00:00"
    built(capsys, repository.path, "-o", "m", "--since", moment, "--until", moment)
    assert [query.time for query in queries("m").values()] == [moment]


def test_a_snapshot_by_any_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = grown(tmp_path / "shop", edits=8)
    repository.git("tag", "v1", "HEAD~5")
    built(capsys, repository.path, "-o", "s", "--snapshot", "v1")
    assert read_suite(Path("s")).snapshot == repository.git("rev-parse", "v1").strip()
    assert len(queries("s")) == 5


def test_an_old_snapshot_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = grown(tmp_path / "shop", edits=2)
    clock = (repository.path / "shop/clock.py").read_text()
    repository.commit(
        "answer differently at noon",
        {"shop/clock.py": clock.replace("42", "43")},
        time=EPOCH + 4 * YEAR,
    )
    out = built(capsys, repository.path, "-o", "old", "--include", "*.py")
    warning = (
        "warning: the newest query is 4.0 years younger than the snapshot of 2020-09-15 (UTC); its "
        "code may have little in common with the questions; for younger code: codebench suite build"
    )
    epochs = f"{repository.path} '--include=*.py' --mode epochs=4 --max-queries 200 -o old --force"
    assert f"{warning} {epochs}\n" in out
    (opened,) = open_target(str(repository.path), Recipe(), lambda *_: None)
    assert opened.notes == (f"{warning} {repository.path} --mode epochs=4 -o suites/NAME",)


@pytest.mark.parametrize(
    ("given", "queries", "ways"),
    [
        ("", 200, ["--max-queries 100", "--mode epochs=4 --max-queries 200"]),
        ("--snapshot HEAD", 19, ["--mode epochs=4 --max-queries 200"]),
        (
            "--mode epochs=60 --max-queries 90",
            81,
            ["--mode epochs=60 --max-queries 40", "--mode epochs=100 --max-queries 90"],
        ),
        (
            "--pull-requests --mask-leaks --text long --since 2020-09-18 --exclude=a",
            20,
            ["--max-queries 10", "--mode epochs=4 --max-queries 200"],
        ),
    ],
)
def test_what_asks_younger_code_is_a_call_that_can_be_made(
    given: str, queries: int, ways: list[str]
) -> None:
    parser = parsers()["suite build"]
    asked = parser.parse_args([".", *given.split(), "-o", "suites/x y"])
    kept = {name: vars(asked)[name] for name in ("pull_requests", "text", "since", "exclude")}
    found = younger(asked, queries, 100)
    assert len(found) == len(ways)
    for call, way in zip(found, ways, strict=True):
        words = shlex.split(call)
        assert f" {way} -o 'suites/x y' --force" in call
        again = parser.parse_args(words[3:])
        assert words[:3] == ["codebench", "suite", "build"]
        assert {name: vars(again)[name] for name in kept} == kept
        assert (again.repositories, again.snapshot) == (["."], "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["."], "-o: say where the suite goes"),
        ([".", "-o", "x", "--mode", "epochs=0"], "epochs=0 is not frozen, parent, or epochs=N"),
        ([".", "-o", "x", "--mode", "often"], "often is not frozen"),
        ([".", "-o", "x", "--since", "monday"], "monday is not a date as 2024-01-31"),
        ([".", "-o", "x", "--since", "2024-02-30"], "2024-02-30 is not a date"),
        ([".", "-o", "x", "--since", "2024-02-02", "--until", "2024-02-01"], "later than --until"),
        ([".", "-o", "x", "--snapshot", "HEAD", "--mode", "parent"], "leave one out"),
        ([".", "y", "-o", "x", "--snapshot", "HEAD"], "commit of one repository"),
        ([".", ".", "-o", "x"], ".: is named twice"),
        ([".", "-o", "x"], "is not a git repository"),
        (["nowhere", "-o", "x"], "nowhere: no such folder"),
        ([".", "-o", "x", "--max-queries", "0"], "'0' is not a whole number"),
    ],
)
def test_wrong_words(
    words: list[str], message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, *words)
    assert list(here.iterdir()) == []


def test_a_snapshot_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = grown(tmp_path / "shop")
    err = refused(capsys, repository.path, "-o", "x", "--snapshot", "v9")
    assert err == f"codebench: {repository.path}: v9 names no commit\n"


def test_the_repository_stays_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = grown(tmp_path / "shop")
    before = repository.contents()
    built(capsys, repository.path, "-o", "s", "--mode", "epochs=2", "--pull-requests")
    assert repository.contents() == before


def test_progress_tells_the_time_that_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [5.0]
    monkeypatch.setattr("codebench.cli.progress.time.monotonic", lambda: now[0])
    progress = Progress(shown=True)
    for moment, done in ((10.0, 0), (20.0, 25)):
        now[0] = moment
        progress.step("labelling commits (3 queries so far)", done, 100)
    progress.step("making the snapshot", 0, 0)
    drawn = capsys.readouterr().err.split("\r\x1b[2K")
    assert drawn[1:] == [
        "labelling commits (3 queries so far) 0/100",
        "labelling commits (3 queries so far) 25/100, 30 s left",
        "making the snapshot …",
    ]
