"""PostgreSQL: full text or trigrams, by a server of its own that nothing else sees."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from codebench import Hit, Retriever
from codebench.keywords import keywords, tokens
from codebench.kit.passages import Passage, passages
from codebench.kit.programs import missing_package

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus

USER = "postgres"
"""Who runs the server where this process is root, as it refuses to run as root."""

OPEN = Path("/tmp")  # noqa: S108  # the one folder that USER can surely reach
PREFIX = "codebench-postgres-"

START_SECONDS = 60.0
END_SECONDS = 10.0
MOST_WORDS = 100

SETTINGS = (
    "listen_addresses=",  # a socket in its folder is the only way in
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "jit=off",
    "max_connections=5",
    "shared_buffers=64MB",
    "log_min_messages=fatal",
    "dynamic_shared_memory_type=mmap",
)

CLUSTER = ("--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", f"-U{USER}")

TABLES = {
    "text": "ALTER TABLE texts ADD words tsvector GENERATED ALWAYS AS "
    "(to_tsvector('simple', body)) STORED; CREATE INDEX ON texts USING gin (words)",
    "trigram": "CREATE EXTENSION pg_trgm; CREATE INDEX ON texts USING gin (body gin_trgm_ops)",
}
QUERIES = {
    "text": "SELECT number, ts_rank_cd(words, asked, 1) AS score FROM texts, "
    "to_tsquery('simple', %s) asked WHERE words @@ asked ORDER BY score DESC, number LIMIT %s",
    "trigram": "SELECT number, (SELECT sum(word_similarity(word, body)) FROM "
    "unnest(%s::text[]) word) AS score FROM texts WHERE body ILIKE ANY (%s) "
    "ORDER BY score DESC, number LIMIT %s",
}


class Postgres(Retriever):
    """PostgreSQL over chunks: `text` (tsvector, ts_rank_cd) or `trigram` (pg_trgm)."""

    def __init__(self, mode: Literal["text", "trigram"] = "text") -> None:
        self.mode = mode
        self.version = f"1, {_ask('postgres', '--version')}"
        self.passages: list[Passage] = []
        self.server: subprocess.Popen[bytes] | None = None
        self.connection: Any = None
        self.folder: Path | None = None

    @classmethod
    def missing(cls) -> str | None:
        for name in ("postgres", "initdb"):
            if _program(name) is None:
                return f"the program {name} is not there; apt install postgresql"
        return missing_package(["psycopg"], "pip install 'codebench-harness[postgres]'")

    def index(self, corpus: Corpus) -> None:
        self.close()
        self.passages = passages(corpus)
        self._start(_own_folder() if os.geteuid() == 0 else Path.cwd() / "postgres")
        rows = [(number, _text(one, self.mode)) for number, one in enumerate(self.passages)]
        with self.connection.cursor() as cursor:
            cursor.execute("CREATE TABLE texts (number integer PRIMARY KEY, body text)")
            with cursor.copy("COPY texts FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            for statement in TABLES[self.mode].split("; "):
                cursor.execute(statement)
            cursor.execute("ANALYZE texts")

    def search(self, text: str, k: int) -> Sequence[Hit]:
        arguments = self._arguments(text)
        if not arguments:
            return []
        with self.connection.cursor() as cursor:
            rows = cursor.execute(QUERIES[self.mode], (*arguments, k)).fetchall()
        return [self.passages[number].hit(float(score)) for number, score in rows]

    def _arguments(self, text: str) -> tuple[Any, ...]:
        if self.mode == "text":
            words = [word for word in dict.fromkeys(tokens(text)) if len(word) < 500][:MOST_WORDS]
            return (" | ".join(f"'{word}'" for word in words),) if words else ()
        words = [word for word in keywords(text) if len(word) >= 3]
        patterns = [f"%{word.replace('_', chr(92) + '_')}%" for word in words]
        return (words, patterns) if words else ()

    def index_bytes(self) -> int | None:
        with self.connection.cursor() as cursor:
            row = cursor.execute("SELECT pg_total_relation_size('texts')").fetchone()
        return int(row[0])

    def _start(self, folder: Path) -> None:
        """Make a database cluster in a folder, start its server and connect to it."""
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        root = os.geteuid() == 0
        user = USER if root else None
        groups: list[str] | None = [] if root else None
        if root:
            shutil.chown(folder, USER, USER)
        log = (folder / "log").open("wb")
        with log:
            subprocess.run(
                [_program("initdb") or "", *CLUSTER, "-D", str(folder / "data")],
                stdout=log,
                stderr=log,
                check=True,
                cwd=folder,
                user=user,
                group=user,
                extra_groups=groups,
            )
            options = [part for setting in SETTINGS for part in ("-c", setting)]
            options += ["-k", str(folder)]
            self.server = subprocess.Popen(
                [_program("postgres") or "", "-D", str(folder / "data"), *options],
                stdout=log,
                stderr=log,
                cwd=folder,
                user=user,
                group=user,
                extra_groups=groups,
            )
        self._connect(folder)

    def _connect(self, folder: Path) -> None:
        driver: Any = import_module("psycopg")
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                self.connection = driver.connect(
                    host=str(folder), user=USER, dbname=USER, autocommit=True
                )
            except driver.OperationalError as error:
                ended = self.server is None or self.server.poll() is not None
                if ended or time.monotonic() > until:
                    said = (folder / "log").read_text("utf-8", "replace").strip()[-300:]
                    raise RuntimeError(f"the server does not start: {said or error}") from None
                time.sleep(0.05)
            else:
                return

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        if self.server is not None:
            with suppress(ProcessLookupError):
                self.server.send_signal(signal.SIGINT)  # it ends its own children
            try:
                self.server.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                self.server.kill()  # its children end with it
                self.server.wait()
            self.server = None
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None


def _own_folder() -> Path:
    """Return a folder that USER can reach, with no other folder opened to it.

    What a process that was killed left there is removed.
    """
    for left in OPEN.glob(f"{PREFIX}*"):
        try:
            pid = (left / "data" / "postmaster.pid").read_text("ascii").split("\n")[0]
            os.kill(int(pid), 0)
        except ProcessLookupError:
            shutil.rmtree(left, ignore_errors=True)
        except (OSError, ValueError, OverflowError):
            continue
    return Path(tempfile.mkdtemp(prefix=PREFIX, dir=OPEN))


def _text(passage: Passage, mode: str) -> str:
    text = passage.text.replace("\0", " ")
    # What it splits by itself is prose: an identifier is split here, as for the others.
    return " ".join(tokens(text)) if mode == "text" else text


def _program(name: str) -> str | None:
    """Return a server program: Debian keeps them out of the path, a folder a version."""
    found = shutil.which(name)
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=_release)
    return found or (str(places[-1]) if places else None)


def _release(path: Path) -> float:
    text = path.parents[1].name
    return float(text) if text.replace(".", "", 1).isdigit() else 0.0


def _ask(name: str, *arguments: str) -> str:
    argv = [_program(name) or name, *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return done.stdout.strip()
