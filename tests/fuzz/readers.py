"""Every reader of what others wrote, with a valid input of it."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections import deque
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.adapter import Unavailable, parse_reference
from codebench.cli.main import main
from codebench.corpus.tables import read_tables
from codebench.errors import CodebenchError
from codebench.gate.limits import parse_limit
from codebench.gate.limits_file import read_limits
from codebench.gold.documents import document_ids
from codebench.gold.instances import read_instances
from codebench.gold.judgments import import_beir, import_trec
from codebench.gold.logs.columns import read_columns
from codebench.gold.logs.formats import FORMATS, files_of, format_of, read_log
from codebench.gold.logs.record import from_row, to_row
from codebench.gold.logs.skipped import Skipped
from codebench.gold.patches import PatchError, patched, read_patch
from codebench.gold.questions import read_questions
from codebench.gold.target import rules_of
from codebench.judging.alignment import read_online
from codebench.measures.names import parse
from codebench.model import Corpus, FileTable
from codebench.protocols.output import ToolError, read_output
from codebench.protocols.places import Places
from codebench.reading import Faults, Fields, read_yaml
from codebench.runner.candidates import read_retrievers
from codebench.runner.validate import InvalidOutput, validate
from codebench.suite import members_of, read_suite, suite_digest, write_suite
from codebench.trec import beir_documents, read_beir, read_qrels, read_run
from tests import runs
from tests.logs import DATA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Reader:
    """One reader.

    Attributes:
        name: what it reads.
        files: a valid input, by path below its folder.
        read: reads that folder.
        refusals: what it may raise; each line of the message is one that a person can read.
        shut: files that are left as they are.
    """

    name: str
    files: Mapping[str, bytes]
    read: Callable[[Path], object]
    refusals: tuple[type[Exception], ...] = (CodebenchError,)
    shut: tuple[str, ...] = ()


def rows(*data: Any) -> bytes:
    """Write JSON Lines."""
    return "".join(json.dumps(one) + "\n" for one in data).encode()


def text_of(folder: Path) -> str:
    """Return the one text of a folder, as a program's arguments hold it."""
    return (folder / "text").read_bytes().decode("utf-8", "surrogateescape").rstrip("\n")


def command(*words: str) -> None:
    """Run the program in this process, and hold what holds for every call."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(words)
    said = err.getvalue()
    assert status in {0, 1, 2, 3, 4}
    assert "Traceback" not in said
    assert status != 2 or said.startswith("codebench: "), said
    if "json" in words and status in {0, 3}:
        json.loads(out.getvalue(), parse_constant=refuse)


def refuse(name: str) -> Any:
    """Refuse what JSON does not have."""
    raise AssertionError(f"{name} in JSON")


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


SUITE = {
    "suite.yaml": b"""name: shop
repository: corpus
snapshot: abc
corpus_digest: sha256:1
recipe: {mode: frozen, max_queries: 20, corpus: {include: ["*.py"], exclude: [], quoting: false}}
funnel: {commits: 10, kept: 2}
""",
    "queries.jsonl": rows(
        {
            "id": "a",
            "text": "where are taxes added",
            "source": "commit",
            "origin": "abc",
            "time": "2024-05-01T00:00:00+00:00",
            "weight": 2,
            "tags": {"language": "python", "cluster": "a"},
            "targets": [
                {"chunk": "tax.py::add", "fingerprint": "f", "masked": "m"},
                {"chunk": "tax.py", "path": "tax.py", "grade": 2, "weight": 0.5},
            ],
            "related": [{"path": "cart.py", "of": "tax.py", "score": 3, "flags": ["test"]}],
        },
        {"id": "b", "text": "x", "targets": [{"chunk": "c.py::f"}], "not_relevant": ["d.py"]},
    ),
}
MEMBERS = {
    "suite.yaml": b"name: both\nmembers: [one, two]\n",
    "one/suite.yaml": SUITE["suite.yaml"],
    "one/queries.jsonl": SUITE["queries.jsonl"],
    "two/suite.yaml": SUITE["suite.yaml"],
    "two/queries.jsonl": SUITE["queries.jsonl"],
}
QUESTIONS = b"""questions:
- id: taxes
  question: Where are taxes added?
  asked_by: support
  kind: where
  targets:
  - {symbol: add, path: tax.py, grade: 3, why: it adds them}
  - {path: cart.py, grade: 2}
  - {symbol: other, path: tax.py, grade: 0}
  not_relevant: ["old.py::add"]
  notes: none
- id: carts
  question: Where are carts?
  targets: [{symbol: Cart}]
"""
QRELS = b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\nq3 0 d3 1\n"
RUN = b"q1 Q0 d2 1 3.5 me\nq1 Q0 d1 2 2.5 me\nq2 Q0 d1 1 1e0 me\nq3 Q0 d4 1 -1 me\n"
BEIR = {
    "corpus.jsonl": rows(
        {"_id": "d1", "title": "t", "text": "def f(): pass", "metadata": {}},
        {"_id": "d/2", "title": None, "text": "x\0y"},
    ),
    "queries.jsonl": rows({"_id": "q1", "text": "find f"}, {"_id": "q2", "text": "x"}),
    "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td/2\t0\nq2\td/2\t2\n",
}
TREC = {
    "qrels": QRELS,
    "topics": b"""<top>
<num> Number: q1
<title> taxes
<desc> Description:
where
</top>
<top><num>q2</num><title>carts</title></top>
<top><num>q3<title>x</top>
""",
    "documents": b"""<DOC><DOCNO> d1 </DOCNO><TEXT>add <b>tax</b></TEXT></DOC>
<DOC>
<DOCNO>d2</DOCNO>
cart
</DOC>
""",
}
TABBED = {
    "qrels": QRELS,
    "topics": b"q1\ttaxes\nq2\tcarts\nq3\tx\n",
    "documents": rows({"id": "d1", "contents": "tax"}, {"docno": 2, "title": "t", "text": "c"}),
}
PATCH = b"""diff --git a/tax.py b/tax.py
index 1..2 100644
--- a/tax.py
+++ b/tax.py
@@ -1,3 +1,4 @@ def add
 one
-two
+2
+2.5
 three
diff --git "a/\\303\\274 x.py" b/new.py
similarity index 90%
rename from "\\303\\274 x.py"
rename to new.py
--- /dev/null
+++ b/made.py
@@ -0,0 +1 @@
+x
\\ No newline at end of file
"""
INSTANCES = rows(
    {
        "instance_id": "shop-1",
        "repo": "o/shop",
        "base_commit": "abcdef1234",
        "problem_statement": "taxes are wrong",
        "patch": PATCH.decode(),
        "hints": [1],
    }
)
ONLINE = b'run,retriever,clicks,saves\none,bm25,0.5,1\ntwo,,0.25,\n"three",x,1e3,-2\n'
LIMITS = b"""limits:
- nDCG@10:-0.03
- p95[language=go]:+10%
- failed:0
- {limit: "R(rel=3)@10:>=0.5", where: {kind: symbol}}
retriever: bm25
strict: true
"""
RETRIEVERS = b"""retrievers:
- bm25
- bm25:k1=[0.9,1.2],b=0.75
- name: tuned
  use: bm25
  options: {k1: 1.5, b: [0.1, 0.2]}
- name: mine
  use: ripgrep
  options: {}
"""
COMMAND = b"""argv: [grep, -rn, "-e", "x{words}"]
version: "1"
install: apt install grep
stdin: "{query}"
statuses: [0, 1]
environment: {A: b}
output:
  format: lines
  hits: ["results[]", "[]"]
  where: {type: match}
  fields: {path: [data.path, file], line: "lines[0]", score: s}
  zero_based: true
  order: score
"""
HTTP = b"""url: http://localhost:9200/_search?q={query}
method: POST
body: {query: "{query}", size: "{k}"}
headers: {X-A: b}
timeout_seconds: 5
index: {url: "http://localhost:9200/_index", body: "{corpus}"}
output: {hits: "hits[]", root: /x}
"""
PRINTED = {
    "json": json.dumps(
        {"results": [{"path": "a.py", "lines": [1, 3], "score": "0.5", "symbol": "f"}]}
    ).encode(),
    "lines": rows(
        {"path": "./a.py", "start_line": 1, "end_line": 9, "score": 1, "text": "x"},
        {"file": "file:///r/b.py", "line": "L3-L9"},
    ),
    "pattern": b"a.py:3: def f\n./b.py:1-9: x\n**`src/c.py:4-5`**\n",
}


@cache
def stored() -> dict[str, bytes]:
    """Return the files of a run."""
    with tempfile.TemporaryDirectory() as folder:
        given = {
            "random": runs.Row("-" * 12, floor=True),
            "bm25": runs.Row("slf-xt.slfss", options={"k1": 1.2}),
            "mine": runs.Row("ssssssssssss", ms=9),
        }
        path = runs.made_run(Path(folder), given)
        more = [
            {"kind": "context", "beside": True, "machine": "m"},
            {"kind": "warmup", "status": "ok", "latency_ns": 5},
            {"kind": "fall", "reason": "x", "said": ["y"], "left": 1},
            {"kind": "load", "concurrency": 2, "seconds": 1.5, "latencies_ns": [5, 6]},
            {"kind": "check", "query": "q00", "same": False, "hits": [["f00.py", 1, 2, "a", 0.5]]},
        ]
        file = path / "answers" / "1.jsonl"
        file.write_bytes(rows(*more) + file.read_bytes())
        return files_below(path)


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def read_a_suite(folder: Path) -> None:
    suite = read_suite(folder)
    suite_digest(suite)
    rules_of(suite)
    with tempfile.TemporaryDirectory() as again:
        write_suite(suite, Path(again))
        assert suite_digest(read_suite(Path(again))) == suite_digest(suite)


def read_the_members(folder: Path) -> None:
    for _, place in members_of(folder):
        read_suite(place)


def read_the_questions(folder: Path) -> None:
    faults = Faults(folder / "questions.yaml")
    read_questions(folder / "questions.yaml", faults)
    faults.check()


def read_a_log(form: str, folder: Path) -> None:
    columns = read_columns(DATA / "columns.yaml") if form == "jsonl" else None
    with contextlib.suppress(CodebenchError):
        format_of([folder])
    skipped = Skipped()
    for path in files_of([folder], form):
        for one in read_log(path, form, skipped, columns):
            from_row(json.loads(json.dumps(to_row(one))))


def read_beir_folder(folder: Path) -> None:
    read_beir(folder)
    deque(beir_documents(folder), maxlen=0)


def import_a_beir_folder(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as out:
        import_beir(folder, Path(out) / "s", lambda *_: None, jobs=1)
        read_suite(Path(out) / "s")
        document_ids(Path(out) / "s")
        assert [one.name for one in Path(out).iterdir()] == ["s"]


def import_trec_files(folder: Path) -> None:
    given = (folder / "qrels", folder / "topics", folder / "documents")
    with tempfile.TemporaryDirectory() as out:
        import_trec(*given, Path(out) / "s", lambda *_: None, jobs=1)
        read_suite(Path(out) / "s")
        assert [one.name for one in Path(out).iterdir()] == ["s"]


def score_trec_files(folder: Path) -> None:
    command("score", "--qrels", f"{folder}/qrels", "--run", f"{folder}/run", "--format", "json")


def read_the_patch(folder: Path) -> None:
    for one in read_patch((folder / "x.patch").read_bytes().decode("utf-8", "replace")):
        patched("one\ntwo\nthree\n", one.hunks)


def score_a_run(folder: Path) -> None:
    command("score", str(folder), "--format", "json", "-m", "nDCG@5", "-m", "R@4000tokens")


def read_a_run(folder: Path) -> None:
    from codebench.judging.scoring import score_run
    from codebench.results import read_ends

    for read in (read_ends, partial(score_run, measures=["RR@5", "Value@5"])):
        with contextlib.suppress(CodebenchError):
            read(folder)
    score_run(folder, ["nDCG@5", "Tokens@500"])


def report_a_run(folder: Path) -> None:
    command("show", str(folder), "q01", "--format", "json")
    command("report", str(folder), "-o", f"{folder}/report.html")
    (folder / "report.html").unlink(missing_ok=True)


def read_online_figures(folder: Path) -> None:
    for name in ("one", "two", "three"):
        (folder / name).mkdir()
    faults = Faults(folder / "online.csv")
    read_online(folder / "online.csv", faults)
    faults.check()


def read_options(name: str, folder: Path) -> None:
    from codebench.adapter import load, make

    fields = read_yaml(folder / "options.yaml", Faults(folder / "options.yaml"))
    make(load(name), fields.data)


def read_printed(form: str, folder: Path) -> None:
    faults = Faults("")
    more = {"pattern": r"(?P<path>[\w./]{1,200}):(?P<line>\d+)(?:-(?P<end>\d+))?"}
    fields = Fields({"output": {"format": form, **(more if form == "pattern" else {})}}, faults)
    output = read_output(fields)
    faults.check()
    text = (folder / f"printed.{form}").read_bytes().decode("utf-8", "replace")
    tables = tuple(FileTable(path, "", (1,) * 50, ()) for path in ("a.py", "b.py"))
    corpus = Corpus(folder / "corpus", "", tables)
    for one in (output, read_output(Fields({"output": {"order": "score"}}, faults))):
        with contextlib.suppress(ToolError):
            hits = one.hits(output.of_text(text), Places(corpus), "x", 5)
            wire = json.loads(json.dumps([raw_row(hit) for hit in hits]))
            with contextlib.suppress(InvalidOutput):
                validate(wire, len(wire), 5, str(corpus.path), {"a.py": 50, "b.py": 50})


def raw_row(hit: Any) -> Any:
    from codebench.runner.raw import raw_row as row

    return row(hit)


def read_reply(folder: Path) -> None:
    try:
        reply = json.loads((folder / "reply.json").read_bytes())
    except (ValueError, RecursionError):  # the pipe's other end takes it as the worker's death
        return
    rows_ = reply.get("hits") if isinstance(reply, dict) else reply
    count = reply.get("count") if isinstance(reply, dict) else 0
    validate(rows_, count, 5, "/corpus", {"a.py": 50})


FILES = (
    Reader("suite", SUITE, read_a_suite),
    Reader("suite of several", MEMBERS, read_the_members),
    Reader("questions", {"questions.yaml": QUESTIONS}, read_the_questions),
    Reader("qrels and run", {"qrels": QRELS, "run": RUN}, score_trec_files),
    Reader("qrels", {"qrels": QRELS}, lambda folder: read_qrels(folder / "qrels", lenient=True)),
    Reader("TREC run", {"run": RUN}, lambda folder: read_run(folder / "run", ties="trec")),
    Reader("BEIR", BEIR, read_beir_folder),
    Reader("BEIR import", BEIR, import_a_beir_folder),
    Reader("TREC import", TREC, import_trec_files),
    Reader("TREC import, lines", TABBED, import_trec_files),
    Reader(
        "SWE-bench",
        {"tasks.jsonl": INSTANCES},
        lambda folder: read_instances(folder / "tasks.jsonl"),
    ),
    Reader("patch", {"x.patch": PATCH}, read_the_patch, (PatchError,)),
    Reader("online figures", {"online.csv": ONLINE}, read_online_figures),
    Reader("limits", {"gate.yaml": LIMITS}, lambda folder: read_limits(folder / "gate.yaml")),
    Reader("retrievers", {"r.yaml": RETRIEVERS}, lambda folder: read_retrievers(folder / "r.yaml")),
    Reader(
        "column map",
        {"columns.yaml": (DATA / "columns.yaml").read_bytes()},
        lambda folder: read_columns(folder / "columns.yaml"),
    ),
    *(
        Reader(
            f"options of {name}",
            {"options.yaml": data},
            partial(read_options, name),
            (CodebenchError, Unavailable),
        )
        for name, data in (("command", COMMAND), ("http", HTTP))
    ),
    *(
        Reader(f"printed {form}", {f"printed.{form}": data}, partial(read_printed, form))
        for form, data in PRINTED.items()
    ),
    Reader(
        "worker's reply",
        {"reply.json": json.dumps({"hits": [["a.py", 1, 3, "f", 0.5]], "count": 1}).encode()},
        read_reply,
        (InvalidOutput,),
    ),
    *(
        Reader(f"log {form}", files, partial(read_a_log, form))
        for form, files in (
            ("csv", {"events.csv": (DATA / "events.csv").read_bytes()}),
            ("jsonl", {"events.jsonl": (DATA / "events.jsonl").read_bytes()}),
            ("ubi", {"ubi.jsonl": (DATA / "ubi.jsonl").read_bytes()}),
            *((form, files_below(DATA / form)) for form in FORMATS if (DATA / form).is_dir()),
        )
    ),
    Reader("run", stored(), read_a_run),
    Reader("run, scored", stored(), score_a_run),
    Reader("run, reported", stored(), report_a_run),
    Reader(
        "chunk tables",
        {"chunks.jsonl.gz": stored()["chunks.jsonl.gz"]},
        lambda folder: read_tables(folder / "chunks.jsonl.gz"),
    ),
    Reader(
        "measure name", {"text": b"nDCG(gains={3:1.5,2:1,1:.5})@10"}, lambda f: parse(text_of(f))
    ),
    Reader("limit", {"text": b"p95[language=go,kind=x]:+10%"}, lambda f: parse_limit(text_of(f))),
    Reader(
        "retriever's options",
        {"text": b"x/mine.py:Mine:k1=[0.9,1.2],tag='a,b',b=true"},
        lambda f: parse_reference(text_of(f)),
    ),
)
READERS: Mapping[str, Reader] = {reader.name: reader for reader in FILES}
