from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from codebench import trec
from codebench.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def _write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_qrels_and_run_plain_and_gzip_by_content(tmp_path: Path) -> None:
    text = "q1 0 a 3\nq1\t0  b 0\n\nq2 Q0 c -1\n"
    plain = trec.read_qrels(_write(tmp_path / "qrels", text))
    packed = trec.read_qrels(_write(tmp_path / "qrels.txt", gzip.compress(text.encode())))
    assert plain.grades == packed.grades == {"q1": {"a": 3, "b": 0}, "q2": {"c": -1}}
    run = trec.read_run(_write(tmp_path / "run.gz", "q1 Q0 a 1 2.5 me\nq1 Q0 é 2 2.5 me\n"))
    assert run.documents == {"q1": ["a", "é"]}
    assert run.scores == {"q1": [2.5, 2.5]}
    assert run.name == "me"
    assert (run.tied_at(1), run.tied_at(2)) == (1, 0)


def test_every_fault_of_a_run_is_named_at_once(tmp_path: Path) -> None:
    text = "q Q0 a 1 2 t\nq Q0 a 2 1 t\nq Q0 b 3 nan t\nq Q0 c 4\nq Q0 d 5 inf t\nq Q0 e 6 1_0 t\n"
    path = _write(tmp_path / "run", text)
    with pytest.raises(InputError) as caught:
        trec.read_run(path)
    lines = str(caught.value).splitlines()
    assert [fault.line for fault in caught.value.faults] == [2, 3, 4, 5, 6]
    assert lines[0].startswith(f"{path}:2: document: 'a' stands twice for query q")
    assert "has 4 fields, not 6" in lines[2]
    assert caught.value.exit_code == 2


def test_lenient_keeps_the_slot_of_a_repeat(tmp_path: Path) -> None:
    path = _write(tmp_path / "run", "q Q0 a 1 3 t\nq Q0 a 2 2 t\nq Q0 b 3 1 t\n")
    run = trec.read_run(path, lenient=True)
    assert run.documents == {"q": ["a", "a", "b"]}
    assert "1 repeated documents" in run.notes[0]
    qrels = _write(tmp_path / "qrels", "q 0 a 1\nq 0 a 2\n")
    assert trec.read_qrels(qrels, lenient=True).grades == {"q": {"a": 2}}
    with pytest.raises(InputError, match=":2: document: 'a' stands twice"):
        trec.read_qrels(qrels)


def test_the_order_is_the_files_unless_ties_are_asked_for(tmp_path: Path) -> None:
    path = _write(tmp_path / "run", "q Q0 a 9 1 t\nq Q0 b 8 1 t\nq Q0 c 7 5 t\n")
    run = trec.read_run(path)
    assert run.documents == {"q": ["a", "b", "c"]}
    assert "scores that rise" in run.notes[0]
    assert trec.read_run(path, ties="trec").documents == {"q": ["c", "b", "a"]}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no line"),
        (b"\xff\xfe 0 a 1\n", "is not UTF-8"),
        (b"q 0 a one\n", "is not a whole number"),
        (b"q 0 a 100000\n", "is not a whole number"),
        (b"q 0 a 1_0\n", "is not a whole number"),
        (b"\x1f\x8bgarbage", "cannot be read"),
        (gzip.compress(b"q 0 a 1\n" * 9, mtime=0)[:-9], "cannot be read"),
    ],
)
def test_bad_qrels_are_one_located_line(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        trec.read_qrels(_write(tmp_path / "qrels", content))
    assert str(tmp_path / "qrels") in str(caught.value)


def test_a_missing_file_and_a_folder_are_faults(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            trec.read_run(path)


def test_a_gzip_bomb_stops_at_the_first_long_line(tmp_path: Path) -> None:
    bomb = gzip.compress(b"\0" * (64 << 20))
    assert len(bomb) < 100_000
    with pytest.raises(InputError, match="longer than"):
        trec.read_qrels(_write(tmp_path / "qrels", bomb))


def test_the_unpacked_size_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trec, "LARGEST_FILE", 30)
    rows = "".join(f"q 0 d{at} 1\n" for at in range(9))
    with pytest.raises(InputError, match=r":4: file is larger than 30 bytes, unpacked"):
        trec.read_qrels(_write(tmp_path / "qrels", gzip.compress(rows.encode())))


def test_too_many_faults_end_the_reading(tmp_path: Path) -> None:
    path = _write(tmp_path / "qrels", "q 0 a\n" * 5000)
    with pytest.raises(InputError) as caught:
        trec.read_qrels(path)
    assert len(caught.value.faults) == trec.MOST_FAULTS + 1
    assert "mend these first" in str(caught.value.faults[-1])


def _beir(root: Path) -> Path:
    corpus = [{"_id": "d1", "title": "t", "text": "x"}, {"_id": "d2", "text": "y"}]
    queries = [{"_id": "q1", "text": "what"}, {"_id": "q2", "text": "unjudged"}]
    _write(root / "corpus.jsonl", "".join(json.dumps(row) + "\n" for row in corpus))
    _write(root / "queries.jsonl", "".join(json.dumps(row) + "\n" for row in queries))
    _write(root / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n")
    return root


def test_beir_folder(tmp_path: Path) -> None:
    data = trec.read_beir(_beir(tmp_path))
    assert data.split == "test"
    assert data.queries == {"q1": "what"}
    assert data.grades == {"q1": {"d1": 1, "d2": 0}}
    documents = list(trec.beir_documents(tmp_path))
    assert [(own.id, own.title, own.text) for own in documents] == [
        ("d1", "t", "x"),
        ("d2", "", "y"),
    ]


def test_beir_splits_are_named(tmp_path: Path) -> None:
    root = _beir(tmp_path)
    (root / "qrels" / "test.tsv").rename(root / "qrels" / "dev.tsv")
    assert trec.read_beir(root).split == "dev"
    _write(root / "qrels" / "train.tsv", "q1\td1\t1\n")
    with pytest.raises(InputError, match="has no split 'test'; there are dev, train"):
        trec.read_beir(root)
    assert trec.read_beir(root, "train").grades == {"q1": {"d1": 1}}


def test_beir_faults(tmp_path: Path) -> None:
    root = _beir(tmp_path)
    _write(root / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\nq1\td1\tx\n")
    with pytest.raises(InputError) as caught:
        trec.read_beir(root)
    assert [fault.line for fault in caught.value.faults] == [2, 3]
    _write(root / "qrels" / "test.tsv", "q9\td1\t1\n")
    with pytest.raises(InputError, match=r"q9: is judged in test.tsv and has no text"):
        trec.read_beir(root)
    _write(root / "corpus.jsonl", '{"_id": 1, "text": "a"}\n[]\n{"_id": "d", "text": "a"}\nnot\n')
    with pytest.raises(InputError) as caught:
        list(trec.beir_documents(root))
    assert [fault.line for fault in caught.value.faults] == [1, 2, 4]
