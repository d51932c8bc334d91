"""Run folders: what is written row by row is read back, and damage is located."""

from __future__ import annotations

import errno
import gzip
import json
import os
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from codebench.corpus.tables import read_tables, write_tables
from codebench.errors import InputError, ResultsError
from codebench.model import (
    Answer,
    Candidate,
    Chunk,
    Corpus,
    FileTable,
    Hit,
    IndexCost,
    Query,
    Suite,
)
from codebench.model import Target as ModelTarget
from codebench.results import candidate_row, read_run
from codebench.runner.record import AnswerWriter, RunWriter, create_run, safe_name

NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
CHUNK = Chunk("a.py", "f", 1, "function", ((1, 1), (3, 4)), "x", "y", 9)
TABLES = (FileTable("a.py", "python", (9, 9, 0, 1), (CHUNK,), sound=False),)
SUITE = Suite("s/é", "", "", "sha256:1", (Query("q", "t", (ModelTarget("a.py", "a.py::f"),)),))
ONE = Candidate("bm25:k1=1.2", "bm25", (("k1", 1.2), ("list", [0.5])), "1", "sha256:2")
COST = IndexCost(0.1, 0.25, 0.5, 4096, 99)


def new_run(results: Path, *candidates: Candidate) -> RunWriter:
    corpus = Corpus(results, "sha256:1", TABLES)
    rows = [candidate_row(one) for one in candidates or (ONE,)]
    return create_run(results, SUITE, corpus, rows, now=NOW, identity={"depth": 5})


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    floor = Candidate("random", "random", floor=True)
    writer = new_run(tmp_path / "out", floor, ONE)
    hits = (Hit("a.py"), Hit("a.py", 1, 2), Hit("a.py", 1, 2, "f", 0.5), Hit("a.py", symbol="g"))
    answers = (
        Answer("q", "ok", hits, 5, repairs={"cut to depth": 3}),
        Answer("r", "timeout", (), 30, error="no answer within 30 s"),
        Answer("s", "crashed", (), None, error="its process ended"),
        Answer("q", "ok", hits, 0, repeat=1),
        Answer("q", "ok", hits[:1], 7, repeat=2),
        Answer("r", "error", (), 7, repeat=1, error="x"),
    )
    with closing(writer.answers(ONE.name)) as out:
        out.start(0.1)
        out.index(COST)
        out.warmup(Answer("", "ok", (), 77))
        for answer in answers:
            out.answer(answer)
        out.start(0.2)
        out.index(IndexCost(9, 9, 9, 9))
        out.end("failed", "given up")
    lines = (writer.path / "answers" / safe_name(ONE.name)).read_text().splitlines()
    assert '"hits"' not in lines[6]
    assert '"same":true' in lines[6]
    found = read_run(writer.path)
    assert (found.retrievers[0].state, found.retrievers[0].reason) == (
        "stopped",
        "it was not asked",
    )
    one = found.retrievers[1]
    assert (one.candidate, one.answers, one.index, one.first_ns) == (ONE, answers, COST, 77)
    assert (one.restarts, one.state, one.reason, one.complete) == (1, "failed", "given up", False)
    assert (found.depth, found.complete) == (5, False)
    assert read_tables(found.tables_file) == TABLES
    writer.end("2024-05-06T08:00:00+00:00", complete=True)
    assert not read_run(writer.path).complete  # a retriever failed
    assert read_run(writer.path).manifest["started"] == "2024-05-06T07:08:09+00:00"


def test_a_run_is_complete_when_it_was_sealed_so_and_all_ended(tmp_path: Path) -> None:
    skipped = Candidate("rg", "ripgrep")
    writer = new_run(tmp_path, ONE, skipped)
    with closing(writer.answers(ONE.name)) as out:
        out.end("complete")
    with closing(writer.answers(skipped.name)) as out:
        out.end("skipped", "the program rg is not there")
    assert not read_run(writer.path).complete
    writer.end("2024", complete=True)
    assert read_run(writer.path).complete


def test_a_run_that_was_killed_at_any_byte_can_be_read(tmp_path: Path) -> None:
    writer = new_run(tmp_path)
    with closing(writer.answers(ONE.name)) as out:
        out.start(0.1)
        for number in range(3):
            out.answer(Answer(f"q{number}", "ok", (Hit("a.py"),), 5))
    whole = out.path.read_bytes()
    ends = [place for place, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole)):
        out.path.write_bytes(whole[:size])
        one = read_run(writer.path).retrievers[0]
        assert len(one.answers) == max(0, sum(end < size for end in ends) - 1)
        assert one.state == "stopped"


def test_folders_are_unique_even_within_a_second(tmp_path: Path) -> None:
    names = [new_run(tmp_path / "results" / "local").path.name for _ in range(3)]
    assert names == [f"20240506T070809Z-s{tail}" for tail in ("", "-2", "-3")]
    assert (tmp_path / "results" / "local" / ".gitignore").read_text() == "*\n"
    assert not (tmp_path / "results" / ".gitignore").exists()


def test_a_folder_that_somebody_uses_gets_no_gitignore(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    new_run(tmp_path)
    assert not (tmp_path / ".gitignore").exists()


@pytest.mark.parametrize(
    ("name", "file"),
    [("bm25", "bm25.jsonl"), ("git-grep", "git-grep.jsonl"), ("a:b=c", "a-b-c-"), ("A", "A-"),
     ("../../x", "x-"), ("x" * 500, "x" * 60 + "-"), ("…", "suite-"), ("a\ud800", "a-")],
)  # fmt: skip
def test_file_names_are_safe_and_their_own(name: str, file: str) -> None:
    found = safe_name(name)
    assert found.startswith(file)
    assert found.endswith(".jsonl")
    assert "/" not in found
    assert len(found) < 90


def test_names_that_differ_by_case_or_punctuation_do_not_meet() -> None:
    names = ["a", "A", "a:b", "a-b", "a b", "a/b"]
    assert len({safe_name(name).lower() for name in names}) == len(names)


def damaged(tmp_path: Path, *rows: Any) -> str:
    writer = new_run(tmp_path)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    text = "".join(f"{line}\n" for line in lines)
    (writer.path / "answers" / safe_name(ONE.name)).write_text(text)
    with pytest.raises(InputError) as caught:
        read_run(writer.path)
    return str(caught.value)


GOOD = {"kind": "answer", "query": "q", "latency_ns": 5}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "1: is not JSON"),
        ("[]", "1: is not an object"),
        ({"kind": "anser"}, "1: kind: '\"anser\"' is not a kind of row"),
        ({"query": "q"}, "1: kind: is missing"),
        ({**GOOD, "status": "fine"}, "1: status: 'fine' is not a status; one of ok, timeout"),
        ({**GOOD, "latency_ns": -1}, "1: latency_ns: '-1' is not from 0 to"),
        ({**GOOD, "repeat": -1}, "1: repeat: '-1'"),
        ({**GOOD, "hits": [["a", 1]]}, "1: hits[1]: '[\"a\", 1]' is not a hit"),
        ({**GOOD, "hits": [["a"], ["a", 0, 1]]}, "1: hits[2]:"),
        ({**GOOD, "hits": [["a", 1, 2, 3, None]]}, "1: hits[1]:"),
        ({**GOOD, "hits": [["a", None, None, None, True]]}, "1: hits[1]:"),
        ({**GOOD, "hitz": []}, '1: hitz: is not a field here; did you mean "hits"?'),
        ({"kind": "index", "seconds": 1}, "1: start_seconds: is missing"),
        ({"kind": "end", "state": "done"}, "1: state: 'done' is not how a retriever ends"),
        ('{"kind": "start", "seconds": NaN}', "1: holds NaN"),
    ],
)
def test_a_damaged_row_is_located(tmp_path: Path, row: Any, said: str) -> None:
    found = damaged(tmp_path, row)
    assert f"answers/{safe_name(ONE.name)}:{said}" in found


def test_a_query_that_is_answered_twice_is_a_fault(tmp_path: Path) -> None:
    assert "2: query: 'q' is answered twice" in damaged(tmp_path, GOOD, GOOD)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 99}, "is of format 99, not 1"),
        ({"depth": "x"}, "depth: '\"x\"' is not a whole number"),
        ({"complete": None}, "complete: 'null' is not true or false"),
        ({"retrievers": [{"name": "x"}]}, r"retrievers[1].file: is missing"),
        ({"retrievers": 3}, "retrievers: '3' is not a list"),
    ],
)
def test_a_wrong_manifest_is_located(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    writer = new_run(tmp_path)
    writer.manifest |= change
    writer.save()
    with pytest.raises((InputError, ResultsError)) as caught:
        read_run(writer.path)
    assert said in str(caught.value)


def test_an_answers_file_cannot_lead_out_of_the_run(tmp_path: Path) -> None:
    writer = new_run(tmp_path)
    writer.manifest["retrievers"][0]["file"] = "../../secret"
    writer.save()
    with pytest.raises(InputError, match="is not a name in the folder answers"):
        read_run(writer.path)


@pytest.mark.parametrize("text", ["", "{", "[]", "\xff"])
def test_a_manifest_that_is_no_manifest(tmp_path: Path, text: str) -> None:
    writer = new_run(tmp_path)
    (writer.path / "manifest.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"manifest\.json"):
        read_run(writer.path)


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"is no run; it holds no manifest\.json"):
        read_run(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is full")
def test_a_full_disk_is_one_line() -> None:
    with (
        closing(AnswerWriter(Path("/dev/full"))) as out,
        pytest.raises(ResultsError, match=r"/dev/full: cannot be written \(No space left"),
    ):
        out.end("complete")
    with pytest.raises(ResultsError, match="No space left"):
        write_tables(TABLES * 10_000, Path("/dev/full"))


class Full:
    """A file on a disk that fills up in the middle of a row."""

    def __init__(self, path: Path, room: int) -> None:
        self.raw = path.open("ab", buffering=0)
        self.room = room

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)

    def write(self, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = min(self.room, len(data))
        self.room -= taken
        return self.raw.write(data[:taken])


def test_a_disk_that_fills_up_keeps_what_was_measured(tmp_path: Path) -> None:
    writer = new_run(tmp_path)
    with closing(writer.answers(ONE.name)) as out:
        out._file = Full(out.path, 150)  # type: ignore[assignment]
        out.answer(Answer("q0", "ok", (Hit("a.py"),), 5))
        out.answer(Answer("q1", "ok", (Hit("a.py"),), 5))
        with pytest.raises(ResultsError, match="No space left on device"):
            out.answer(Answer("q2", "ok", (Hit("a.py"),), 5))
    assert out.path.read_bytes().endswith(b"\n")
    assert [answer.query for answer in read_run(writer.path).retrievers[0].answers] == ["q0", "q1"]


def test_tables_are_the_same_bytes_each_time_and_damage_is_located(tmp_path: Path) -> None:
    first, second = tmp_path / "a.gz", tmp_path / "b.gz"
    write_tables(TABLES, first)
    write_tables(TABLES, second)
    assert first.read_bytes() == second.read_bytes()
    second.write_bytes(gzip.compress(b"{}\n"))
    with pytest.raises(InputError, match=r"b\.gz:1: not a file table"):
        read_tables(second)
    second.write_bytes(gzip.compress(gzip.decompress(first.read_bytes()) + b"{\n"))
    with pytest.raises(InputError, match=r"b\.gz:2: "):
        read_tables(second)
    for data in (first.read_bytes()[:-9], b"", b"plain"):
        second.write_bytes(data)
        if data:
            with pytest.raises(InputError, match=r"b\.gz: cannot be read"):
                read_tables(second)
    with pytest.raises(InputError, match="cannot be read"):
        read_tables(tmp_path / "gone.gz")
