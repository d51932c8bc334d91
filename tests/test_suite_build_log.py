"""`codebench suite build --from-log` and `codebench replay`, from the command line to the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codebench.cli.main import main
from codebench.gold.logs.navigation import read_navigation
from codebench.suite import read_suite
from tests.logs import BEFORE, shop

if TYPE_CHECKING:
    from codebench.model import Query, Suite
    from tests.repositories import Repository


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, Path]:
    return shop(tmp_path_factory.mktemp("logs"))


def build(repository: Path, log: Path, folder: Path, *more: str) -> Suite:
    words = ["suite", "build", str(repository), "--from-log", str(log), "-o", str(folder)]
    assert main([*words, "--jobs", "1", *more]) == 0
    return read_suite(folder)


def graded(query: Query) -> dict[str, int]:
    return {target.chunk: target.grade for target in query.targets}


def about(suite: Suite, words: str) -> Query:
    """Return the one natural query that begins with some words."""
    found = [one for one in suite.queries if one.tags["stratum"] == "natural"]
    (one,) = (one for one in found if one.text.startswith(words))
    return one


def test_swe_agent(place: tuple[Repository, Path], tmp_path: Path) -> None:
    repository, logs = place
    suite = build(repository.path, logs / "swe-agent", tmp_path / "s")
    assert suite.snapshot == repository.head
    task = about(suite, "Callers are signed out")
    assert task.source == "trajectory"
    own = graded(task)
    assert [chunk for chunk, grade in own.items() if grade == 3] == ["api/auth.py::check_token"]
    assert own["api/server.py::Server.handle"] == 2  # read within 5 steps before an edit
    assert own["inventory/store.py"] == 1
    assert not any("reproduce" in chunk or "notes" in chunk for chunk in own)
    searches = [one for one in suite.queries if one.tags.get("cluster") == task.id]
    lexical = [one for one in searches if one.tags["stratum"] == "lexical"]
    assert [one.text for one in lexical] == ["expired token", "session is over", "check_token"]
    assert sum(one.weight for one in lexical) == pytest.approx(1)
    assert all(one.targets == task.targets for one in lexical)
    assert lexical[2].tags["leak"] == "name"
    other = about(suite, "The discount step")
    assert graded(other) == {"inventory/pricing.py::discount": 3}
    way = read_navigation(tmp_path / "s")[task.id]
    assert (way.searches, way.files, way.reached) == (4, 1, True)
    assert way.steps == ("expired token", "session is over", "check_token")
    assert not read_navigation(tmp_path / "s")[other.id].reached


def test_openhands(place: tuple[Repository, Path], tmp_path: Path) -> None:
    repository, logs = place
    suite = build(repository.path, logs / "openhands", tmp_path / "s")
    exact = {
        one.text[:20]: [chunk for chunk, grade in graded(one).items() if grade == 3]
        for one in suite.queries
        if one.tags["stratum"] == "natural"
    }
    assert exact == {
        "A released reservati": ["inventory/store.py::Store.release"],  # pricing was undone
        "Round prices down to": ["inventory/pricing.py::_round"],
        "List the stock by am": ["inventory/store.py::Store.levels"],
    }


def test_claude_code(place: tuple[Repository, Path], tmp_path: Path) -> None:
    repository, logs = place
    suite = build(repository.path, logs / "claude-code", tmp_path / "s")
    first = about(suite, "Where do we turn an exception")
    assert graded(first) == {"api/server.py::Server.handle": 3, "api/auth.py": 2}
    second = about(suite, "Reject a delivery")
    assert graded(second) == {"inventory/store.py::Store.restock": 3}
    assert len([one for one in suite.queries if one.tags["stratum"] == "natural"]) == 2


def test_sub_agents_files_and_resumed_sessions(
    place: tuple[Repository, Path], tmp_path: Path
) -> None:
    repository, logs = place
    folder = tmp_path / "sessions"
    folder.mkdir()
    text = (logs / "claude-code" / "session.jsonl").read_text("utf-8")
    (folder / "one.jsonl").write_text(text, "utf-8")
    session = "3f2c1a9e-0000-4000-8000-000000000001"
    (folder / "two.jsonl").write_text(text.replace(session, "another"), "utf-8")
    about_all = {
        "sessionId": session,
        "isSidechain": True,
        "agentId": "a1",
        "cwd": "/home/dev/code/shop",
    }
    use = {
        "type": "tool_use",
        "id": "t1",
        "name": "Read",
        "input": {"file_path": "inventory/pricing.py"},
    }
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "1"}
    rows = [
        {"type": "user", "message": {"role": "user", "content": "Look for prices"}},
        {"type": "assistant", "message": {"role": "assistant", "content": [use]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]
    lines = [
        json.dumps(
            {**about_all, **row, "uuid": f"s{at}", "timestamp": f"2024-05-12T08:00:10.{at}Z"}
        )
        for at, row in enumerate(rows)
    ]
    (folder / "agent-a1.jsonl").write_text("\n".join(lines), "utf-8")
    suite = build(repository.path, folder, tmp_path / "s")
    first = [one for one in suite.queries if one.text.startswith("Where do we turn")]
    assert len(first) == 2  # with the sub-agent's reading, and without it
    assert max(graded(one).get("inventory/pricing.py", 0) for one in first) >= 1
    assert len([one for one in suite.queries if one.text.startswith("Reject a delivery")]) == 1
    assert dict(suite.funnel)["copied from another session"] == 1
    assert not any("Look for prices" in one.text for one in suite.queries)


def test_codex(place: tuple[Repository, Path], tmp_path: Path) -> None:
    repository, logs = place
    suite = build(repository.path, logs / "codex", tmp_path / "s", "--format", "codex")
    first = about(suite, "Take fifteen percent")
    assert graded(first)["inventory/pricing.py::discount"] == 3
    assert graded(first)["api/server.py"] == 2
    assert graded(about(suite, "Show who owns")) == {"inventory/store.py::Store.release": 3}
    assert not any("Delete the routes" in one.text for one in suite.queries)


@pytest.mark.parametrize("name", ["ubi.jsonl", "events.jsonl", "events.csv"])
def test_people(place: tuple[Repository, Path], tmp_path: Path, name: str) -> None:
    repository, logs = place
    more = ["--columns", str(logs / "columns.yaml")] if name == "events.jsonl" else []
    suite = build(repository.path, logs / name, tmp_path / "s", *more)
    price = about(suite, "where is the price rounded")
    assert graded(price) == {
        "inventory/pricing.py::_round": 3,
        "inventory/pricing.py::net_price": 1,
    }
    assert price.targets[1].weight == pytest.approx(1 / 3, abs=1e-4)
    assert price.not_relevant == ("inventory/pricing.py::discount",)
    assert price.weight == 4  # users who asked it, however they wrote it
    assert price.tags["retriever"] == "prod-bm25"
    back = about(suite, "give reserved goods back")
    assert graded(back) == {"inventory/store.py::Store.release": 3}
    assert back.not_relevant == (
        "api/server.py::cancel_reservation",
        "inventory/store.py::Store.reserve",
    )
    assert suite.recipe["log"]["retrievers"] == ["prod-bm25"]
    assert dict(suite.funnel)["text too short"] == 1


def test_nothing_private_is_kept(
    place: tuple[Repository, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, logs = place
    private = ["dev@example.com", "EXAMPLE1234567890", "AKIAIOSFODNN7EXAMPLE", "hunter2", "/home/"]
    private += ["/Users/", "browser-u1", "3f2c1a9e-0000", "0199aaaa", "pepper", str(logs)]
    kept = ""
    for log in ("swe-agent", "openhands", "claude-code", "codex", "ubi.jsonl"):
        build(repository.path, logs / log, tmp_path / log, "--salt", "pepper")
        kept += "".join(
            path.read_text("utf-8") for path in sorted((tmp_path / log).iterdir())
        ).replace(str(repository.path), "")
    assert [word for word in private if word in kept] == []
    told = capsys.readouterr().out
    for what in ("e-mail addresses 1", "secrets by name 1", "tokens 1", "passwords in URLs 1"):
        assert what in told
    assert "<e-mail>" in kept or "Reported by" not in kept


def test_the_salt_does_not_change_the_suite(place: tuple[Repository, Path], tmp_path: Path) -> None:
    repository, logs = place
    for name, more in (("a", ["--salt", "x"]), ("b", []), ("c", [])):
        build(repository.path, logs / "ubi.jsonl", tmp_path / name / "s", *more)
    texts = {(tmp_path / name / "s" / "queries.jsonl").read_bytes() for name in "abc"}
    assert len(texts) == 1


def test_the_figures_are_told_as_json(
    place: tuple[Repository, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, logs = place
    words = ["--format", "ubi", "--format", "json"]
    build(repository.path, logs / "ubi.jsonl", tmp_path / "s", *words)
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["format"] == "ubi"
    assert told["users"] == 5
    assert told["other_repositories"] == 1
    assert told["unreadable"]["lines"] == 4
    assert told["ignored"] == {"brand_filter": 4, "login": 4}
    assert told["effective_sample_size"]["raw"] == {"clicks": 8, "effective": 8.0}
    assert sum(told["funnel"].values()) == 2 * told["funnel"]["candidates"]
    build(repository.path, logs / "ubi.jsonl", tmp_path / "s", "--format", "markdown", "--force")
    assert r"of no use here: brand\_filter 4" in capsys.readouterr().out


def test_targets_are_carried_to_the_snapshot(tmp_path: Path) -> None:
    """The log saw an older commit: its lines are those of that one, its files have moved since."""
    repository, logs = shop(tmp_path)
    old = (repository.path / "inventory" / "pricing.py").read_text()
    moved = old.replace('"""Prices', '# A line.\n# Another.\n"""Prices')
    repository.commit(
        "Move prices",
        {"inventory/pricing.py": None, "shop/prices.py": moved},
        time=BEFORE + 90 * 86_400,
    )
    suite = build(repository.path, logs / "ubi.jsonl", tmp_path / "s", "--snapshot", "HEAD")
    assert suite.snapshot == repository.head
    price = about(suite, "where is the price rounded")
    assert graded(price) == {"shop/prices.py::_round": 3, "shop/prices.py::net_price": 1}
    rows = [
        json.loads(line)
        for line in (tmp_path / "s" / "carry.jsonl").read_text("utf-8").split("\n")[:-1]
    ]
    assert {(row["from"], row["to"]) for row in rows} >= {
        ("inventory/pricing.py::_round", "shop/prices.py::_round")
    }
    # By itself the newest commit before the log's end is asked.
    assert build(repository.path, logs / "ubi.jsonl", tmp_path / "t").snapshot != repository.head


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--from-log", "none.jsonl"], "no such file"),
        (["--from-log", "{logs}/empty.jsonl"], "empty.jsonl: is empty"),
        (["--from-log", "{logs}/codex", "--columns", "x", "--format", "ubi"], "--columns"),
        (["--from-log", "{logs}/codex", "--dry-run"], "--dry-run"),
        (["--from-log", "{logs}/codex", "--questions", "x"], "not allowed"),
        (["--format", "codex"], "add --from-log"),
        (["--from-log", "{logs}/codex", "--format", "swe-agent"], "holds no file that ends"),
        (["--from-log", "{logs}/codex", "--format", "ubi"], "none became a query"),
    ],
)
def test_wrong_calls_say_what_to_do(
    place: tuple[Repository, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    told: str,
) -> None:
    repository, logs = place
    (logs / "empty.jsonl").touch()
    call = ["suite", "build", str(repository.path), "-o", str(tmp_path / "s")]
    assert main([*call, *(word.replace("{logs}", str(logs)) for word in words)]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


OWN_LOG = """\
{"who": "u1", "ts": 1715500000, "act": "find", "words": "round a price"}
{"who": "u1", "ts": 1715500009, "act": "look", "file": "inventory/pricing.py"}
"""


@pytest.mark.parametrize(
    ("map_of", "told"),
    [
        ("", ("its format cannot be told", "--columns MAP.yaml")),
        (
            "columns: {query: words, path: file}",
            (
                "none became a query (2 lines unreadable)",
                "log.jsonl:1: has no kind: nothing in its column 'kind'; its columns: who, ts,",
                "log.jsonl:2: has no kind",
            ),
        ),
        (
            "columns: {kind: act, query: words, path: file}",
            ("1 passed over, of kind 'find', 1 passed over, of kind 'look'",),
        ),
        (
            "columns: {kind: act, path: file}\nkinds: {find: query, look: click}",
            ("log.jsonl:1: its query is empty",),
        ),
    ],
)
def test_a_log_that_gives_nothing_says_why(
    place: tuple[Repository, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    map_of: str,
    told: tuple[str, ...],
) -> None:
    log, columns = tmp_path / "log.jsonl", tmp_path / "map.yaml"
    log.write_text(OWN_LOG)
    columns.write_text(map_of)
    more = ["--columns", str(columns)] if map_of else []
    call = ["suite", "build", str(place[0].path), "-o", str(tmp_path / "s"), "--from-log", str(log)]
    assert main([*call, *more]) == 2
    error = capsys.readouterr().err
    assert all(part in error for part in told), error


def test_replay_is_offered_where_there_are_steps(
    place: tuple[Repository, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, logs = place
    build(repository.path, logs / "swe-agent", tmp_path / "s")
    assert "codebench replay" in capsys.readouterr().out
    log = tmp_path / "log.jsonl"
    log.write_text(
        '{"source": "trajectory", "kind": "query", "query": "where is the price rounded"}\n'
        + '{"source": "trajectory", "kind": "read", "path": "inventory/pricing.py"}\n' * 2
    )
    build(repository.path, log, tmp_path / "t")
    assert "codebench replay" not in capsys.readouterr().out
    assert main(["replay", str(tmp_path / "t"), "-r", "bm25"]) == 2
    assert "searched by content" in capsys.readouterr().err


def test_replay(
    place: tuple[Repository, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, logs = place
    build(repository.path, logs / "swe-agent", tmp_path / "s")
    capsys.readouterr()
    words = ["replay", str(tmp_path / "s"), "-r", "bm25", "-o", str(tmp_path / "results")]
    assert main([*words, "--format", "json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["trajectories"] == 2
    tasks = {one["agent_reached"]: one for one in told["tasks"]["bm25"]}
    found = tasks[True]
    way = next(one for one in read_navigation(tmp_path / "s").values() if one.reached)
    assert found["agent"] == way.tokens
    assert found["reached"]
    assert 1 <= found["step"] <= found["steps"] == 3
    assert 0 < found["tokens"] < 2_000
    figures = told["retrievers"]["bm25"]
    assert figures["tasks"] == 2
    assert figures["fewer"] + figures["more"] <= 2
    assert Path(told["run"]).is_dir()
    assert main(words) == 0
    table = capsys.readouterr().out
    assert "bm25" in table
    assert "2 of 2 trajectories searched by content" in table
    bad = tmp_path / "bad.py"
    bad.write_text(
        "from codebench import Retriever\n\n"
        "class Bad(Retriever):\n"
        "    def index(self, corpus): raise ValueError('no room')\n"
        "    def search(self, text, k): return []\n"
    )
    assert main([*words, "-r", str(bad)]) == 3
    assert main(["replay", str(tmp_path / "s"), "-r", str(bad), *words[4:]]) == 2
    assert "no retriever answered anything" in capsys.readouterr().err


def test_replay_wants_trajectories(
    place: tuple[Repository, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, logs = place
    build(repository.path, logs / "ubi.jsonl", tmp_path / "s")
    assert main(["replay", str(tmp_path / "s"), "-r", "bm25"]) == 2
    assert "trajectories can be replayed" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "none"), "-r", "bm25"]) == 2


def test_a_retriever_scored_on_its_own_labels_is_told(
    place: tuple[Repository, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, logs = place
    text = (logs / "ubi.jsonl").read_text("utf-8")
    log = tmp_path / "own.jsonl"
    for name, warned in (("bm25", True), ("prod-bm25", False)):
        log.write_text(text.replace("prod-bm25", name), "utf-8")
        build(repository.path, log, tmp_path / name)
        capsys.readouterr()
        words = ["run", str(tmp_path / name), "-r", "bm25", "--repeats", "1"]
        assert main([*words, "-o", str(tmp_path / "results")]) == 0
        told = capsys.readouterr().out
        own = "warning: bm25 is scored on labels that only it could have produced"
        assert (own in told) == warned
        assert ("people saw the results of prod-bm25 alone" in told) != warned
