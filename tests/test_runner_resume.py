"""Runs that are killed and gone on with, sealed and scored again."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from codebench.corpus.tables import read_tables
from codebench.errors import ResultsError
from codebench.evaluation import evaluate_answers
from codebench.judging.scoring import score, score_run
from codebench.lazy import Lazy
from codebench.measures.columns import read_columns, write_columns
from codebench.measures.latency import latency_summary
from codebench.model import Candidate, Target
from codebench.results import Run, read_ends, read_run
from codebench.results.stored import answers_key, columns_key
from codebench.runner.events import Noted
from codebench.runner.run import Resume, run
from codebench.suite import read_suite
from tests.misbehaving import ADAPTERS, QUICK, Lab, suite_of

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXTS = [f"query {number}" for number in range(12)]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A complete run, to be copied."""
    return Lab(tmp_path_factory.mktemp("whole")).run("Healthy Sleeps", TEXTS)


def notes(lab: Lab) -> list[str]:
    return [event.text for event in lab.heard if isinstance(event, Noted)]


def answers_of(found: Run) -> dict[str, list[tuple[Any, ...]]]:
    return {
        one.candidate.name: sorted((a.query, a.repeat, a.status, a.hits) for a in one.answers)
        for one in found.retrievers
    }


def cut_off(path: Path, keep: int, tail: bytes = b"") -> None:
    """Make a sealed run what a kill leaves: some rows of each retriever, no seal."""
    shutil.rmtree(path / "columns")
    for packed in (path / "answers").glob("*.gz"):
        rows = gzip.decompress(packed.read_bytes()).splitlines(keepends=True)
        packed.with_suffix("").write_bytes(b"".join(rows[:keep]) + tail)
        packed.unlink()
    manifest = json.loads((path / "manifest.json").read_text())
    manifest |= {"complete": False, "ended": None}
    (path / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("keep", [0, 1, 2, 7, 13, 14])
def test_a_run_that_was_cut_off_asks_only_what_is_missing(lab: Lab, whole: Run, keep: int) -> None:
    place = lab.folder / "out" / whole.path.name
    shutil.copytree(whole.path, place)
    cut_off(place, keep, tail=b'{"kind":"answer","query":"q0')
    found = lab.run("Healthy Sleeps", TEXTS, resume=Resume())
    assert found.path == place
    assert notes(lab) == [f"resuming {whole.path.name}"]
    assert answers_of(found) == answers_of(whole)
    assert found.complete
    assert [one.restarts for one in found.retrievers] == [0, 0]
    asked = [event for event in lab.heard if type(event).__name__ == "Answered"]
    assert len(asked) == 2 * (12 - max(0, min(keep - 2, 12)))


def test_a_complete_run_is_asked_nothing_again(lab: Lab) -> None:
    whole = lab.run("Healthy", TEXTS)
    lab.heard.clear()
    again = lab.run("Healthy", TEXTS, resume=Resume())
    assert again.path == whole.path
    assert again.complete
    assert {type(event).__name__ for event in lab.heard} == {"Noted", "RunStarted", "RunEnded"}


def test_retry_asks_again_what_failed_and_keeps_both_answers(lab: Lab) -> None:
    texts = ["x", "raise", "x", "raise"]
    first = lab.run("Sleeps", texts)
    assert [a.status for a in first.retrievers[0].answers].count("error") == 2
    same = lab.run("Sleeps", texts, resume=Resume())
    assert answers_of(same) == answers_of(first)
    source = lab.folder / "small.py"
    mended = ADAPTERS.replace('if text == "raise"', 'if text == "rise"')
    assert len(mended) == len(ADAPTERS) - 1
    again = lab.run("Sleeps", texts, resume=Resume(retry=True))
    assert again.path == first.path
    assert [a.status for a in again.retrievers[0].answers].count("error") == 2
    raw = gzip.decompress(next((first.path / "answers").glob("*.gz")).read_bytes())
    assert raw.count(b'"again":true') == 2
    assert raw.count(b'"kind":"answer"') == 6
    assert len(again.retrievers[0].answers) == 4
    source.write_text(mended)
    other = lab.run("Sleeps", texts, resume=Resume(retry=True))
    assert other.path != first.path
    assert {a.status for a in other.retrievers[0].answers} == {"ok"}


def test_what_was_given_up_stays_so_unless_failures_are_asked_again(lab: Lab) -> None:
    (lab.folder / "mark").write_text("")
    text = ADAPTERS + (
        "\nclass Falls(Healthy):\n"
        "    def search(self, text, k):\n"
        f"        if Path({str(lab.folder / 'mark')!r}).exists(): os._exit(1)\n"
        "        return super().search(text, k)\n"
    )
    (lab.folder / "small.py").write_text(text)
    failed = lab.run("Falls", TEXTS)
    assert (failed.retrievers[0].state, failed.complete) == ("failed", False)
    (lab.folder / "mark").unlink()
    again = lab.run("Falls", TEXTS, resume=Resume())
    assert (again.path, again.retrievers[0].state) == (failed.path, "failed")
    mended = lab.run("Falls", TEXTS, resume=Resume(retry=True))
    assert (mended.path, mended.complete) == (failed.path, True)
    assert {a.status for a in mended.retrievers[0].answers} == {"ok"}
    assert len(mended.retrievers[0].answers) == 12


def test_whatever_differs_is_named_and_nothing_is_reused(lab: Lab) -> None:
    text = ADAPTERS + (
        "\nclass Lists(Healthy):\n    def __init__(self, weights=None): self.weights = weights\n"
    )
    (lab.folder / "small.py").write_text(text)
    suite = suite_of(TEXTS)

    def said(**changes: Any) -> tuple[Path, list[str]]:
        lab.heard.clear()
        settings = dataclasses.replace(QUICK, **changes.pop("settings", {}))
        weights = changes.pop("weights", [0.5])
        asked = [Candidate("one", "small.py:Lists", (("weights", weights),))]
        path = run(
            changes.pop("suite", suite), changes.pop("corpus", lab.corpus), asked,
            lab.folder / "out", settings,
            folder=lab.folder, events=lab.heard.append, resume=Resume(),
        )  # fmt: skip
        return path, notes(lab)

    first, told = said()
    assert told == ["there is no run of this suite to resume"]
    start = f"{first.name} is not resumed: "
    assert said() == (first, [f"resuming {first.name}"])

    path, told = said(weights=[0, 5])
    assert path != first
    assert told == [f"{start}one: options.weights was [0.5] then and is [0, 5] now"]
    shutil.rmtree(path)
    path, told = said(weights=[0.50])
    assert path == first

    path, told = said(settings={"depth": 4})
    assert told == [f"{start}depth was 5 then and is 4 now"]
    shutil.rmtree(path)
    path, told = said(settings={"query_timeout": 3.0, "seed": 7})
    assert told == [
        f"{start}settings.query_timeout was 2 then and is 3.0 now",
        f"{start}settings.seed was 0 then and is 7 now",
    ]
    shutil.rmtree(path)

    gold = dataclasses.replace(suite.queries[0], targets=(Target("b.py", "b.py::f"),))
    path, told = said(suite=dataclasses.replace(suite, queries=(gold, *suite.queries[1:])))
    assert len(told) == 1
    assert told[0].startswith(f'{start}suite.digest was "sha256:')
    shutil.rmtree(path)
    path, told = said(corpus=dataclasses.replace(lab.corpus, digest="sha256:2"))
    assert told == [f'{start}corpus.digest was "sha256:1" then and is "sha256:2" now']
    shutil.rmtree(path)

    (lab.folder / "small.py").write_text(text + "\n")
    path, told = said()
    assert path != first
    assert len(told) == 1
    assert told[0].startswith(f'{start}one: digest was "sha256:')


def test_a_folder_whose_making_was_cut_off_is_passed_over(lab: Lab) -> None:
    (lab.folder / "out" / "20990101T000000Z-small").mkdir(parents=True)
    (lab.folder / "out" / "20990102T000000Z-small").mkdir()
    (lab.folder / "out" / "20990102T000000Z-small" / "manifest.json").write_text("{")
    lab.run("Healthy", TEXTS, resume=Resume())
    assert notes(lab) == ["there is no run of this suite to resume"]


def test_columns_score_as_the_answers_do(lab: Lab) -> None:
    texts = ["x", "raise", "stall", *TEXTS]
    settings = dataclasses.replace(
        QUICK, repeats=3, query_timeout=0.3, warmups=2, floors=("random", "right-file")
    )
    found = lab.run("Sleeps Turns", texts, settings)
    suite = read_suite(found.suite_folder)
    tables = {table.path: table for table in read_tables(found.tables_file)}
    scored = score_run(found.path, ["R(rel=3)@5", "nDCG@5", "RR@5", "R@100tokens", "Value@5"])
    assert found.asked is not None
    for one in scored.retrievers:
        assert one.run.columns is not None
        assert isinstance(one.run.answers, Lazy) or not one.run.answers
        slow = evaluate_answers(suite, tables, one.run.answers, scored.measures, depth=5)
        assert one.evaluation is not None
        np.testing.assert_array_equal(one.evaluation.table, slow.table)
        assert one.evaluation.statuses == slow.statuses
        assert one.evaluation.gold == slow.gold
        assert one.evaluation.clusters == slow.clusters
        assert one.latency == latency_summary(one.run.answers)
    for one_run in found.retrievers:
        assert len(list(one_run.answers)) == len(one_run.answers)
    unread = read_run(found.path)
    cut_off(found.path, 10_000)
    with pytest.raises(ResultsError, match="was changed while it was read"):
        list(unread.retrievers[-1].answers)
    plain = read_run(found.path)
    assert plain.asked is None
    for sealed, open_ in zip(found.retrievers, plain.retrievers, strict=True):
        for field in dataclasses.fields(sealed):
            if field.name != "columns":
                assert getattr(sealed, field.name) == getattr(open_, field.name), field.name
        assert sealed.first_error == open_.first_error


def test_columns_are_believed_beside_their_own_files_only(lab: Lab) -> None:
    found = lab.run("Healthy", TEXTS)
    raw = next((found.path / "answers").glob("*.gz"))
    place = next((found.path / "columns").glob("*.jsonl.npz"))
    key = answers_key(columns_key(found.path, 5), raw)
    columns = read_columns(place, key, 12)
    assert columns is not None
    assert read_columns(place, "0", 12) is None
    assert read_columns(place, key, 11) is None

    def value() -> tuple[float | None, bool]:
        again = read_run(found.path)
        figure = score(again, ["R(rel=3)@5"]).retrievers[0].evaluation
        assert figure is not None
        return figure.values["R(rel=3)@5"], again.retrievers[0].columns is not None

    assert value() == (1.0, True)
    for damage in (b"", b"PK", place.read_bytes()[:-300]):
        kept = place.read_bytes()
        place.write_bytes(damage)
        assert value() == (1.0, False)
        place.write_bytes(kept)
    broken = dataclasses.replace(columns, query=columns.query + 7)
    write_columns(place, key, broken)
    assert value() == (1.0, False)
    write_columns(place, key, columns)
    assert value() == (1.0, True)
    rows = gzip.decompress(raw.read_bytes()).replace(b'"a.py"', b'"b.py"')
    raw.write_bytes(gzip.compress(rows))
    assert value() == (0.0, False)


def test_the_manifest_tells_how_each_ended(lab: Lab) -> None:
    found = lab.run("Healthy", TEXTS)
    manifest, complete = read_ends(found.path)
    assert complete
    assert [row["state"] for row in manifest["retrievers"]] == ["complete"]
    cut_off(found.path, 5)
    assert read_ends(found.path)[1] is False


def command(lab_folder: Path, results: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "codebench", "run", "tiny", "-o", str(results)),
        *("-r", f"{lab_folder}/perfect.py:Perfect", "-r", f"{lab_folder}/perfect.py:Other"),
        *("--repeats", "2", "--format", "json", *more),
    ]


PERFECT = """
import json, time
from pathlib import Path
from codebench import Hit, Retriever

class Perfect(Retriever):
    def index(self, corpus):
        self.gold = json.loads(Path(__file__).with_suffix(".json").read_text())
    def search(self, text, k):
        time.sleep(0.012)
        return [Hit(path, symbol=name) for path, name in self.gold[text]][:k]

class Other(Perfect):
    def search(self, text, k):
        return super().search(text, k)[::-1][:1] if len(text) % 2 else []
"""


def write_perfect(folder: Path, text: str = PERFECT) -> None:
    from codebench.home import builtin

    suite = read_suite(builtin("suites") / "tiny")
    gold = {
        query.text: [[t.path, t.chunk.partition("::")[2] or None] for t in query.targets]
        for query in suite.queries
    }
    (folder / "perfect.json").write_text(json.dumps(gold))
    (folder / "perfect.py").write_text(text)


def run_json(words: Sequence[str]) -> dict[str, Any]:
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


TWICE = dataclasses.replace(QUICK, repeats=2)


class Deadly(list[Any]):
    """Events that kill the process that hears one too many."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def append(self, event: Any) -> None:
        super().append(event)
        if len(self) == self.most:
            os.kill(os.getpid(), signal.SIGKILL)


def status_of_run(lab: Lab, most: int) -> int:
    """Go on with a run in a child that kills itself at an event; return its exit status."""
    pid = os.fork()
    if pid == 0:
        try:
            lab.heard = Deadly(most)
            lab.run("Sleeps SleepsBeside", TEXTS, TWICE, resume=Resume())
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_ten_kills_change_nothing(lab: Lab) -> None:
    wanted = answers_of(lab.run("Sleeps SleepsBeside", TEXTS, TWICE))
    shutil.rmtree(lab.folder / "out")
    source = random.Random(5)  # noqa: S311
    ends = [status_of_run(lab, source.randint(2, 12)) for _ in range(10)]
    assert ends == [-signal.SIGKILL] * 10
    found = lab.run("Sleeps SleepsBeside", TEXTS, TWICE, resume=Resume())
    runs = [path for path in (lab.folder / "out").iterdir() if (path / "manifest.json").exists()]
    assert runs == [found.path]
    assert answers_of(found) == wanted
    assert found.complete
    for one in found.retrievers:
        asked = [(answer.query, answer.repeat) for answer in one.answers]
        assert len(set(asked)) == len(asked)


@pytest.mark.slow
def test_a_kill_at_any_moment_changes_nothing(tmp_path: Path) -> None:
    write_perfect(tmp_path)
    began = time.monotonic()
    calm = run_json(command(tmp_path, tmp_path / "calm"))
    whole = time.monotonic() - began
    source = random.Random(5)  # noqa: S311
    for _ in range(60):
        with subprocess.Popen(
            command(tmp_path, tmp_path / "wild", "--resume"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        ) as child:  # fmt: skip
            time.sleep(whole * source.uniform(0.2, 0.9))
            alive = child.poll() is None
            child.kill()
        if alive:
            break
        shutil.rmtree(tmp_path / "wild")  # it came to its end before
    else:
        pytest.fail("no run lived until it was killed")
    wild = run_json(command(tmp_path, tmp_path / "wild", "--resume"))
    runs = [path for path in (tmp_path / "wild").iterdir() if (path / "manifest.json").exists()]
    assert len(runs) == 1
    found, wanted = read_run(runs[0]), read_run(next((tmp_path / "calm").glob("*-tiny")))
    assert answers_of(found) == answers_of(wanted)
    for one in found.retrievers:
        asked = [(answer.query, answer.repeat) for answer in one.answers]
        assert len(set(asked)) == len(asked)
    for one, other in zip(wild["retrievers"], calm["retrievers"], strict=True):
        assert one["measures"] == other["measures"]
        assert one["answers"] == other["answers"]
    assert wild["complete"]
