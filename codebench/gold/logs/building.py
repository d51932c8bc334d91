"""A query log, or agents' trajectories -> a suite folder: `codebench suite build --from-log`."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from codebench import home
from codebench.errors import NothingMeasured
from codebench.gold.folders import Written, check_free, write_whole
from codebench.gold.history import read_history
from codebench.gold.logs.formats import files_of, format_of, read_log
from codebench.gold.logs.landing import Ground
from codebench.gold.logs.making import Maker
from codebench.gold.logs.moments import Moments
from codebench.gold.logs.navigation import NAVIGATION_FILE, navigation_rows
from codebench.gold.logs.propensity import effective
from codebench.gold.logs.record import TRAJECTORY
from codebench.gold.logs.redaction import Redactor
from codebench.gold.logs.skipped import Skipped
from codebench.gold.logs.store import Store
from codebench.gold.logs.tasks import tasks_of
from codebench.gold.relations import relations_of
from codebench.gold.timeline import Timeline
from codebench.gold.window import Mainline
from codebench.gold.workshop import workshop
from codebench.model import Suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from codebench.corpus.rules import SnapshotRules
    from codebench.gold.logs.columns import ColumnMap
    from codebench.gold.logs.efforts import Navigation
    from codebench.gold.logs.making import Made
    from codebench.gold.logs.record import Record
    from codebench.gold.workshop import Progress, Source

_TOLD_EVERY = 1_000
_TOLD = 5


@dataclass(frozen=True, slots=True)
class LogRequest:
    """What is to be built of a log.

    Attributes:
        logs: files, or folders of them.
        form: the format; empty to tell it by the files.
        columns: how a table's rows are read.
        snapshot: the revision that is asked; empty for the newest commit before the first task of
            an agent, or before the last of people.
        salt: of the users' hashes; random where empty.
        rules: which files belong to the corpus.
    """

    logs: tuple[Path, ...]
    rules: SnapshotRules
    form: str = ""
    columns: ColumnMap | None = None
    snapshot: str = ""
    salt: str = ""


@dataclass(frozen=True, slots=True)
class BuiltFromLog:
    """What was built, and what was found on the way.

    Attributes:
        suite: the suite.
        form: the log's format.
        files, records: how many were read.
        skipped: what could not be read.
        redacted: what was taken out of the texts, by kind.
        users: how many users there were (their names are hashed, and not kept).
        tasks: how many tasks, by source.
        other_repositories: how many records were about another repository.
        unknown_commits: how many commits the log names that the repository does not have.
        lost: places that the snapshot does not have.
        unfit: edits that did not fit the commit that they were made on.
        corrections: queries of people by how position bias was corrected.
        effective: by correction, (clicks, effective sample size).
        pairs: results that were seen at two ranks.
        retrievers: what produced the impressions, with its number of queries.
        navigation: how each agent's task found its first target.
    """

    suite: Suite
    form: str
    files: int
    records: int
    skipped: Skipped
    redacted: Mapping[str, int]
    users: int
    tasks: Mapping[str, int]
    other_repositories: int
    unknown_commits: int
    lost: int
    unfit: int
    corrections: Mapping[str, int]
    effective: Mapping[str, tuple[int, float]]
    pairs: int
    retrievers: Mapping[str, int]
    navigation: Mapping[str, Navigation]


@dataclass
class _Intake:
    """What was read, before it is understood.

    Attributes:
        skipped: what could not be read.
        redactor: takes out what must not be kept.
        commits: that the log names.
        first, last: times of the first and the last record, by source.
        others: records about another repository.
        records: how many there were.
    """

    redactor: Redactor
    skipped: Skipped = field(default_factory=Skipped)
    commits: Counter[str] = field(default_factory=Counter)
    first: dict[str, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    others: int = 0
    records: int = 0


def build_from_log(
    repository: str,
    asked: LogRequest,
    folder: Path,
    progress: Progress,
    *,
    jobs: int | None = None,
    force: bool = False,
) -> BuiltFromLog:
    """Read a log, resolve what it names in a repository, and write the suite.

    Args:
        repository: path or URL.
        asked: what to read, and how.
        folder: where the suite is written.
        progress: told (step, done, of how many).
        jobs: processes that parse.
        force: whether a suite that is there is replaced.

    Raises:
        UsageError: there is no such log, its format cannot be told, or the folder is taken.
        InputError: a file cannot be opened.
        NothingMeasured: the log gave no query.
    """
    check_free(folder, force=force)
    form = asked.form or format_of(asked.logs, mapped=asked.columns is not None)
    files = files_of(asked.logs, form)
    intake = _Intake(Redactor(asked.salt))
    with (
        workshop(progress, jobs) as shop,
        shop.repository(repository) as source,
        Store(home.cache_dir() / "logs") as store,
    ):
        for number, path in enumerate(files, 1):
            records = read_log(path, form, intake.skipped, asked.columns)
            kept = _taken(records, intake, source, progress)
            store.add(number, kept)
        made, suite, counts = _understood(store, intake, asked, source)
    suite = replace(suite, name=folder.resolve().name, recipe=_recipe(form, asked, made))
    if not suite.queries:
        raise NothingMeasured(_nothing(intake, made, asked.logs[0]))
    rows = navigation_rows(made.navigation)
    extra = {NAVIGATION_FILE: rows} if rows else {}
    write_whole("", [Written("", suite, tuple(made.journeys))], folder, force=force, extra=extra)
    return BuiltFromLog(
        suite=suite,
        form=form,
        files=len(files),
        records=intake.records,
        skipped=intake.skipped,
        redacted={kind: count for kind, count in intake.redactor.counts.items() if count},
        users=intake.redactor.users,
        tasks=dict(made.tasks),
        other_repositories=intake.others,
        unknown_commits=counts["unknown"],
        lost=counts["lost"],
        unfit=made.unfit,
        corrections=dict(made.corrections),
        effective={
            name: (len(weights), effective(weights)) for name, weights in made.clicks.items()
        },
        pairs=made.pairs,
        retrievers=dict(made.retrievers),
        navigation=made.navigation,
    )


def _taken(
    records: Iterator[Record], intake: _Intake, source: Source, progress: Progress
) -> Iterator[Record]:
    """Yield the records that are about the repository, with nothing in them that must not be."""
    for record in records:
        intake.records += 1
        if intake.records % _TOLD_EVERY == 0:
            progress("reading the log", intake.records, 0)
        if record.repository and not _same(record.repository, source.name):
            intake.others += 1
            continue
        if record.commit:
            intake.commits[record.commit] += 1
        if record.time is not None:
            known = intake.first.get(record.source, record.time)
            intake.first[record.source] = min(known, record.time)
            intake.last[record.source] = max(
                intake.last.get(record.source, record.time), record.time
            )
        clean = intake.redactor.record(record)
        # One repository is built: what the log calls it must not part its sessions.
        yield replace(clean, repository="")


def _same(logged: str, name: str) -> bool:
    """Tell whether a log's name of a repository may mean this one: the last parts are alike."""
    return _short(logged) == _short(name)


def _short(name: str) -> str:
    last = posixpath.basename(name.rstrip("/").replace("\\", "/").replace(":", "/"))
    return re.split(r"__", last.casefold().removesuffix(".git"))[-1]


def _understood(
    store: Store, intake: _Intake, asked: LogRequest, source: Source
) -> tuple[Made, Suite, dict[str, int]]:
    progress = source.workshop.progress
    progress("reading history", 0, 0)
    commits = read_history(source.shadow, source.tip())
    mainline = Mainline(commits)
    moments = Moments(source, commits, mainline)
    snapshot = _snapshot(asked, intake, moments, source)
    corpus = source.corpus(snapshot, asked.rules)
    history = Timeline(commits, {}, {}, mainline)
    relations = relations_of(snapshot, corpus, source, history.change_sets(snapshot))
    ground = Ground(source, snapshot, corpus)
    maker = Maker(ground, moments, snapshot, corpus, relations, source.workshop.outliner)
    count = 0
    for records in store.people():
        for task in tasks_of(records):
            count += 1
            progress("resolving tasks", count, 0)
            maker.take(task)
    made = maker.finish()
    whole = len(made.queries) + made.dropped.total()
    dropped = sorted(made.dropped.items())
    funnel = (("candidates", whole), *dropped, ("queries", len(made.queries)))
    suite = Suite(
        name="",
        repository=source.name,
        snapshot=snapshot,
        corpus_digest=corpus.digest,
        queries=tuple(sorted(made.queries, key=lambda one: one.id)),
        funnel=funnel,
    )
    return made, suite, {"unknown": len(moments.unknown), "lost": ground.lost}


def _snapshot(asked: LogRequest, intake: _Intake, moments: Moments, source: Source) -> str:
    """Return the commit that is asked.

    The one given; else the only one that the log names; else the newest before the first task of
    an agent, whose edits the corpus must not hold, or before the last of people, who only looked.
    """
    if asked.snapshot:
        return source.commit(asked.snapshot)
    named = {moments.named(commit) for commit in intake.commits} - {""}
    if len(named) == 1:
        return named.pop()
    if TRAJECTORY in intake.first:
        moment = intake.first[TRAJECTORY]
    elif intake.last:
        moment = max(intake.last.values())
    else:
        return source.tip()
    return moments.before(moment) or source.tip()


def _recipe(form: str, asked: LogRequest, made: Made) -> dict[str, object]:
    log: dict[str, object] = {"format": form}
    if made.retrievers:
        log["retrievers"] = sorted(made.retrievers)
    recipe: dict[str, object] = {"source": "log", "log": log}
    rules = asked.rules.as_data()
    return recipe | ({"corpus": rules} if rules else {})


def _nothing(intake: _Intake, made: Made, log: Path) -> str:
    """Say why a log gave no query."""
    reasons = [f"{count} {reason}" for reason, count in sorted(made.dropped.items())]
    reasons += [f"{intake.skipped.lines} lines unreadable"] * bool(intake.skipped.lines)
    reasons += [f"{intake.others} records of another repository"] * bool(intake.others)
    passed = intake.skipped.ignored.most_common(_TOLD)
    reasons += [f"{count} passed over, of kind {kind!r}" for kind, count in passed]
    why = f" ({', '.join(reasons)})" if reasons else ""
    first = "".join(f"\n{one}" for one in intake.skipped.located[:_TOLD])
    return (
        f"{log}: of {intake.records} records and {made.tasks.total()} tasks none became a query"
        f"{why}; is it a log of this repository, and of the format that was named?{first}"
    )
