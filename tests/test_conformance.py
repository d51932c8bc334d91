"""The conformance kit finds what an adapter does wrong, item by item."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codebench.cli.main import main
from codebench.errors import NothingMeasured
from codebench.home import builtin
from codebench.runner.candidates import candidate
from codebench.runner.conformance import check
from codebench.runner.watching import Watch, Watched, places_of_others

if TYPE_CHECKING:
    from codebench.runner.conformance import Conformance

pytest_plugins = ("pytester",)

ADAPTERS = '''
"""One adapter a fault."""
import os, subprocess, sys, time
from codebench import Hit, Retriever

class Good(Retriever):
    """Finds definitions by their names."""
    version = "1"
    def index(self, corpus):
        self.root = corpus.path
        self.chunks = [c for c in corpus.chunks() if c.name]
    def search(self, text, k):
        words = set(text.lower().replace("_", " ").split())
        found = [c for c in self.chunks if words & set(c.name.lower().replace("_", " ").split())]
        return [Hit(c.path, c.start_line, c.end_line, c.name) for c in found][:k]

class FromZero(Good):
    def search(self, text, k):
        return [Hit(h.path, h.start_line - 1, h.end_line, h.symbol)
                for h in super().search(text, k)]

class OneAbove(Good):
    def search(self, text, k):
        return [Hit(h.path, max(1, h.start_line - 1), h.end_line, h.symbol)
                for h in super().search(text, k) if h.start_line > 1]

class Elsewhere(Good):
    def search(self, text, k):
        return [Hit("src/" + h.path) for h in super().search(text, k)]

class Outside(Good):
    def search(self, text, k): return [Hit("/etc/passwd", 1, 2)]

class TooMany(Good):
    def search(self, text, k): return super().search(text, 10_000)[:k + 1]

class Padded(Good):
    def search(self, text, k):
        found = super().search(text, k)
        return (found * k)[:k]

class Refuses(Good):
    def search(self, text, k):
        found = super().search(text, k)
        if not found: raise LookupError("no results")
        return found

class Ascii(Good):
    def search(self, text, k): text.encode("ascii"); return super().search(text, k)

class OneLine(Good):
    def search(self, text, k):
        if "\\n" in text or '"' in text: raise ValueError("cannot parse")
        return super().search(text, k)

class Shell(Good):
    def search(self, text, k):
        text = text.replace("\\0", "").encode("utf-8", "replace").decode()[:9000]
        subprocess.run("true " + text, shell=True, capture_output=True)
        return super().search(text, k)

class Options(Good):
    def search(self, text, k):
        if text.startswith("-"): raise SystemExit(2)
        return super().search(text, k)

class Short(Good):
    def search(self, text, k):
        if len(text) > 5000: os._exit(3)
        return super().search(text, k)

class Moody(Good):
    turn = 0
    def search(self, text, k):
        self.turn += 1
        return super().search(text, k)[: self.turn % 5]

class Adds(Good):
    known = ()
    def index(self, corpus):
        super().index(corpus)
        self.known = self.chunks = [*self.known, *self.chunks]

class Once(Good):
    made = False
    def index(self, corpus):
        if self.made: raise RuntimeError("the index is there already")
        self.made = True
        super().index(corpus)

class ClosesOnce(Good):
    def close(self): del self.root

class Leaves(Good):
    def index(self, corpus):
        subprocess.Popen(["sleep", "300"], start_new_session=True)
        super().index(corpus)

class Writes(Good):
    def index(self, corpus):
        open(sys.modules[type(self).__module__].__file__ + ".cache", "w").close()
        open(corpus.path / "index.db", "w").close()
        super().index(corpus)

class WritesInside(Good):
    def index(self, corpus):
        seen = sorted(p.name for p in corpus.path.rglob("*") if p.suffix in (".pyc", ".png"))
        (corpus.path / f"saw {', '.join(seen)}.txt").touch()
        super().index(corpus)

class Lazy(Good):
    def search(self, text, k):
        found = super().search(text, k)
        class Later(list):
            def __len__(self): time.sleep(0.06); return super().__len__()
        return Later(found)

class Silent(Good):
    def search(self, text, k): return []

class Literal(Good):
    """Takes the whole question for one name."""
    def search(self, text, k):
        return [Hit(c.path, c.start_line, c.end_line, c.name) for c in self.chunks
                if c.name == text][:k]

class Raises(Good):
    """Answers little of what it is asked."""
    def search(self, text, k):
        if text != "marmalade_quota": raise KeyError("boom")
        return super().search(text, k)

class NoIndex(Good):
    def index(self, corpus): raise OSError("no room")

class Absent(Good):
    @classmethod
    def missing(cls): return "the program gone is not there; apt install gone"
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(ADAPTERS)
    return tmp_path


def checked(folder: Path, kind: str) -> Conformance:
    one = candidate(f"mine.py:{kind}", folder)
    return check(one, folder, watched=[Watched(folder, 2)], questions=3)


def test_an_adapter_that_keeps_the_contract_passes_every_item(folder: Path) -> None:
    found = checked(folder, "Good")
    assert [item for item in found.items if item.outcome == "failed"] == []
    assert found.sound
    assert len({item.name for item in found.items}) == 20
    assert found.candidate.version == "1"
    assert checked(folder, "Literal").sound


@pytest.mark.parametrize(
    ("kind", "item", "said"),
    [
        ("FromZero", "lines count from 1", "lines count from 1"),
        ("OneAbove", "lines count from 1", "start a line above it"),
        (
            "Elsewhere",
            "paths are files of the corpus",
            "src/api/auth.py is api/auth.py in the corpus",
        ),
        ("Outside", "paths are files of the corpus", "/etc/passwd"),
        ("TooMany", "k is kept", "1 asked for, 2 returned"),
        ("Padded", "a list shorter than k is not filled up", "times"),
        ("Refuses", "nothing found is an empty answer, no error", "no results"),
        ("Ascii", "unicode questions", "UnicodeEncodeError"),
        ("OneLine", "quotes and newlines in questions", "cannot parse"),
        ("Shell", "nothing in a question is run", "canary"),
        ("Options", "options in questions are text", "'--version' error: SystemExit"),
        ("Short", "questions of 10,000 characters", "ended with status 3"),
        ("Moody", "the same answer twice", "answers are others"),
        ("Adds", "index twice", "answers are others"),
        ("Once", "index twice", "the index is there already"),
        ("ClosesOnce", "close twice", "the second call raises AttributeError"),
        ("Leaves", "leaves no process", "2 left after close"),
        ("Writes", "writes in its own folders only", "mine.py.cache"),
        ("Lazy", "latency is plausible", "outside of it"),
        ("NoIndex", "starts and indexes", "no room"),
        ("Silent", "finds something", "24 questions, names of the corpus among them, found"),
    ],
)
def test_each_fault_is_found(folder: Path, kind: str, item: str, said: str) -> None:
    found = checked(folder, kind)
    assert not found.sound
    (failed,) = (one for one in found.items if one.name == item)
    assert failed.outcome == "failed", found
    assert said in failed.detail


def test_of_what_is_hardly_ever_answered_little_is_judged(folder: Path) -> None:
    items = {item.name: item for item in checked(folder, "Raises").items}
    assert items["answers questions"].outcome == "failed"
    for name in ("the same answer twice", "index twice", "latency is plausible"):
        assert items[name].outcome == "not judged"
        assert "questions were answered" in items[name].detail


def test_what_the_corpus_held_before_was_not_written_by_the_adapter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suites = folder / "suites"
    shutil.copytree(builtin("suites") / "tiny", suites / "tiny")
    inside = suites / "tiny/corpus/api"
    (inside / "picture.png").write_bytes(b"PNG\0")
    (inside / "__pycache__").mkdir()
    (inside / "__pycache__/auth.cpython-311.pyc").write_bytes(b"\0")  # as pip leaves it
    monkeypatch.setattr("codebench.runner.conformance.builtin", lambda _: suites)
    items = {item.name: item for item in checked(folder, "WritesInside").items}
    written = items["writes in its own folders only"]
    assert written.outcome == "passed"
    assert written.detail == "writes into its copy of the corpus: saw picture.png.txt"


def test_an_adapter_that_cannot_run_here_is_not_judged(folder: Path) -> None:
    with pytest.raises(NothingMeasured, match="apt install gone"):
        checked(folder, "Absent")


def test_the_command_line_reports_and_ends_with_3(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    words = ["list", "retrievers", "--check"]
    assert main([*words, "mine.py:Good", "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["checked"]
    assert (one["retriever"], one["sound"], one["version"]) == ("mine.py:Good", True, "1")
    assert main([*words, "mine.py:NoIndex"]) == 3
    shown = capsys.readouterr().out
    assert "1 of 1 failed" in shown
    assert "no room" in shown
    assert main([*words, "mine.py:Absent"]) == 2
    assert "apt install gone" in capsys.readouterr().err
    assert main(["list", "suites", "--check", "bm25"]) == 2
    assert main([*words, "bm25", "--format", "csv"]) == 2


def test_what_is_new_or_changed_is_seen_and_what_others_own_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "old").write_text("1")
    watch = Watch([Watched(tmp_path, 2)])
    quiet = Watch([Watched(tmp_path, 2, changes=False)])
    assert watch.news() == ()
    (tmp_path / "old").write_text("22")
    (deep / "too deep").write_text("")
    (tmp_path / "a" / "new").write_text("")
    assert watch.news() == (str(tmp_path / "a" / "new"), str(tmp_path / "old"))
    assert quiet.news() == (str(tmp_path / "a" / "new"),)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "a"))
    assert tmp_path not in [one.folder for one in places_of_others(tmp_path, "")]
    assert deep in [one.folder for one in places_of_others(deep, "")]


def test_the_fixture_fails_and_skips_a_users_own_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mine=ADAPTERS)
    pytester.makepyfile(
        """
        def test_good(codebench_check):
            assert codebench_check("mine.py:Good").sound
        def test_bad(codebench_check):
            codebench_check("mine.py:NoIndex")
        def test_wrong(codebench_check):
            codebench_check("mine.py:Nobody")
        def test_absent(codebench_check):
            codebench_check("mine.py:Absent")
        """
    )
    pytester.syspathinsert(str(Path(__file__).parent.parent))
    installed = {point.name for point in entry_points(group="pytest11")}
    plugin = [] if "codebench" in installed else ["-p", "codebench.pytest_plugin"]
    done = pytester.runpytest_subprocess(*plugin, "-rs")
    done.assert_outcomes(passed=1, failed=2, skipped=1)
    done.stdout.fnmatch_lines(["*no room*", "*there is no 'Nobody'*", "*apt install gone*"])
