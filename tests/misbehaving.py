"""A small corpus, and adapters over it that the runner's tests ask."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.model import Chunk, Corpus, FileTable, Query, Suite, Target
from codebench.results import Run, read_run
from codebench.runner.candidates import candidates
from codebench.runner.plan import RunSettings
from codebench.runner.run import run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

ADAPTERS = '''
"""Adapters for the tests of the runner."""
import json, os, subprocess, sys, threading, time
from pathlib import Path
from codebench import Hit, RateLimited, Retriever

class Healthy(Retriever):
    version = "1"
    def index(self, corpus): self.root = corpus.path
    def search(self, text, k): return [Hit("a.py", 1, 2, "f", 1.0), Hit("b.py")][:k]

class Leaks(Healthy):
    """Holds 200 MB more in a child when it is asked for it."""
    def search(self, text, k):
        if text == "leak":
            hog = "x = bytearray(200_000_000); x[::4096] = b'x' * len(x[::4096]); "
            subprocess.run([sys.executable, "-c", hog + "import time; time.sleep(30)"])
        return super().search(text, k)

class LeavesDaemons(Healthy):
    """Leaves processes that left their session, their group and their environment."""
    def index(self, corpus):
        super().index(corpus)
        start = "import os; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); "
        start += "os.execve('/bin/sleep', ['sleep', '613.7'], {})"
        for _ in range(2):
            subprocess.run([sys.executable, "-c", start], check=True)
        time.sleep(0.3)  # they become what they are
    def search(self, text, k):
        if text == "exit": os._exit(3)
        return super().search(text, k)

class Busy(Healthy):
    """Works in a child that ends, and in a daemon that does not."""
    def index(self, corpus):
        super().index(corpus)
        work = "import time\\nwhile time.process_time() < 0.4: pass\\n"
        keep = "x = bytearray(80_000_000); x[::4096] = b'x' * len(x[::4096])\\n"
        subprocess.run([sys.executable, "-c", work], check=True)
        done = Path.home() / "done"
        end = f"open({str(done)!r}, 'w').close(); time.sleep(60)"
        subprocess.Popen([sys.executable, "-c", keep + work + end])
        while not done.exists(): time.sleep(0.02)

class Limited(Healthy):
    """A service that refuses the first calls."""
    def __init__(self, refusals: int = 2, wait: str = "0.05"):
        self.left, self.wait = refusals, wait
    def search(self, text, k):
        if text == "limited" and self.left:
            self.left -= 1
            time.sleep(0.02)
            raise RateLimited(None if self.wait == "none" else self.wait)
        self.server_seconds = 0.25
        return super().search(text, k)

class Claims(Healthy):
    """Says of its server's time what is no time."""
    def search(self, text, k):
        import numpy
        self.server_seconds = "soon" if text == "soon" else numpy.float32(0.5)
        return super().search(text, k)

class Turns(Healthy):
    """Answers otherwise in every process."""
    def index(self, corpus): self.mark = 1 + os.getpid() % 100_000
    def search(self, text, k):
        if text == "turns": return [Hit("a.py", symbol=f"s{self.mark}")]
        return [Hit("a.py", score=float(self.mark))]

class Keeps(Healthy):
    """Has an index that can be kept."""
    def __init__(self, word: str = "w", refuse: bool = False): self.word, self.refuse = word, refuse
    def index(self, corpus):
        time.sleep(0.3)
        self.words = [self.word]
    def search(self, text, k): return [Hit("a.py", symbol=self.words[0])]
    def save(self, folder):
        (folder / "words.json").write_text(json.dumps(self.words)); return True
    def restore(self, corpus, folder):
        if self.refuse: return False
        if self.word == "dies": os._exit(3)
        self.words = json.loads((folder / "words.json").read_text())
        (folder / "words.json").write_text("gone"); return True

class Sleeps(Healthy):
    """Takes 20 ms; one query stalls."""
    concurrent = False
    def search(self, text, k):
        time.sleep(0.4 if text == "stall" else 0.02)
        if text == "raise": raise LookupError("no")
        if text == "hang": time.sleep(60)
        return super().search(text, k)

class Blocks(Healthy):
    """Starts a program and waits for it."""
    def search(self, text, k):
        if text == "block": subprocess.run(["sleep", "614.2"])
        return super().search(text, k)

class SleepsBeside(Sleeps):
    concurrent = True

class Follows(Healthy):
    """Counts the lines of files, and can be brought up to date."""
    def __init__(self, wrong: bool = False): self.wrong = wrong
    def index(self, corpus):
        time.sleep(0.2)
        self.lines = {t.path: len(corpus.lines(t.path)) for t in corpus.tables}
    def update(self, corpus, changed_paths):
        for path in changed_paths:
            self.lines.pop(path, None)
            if (corpus.path / path).exists() and not self.wrong:
                self.lines[path] = len(corpus.lines(path))
        return True
    def search(self, text, k):
        return [Hit(path, 1, lines) for path, lines in sorted(self.lines.items())]

class Secretive(Healthy):
    def __init__(self, api_key: str = ""): self.key = api_key
    def search(self, text, k):
        raise ValueError(f"401 for {self.key} and {os.environ.get('TOOL_TOKEN')}")
'''

QUICK = RunSettings(
    depth=5, query_timeout=2, index_timeout=10, warmups=0, repeats=1, floors=(), null_asks=0
)


def corpus_in(folder: Path) -> Corpus:
    """Make a corpus of two files."""
    place = folder / "corpus"
    place.mkdir()
    tables = []
    for name in ("a.py", "b.py"):
        (place / name).write_text("def f():\n    pass\n")
        chunk = Chunk(name, "f", 1, "function", ((1, 2),), "", "", 9)
        tables.append(FileTable(name, "python", (9, 9), (chunk,)))
    return Corpus(place, "sha256:1", tuple(tables))


def suite_of(texts: Sequence[str]) -> Suite:
    """Return a suite that asks texts; a.py::f answers each."""
    queries = tuple(
        Query(f"q{number:03}", text, (Target("a.py", "a.py::f"),))
        for number, text in enumerate(texts)
    )
    return Suite("small", "", "", "sha256:1", queries)


class Lab:
    """A folder with the adapters, a corpus and results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.corpus = corpus_in(folder)
        self.heard: list[Any] = []
        self.times: dict[int, float] = {}
        (folder / "small.py").write_text(ADAPTERS)

    def _hear(self, event: Any) -> None:
        self.heard.append(event)
        self.times[id(event)] = time.monotonic()

    def run(
        self, names: str, texts: Sequence[str], settings: RunSettings = QUICK, **more: Any
    ) -> Run:
        """Run adapters over texts and read the run."""
        asked = candidates([f"small.py:{name}" for name in names.split()], self.folder)
        path = run(
            suite_of(texts), self.corpus, asked, self.folder / "out", settings,
            folder=self.folder, events=self._hear, **more,
        )  # fmt: skip
        return read_run(path)


def sleepers(seconds: str) -> list[str]:
    """Process IDs of running `sleep SECONDS`, wherever they went."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if command == b"sleep\x00" + seconds.encode() + b"\x00":
            found.append(entry.name)
    return found
