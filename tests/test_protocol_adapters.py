"""Commands, services, MCP tools, language servers and embeddings, asked by adapters in process."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codebench.adapter import RateLimited, Retriever, load, make
from codebench.corpus.cache import ChunkCache
from codebench.corpus.directory import open_directory
from codebench.corpus.outliner import Outliner
from codebench.home import builtin
from codebench.model import Corpus, Hit
from codebench.protocols.output import ToolError
from codebench.protocols.vectors import unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOOLS = Path(__file__).parent / "tools"

HOSTILE = [
    "-rf --pre=sh",
    "--version",
    "$(touch pwned) `touch pwned` ; touch pwned | touch pwned",
    "word " * 2_000,
    "x" * 10_000,
    "emoji 💥👩‍👩‍👧 and right-to-left שלום עולם \u202eabc",
    "quotes ' \" \\ and % %s %(x)s {k} ${HOME} {{query}}",
    "a&b=c?d#e/../f",
]
"""What every adapter hands on as text, every character of it."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("protocols")
    shutil.copytree(builtin("suites") / "tiny" / "corpus", folder / "corpus")
    with Outliner(ChunkCache(folder / "chunks.sqlite"), jobs=1) as outliner:
        return open_directory(folder / "corpus", outliner)


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "log.jsonl"


@pytest.fixture
def log(logged: Path) -> Path:
    """What the tools note of their questions; each test begins with none."""
    logged.unlink(missing_ok=True)
    return logged


@pytest.fixture
def indexed(corpus: Corpus) -> Iterator[Callable[..., Retriever]]:
    """Return what makes and indexes an adapter; it is closed afterwards, twice."""
    made: list[Retriever] = []

    def one(name: str, **options: Any) -> Retriever:
        kind = load(name)
        if kind.missing():
            pytest.skip(str(kind.missing()))
        made.append(make(kind, options))
        made[-1].index(corpus)
        return made[-1]

    yield one
    for retriever in made:
        retriever.close()
        retriever.close()


def noted(log: Path, what: str) -> list[Any]:
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [value for name, value in rows if name == what]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def service(corpus: Corpus, logged: Path) -> Iterator[str]:
    """Start the service of tests/tools in a process of its own, and return its address."""
    port = free_port()
    words = [sys.executable, str(TOOLS / "service.py"), str(port), str(corpus.path), str(logged)]
    with subprocess.Popen(words) as process:
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
        process.kill()


SERVICE_OUTPUT = {
    "hits": "Result.Hits[]",
    "fields": {"path": "at.file", "line": "at.from"},
    "zero_based": True,
}

RECORDER = "import os, sys; open(sys.argv[1], 'w').write({what}); print('api/auth.py:14')"


def recorder(log: Path, what: str, *arguments: str, **more: Any) -> dict[str, Any]:
    return {
        "argv": [sys.executable, "-c", RECORDER.format(what=what), str(log), *arguments],
        "output": {"format": "pattern", "pattern": r"(?P<path>.+):(?P<line>\d+)"},
        **more,
    }


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("way", ["after --", "in an argument", "stdin", "environment"])
def test_a_command_gets_the_question_as_text(
    indexed: Callable[..., Retriever], corpus: Corpus, log: Path, way: str, text: str
) -> None:
    options = {
        "after --": recorder(log, "sys.argv[3]", "--", "{query}"),
        "in an argument": recorder(log, "sys.argv[2][3:]", "-q={query}"),
        "stdin": recorder(log, "sys.stdin.read()", stdin="{query}"),
        "environment": recorder(log, "os.environ['ASKED']", environment={"ASKED": "{query}"}),
    }[way]
    hits = indexed("command", **options).search(text, 5)
    assert hits == [Hit("api/auth.py", 14)]
    assert log.read_text() == text
    assert not list(corpus.path.rglob("pwned"))
    assert not list(Path.cwd().glob("pwned"))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_real_search_finds_a_hostile_question_as_text(tmp_path: Path, text: str) -> None:
    if shutil.which("rg") is None:
        pytest.skip("the program rg is not there; apt install ripgrep")
    (tmp_path / "a.txt").write_text(f"first\nbefore {text} after\n")
    words = "rg --no-config --line-number --with-filename --no-heading --fixed-strings".split()
    options = {
        "argv": [*words, "--regexp={query}", "."],
        "output": {"format": "pattern", "pattern": r"^(?P<path>[^:\n]+):(?P<line>\d+):"},
    }
    made = make(load("command"), options)
    made.index(Corpus(tmp_path, "", ()))
    assert made.search(text, 5) == [Hit("a.txt", 2)]


def test_a_command_without_a_question_says_nothing_and_fails_loudly(
    indexed: Callable[..., Retriever], log: Path
) -> None:
    wordless = indexed("command", **recorder(log, "'x'", "-q={alternatives}"))
    assert wordless.search("the of and", 5) == []
    assert not log.exists()
    assert wordless.search("a\0b \ud800 token", 5)
    with pytest.raises(ToolError, match=r"ended with status 1: .*ZeroDivisionError"):
        indexed("command", **recorder(log, "str(1/0)", " {query}")).search("x", 5)
    with pytest.raises(ToolError, match=r"9 \(if that means .* found: statuses: \[9\]\)$"):
        indexed("command", **recorder(log, "sys.exit(9)", " {query}")).search("x", 5)
    fine = indexed("command", **recorder(log, "sys.exit(9)", " {query}", statuses=[9]))
    assert fine.search("x", 5) == []
    long = indexed("command", **recorder(log, "sys.argv[2]", " {query}"))
    with pytest.raises(ToolError, match="too long; have it read stdin"):
        long.search("x" * 200_000, 5)


PERL = ["perl", str(TOOLS / "word_search.pl")]


@pytest.fixture
def staying(indexed: Callable[..., Retriever]) -> Retriever:
    if shutil.which("perl") is None:
        pytest.skip("the program perl is not there; apt install perl")
    return indexed("command", argv=[*PERL, "--stay"], persistent=True)


def test_a_command_that_stays_answers_as_one_that_does_not(
    indexed: Callable[..., Retriever], staying: Retriever
) -> None:
    pattern = r"^(?P<score>\d+) (?P<path>.+):(?P<line>\d+)$"
    output = {"format": "pattern", "pattern": pattern}
    once = indexed("command", argv=[*PERL, "--", "{query}"], output=output)
    for text in ("signed tokens that expire", "exponential backoff with jitter", "nothingofit"):
        hits = once.search(text, 5)
        assert staying.search(text, 5) == hits
        assert len(hits) <= 5
    assert once.search("exponential backoff with jitter", 5)[0].path == "worker/retry.go"
    assert once.concurrent
    assert not staying.concurrent


def test_a_command_that_stays_is_started_again_after_its_end(staying: Retriever) -> None:
    with pytest.raises(ToolError, match="it says that it failed: asked to fail"):
        staying.search("please fail", 5)
    with pytest.raises(ToolError, match="perl ended with status 7"):
        staying.search("please die", 5)
    assert staying.search("jitter", 5)[0].path == "worker/retry.go"
    for text in [*HOSTILE, "two\nlines of jitter\r\n\n"]:
        staying.search(text, 5)
    assert staying.search("jitter", 5)[0].path == "worker/retry.go"


def test_a_command_prepares_its_index_once(
    indexed: Callable[..., Retriever], log: Path, corpus: Corpus
) -> None:
    code = "import os, sys; open(sys.argv[1], 'a').write(os.getcwd() + ' ' + sys.argv[2] + '\\n')"
    prepare = [sys.executable, "-c", code, str(log), "{corpus}"]
    options = recorder(log.with_name("asked"), "sys.argv[2]", " {query}")
    made = indexed("command", index=prepare, **options)
    made.search("x", 1)
    assert log.read_text() == f"{corpus.path} {corpus.path}\n"
    with pytest.raises(ToolError, match=r"ended with status 1: .*ZeroDivisionError"):
        indexed("command", index=[sys.executable, "-c", "1/0"], **options)
    with pytest.raises(ToolError, match=r"ended with status 1$"):
        indexed("command", index=[sys.executable, "-c", "raise SystemExit(1)"], **options)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_service_gets_the_question_as_text(
    indexed: Callable[..., Retriever], service: str, log: Path, method: str, text: str
) -> None:
    options: dict[str, Any] = {"url": f"{service}/search?q={{query}}&k={{k}}"}
    if method == "POST":
        body = {"query": "{query}", "limit": "{k}"}
        options = {"url": f"{service}/find", "body": body}
    if method == "GET" and len(text) > 9_000:
        text = text[:5_000]  # a request line is at most 64 KiB everywhere, 8 KiB in many places
    indexed("http", output=SERVICE_OUTPUT, **options).search(text, 5)
    assert noted(log, "query") == [text]


def test_a_service_is_asked_in_many_ways(
    indexed: Callable[..., Retriever],
    service: str,
    log: Path,
    corpus: Corpus,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_KEY", "s3cret-s3cret")
    made = indexed(
        "http",
        url=f"{service}/moved?q={{query}}&k={{k}}",
        headers={"X-Api-Key": "${SHOP_KEY}"},
        index={"url": f"{service}/index", "body": {"path": "{corpus}"}},
        output=SERVICE_OUTPUT,
    )
    hits = made.search("exponential backoff with jitter", 3)
    assert hits[0].path == "worker/retry.go"  # it was printed as /srv/shop/worker/retry.go
    assert hits[0].start_line
    assert len(hits) == 3
    assert noted(log, "index") == [str(corpus.path)]
    assert set(noted(log, "key")) == {"s3cret-s3cret"}
    assert made.concurrent
    with ThreadPoolExecutor(4) as pool:
        again = list(
            pool.map(lambda _: made.search("exponential backoff with jitter", 3), range(8))
        )
    assert again == [hits] * 8


@pytest.mark.parametrize(
    ("path", "options", "said"),
    [
        ("away", {}, "it redirects to another host: http://127.0.0.2:9/search"),
        ("round", {}, "it redirects more than 5 times"),
        ("broken", {}, 'HTTP status 500: {"message": "it is.nbroken"}'),
        ("gone", {}, "HTTP status 404"),
        ("unmarked", {}, "it says that it failed: not indexed yet"),
        ("huge", {"max_bytes": 100_000}, "it replies with more than 100000 bytes"),
        ("slow", {"timeout_seconds": 0.3}, "no answer within 0.3 s"),
        ("hangup", {}, "hangs up"),
    ],
)
def test_a_service_that_fails_costs_an_error(
    indexed: Callable[..., Retriever], service: str, path: str, options: dict[str, Any], said: str
) -> None:
    url = f"{service}/{path}?q={{query}}"
    made = indexed("http", url=url, output=SERVICE_OUTPUT, **options)
    for _ in range(2):
        with pytest.raises(ToolError, match=said):
            made.search("x", 5)


def test_a_service_that_is_busy_is_rate_limited(
    indexed: Callable[..., Retriever], service: str
) -> None:
    for path, seconds in (("busy", 7.0), ("down", 2.0)):
        with pytest.raises(RateLimited) as caught:
            indexed("http", url=f"{service}/{path}?q={{query}}").search("x", 5)
        assert caught.value.seconds == seconds


def test_a_service_that_is_not_there_or_not_trusted_is_an_error(
    indexed: Callable[..., Retriever], service: str
) -> None:
    with pytest.raises(ToolError, match="cannot be asked: ConnectionRefusedError"):
        indexed("http", url=f"http://127.0.0.1:{free_port()}/{{query}}").search("x", 5)
    address = service.replace("http://", "https://")
    with pytest.raises(ToolError, match="cannot be asked: SSLError"):
        indexed("http", url=f"{address}/{{query}}").search("x", 5)


def test_a_service_is_started_for_the_corpus_and_ended(
    indexed: Callable[..., Retriever], log: Path
) -> None:
    server = [sys.executable, str(TOOLS / "service.py"), "{port}", "{corpus}", str(log)]
    url = "http://127.0.0.1:{port}/search?q={query}&k={k}"
    made = indexed("http", url=url, server=server, output=SERVICE_OUTPUT)
    assert made.search("exponential backoff with jitter", 5)[0].path == "worker/retry.go"
    port = vars(made)["port"]
    made.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(port)), 1)
    with pytest.raises(ToolError, match="ended before it could be reached"):
        indexed("http", url=url, server=[sys.executable, "-c", "pass"], output=SERVICE_OUTPUT)


def mcp_options(manner: str, log: Path, **more: Any) -> dict[str, Any]:
    return {
        "argv": [sys.executable, str(TOOLS / "mcp_server.py"), manner, str(log)],
        "tool": "search",
        "arguments": {"query": "{query}", "limit": "{k}"},
        **more,
    }


PLACES = [("api/auth.py", 14), ("worker/retry.go", 3)]


@pytest.mark.parametrize(
    ("manner", "expected"),
    [
        ("structured", PLACES), ("wrapped", PLACES), ("twice-wrapped", PLACES), ("json", PLACES),
        ("blocks", PLACES), ("prose", PLACES), ("empty", []), ("silent", []),
    ],
)  # fmt: skip
def test_an_mcp_tool_is_read_whatever_its_manner(
    indexed: Callable[..., Retriever], log: Path, manner: str, expected: list[Any]
) -> None:
    setup = [{"tool": "setup", "arguments": {"path": "{corpus}"}}]
    made = indexed("mcp", **mcp_options(manner, log, setup=setup))
    hits = made.search("where are tokens issued?", 7)
    assert [(hit.path, hit.start_line) for hit in hits] == expected
    assert noted(log, "setup")[0]["path"].endswith("/corpus")
    assert noted(log, "search") == [{"query": "where are tokens issued?", "limit": 7}]


@pytest.mark.parametrize(
    ("manner", "said"),
    [
        ("marked", "search: it broke"),
        ("unmarked", "no place in its answer: Error: index not built"),
        ("unmarked-json", "it says that it failed: index not built"),
        ("unmarked-structured", "it says that it failed: .*index not built"),
        ("chatter", "no place in its answer: I am a search tool"),
    ],
)
def test_an_mcp_failure_is_an_error_marked_or_not(
    indexed: Callable[..., Retriever], log: Path, manner: str, said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        indexed("mcp", **mcp_options(manner, log)).search("x", 5)


def test_an_mcp_set_up_that_fails_is_an_error_of_the_index(
    indexed: Callable[..., Retriever], log: Path
) -> None:
    with pytest.raises(ToolError, match="setup: Error: no such folder"):
        indexed("mcp", **mcp_options("bad-setup", log, setup=[{"tool": "setup"}]))


def test_an_mcp_server_that_ends_costs_one_answer(
    indexed: Callable[..., Retriever], log: Path
) -> None:
    made = indexed("mcp", **mcp_options("dies-once", log))
    with pytest.raises(ToolError, match="search: "):
        made.search("first", 5)
    assert made.search("second", 5)


def test_an_mcp_tool_gets_the_question_as_text(
    indexed: Callable[..., Retriever], log: Path
) -> None:
    made = indexed("mcp", **mcp_options("json", log))
    for text in HOSTILE:
        made.search(text, 5)
    assert [arguments["query"] for arguments in noted(log, "search")] == HOSTILE


@pytest.fixture
def mcp_over_http(log: Path) -> Iterator[str]:
    pytest.importorskip("mcp.server.fastmcp", reason="the package mcp is not installed")
    port = free_port()
    code = (
        "import json, sys\n"
        "from mcp.server.fastmcp import FastMCP\n"
        f"server = FastMCP('s', port={port}, log_level='ERROR')\n"
        "@server.tool()\n"
        "def search(query: str) -> list[dict]:\n"
        "    open(sys.argv[1], 'a').write(json.dumps(['search', query]) + '\\n')\n"
        "    return [{'path': 'api/auth.py', 'line': 14}, {'path': 'web/nowhere.js', 'line': 1}]\n"
        "server.run('streamable-http')\n"
    )
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", code, str(log)]) as process:
        for _ in range(1000):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
        process.kill()


@pytest.mark.slow
def test_an_mcp_tool_is_called_over_http(
    indexed: Callable[..., Retriever], mcp_over_http: str, log: Path
) -> None:
    made = indexed("mcp", url=mcp_over_http, tool="search", arguments={"query": "{query}"})
    for text in HOSTILE:
        hits = made.search(text, 5)
        assert hits == [Hit("api/auth.py", 14), Hit("web/nowhere.js", 1)]
    assert noted(log, "search") == HOSTILE
    missing = indexed("mcp", url=mcp_over_http, tool="nope", arguments={"query": "{query}"})
    with pytest.raises(ToolError, match="nope: Unknown tool"):
        missing.search("x", 5)


def lsp_options(manner: str, log: Path, **more: Any) -> dict[str, Any]:
    return {"argv": [sys.executable, str(TOOLS / "language_server.py"), manner, str(log)], **more}


def test_symbols_are_ranked_by_words_and_stand_in_one_order(
    indexed: Callable[..., Retriever], log: Path
) -> None:
    made = indexed("lsp", **lsp_options("good", log))
    answers = [made.search("issue a token", 5) for _ in range(8)]
    assert answers == [answers[0]] * 8
    assert answers[0] == [
        Hit("api/auth.py", 14, 17, "issue_token", 2.0),
        Hit("api/auth.py", 3, None, "token", 1.0),  # one line: maybe the name's alone
        Hit("api/auth.py", 20, 31, "check_token", 1.0),
    ]
    assert made.search("handle", 5) == [Hit("api/server.py", 10, None, "Server.handle", 1.0)]
    assert made.search("issue a token", 1) == answers[0][:1]
    assert made.search("the of", 5) == []


def test_a_language_server_gets_the_question_as_text(
    indexed: Callable[..., Retriever], log: Path
) -> None:
    whole = indexed("lsp", **lsp_options("good", log, ask="whole", open="*.py"))
    for text in HOSTILE:
        assert whole.search(text, 5) == []
    asked = [params["query"] for params in noted(log, "workspace/symbol")]
    assert asked[1:] == HOSTILE
    (opened,) = noted(log, "textDocument/didOpen")
    assert opened["textDocument"]["languageId"] == "python"
    replies = {reply["id"]: reply for reply in noted(log, "reply")}
    assert replies["s1"]["result"] == [None, None]
    assert replies[1]["result"] is None
    assert replies[2]["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("manner", "said"),
    [("odd", "is no list"), ("fails", "workspace/symbol: .*not"), ("dies", "ended with status 5")],
)
def test_a_language_server_that_fails_costs_an_error(
    indexed: Callable[..., Retriever], log: Path, manner: str, said: str
) -> None:
    if manner == "odd":
        with pytest.raises(ToolError, match=said):
            indexed("lsp", **lsp_options(manner, log))
        return
    made = indexed("lsp", **lsp_options(manner, log))
    with pytest.raises(ToolError, match=said):
        made.search("token", 5)
    assert made.search("handle", 5)


def test_embeddings_are_searched_exactly_and_kept_by_text(
    indexed: Callable[..., Retriever], service: str, log: Path, tmp_path: Path, corpus: Corpus
) -> None:
    url = f"{service}/v1/embeddings"
    options = {"url": url, "model": "words", "batch": 32, "cache": str(tmp_path / "vectors")}
    made = indexed("embeddings", **options)
    chunks = sum(len(table.chunks) for table in corpus.tables)
    assert sum(noted(log, "batch")) == chunks
    assert max(noted(log, "batch")) == 32
    hits = made.search("exponential backoff with jitter", 5)
    assert hits[0].path == "worker/retry.go"
    scores = [hit.score or 0 for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[0] <= 1.0001
    assert made.index_bytes() == chunks * 256 * 4
    before = len(noted(log, "batch"))
    assert indexed("embeddings", **options).search("exponential backoff with jitter", 5) == hits
    assert noted(log, "batch")[before:] == [1]  # the question alone: the chunks were kept
    assert made.update(corpus, [])
    windows = indexed("embeddings", **options, chunks="lines", window=20, overlap=5)
    hits = windows.search("exponential backoff with jitter", 50)
    assert {hit.symbol for hit in hits} == {None}
    assert all((hit.end_line or 0) - (hit.start_line or 0) < 20 for hit in hits)


def test_an_embedding_service_gets_the_question_as_text_and_is_waited_for(
    indexed: Callable[..., Retriever], service: str, log: Path, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    made = indexed("embeddings", url=f"{service}/v1/embeddings", model="busy", batch=500)
    assert list((tmp_path / "own").rglob("vectors.sqlite"))
    before = len(noted(log, "query"))
    for text in HOSTILE:
        made.search(text, 5)
    assert noted(log, "query")[before:] == [text[:8000] for text in HOSTILE]
    assert made.search(" ", 5) == []
    with pytest.raises(ToolError, match=r"it replies with no embeddings|0 embeddings for"):
        indexed("embeddings", url=f"{service}/v1/embeddings", model="odd")


def test_rows_of_zeros_stay_zero() -> None:
    import numpy as np

    rows = unit(np.array([[3, 4], [0, 0]], dtype=np.float32))
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]


def test_no_thread_and_no_process_is_left(indexed: Callable[..., Retriever], log: Path) -> None:
    before = threading.active_count()
    made = indexed("mcp", **mcp_options("json", log))
    made.search("x", 1)
    made.close()
    assert threading.active_count() == before
