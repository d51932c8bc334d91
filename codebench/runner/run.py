"""A suite, its corpus and retrievers -> a run folder."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from codebench.errors import NothingMeasured, ResultsError
from codebench.results import TABLES, candidate_row, read_run
from codebench.runner import floors
from codebench.runner.beside import turns_beside
from codebench.runner.events import Noted, RunEnded, RunStarted
from codebench.runner.events import ignore as ignore_events
from codebench.runner.harness import harness_cost
from codebench.runner.hold import held
from codebench.runner.identity import asked_of, checkout_of, identity_of
from codebench.runner.kept import FOLDER, IndexStore
from codebench.runner.plan import RunSettings, plan_of, warmup_texts
from codebench.runner.record import RunWriter, create_run
from codebench.runner.resume import find, unpack
from codebench.runner.seal import pack_answers, write_all_columns
from codebench.runner.secret import masked, redactor
from codebench.runner.session import Bench, GaveUp, Stopped
from codebench.runner.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codebench.model import Candidate, Corpus, Suite
    from codebench.results import RetrieverRun
    from codebench.runner.cluster import Cluster
    from codebench.runner.events import Events
    from codebench.runner.identity import Asked

NO_RECENCY: Mapping[str, int] = MappingProxyType({})


@dataclasses.dataclass(frozen=True, slots=True)
class Resume:
    """How a run that was cut off is gone on with.

    Attributes:
        retry: whether what failed is asked again, too.
    """

    retry: bool = False


def run(
    suite: Suite,
    corpus: Corpus,
    candidates: Sequence[Candidate],
    results: Path,
    settings: RunSettings | None = None,
    *,
    events: Events = ignore_events,
    recency: Mapping[str, int] = NO_RECENCY,
    folder: Path | None = None,
    resume: Resume | None = None,
    cache: Path | None = None,
    cluster: Cluster | None = None,
) -> Path:
    """Ask every retriever the whole suite.

    Every adapter is loaded and made once, in a process of its own, before anything is
    measured. An interrupt (Ctrl-C, SIGTERM, SIGHUP) ends the run early: its folder is marked
    as incomplete and returned.

    Args:
        suite: what is asked.
        corpus: the corpus that the suite is asked of.
        candidates: who is asked.
        results: the folder of runs.
        settings: how the run is made.
        events: told what happens.
        recency: chunk IDs or paths ranked by their last change before the snapshot, 0 for the
            newest; without it the floor `recent` is left out.
        folder: what a relative adapter file is relative to; the current directory by default.
        resume: whether the newest run of this suite is gone on with, where all that could
            change it is the same; where something differs, it is told and a new run is made.
        cache: the cache folder, for kept indexes; they are kept only with it.
        cluster: who shares the work out; None for this machine alone.

    Returns:
        the run's folder.

    Raises:
        AdapterError: an adapter cannot be loaded or made; all that cannot are named.
        NothingMeasured: there is no query, or no retriever can run here.
        ResultsError: the folder cannot be written; what was written before stays readable.
    """
    settings = settings or RunSettings()
    folder = folder or Path.cwd()
    if not suite.queries:
        raise NothingMeasured(f"{suite.name}: the suite has no query")
    rows = [floors.candidate(name) for name in floors.available(settings.floors, recency)]
    lock = threading.Lock()

    def tell(event: object) -> None:
        with lock:
            events(event)  # type: ignore[arg-type]  # it is an event

    with _interruptible(), contextlib.ExitStack() as holding:
        asked = asked_of(candidates, rows, folder, settings)
        at = results.absolute()
        writer, before = _folder(suite, corpus, asked, at, settings, resume, tell, holding)
        store = IndexStore(cache / FOLDER) if cache and settings.keep_index else None
        bench = Bench(corpus, writer.path / TABLES, folder, settings, tell, store)
        tell(RunStarted(writer.path, len(suite.queries), tuple(one.name for one in asked.all)))
        complete = _ask(suite, asked, recency, bench, writer, before, resume, cluster)
        _seal(writer, suite, corpus, complete=complete)
        tell(RunEnded(writer.path, complete))
    return writer.path


def _folder(
    suite: Suite,
    corpus: Corpus,
    asked: Asked,
    results: Path,
    settings: RunSettings,
    resume: Resume | None,
    events: Events,
    holding: contextlib.ExitStack,
) -> tuple[RunWriter, dict[str, RetrieverRun]]:
    """Return the run's folder, new or gone on with, and what each retriever did before.

    It is held until `holding` ends.
    """
    identity = identity_of(suite, corpus, settings)
    rows = [candidate_row(masked(one)) for one in asked.all]
    if resume is not None:
        found = find(results, identity, rows)
        if found.path is not None:
            holding.enter_context(held(found.path))
            files = [row["file"] for row in found.manifest["retrievers"]]
            unpack(found.path, files)
            before = {one.candidate.name: one for one in read_run(found.path).retrievers}
            writer = RunWriter(found.path, found.manifest)
            writer.manifest |= {"complete": False, "ended": None}
            writer.save()
            events(Noted("", f"resuming {found.path.name}"))
            return writer, before
        for line in found.differences:
            events(Noted("", line))
    for row in rows:
        checkout = checkout_of(asked.files.get(row["name"], ""))
        if checkout:
            row["checkout"] = checkout
    now = datetime.now(UTC)
    writer = create_run(results, suite, corpus, rows, now=now, identity=identity)
    holding.enter_context(held(writer.path))
    return writer, {}


def _ask(
    suite: Suite,
    asked: Asked,
    recency: Mapping[str, int],
    bench: Bench,
    writer: RunWriter,
    before: Mapping[str, RetrieverRun],
    resume: Resume | None,
    cluster: Cluster | None,
) -> bool:
    """Ask everybody what is still to be asked; False where that was cut off."""
    settings = bench.settings
    retry = resume is not None and resume.retry
    warmups = warmup_texts(list(bench.corpus.chunks()), settings)
    plans = {
        one.name: plan_of(suite.queries, settings, warmups, before.get(one.name), retry=retry)
        for one in asked.all
    }
    turns = Turns(
        suite=suite,
        bench=bench,
        writer=writer,
        recency=recency,
        missing=asked.missing,
        plans=plans,
        before=before,
        retry=retry,
        redact=redactor(asked.all),
    )
    try:
        if settings.null_asks and "harness" not in writer.manifest:
            texts = [query.text for query in suite.queries[: settings.null_asks]]
            quiet = dataclasses.replace(bench, events=ignore_events, store=None)
            try:
                writer.manifest["harness"] = harness_cost(quiet, texts)
                writer.save()
            except GaveUp as problem:
                bench.events(Noted("", f"the harness's own cost was not measured: {problem}"))
        if cluster is not None:
            cluster.run(turns, asked.all, asked.files)
        elif settings.jobs > 1 and len(asked.described) > 1:
            turns_beside(turns, asked.all)
        else:
            for candidate in asked.all:
                turns.take(candidate)
    except (KeyboardInterrupt, Stopped):
        return False  # the folder says what was done, and that something is missing
    except BaseException:
        with contextlib.suppress(ResultsError):
            writer.end(_now(), complete=False)
        raise
    return True


def _seal(writer: RunWriter, suite: Suite, corpus: Corpus, *, complete: bool) -> None:
    """Write the end of the run; one that is whole is packed, and graded into columns."""
    if not complete:
        writer.end(_now(), complete=False)
        return
    names = [row["file"] for row in writer.manifest["retrievers"]]
    for row in writer.manifest["retrievers"]:
        row["state"] = pack_answers(writer.path, row["file"])
    digest = writer.manifest["suite"]["digest"]
    write_all_columns(writer.path, suite, digest, corpus, names, writer.manifest["depth"])
    writer.end(_now(), complete=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does; only the main thread may say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: object) -> None:  # noqa: ARG001  # a handler's shape
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    mine = [number for number in numbers if before[number] == signal.SIG_DFL]  # not under nohup
    for number in mine:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, before[number])
