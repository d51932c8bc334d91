"""What runs on a machine of a cluster: a shard of one retriever's questions.

A machine knows a corpus by its digest, and fetches it once; an adapter's file is taken from the
machine where the same file is there, and from the shard elsewhere. The adapter itself runs in a
child process, as everywhere.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.adapter import find
from codebench.corpus.tables import read_tables
from codebench.errors import CodebenchError
from codebench.home import cache_dir
from codebench.model import Corpus
from codebench.results import TABLES
from codebench.runner.kept import FOLDER, IndexStore
from codebench.runner.machine import digest_of, fingerprint
from codebench.runner.record import MemoryWriter
from codebench.runner.secret import redactor
from codebench.runner.session import Bench, GaveUp
from codebench.runner.supervise import Turn

if TYPE_CHECKING:
    from codebench.model import Candidate
    from codebench.results import State
    from codebench.runner.plan import Plan, RunSettings

FETCHED = "fetched"
_FILES = "files"


class CorpusMissing(CodebenchError):  # noqa: N818  # it names what is wanted
    """This machine does not have the corpus yet."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Some questions to one retriever about one snapshot.

    Attributes:
        candidate: who is asked, with its version and digest.
        adapter: the file that holds its adapter; empty for an installed one.
        name: that file's name.
        corpus: the digest of the corpus.
        settings: how the run is made.
        plan: the questions. Nothing of the gold is in it.
        compare: whether queries are asked more than once.
    """

    candidate: Candidate
    adapter: bytes
    name: str
    corpus: str
    settings: RunSettings
    plan: Plan
    compare: bool


@dataclass(frozen=True, slots=True)
class ShardDone:
    """What came of a shard.

    Attributes:
        rows: what is to be appended to the retriever's answers.
        machine: digest of the machine that it ran on.
        state: `complete`, or `failed`.
        reason: one line, empty for `complete`.
        left: processes that were still running at the end.
    """

    rows: list[dict[str, Any]]
    machine: str
    state: State
    reason: str
    left: int


def pack(corpus: Corpus, tables: Path) -> bytes:
    """Return a corpus with its tables as one archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=4) as archive:
        archive.add(tables, TABLES)
        archive.add(corpus.path, _FILES)
    return buffer.getvalue()


def fetch(digest: str, archive: bytes) -> bool:
    """Put a corpus into this machine's cache; False where it was there already."""
    place = _place(digest)
    if place.is_dir():
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=place.parent))
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as packed:
            packed.extractall(making, filter="data")
        os.rename(making, place)  # noqa: PTH104  # fails where another was first
    except OSError:
        if not place.is_dir():
            raise
        return False
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return True


def _place(digest: str) -> Path:
    return cache_dir() / FETCHED / digest.replace(":", "-")


def run_shard(shard: Shard) -> ShardDone:
    """Ask a shard's questions.

    Raises:
        CorpusMissing: the corpus must be fetched first.
    """
    place = _place(shard.corpus)
    if not place.is_dir():
        raise CorpusMissing(shard.corpus)
    corpus = Corpus(place / _FILES, shard.corpus, read_tables(place / TABLES))
    store = IndexStore(cache_dir() / FOLDER) if shard.settings.keep_index else None
    bench = Bench(corpus, place / TABLES, Path.cwd(), shard.settings, store=store)
    writer = MemoryWriter(redactor([shard.candidate]), compare=shard.compare)
    turn = Turn(bench, _here(shard), writer)
    state: State = "complete"
    reason = ""
    try:
        turn.run(shard.plan)
    except GaveUp as problem:
        state, reason = "failed", str(problem)
    return ShardDone(writer.rows, digest_of(fingerprint()), state, reason, turn.left)


def _here(shard: Shard) -> Candidate:
    """Return the candidate as this machine finds it."""
    one = shard.candidate
    if not shard.adapter:
        return one
    try:
        file = find(one.reference).file
        same = file is not None and file.read_bytes() == shard.adapter
    except (CodebenchError, OSError):
        same = False
    if same:
        return one
    digest = hashlib.sha256(shard.adapter).hexdigest()
    place = cache_dir() / FETCHED / f"adapter-{digest}" / shard.name
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as part:
            part.write(shard.adapter)
        os.replace(part.name, place)  # noqa: PTH105  # the same call
    attribute = one.reference.rpartition(".py:")[2] if ".py:" in one.reference else ""
    reference = f"{place}:{attribute}" if attribute else str(place)
    return replace(one, reference=reference)
