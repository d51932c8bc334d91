"""A run tells how it was measured: load, waits, kept indexes, what was left running, updates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codebench.cli.main import main
from codebench.report.text import NONE
from tests.runs import Row, made_run

if TYPE_CHECKING:
    from pathlib import Path

MS = 1_000_000


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Return a run of two retrievers, one of which was measured in every way."""
    path = made_run(tmp_path, {"one": Row("s" * 12), "two": Row("s" * 12)})
    answers = path / "answers" / "0.jsonl"
    rows = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    rows[1]["built_seconds"] = 62.5
    rows[2]["waited_ns"] = 2500 * MS
    rows[-1]["left"] = 3
    clients = {"seconds": 2.0, "latencies_ns": [4 * MS] * 99 + [90 * MS], "failed": 10}
    rate = {"seconds": 4.0, "latencies_ns": [5 * MS] * 3, "censored": 97}
    rows[-1:] = [
        {"kind": "load", "rate": 50.0, **rate},
        {"kind": "load", "concurrency": 1, "seconds": 1.0, "latencies_ns": [MS]},
        {"kind": "load", "concurrency": 8, **clients},
        {"kind": "check", "query": "q00", "same": True},
        {"kind": "check", "query": "q01", "same": False},
        rows[-1],
    ]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    costs = {"latency_p50_ns": 1500, "latency_p95_ns": 4000, "wall_p50_ns": 80_000}
    manifest["harness"] = {**costs, "start_seconds": 0.5}
    (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return path


def score(path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    assert main(["score", str(path), *more]) == 0
    return capsys.readouterr().out


def test_a_table_says_it(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = score(measured, capsys)
    text = " ".join(printed.split())
    for said in (
        "one: its index was kept; building it took 62.50 s",
        "one: waited 2 s for a service that refused for a while, beside all latency",
        "one: 1 of 2 queries had other hits when asked again after a restart",
        "one: left 3 processes running, which were ended",
        "the harness itself adds 1.5 µs to a latency, and takes 80 µs of wall time a query",
    ):
        assert said in text
    assert "two: " not in text
    lines = [line.split() for line in printed.splitlines()]
    (at,) = (place for place, line in enumerate(lines) if line[:2] == ["under", "load"])
    assert lines[at][2:] == ["offered", "answers/s", *"p50 ms p95 ms p99 ms failed".split()]
    late = [NONE] * 3  # what never came back is later than all that did
    assert [line for line in lines[at : at + 6] if line[:1] == ["one"]] == [
        ["one", "1", "client", "1.0", "1.00", "1.00", "1.00", "0"],
        ["one", "8", "clients", "45.0", "4.00", "4.00", "4.00", "10"],
        ["one", "50/s", "0.8", *late, "97"],
    ]


def test_json_holds_it(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data: dict[str, Any] = json.loads(score(measured, capsys, "--format", "json"))
    assert data["harness"] == {
        "latency_us_p50": 1.5,
        "latency_us_p95": 4.0,
        "wall_us_p50": 80.0,
        "start_seconds": 0.5,
    }
    one, two = data["retrievers"]
    assert one["processes_left"] == 3
    assert one["waited_seconds"] == 2.5
    assert one["determinism"] == {"checked": 2, "changed": ["q01"]}
    assert [(row.get("concurrency"), row.get("rate"), row["calls"]) for row in one["load"]] == [
        (1, None, 1),
        (8, None, 100),
        (None, 50.0, 3),
    ]
    assert one["load"][1]["latency_ms"] == {"p50": 4.0, "p90": 4.0, "p95": 4.0, "p99": 4.0}
    assert one["load"][2]["latency_ms"] == dict.fromkeys(("p50", "p90", "p95", "p99"))
    assert (one["load"][1]["answers_per_second"], one["load"][1]["failed"]) == (45.0, 10)
    assert one["load"][2]["unanswered"] == 97
    assert not {"processes_left", "waited_seconds", "determinism", "load"} & set(two)


@pytest.mark.parametrize("stored", [[1], {"latency_p50_ns": "x"}, {"latency_p50_ns": True}, {}])
def test_a_harness_cost_of_another_shape_is_no_cost(
    measured: Path, capsys: pytest.CaptureFixture[str], stored: Any
) -> None:
    manifest = json.loads((measured / "manifest.json").read_text(encoding="utf-8"))
    manifest["harness"] = stored
    (measured / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    if isinstance(stored, dict):
        assert "the harness itself" not in score(measured, capsys)
        assert json.loads(score(measured, capsys, "--format", "json"))["harness"] == {}
    else:
        assert main(["score", str(measured)]) == 2
        assert "harness" in capsys.readouterr().err
