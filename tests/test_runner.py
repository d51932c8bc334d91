"""Runs with real processes that crash, hang, print and lie."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codebench.corpus.tables import write_tables
from codebench.errors import AdapterError, NothingMeasured, ResultsError
from codebench.model import Candidate, Chunk, Corpus, FileTable, Hit, Query, Suite, Target
from codebench.results import RetrieverRun, Run, read_run
from codebench.runner.candidates import candidates
from codebench.runner.events import (
    Answered,
    Event,
    Indexed,
    Restarting,
    RetrieverEnded,
    RetrieverStarted,
    RunEnded,
    RunStarted,
)
from codebench.runner.plan import RunSettings, order
from codebench.runner.run import run
from codebench.suite import read_suite, write_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ODD = '''
"""Adapters that misbehave when the query says so."""
import math, os, signal, subprocess, sys, time
from pathlib import Path
from codebench import Hit, Retriever

class Healthy(Retriever):
    version = "1"
    def index(self, corpus):
        self.root = corpus.path
    def search(self, text, k):
        return [Hit("a.py", 1, 2, "f", 1.0), Hit(str(self.root / "b.py"))][:k]

class Odd(Healthy):
    """The query text is the name of a misbehaviour."""
    def search(self, text, k):
        deed = getattr(self, text.replace(" ", "_"), None)
        return deed(k) if deed else super().search(text, k)
    def exit(self, k): os._exit(7)
    def leave(self, k): sys.exit(3)
    def murder(self, k): os.kill(os.getpid(), signal.SIGKILL)
    def say_and_exit(self, k):
        print("on stdout"); sys.stdout.flush()
        print("\\x1b[31mlast words\\n", file=sys.stderr, flush=True); os._exit(1)
    def hang(self, k):
        subprocess.Popen(["sleep", "601.7"])
        subprocess.Popen(["sleep", "601.7"], start_new_session=True)
        time.sleep(600)
    def slow(self, k): time.sleep(0.35); return []
    def lose(self, k): raise LookupError("nothing\\nhere")
    def print(self, k):
        for _ in range(2000): print('{"latency_ns": 1, "rows": [], "count": 0}' * 5)
        return [Hit("a.py")]
    def move(self, k): os.chdir("/"); return [Hit("a.py")]
    def close_pipes(self, k): os.closerange(3, 1000); return []
    def nan(self, k): return [Hit("a.py", score=math.nan)]
    def text(self, k): return "a.py"
    def none(self, k): return None
    def generator(self, k): return (Hit("a.py") for _ in range(3))
    def outside(self, k): return [Hit("/etc/passwd")]
    def backwards(self, k): return [Hit("a.py", 2, 1)]
    def many(self, k): return [Hit("a.py")] * 10_000
    def beyond(self, k): return [Hit("a.py", 2, 99)]
    def write(self, k):
        (self.root / "a.py").write_text("changed"); (Path.home() / "x").write_text("y")
        return [Hit(str(Path.home()))[:0] or Hit("a.py")]

class Fork(Odd):
    def exit(self, k):
        if os.fork() == 0: time.sleep(600)
        os._exit(7)

class Environment(Healthy):
    def search(self, text, k):
        here, home = os.getcwd(), os.environ["HOME"]
        others = [os.environ[name] for name in sorted(os.environ) if name.startswith("XDG_")]
        fine = all(Path(p).is_relative_to(self.root.parent) for p in [here, home, *others])
        fine = fine and not os.listdir(here) and sys.stdin.read() == ""
        fine = fine and os.getsid(0) == os.getpid()
        fine = fine and not (self.root / ".git").exists() and os.access(self.root / "a.py", os.W_OK)
        return [Hit("a.py")] if fine else []

class Dies(Healthy):
    def search(self, text, k): os._exit(1)

class NoIndex(Healthy):
    def index(self, corpus): raise OSError("no room for the index")

class DiesInIndex(Healthy):
    def index(self, corpus): print("out of memory", flush=True); os.abort()

class HangsInIndex(Healthy):
    def index(self, corpus): time.sleep(600)

class Missing(Healthy):
    @classmethod
    def missing(cls): return "the program nope is not there; apt install nope"
    def __init__(self): raise RuntimeError("never made")

class Wrong(Healthy):
    def __init__(self, top: int = 1):
        if top > 5: raise ValueError("top is at most 5")

class Costly(Healthy):
    def __init__(self, size=None): self.size = size
    def index(self, corpus):
        super().index(corpus)
        keep = bytearray(60_000_000); keep[::4096] = b"x" * len(keep[::4096])
        end = time.process_time() + 0.2
        while time.process_time() < end: pass
        (self.root / "index.bin").write_bytes(b"x" * 12345)
    def index_bytes(self): return self.size

class ClosesLate(Healthy):
    def close(self): time.sleep(600)

class Rude(Healthy):
    version = "\\x1b[2J1\\ud800\\n0"
    def index_bytes(self): return 3.7
    def search(self, text, k): raise ValueError("\\x1b[2J\\ud800")

class Flaky(Healthy):
    n = 0
    def search(self, text, k):
        self.n += 1
        return [Hit("a.py", self.n)]
'''

FAST = RunSettings(
    depth=5,
    query_timeout=0.3,
    index_timeout=1.0,
    warmups=1,
    repeats=1,
    floors=("random",),
    null_asks=0,
)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    folder = tmp_path / "the corpus"
    folder.mkdir()
    tables = []
    for name in ("a.py", "b.py"):
        (folder / name).write_text("def f():\n    pass\n")
        (folder / name).chmod(0o444)
        chunk = Chunk(name, "f", 1, "function", ((1, 2),), "", "", 9)
        tables.append(FileTable(name, "python", (9, 9), (chunk,)))
    return Corpus(folder, "sha256:1", tuple(tables))


def suite_of(texts: Sequence[str]) -> Suite:
    queries = tuple(
        Query(f"q{number:03}", text, (Target("a.py", "a.py::f"),))
        for number, text in enumerate(texts)
    )
    return Suite("odd ones", "", "", "sha256:1", queries)


@pytest.fixture
def measure(tmp_path: Path, corpus: Corpus) -> Callable[..., Run]:
    """Run classes of ODD over texts and read the run back."""
    (tmp_path / "odd.py").write_text(ODD)

    def measured(
        names: str, texts: Sequence[str], settings: RunSettings = FAST, heard: Any = None
    ) -> Run:
        asked = candidates([f"odd.py:{name}" for name in names.split()], tmp_path)
        path = run(
            suite_of(texts), corpus, asked, tmp_path / "out", settings,
            folder=tmp_path, events=(heard if heard is not None else []).append,
        )  # fmt: skip
        return read_run(path)

    return measured


def by_text(one: RetrieverRun, texts: Sequence[str]) -> dict[str, tuple[str, str]]:
    found = {answer.query: (answer.status, answer.error) for answer in one.answers}
    return {text: found[f"q{number:03}"] for number, text in enumerate(texts)}


def test_a_healthy_run_is_complete_and_holds_all_that_was_measured(
    tmp_path: Path, measure: Callable[..., Run], corpus: Corpus
) -> None:
    heard: list[Event] = []
    texts = [f"query {number}" for number in range(6)]
    settings = RunSettings(depth=1, repeats=3, warmups=2, floors=("random", "recent"))
    found = measure("Healthy", texts, settings, heard)
    assert found.complete
    assert found.depth == 1
    floor, healthy = found.retrievers
    assert floor.candidate == Candidate("random", "random", floor=True)
    assert [len(answer.hits) for answer in floor.answers] == [1] * 6
    assert (healthy.state, healthy.reason, healthy.restarts) == ("complete", "", 0)
    assert healthy.candidate.version == "1"
    assert re.fullmatch("sha256:[0-9a-f]{64}", healthy.candidate.digest)
    assert [answer.repeat for answer in healthy.answers] == [0] * 6 + [1] * 6 + [2] * 6
    assert all(answer.hits == (Hit("a.py", 1, 2, "f", 1.0),) for answer in healthy.answers)
    assert all(answer.latency_ns and answer.latency_ns < 1e8 for answer in healthy.answers)
    assert all(answer.repairs == {} for answer in healthy.answers)
    assert healthy.index is not None
    assert 0 < healthy.index.start_seconds < 5
    assert healthy.first_ns
    assert read_suite(found.suite_folder) == suite_of(texts)
    assert [type(event) for event in heard[:3]] == [RunStarted, RetrieverStarted, Answered]
    assert [type(event) for event in heard[-2:]] == [RetrieverEnded, RunEnded]
    assert sum(isinstance(event, Indexed) for event in heard) == 1
    assert [e.done for e in heard if isinstance(e, Answered)] == [*range(1, 7), *range(1, 19)]
    assert found.manifest["settings"]["seed"] == 0
    assert found.manifest["ended"]
    assert corpus.path.joinpath("a.py").read_text() == "def f():\n    pass\n"


def test_a_crash_costs_one_answer(measure: Callable[..., Run]) -> None:
    texts = [f"query {number}" for number in range(40)]
    texts[7] = "exit"
    heard: list[Event] = []
    found = measure("Odd Healthy", texts, FAST, heard)
    _, odd, healthy = found.retrievers
    statuses = [status for status, _ in by_text(odd, texts).values()]
    assert statuses.count("ok") == 39
    assert by_text(odd, texts)["exit"] == ("crashed", "its process ended with status 7")
    assert (odd.complete, odd.restarts) == (True, 1)
    assert [e.reason for e in heard if isinstance(e, Restarting)] in (
        [],  # it was the last that was asked
        ["its process ended with status 7"],
    )
    assert {answer.status for answer in healthy.answers} == {"ok"}
    assert found.complete


def test_each_misbehaviour_has_its_status_and_the_next_query_works(
    measure: Callable[..., Run], tmp_path: Path
) -> None:
    wanted = {
        "exit": ("crashed", "its process ended with status 7"),
        "murder": ("crashed", "its process was ended by SIGKILL"),
        "say and exit": ("crashed", "its process ended with status 1: \\[31mlast words"),
        "close pipes": ("crashed", "its process "),
        "hang": ("timeout", "no answer within 0.3 s"),
        "slow": ("timeout", "no answer within 0.3 s"),
        "leave": ("error", "SystemExit: 3"),
        "lose": ("error", "LookupError: nothing here"),
        "nan": ("invalid_output", "hit 1: score is nan, which is not finite"),
        "text": ("invalid_output", "search returned a str, not a list of hits"),
        "none": ("invalid_output", "search returned a NoneType, not a list of hits"),
        "generator": ("invalid_output", "search returned a generator, not a list of hits"),
        "outside": ("invalid_output", "hit 1: path '/etc/passwd' is not under"),
        "backwards": ("invalid_output", "hit 1: ends in line 1 before it starts in line 2"),
        "print": ("ok", ""),
        "move": ("ok", ""),
        "many": ("ok", ""),
        "beyond": ("ok", ""),
        "nothing odd": ("ok", ""),
    }
    texts = list(wanted)
    start = time.monotonic()
    odd = measure("Odd", texts).retrievers[1]
    assert time.monotonic() - start < 15
    found = by_text(odd, texts)
    for text, (status, error) in wanted.items():
        assert found[text][0] == status, (text, found[text])
        assert re.match(error, found[text][1]), (text, found[text])
        assert "\n" not in found[text][1]
    latency = {answer.query: answer.latency_ns for answer in odd.answers}
    assert latency[f"q{texts.index('hang'):03}"] == 300_000_000
    assert latency[f"q{texts.index('slow'):03}"] == 300_000_000
    assert latency[f"q{texts.index('exit'):03}"] is None
    repairs = {answer.query: answer.repairs for answer in odd.answers if answer.repairs}
    assert repairs == {
        f"q{texts.index('many'):03}": {"cut to depth": 9995},
        f"q{texts.index('move'):03}": {"working directory restored": 1},
        f"q{texts.index('beyond'):03}": {"lines clipped to file": 1},
    }
    assert odd.complete
    assert not leftovers()


def leftovers() -> list[str]:
    """Command lines of running `sleep 601.7`, wherever they went."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if command == b"sleep\x00601.7\x00":
            found.append(entry.name)
    return found


def test_a_crash_is_seen_although_a_forked_child_holds_the_pipe(
    measure: Callable[..., Run],
) -> None:
    settings = RunSettings(query_timeout=20, warmups=0, repeats=1, floors=())
    start = time.monotonic()
    odd = measure("Fork", ["exit", "fine"], settings).retrievers[0]
    assert by_text(odd, ["exit", "fine"])["exit"][0] == "crashed"
    assert time.monotonic() - start < 10


def test_a_retriever_has_folders_of_its_own(measure: Callable[..., Run]) -> None:
    found = measure("Environment", ["x"]).retrievers[1]
    assert found.answers[0].hits == (Hit("a.py"),)


def test_scratch_folders_are_gone_afterwards(
    measure: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    measure("Odd Healthy", ["write", "exit", "hang", "fine"])
    assert list(place.iterdir()) == []


def test_a_retriever_that_always_falls_is_given_up(measure: Callable[..., Run]) -> None:
    found = measure("Dies Healthy", [f"query {number}" for number in range(20)])
    dies, healthy = found.retrievers[1:]
    assert (dies.state, len(dies.answers)) == ("failed", 0)
    assert "given up after 4 falls in a row: its process ended with status 1" in dies.reason
    assert healthy.complete
    assert not found.complete
    without_warmup = RunSettings(depth=5, warmups=0, repeats=1, floors=(), max_restarts=2)
    dies = measure("Dies", [f"query {n}" for n in range(20)], without_warmup).retrievers[0]
    assert [answer.status for answer in dies.answers] == ["crashed"] * 3


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("NoIndex", "indexing raised OSError: no room for the index at odd.py:LINE in index"),
        ("DiesInIndex", "indexing, its process was ended by SIGABRT: out of memory"),
        ("HangsInIndex", "indexing took more than 1 s"),
    ],
)
def test_an_index_that_cannot_be_built_fails_that_retriever_alone(
    measure: Callable[..., Run], name: str, reason: str
) -> None:
    failed, healthy = measure(f"{name} Healthy", ["x"]).retrievers[1:]
    told = re.sub(r"py:\d+", "py:LINE", failed.reason)
    assert (failed.state, told, failed.answers) == ("failed", reason, ())
    assert healthy.complete


def test_what_cannot_run_here_is_skipped_with_its_reason(measure: Callable[..., Run]) -> None:
    found = measure("Missing Healthy", ["x"])
    skipped = found.retrievers[1]
    assert (skipped.state, skipped.answers) == ("skipped", ())
    assert skipped.reason == "the program nope is not there; apt install nope"
    assert found.complete
    with pytest.raises(NothingMeasured, match="the program nope is not there"):
        measure("Missing", ["x"])
    with pytest.raises(NothingMeasured, match="the suite has no query"):
        measure("Healthy", [])


def test_wrong_adapters_are_all_found_before_anything_is_measured(
    tmp_path: Path, corpus: Corpus
) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    (tmp_path / "bad.py").write_text("import json\n\n1 / 0\n")
    (tmp_path / "exits.py").write_text("import os\nos._exit(9)\n")
    asked = candidates(
        ["odd.py:Healthy", "bad.py:X", "exits.py:X", "odd.py:Wrong:top=7", "odd.py:Wrong:tap=7"],
        tmp_path,
    )
    with pytest.raises(AdapterError) as caught:
        run(suite_of(["x"]), corpus, asked, tmp_path / "out", FAST, folder=tmp_path)
    said = str(caught.value).splitlines()
    assert len(said) == 4
    assert "bad.py:3: raises when it is imported: ZeroDivisionError" in said[0]
    assert said[1] == "exits.py:X: its process ended with status 9"
    assert "Wrong(top=7): ValueError: top is at most 5" in said[2]
    assert "there is no option 'tap'; did you mean \"top\"?" in said[3]
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.rglob("__pycache__"))
    floor_name = Candidate("random", str(tmp_path / "odd.py:Healthy"))
    with pytest.raises(AdapterError, match="random: two rows of the run would have this name"):
        run(suite_of(["x"]), corpus, [floor_name], tmp_path / "out", FAST)


def test_an_adapter_finds_modules_beside_it_and_leaves_none(tmp_path: Path, corpus: Corpus) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "my_words.py").write_text("PATH = 'b.py'\n")
    (folder / "json.py").write_text("raise RuntimeError('hid the standard library')\n")
    (folder / "mine.py").write_text(
        "from codebench import Hit, Retriever\nimport my_words\n"
        "class Mine(Retriever):\n"
        "    def index(self, corpus): pass\n"
        "    def search(self, text, k): return [Hit(my_words.PATH)]\n"
    )
    asked = candidates(["tools/mine.py"], tmp_path)
    path = run(suite_of(["x"]), corpus, asked, tmp_path / "out", FAST, folder=tmp_path)
    assert read_run(path).retrievers[1].answers[0].hits == (Hit("b.py"),)
    assert sorted(file.name for file in folder.iterdir()) == ["json.py", "mine.py", "my_words.py"]


def test_index_cost_is_what_the_index_took(measure: Callable[..., Run]) -> None:
    patient = dataclasses.replace(FAST, index_timeout=60)
    cost = measure("Costly", ["x"], patient).retrievers[1].index
    assert cost is not None
    assert 0.2 <= cost.cpu_seconds < 1
    assert cost.seconds >= 0.19
    assert 60_000_000 < cost.peak_rss_bytes < 300_000_000
    assert cost.bytes == 12345
    told = measure("Costly:size=77", ["x"], patient).retrievers[1].index
    assert told is not None
    assert told.bytes == 77
    healthy = measure("Healthy", ["x"], patient).retrievers[1].index
    assert healthy is not None
    assert healthy.bytes is None
    assert healthy.peak_rss_bytes < 60_000_000


def test_a_close_that_hangs_does_not_hold_the_run(
    measure: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codebench.runner.session.CLOSE_SECONDS", 0.2)
    monkeypatch.setattr("codebench.runner.supervise.CLOSE_SECONDS", 0.2)
    start = time.monotonic()
    assert measure("ClosesLate", ["x"]).complete
    assert time.monotonic() - start < 5


def test_repeats_with_other_hits_are_kept(measure: Callable[..., Run]) -> None:
    settings = RunSettings(depth=5, repeats=2, warmups=0, floors=())
    flaky = measure("Flaky", ["x"], settings).retrievers[0]
    assert [answer.hits for answer in flaky.answers] == [(Hit("a.py", 1, 1),), (Hit("a.py", 2, 2),)]


def test_the_same_run_twice_gives_the_same_answers_in_another_folder(
    measure: Callable[..., Run],
) -> None:
    texts = [f"query {number}" for number in range(5)]
    first, second = measure("Healthy", texts), measure("Healthy", texts)
    assert first.path != second.path
    for one, other in zip(first.retrievers, second.retrievers, strict=True):
        assert [(a.query, a.hits) for a in one.answers] == [
            (a.query, a.hits) for a in other.answers
        ]


def test_what_an_adapter_says_is_made_one_printable_line(measure: Callable[..., Run]) -> None:
    rude = measure("Rude", ["x"]).retrievers[1]
    assert rude.candidate.version == "[2J1 0"
    assert rude.answers[0].status == "error"
    assert rude.answers[0].error.startswith("ValueError: [2J at ")
    assert rude.index is not None
    assert rude.index.bytes == 3


DRIVER = """
import sys
from pathlib import Path
from codebench.results import read_run
from codebench.runner.candidates import candidates
from codebench.runner.events import Answered, RunStarted
from codebench.runner.plan import RunSettings
from codebench.runner.run import run
from codebench.model import Corpus
from codebench.corpus.tables import read_tables
from codebench.suite import read_suite
here = Path(sys.argv[1])
corpus = Corpus(here / "the corpus", "sha256:1", read_tables(here / "tables.gz"))
def heard(event):
    if isinstance(event, Answered) and event.name == "odd.py:Odd" and event.done == 5:
        print("five", flush=True)
path = run(read_suite(here / "suite"), corpus, candidates(["odd.py:Odd", "odd.py:Healthy"], here),
           here / "out", RunSettings(repeats=1, warmups=0, floors=(), query_timeout=100),
           folder=here, events=heard)
print(read_run(path).complete, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_a_readable_incomplete_run_and_no_process(
    tmp_path: Path, corpus: Corpus, number: signal.Signals
) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    write_tables(corpus.tables, tmp_path / "tables.gz")
    suite = suite_of([f"query {n}" for n in range(9)])
    sixth = order(suite.queries, RunSettings())[5].query
    queries = tuple(
        dataclasses.replace(q, text="hang" if q == sixth else "x") for q in suite.queries
    )
    write_suite(dataclasses.replace(suite, queries=queries), tmp_path / "suite")
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "five\n"
        time.sleep(0.3)  # it hangs in the sixth by now
        child.send_signal(number)
        assert child.stdout.readline() == "False\n"
        assert child.wait(10) == 0
    assert not leftovers()
    found = read_run(next((tmp_path / "out").glob("*-odd-ones")))
    odd, healthy = found.retrievers
    assert not found.complete
    assert (odd.state, odd.reason, len(odd.answers)) == ("stopped", "it was interrupted", 5)
    assert (healthy.state, healthy.reason) == ("stopped", "it was not asked")
    assert found.manifest["ended"]


def test_a_results_folder_that_cannot_be_written_is_one_line(
    tmp_path: Path, corpus: Corpus
) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    (tmp_path / "file").write_text("")
    asked = candidates(["odd.py:Healthy"], tmp_path)
    with pytest.raises(ResultsError, match=r"no run can be written here .* choose another"):
        run(suite_of(["x"]), corpus, asked, tmp_path / "file" / "out", FAST, folder=tmp_path)


def test_an_environments_secrets_are_not_in_the_run(
    measure: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOL_API_KEY", "hunter2-hunter2")
    found = measure("Healthy", ["x"])
    for file in found.path.rglob("*"):
        if file.is_file():
            assert b"hunter2" not in file.read_bytes()
