"""Every built-in candidate, run for real over the suite tiny; what is not here is skipped."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codebench.adapter import Retriever, Unavailable, builtin_names, load, make
from codebench.corpus.cache import ChunkCache
from codebench.corpus.directory import open_directory
from codebench.corpus.outliner import Outliner
from codebench.errors import AdapterError, NothingMeasured
from codebench.home import builtin
from codebench.kit import passages
from codebench.model import Corpus, Hit
from codebench.report.conformance import conformance_text
from codebench.runner.candidates import candidate
from codebench.runner.conformance import check
from codebench.runner.watching import Watched

if TYPE_CHECKING:
    from collections.abc import Iterator

PROTOCOLS = {"command", "embeddings", "http", "lsp", "mcp"}
"""They wrap what somebody else has: see test_protocols.py."""

OTHERS = {
    "minilm": "minilm:tokens=32",
    "hybrid": "hybrid:first=bm25,second=fts5",
    "semble": "semble:model=wordllama",
}
"""How one is asked here where its defaults need a network, or cost much."""

MORE = ("postgres:mode=trigram", "lsa:by=lines", "wordllama:by=lines,nearest=approximate")

NAMES = [OTHERS.get(name, name) for name in sorted(set(builtin_names()) - PROTOCOLS)] + [*MORE]

VARYING = {"probe": {"the same answer twice", "index twice"}}
"""What a tool breaks by itself, and its adapter cannot mend: probe's candidates vary."""


@pytest.mark.parametrize("name", NAMES)
def test_a_candidate_keeps_the_contract_in_a_process_as_a_run_has_it(
    name: str, tmp_path: Path
) -> None:
    adapters = Watched(builtin("adapters"), 1, changes=False)
    try:
        found = check(candidate(name, tmp_path), tmp_path, watched=[adapters], questions=3)
    except NothingMeasured as reason:
        pytest.skip(str(reason))
    failed = {item.name for item in found.items if item.outcome == "failed"}
    assert failed <= VARYING.get(name, set()), conformance_text([found], "table")
    assert found.candidate.version


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("candidates")
    shutil.copytree(builtin("suites") / "tiny" / "corpus", folder / "corpus")
    with Outliner(ChunkCache(folder / "chunks.sqlite"), jobs=1) as outliner:
        return open_directory(folder / "corpus", outliner)


def indexed(name: str, corpus: Corpus, **options: Any) -> Iterator[Retriever]:
    kind = load(name)
    reason = kind.missing()
    if reason:
        pytest.skip(reason)
    made = make(kind, options)
    made.index(corpus)
    yield made
    made.close()


LIGHT = ["ast-grep", "codesearch", "ctags", "fts5", "fts5-trigram", "lsa", "tantivy", "ugrep",
         "wordllama"]  # fmt: skip


@pytest.mark.parametrize("name", LIGHT)
def test_the_right_place_comes_first_for_a_plain_question(
    name: str, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for made in indexed(name, corpus):
        first = made.search("exponential backoff with jitter", 5)[0]
        assert Path(corpus.path, first.path).relative_to(corpus.path) == Path("worker/retry.go")
        assert 18 <= (first.start_line or 0) <= 19


def test_a_whole_question_is_one_pattern(corpus: Corpus) -> None:
    for made in indexed("ripgrep-literal", corpus):
        assert made.search("backoff with jitter", 5) == []
        words = made.search("With   jitter so\nthat jobs", 5)
        assert [(hit.path, hit.start_line) for hit in words] == [("worker/retry.go", 18)]
        assert made.search("func (p Policy) Backoff(", 5)[0].start_line == 19


def test_fusion_shows_each_arm_as_a_row_and_is_their_reciprocal_ranks(
    tmp_path: Path, corpus: Corpus
) -> None:
    (tmp_path / "arms.py").write_text(
        "from codebench import Hit, Retriever\n"
        "class A(Retriever):\n"
        "    def index(self, corpus): pass\n"
        "    def search(self, text, k):\n"
        "        first, again = Hit('api/auth.py', 21, 25), Hit('api/auth.py', 26, 28)\n"
        "        return [first, again, Hit('web/cart.ts')]\n"
        "class B(A):\n"
        "    def search(self, text, k):\n"
        "        return [Hit('web/cart.ts'), Hit('api/auth.py', 20, 31, 'check_token')]\n"
    )
    arms = {"first": f"{tmp_path}/arms.py:A", "second": f"{tmp_path}/arms.py:B"}
    for made in indexed("hybrid", corpus, **arms, k=10):
        assert list(made.beside()) == list(arms.values())
        auth, cart = made.search("anything", 10)
        assert (auth.path, auth.start_line, auth.end_line) == ("api/auth.py", 21, 25)
        assert auth.score == pytest.approx(0.5 / 11 + 0.5 / 12)
        assert cart.score == pytest.approx(0.5 / 13 + 0.5 / 11)
    for made in indexed("hybrid", corpus, **arms, arms=False):
        assert list(made.beside()) == []


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ("mine.py:Mine:k=1", r"write \{here\}/mine\.py:Mine for a file of your own"),
        ("mine.yaml:heavy", "an entry of a retrievers file is no arm"),
    ],
)
def test_fusion_says_how_a_file_of_ones_own_is_an_arm(arm: str, said: str) -> None:
    with pytest.raises(AdapterError, match=said):
        make(load("hybrid"), {"second": arm})


def test_fusion_with_what_is_not_there_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone.py").write_text(
        "from codebench import Retriever\n"
        "class Gone(Retriever):\n"
        "    @classmethod\n"
        "    def missing(cls): return 'gone is not there; apt install gone'\n"
        "    def index(self, corpus): pass\n"
        "    def search(self, text, k): return []\n"
    )
    with pytest.raises(Unavailable, match="apt install gone"):
        make(load("hybrid"), {"second": f"{tmp_path}/gone.py"})
    with pytest.raises(AdapterError, match="'nothing' is no retriever"):
        make(load("hybrid"), {"second": "nothing"})
    with pytest.raises(AdapterError, match="in \\(0, 1\\)"):
        make(load("hybrid"), {"weight": 1})


@pytest.mark.parametrize("name", sorted(set(builtin_names()) - PROTOCOLS - {"hybrid"}))
def test_what_is_not_installed_says_what_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kind = load(name)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setattr("pathlib.Path.glob", lambda *_: iter(()))

    def absent(distribution: str) -> str:
        from importlib.metadata import PackageNotFoundError

        raise PackageNotFoundError(distribution)

    monkeypatch.setattr("importlib.metadata.version", absent)
    reason = kind.missing()
    if name in {"lsa", "fts5", "fts5-trigram", "bm25"}:  # of the standard library, and required
        return
    assert reason
    assert "install" in reason


def test_passages_are_chunks_or_windows(corpus: Corpus) -> None:
    chunks = passages.passages(corpus)
    assert len(chunks) == sum(1 for _ in corpus.chunks())
    (check_token,) = (one for one in chunks if one.symbol == "check_token")
    assert check_token.text.startswith("api/auth.py check_token\ndef check_token")
    assert check_token.hit(0.5) == Hit(
        "api/auth.py", check_token.start_line, check_token.end_line, "check_token", 0.5
    )
    windows = passages.passages(corpus, "lines", 20, 5)
    retry = [(one.start_line, one.end_line) for one in windows if one.path == "worker/retry.go"]
    assert retry == [(1, 20), (16, 35), (31, 50), (46, 51)]
    with pytest.raises(ValueError, match="overlap is from 0 to below lines"):
        passages.passages(corpus, "lines", 5, 5)


def test_nearest_vectors_are_the_same_exactly_and_by_a_graph() -> None:
    import numpy as np

    from codebench.kit.vectors import Nearest, best

    vectors = np.random.default_rng(0).standard_normal((300, 16))
    vectors[7] = 0
    vectors[8] = np.nan
    vectors[20] = vectors[10]
    exact = Nearest(vectors)
    found = exact.find(vectors[10] * 3, 5)
    assert [at for at, _ in found][:2] == [10, 20]  # equal ones by position
    assert found[0][1] == pytest.approx(1)
    assert exact.find(np.zeros(16), 5) == []
    assert {7, 8}.isdisjoint(at for at, _ in exact.find(vectors[3], 300))
    assert Nearest(np.zeros((0, 16))).find(vectors[0], 3) == []
    assert best(np.array([0.0, 2.0, 2.0, -1.0]), 5) == [(1, 2.0), (2, 2.0)]
    assert best(np.array([3.0, 2.0, 2.0, 2.0]), 2) == [(0, 3.0), (1, 2.0)]
    pytest.importorskip("usearch", reason="usearch is not installed; pip install usearch")
    graph = Nearest(vectors, "approximate")
    assert graph.find(vectors[10], 5) == exact.find(vectors[10], 5)
    assert graph.size > exact.size


def test_lsa_brings_words_together_that_stand_together(tmp_path: Path) -> None:
    texts = ["car wheel engine", "car engine road", "automobile wheel road", "banana fruit salad",
             "fruit salad bowl"]  # fmt: skip
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text + "\n")
    with Outliner(ChunkCache(tmp_path.parent / "lsa.sqlite"), jobs=1) as outliner:
        small = open_directory(tmp_path, outliner)
    for made in indexed("lsa", small, dimensions=2):
        found = [hit.path for hit in made.search("automobile", 3)]
        assert sorted(found) == ["0.txt", "1.txt", "2.txt"]  # the first two never say it
        assert made.search("zzz", 3) == []
    for made in indexed("lsa", Corpus(tmp_path, "", ())):
        assert made.search("automobile", 3) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="anybody else runs the server as himself")
def test_the_server_of_root_opens_no_folder_and_leaves_none(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    monkeypatch.chdir(private)
    modes = {folder: folder.stat().st_mode for folder in (private, *private.parents)}
    for made in indexed("postgres", corpus):
        module: Any = sys.modules[type(made).__module__]
        assert made.search("expired token", 3)
        assert {folder: folder.stat().st_mode for folder in modes} == modes
        own, left = made.folder, module.OPEN / f"{module.PREFIX}left"  # type: ignore[attr-defined]
        assert own.is_dir()
        (left / "data").mkdir(parents=True)
        shutil.chown(left, module.USER)
        (left / "data" / "postmaster.pid").write_text("99999999\n")
        module._own_folder().rmdir()
        assert not left.exists()  # somebody was killed there
        assert own.is_dir()
    assert not own.exists()


def test_a_server_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = load("postgres")
    if kind.missing():
        pytest.skip(str(kind.missing()))
    made: Any = make(kind, {})
    monkeypatch.setattr(sys.modules[kind.__module__], "END_SECONDS", 0.1)
    stubborn = subprocess.Popen(
        ["sh", "-c", "trap '' INT; echo; exec sleep 60"], stdout=subprocess.PIPE
    )
    assert stubborn.stdout is not None
    with stubborn.stdout:
        stubborn.stdout.read(1)
        made.server = stubborn
        made.close()
    assert stubborn.returncode == -signal.SIGKILL
