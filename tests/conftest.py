"""What every test shares: a cache of its own, one run of the suite tiny, golden output."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codebench.cli.main import main
from codebench.corpus.outliner import Outliner
from codebench.gold import workshop
from tests import measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from codebench.corpus.cache import ChunkCache

GOLDEN = Path(__file__).parent / "golden"


def pytest_configure() -> None:
    """Let programs that tests start be interrupted, whoever started the tests.

    A test run in the background (`nohup … &`) ignores these signals, and what it starts would
    inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    coverage = sys.modules.get("coverage")
    if coverage is not None and coverage.Coverage.current() is not None:
        measured.follow_workers()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write what the program prints into tests/golden, to be read in the diff",
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a check that a text is what a file of tests/golden holds."""

    def check(name: str, text: str) -> None:
        # The last digits of a sum differ between processors.
        text = re.sub(r"\d+\.\d{10,}(e-\d+)?", lambda found: f"{float(found.group()):.9f}", text)
        path = GOLDEN / name
        if request.config.getoption("--rewrite-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text

    return check


@pytest.fixture(scope="session", autouse=True)
def _parsed_here() -> Iterator[None]:
    """Parse in this process where a test names no number of processes.

    Starting a pool costs more than all that a test parses. `test_outliner.py` is about pools;
    programs that tests start, and `--jobs 2`, have real ones.
    """

    def outliner(cache: ChunkCache, jobs: int | None = None) -> Outliner:
        return Outliner(cache, jobs or 1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workshop, "Outliner", outliner)
        yield


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of bm25, ripgrep and the floors over the suite tiny, made once."""
    results = tmp_path_factory.mktemp("results")
    words = "run tiny -r bm25 -r ripgrep --repeats 1 --jobs 1 -o".split()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODEBENCH_CACHE", str(results / "cache"))
        assert main([*words, str(results / "local")]) == 0
    (run,) = (path for path in (results / "local").iterdir() if path.is_dir())
    return run


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the cache at a folder of the test run."""
    folder = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("CODEBENCH_CACHE", str(folder))
    return folder
