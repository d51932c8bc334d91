"""Files made to take memory or time without end, read in a process that has little of both.

python -m tests.fuzz.attacks FOLDER    prints what became of each attack, as JSON
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import resource
import signal
import sqlite3
import sys
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.adapter import parse_reference
from codebench.corpus.cache import ChunkCache
from codebench.corpus.outliner import Outliner
from codebench.corpus.tables import read_tables
from codebench.errors import CodebenchError
from codebench.gate.limits import parse_limits
from codebench.gold.instances import read_instances
from codebench.gold.logs.formats import read_log
from codebench.gold.logs.skipped import Skipped
from codebench.gold.patches import PatchError, read_patch
from codebench.gold.text import clean_subject
from codebench.gold.topics import read_documents, read_topics
from codebench.reading import files, parse_json
from codebench.results import MANIFEST, TABLES, read_ends, read_run
from codebench.runner.candidates import read_retrievers
from codebench.runner.validate import InvalidOutput, validate
from codebench.suite import members_of, read_suite
from codebench.trec import beir_documents, read_beir, read_qrels
from codebench.trec import read_run as read_rankings
from tests.fuzz.readers import SUITE, read_online_figures, read_the_questions, write
from tests.runs import Row, made_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MEMORY = 400 << 20
"""Bytes beside what Python and numpy take before anything is read."""

SECONDS = 20
LONG = "/".join(["a"] * 10_000)
REFUSALS = (CodebenchError, PatchError, InvalidOutput, ValueError)


def sparse(path: Path, size: int = 2 << 30) -> Path:
    """Make a file of two gigabytes without a newline, that takes no place."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


def bomb(line: bytes, megabytes: int = 3) -> bytes:
    """Return a gzip file of lines, a thousandth of what it unpacks to."""
    return gzip.compress(line * (1_000_000 // len(line)), 6, mtime=0) * megabytes


def suite(folder: Path, **files: bytes) -> None:
    """Read the valid suite, some of whose files are others."""
    named = {name.replace("_", "."): data for name, data in files.items()}
    write(folder, {**SUITE, **named})
    read_suite(folder)


def a_long_line(folder: Path) -> None:
    write(folder, SUITE)
    sparse(folder / "queries.jsonl")
    read_suite(folder)


def a_long_manifest(folder: Path) -> None:
    sparse(folder / MANIFEST)
    read_run(folder)


def a_run(folder: Path, change: Callable[[Path], object]) -> None:
    """Read a run in whose folder something is changed."""
    path = made_run(folder, {"one": Row("s" * 12)})
    change(path)
    read_run(path)
    read_tables(path / TABLES)


def packed_answers(line: bytes) -> Callable[[Path], None]:
    """Return an attack: answers that unpack to gigabytes of one line."""

    def attack(folder: Path) -> None:
        def change(path: Path) -> None:
            (path / "answers" / "0.jsonl").unlink()
            (path / "answers" / "0.jsonl.gz").write_bytes(bomb(line))

        a_run(folder, change)

    return attack


def named_file(name: str) -> Callable[[Path], None]:
    """Return an attack: a manifest that says that answers are elsewhere."""

    def attack(folder: Path) -> None:
        def change(path: Path) -> None:
            text = (path / MANIFEST).read_text("utf-8")
            (path / MANIFEST).write_text(text.replace('"0.jsonl"', json.dumps(name)), "utf-8")

        a_run(folder, change)

    return attack


def several(name: str) -> Callable[[Path], None]:
    """Return an attack: a suite of several with such a member."""

    def attack(folder: Path) -> None:
        data = json.dumps({"name": "x", "members": [name]})  # it is YAML too
        (folder / "suite.yaml").write_text(data, "utf-8")
        members_of(folder)

    return attack


def special(
    name: str, read: Callable[[Path], object], *, files: Mapping[str, bytes]
) -> Callable[[Path], None]:
    """Return an attack: one of the files is a pipe, then a device, then a link to one."""

    def attack(folder: Path) -> None:
        said = []
        kinds: tuple[Callable[[Path], object], ...] = (
            os.mkfifo,
            lambda path: path.symlink_to("/dev/zero"),
            lambda path: path.mkdir(),
        )
        for number, kind in enumerate(kinds):
            place = folder / str(number)
            write(place, {"other": b"", **files})
            (place / name).unlink(missing_ok=True)
            kind(place / name)
            try:
                read(place)
            except CodebenchError as error:
                said.append(str(error).split("\n")[0])
        assert len(said) == len(kinds), said
        raise ValueError("refused: " + "; ".join(said))

    return attack


def keys(folder: Path) -> None:
    """Ten million keys are more than a line holds."""
    suite(folder, queries_jsonl=b"{" + b'"k":1,' * 10_000_000 + b'"l":1}\n')


def twin_keys(folder: Path) -> None:
    """Many keys, of which the last is there twice: each must not be counted by itself."""
    row = b"{" + b",".join(b'"%d":1' % number for number in range(200_000)) + b',"199999":1}\n'
    suite(folder, queries_jsonl=row)


def unknown_keys(folder: Path) -> None:
    row = b"{" + b",".join(b'"wieght%d":1' % number for number in range(50_000)) + b"}\n"
    suite(folder, queries_jsonl=row)


def names_twice(folder: Path) -> None:
    names = ", ".join(f"n{number}" for number in range(9_000))
    (folder / "suite.yaml").write_text(f"name: x\nmembers: [{names}]\n", "utf-8")
    members_of(folder)


def cells_twice(folder: Path) -> None:
    write(folder, {"online.csv": b"run" + b"," * 3_000_000 + b"\n"})
    read_online_figures(folder)


def hostile_cache(folder: Path) -> None:
    """A table that is a query without end, rows of other types, and a row that swells."""
    file = folder / "chunks.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as base, base:
        base.execute(
            "CREATE VIEW outlines AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n)"
            " SELECT x AS key, x AS row FROM n"
        )
    blobs = {(str(number), "python") for number in range(5)}
    cache = ChunkCache(file)
    assert Outliner(cache, jobs=1).known(blobs) == {}
    cache.put({"": {}})
    packer = zlib.compressobj(1)
    swelling = b"".join(packer.compress(b" " * 1_000_000) for _ in range(500)) + packer.flush()
    wrong = (swelling, None, "x", 7, zlib.compress(b"[1,2,3]"), zlib.compress(b"[" * 50_000))
    with contextlib.closing(sqlite3.connect(file)) as base, base:
        (key,) = base.execute("SELECT key FROM outlines").fetchone()
        assert key == ""
        for number, row in enumerate(wrong):
            base.execute("INSERT INTO outlines VALUES (?, ?)", (_key(str(number)), row))
    assert Outliner(cache, jobs=1).known({(str(n), "python") for n in range(6)}) == {}
    cache.close()
    raise ValueError("refused")


def _key(blob: str) -> str:
    from codebench.corpus import outliner

    return outliner._key(blob, "python")  # how rows are named


def marks_without_end(folder: Path) -> None:
    path = folder / "topics"
    path.write_bytes(b"<top>" * 400_000)
    with contextlib.suppress(CodebenchError):
        read_topics(path)
    path.write_bytes(b"<DOC><DOCNO>" * 400_000)
    with contextlib.suppress(CodebenchError):
        list(read_documents(path))
    path.write_bytes(b"<top" * 400_000)
    read_topics(path)


def a_document_without_end(folder: Path) -> None:
    path = folder / "documents"
    path.write_bytes(b"<DOC>")
    with path.open("r+b") as file:
        file.truncate(2 << 30)
    list(read_documents(path))


def a_long_document(folder: Path) -> None:
    (folder / "d").mkdir()
    sparse(folder / "d" / "x")
    (only,) = read_documents(folder / "d")
    raise ValueError(f"refused beyond {len(only.text)}")


def a_long_log(folder: Path) -> None:
    skipped = Skipped()
    list(read_log(sparse(folder / "x.jsonl", 150 << 20), "jsonl", skipped))
    list(read_log(sparse(folder / "x.json", 60 << 20), "openhands", skipped))
    raise ValueError("; ".join(map(str, skipped.located)))


def limits_of_blanks(_: Path) -> None:
    parse_limits([" " * 100_000 + ":x", "[" * 100_000 + ":x", "nDCG@10" + " " * 990 + ":x"])


def options_of_brackets(folder: Path) -> None:
    text = "bm25:" + "[" * 200_000
    with contextlib.suppress(CodebenchError):
        parse_reference(text)
    (folder / "r.yaml").write_text(f"retrievers: ['{text}']\n", "utf-8")
    read_retrievers(folder / "r.yaml")


def subjects_of_brackets(_: Path) -> None:
    """A history may have thousands of them."""
    start = time.monotonic()
    for unit in ("(", ": ", " (", "-", "a.", "1.", "fix "):
        clean_subject(("x #1 " + unit * 1000)[:999] + "!")
    raise ValueError(f"refused {'soon' if time.monotonic() - start < 2 else 'late'}")


def long_hit(_: Path) -> None:
    with contextlib.suppress(InvalidOutput):
        validate([["a.py", 10**4000, 10**4000, None, 10**4000]], 1, 5, "/c", {"a.py": 1})
    validate([["a.py", 1, 1, None, 10**400]], 1, 5, "/c", {"a.py": 1})


def merge_key(folder: Path) -> None:
    write(folder, {"questions.yaml": b"<<: {questions: [{id: a}]}\n"})
    read_the_questions(folder)


def border(folder: Path) -> None:
    """What is read near the end of the stack must not be printed beyond it."""
    for depth in range(800, 1000):
        with contextlib.suppress(CodebenchError):
            suite(folder, queries_jsonl=b"[" * depth + b"]" * depth)
    suite(folder, queries_jsonl=b"[" * 101 + b"]" * 101)


def a_long_beir_document(folder: Path) -> None:
    write(folder, BEIR)
    sparse(folder / "corpus.jsonl")
    list(beir_documents(folder))


def bases(folder: Path) -> None:
    """A number of base 60 with 300,000 digits costs the square of that."""
    suite(folder, suite_yaml=b"name: 1" + b":1" * 300_000 + b"\n")


QUESTIONS = {"questions.yaml": b"questions: []\n"}
GOOD = b"q1 0 d1 1\n"
BEIR = {"corpus.jsonl": b"{}\n", "queries.jsonl": b"{}\n", "qrels/test.tsv": b"q\td\t1\n"}
NESTED = b"[" * 100_000 + b"]" * 100_000 + b"\n"
BOMB = b"a: &a [x, x]\n" + b"".join(
    b"%c: &%c [*%c, *%c, *%c]\n" % (at, at, at - 1, at - 1, at - 1) for at in range(98, 122)
)

ATTACKS: Mapping[str, tuple[Any, str]] = {
    "a line of 2 GB in queries": (a_long_line, r"queries\.jsonl:1: is longer than"),
    "a manifest of 2 GB": (a_long_manifest, "is longer than"),
    "a YAML bomb": (lambda f: suite(f, suite_yaml=BOMB), "anchor or alias"),
    "a tag of Python": (
        lambda f: suite(f, suite_yaml=b"name: !!python/object/apply:os.abort []\n"),
        "holds the tag",
    ),
    "a merge key": (
        merge_key,
        "merge key",
    ),
    "a number of base 60": (bases, "holds a number of"),
    "deep JSON": (lambda f: suite(f, queries_jsonl=NESTED), "nested too deeply"),
    "JSON as deep as Python's recursion": (
        border,
        "nested too deeply",
    ),
    "deep YAML": (lambda f: suite(f, suite_yaml=NESTED), "nested more than"),
    "tables that unpack to one line": (
        lambda f: a_run(f, lambda path: (path / TABLES).write_bytes(bomb(b"\0" * 100_000, 100))),
        "chunks.jsonl.gz",
    ),
    "answers that unpack to rows": (
        packed_answers(b'{"kind": "start", "seconds": 1}\n'),
        "unpacks to more than",
    ),
    "answers that unpack to faults": (packed_answers(b"x\n"), "and 900 more"),
    "answers that unpack to one row": (packed_answers(b"x"), "is longer than|unpacks to more"),
    "ten million keys": (keys, "is longer than"),
    "a key of many twice": (twin_keys, "the key '199999' twice"),
    "fifty thousand unknown keys": (unknown_keys, "and 900 more"),
    "nine thousand members": (names_twice, "and 900 more"),
    "three million columns": (cells_twice, "is a column twice"),
    "qrels of 2 GB in a line": (lambda f: read_qrels(sparse(f / "q")), "line is longer"),
    "a run of 2 GB in a line": (lambda f: read_rankings(sparse(f / "r")), "line is longer"),
    "a document of 2 GB in a line": (
        a_long_beir_document,
        "line is longer",
    ),
    "instances of 2 GB in a line": (lambda f: read_instances(sparse(f / "i")), "is longer than"),
    "a log of 150 MB in a line": (a_long_log, "is longer than.*no JSON list"),
    "a document without an end": (a_document_without_end, "of more than"),
    "a document of 2 GB in a folder": (a_long_document, "refused beyond 1048577"),
    "marks without an end": (marks_without_end, "holds no topic|is not ID<tab>text"),
    "a member of 10,000 folders": (several(LONG), "lies outside|holds no suite.yaml"),
    "a member with NUL": (several("a\0b"), "lies outside"),
    "a member that is elsewhere": (several("../../etc"), "lies outside"),
    "a member by its full path": (several("/etc"), "lies outside"),
    "answers that are elsewhere": (named_file("../../x"), "is not a name in the folder"),
    "answers with NUL in their name": (named_file("a\0b"), "is not a name in the folder"),
    "answers with a name of 300": (named_file("a" * 300), "is not a name in the folder"),
    "a queries file that is none": (
        special("queries.jsonl", read_suite, files=SUITE),
        r"refused: .*a pipe or a device.*a pipe or a device.*a folder",
    ),
    "a suite file that is none": (special("suite.yaml", read_suite, files=SUITE), "refused"),
    "questions that are none": (
        special("questions.yaml", read_the_questions, files=QUESTIONS),
        "refused: .*a pipe or a device.*a pipe or a device.*a folder",
    ),
    "qrels that are none": (
        special("q", lambda f: read_qrels(f / "q"), files={"q": GOOD}),
        "refused: .*a pipe or a device.*a pipe or a device.*a folder",
    ),
    "topics that are none": (
        special("t", lambda f: read_topics(f / "t"), files={"t": b"q\tx\n"}),
        "refused: .*a pipe or a device.*a pipe or a device.*a folder",
    ),
    "BEIR judgments that are none": (special("qrels/test.tsv", read_beir, files=BEIR), "refused"),
    "a manifest that is none": (special(MANIFEST, read_ends, files={}), "refused"),
    "tables that are none": (
        special(TABLES, lambda f: read_tables(f / TABLES), files={}),
        "refused: .*a pipe or a device.*a pipe or a device.*a folder",
    ),
    "a log that is none": (
        special("x.jsonl", lambda f: list(read_log(f / "x.jsonl", "jsonl", Skipped())), files={}),
        "refused: .*a pipe or a device.*a pipe or a device.*a folder",
    ),
    "a hostile cache": (hostile_cache, "refused"),
    "limits of blanks": (limits_of_blanks, "is no limit"),
    "options of brackets": (options_of_brackets, "is no reference"),
    "subjects of brackets": (subjects_of_brackets, "refused soon"),
    "a hit of 4,000 digits": (long_hit, "which is not finite"),
    "a patch of headers": (lambda _: read_patch('diff --git "' + "\\" * 200_000), "^$"),
    "a number of 5,000 digits": (lambda _: parse_json("9" * 5000), "digits"),
}


class TooLong(BaseException):
    """An attack took too long."""


def outcome(attack: Callable[[Path], object], folder: Path) -> Iterator[str | float]:
    """Yield what an attack was told, and the seconds that it took."""
    folder.mkdir()
    start = time.monotonic()
    signal.alarm(SECONDS)
    try:
        attack(folder)
        yield ""
    except REFUSALS as error:
        yield str(error)
    except (MemoryError, TooLong) as error:
        yield f"{type(error).__name__}!"
    except Exception as error:  # noqa: BLE001  # any other is what must not be
        yield f"{type(error).__name__}! {error}"
    finally:
        signal.alarm(0)
    yield time.monotonic() - start


def main(root: Path) -> None:
    """Run every attack with little memory."""
    import numpy as np  # its size is not the attack's

    assert np
    files._SMALL_BYTES = 1_000_000  # a bomb of gigabytes takes long to read
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))

    def ring(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, ring)
    found = {
        name: list(outcome(attack, root / str(number)))
        for number, (name, (attack, _)) in enumerate(ATTACKS.items())
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
