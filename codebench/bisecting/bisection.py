"""A good run, a bad run and a query -> the first commit of the adapter that is bad."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench import git
from codebench.adapter import find, parse_reference
from codebench.bisecting.job import Job, read_steps
from codebench.bisecting.step import examine
from codebench.errors import AdapterError, GitError, NothingMeasured, UsageError
from codebench.gold.recipe import Recipe
from codebench.gold.target import open_target, suite_folder
from codebench.judging.contest import Contender, check_suites
from codebench.judging.scoring import score_run
from codebench.reading import near
from codebench.results import SUITE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codebench.adapter import Source
    from codebench.bisecting.job import Step
    from codebench.git import CommitLine, Walk
    from codebench.judging.scored import ScoredRun
    from codebench.measures.names import Measure
    from codebench.model import Corpus, Query

PACKAGE = Path(__file__).resolve().parents[1]

_BOOT = """\
import sys
try:
    from pathlib import Path
    from codebench.bisecting.step import main
    status = main(Path(sys.argv[1]))
except BaseException as error:
    print(f"codebench: {error!r}", file=sys.stderr)
    status = 200
sys.exit(status)
"""
"""What runs at a commit. A traceback would end with 1, which git takes for a bad commit."""


@dataclass(frozen=True, slots=True)
class BisectRequest:
    """What is looked for, and where.

    Attributes:
        query: the query's ID.
        good, bad: the runs' folders.
        measure: what got worse.
        retriever: who; empty for the only one that both runs have.
        adapter: its reference, where the run's does not lead to it from here.
        suite: a target whose corpus is the runs', where they do not lead to it.
        good_commit, bad_commit: in place of those that the runs say.
    """

    query: str
    good: Path
    bad: Path
    measure: Measure
    retriever: str = ""
    adapter: str = ""
    suite: str = ""
    good_commit: str = ""
    bad_commit: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """One end of the history.

    Attributes:
        run: the run's folder.
        commit: of the adapter.
        value: what the query scored in the run.
        dirty: whether the adapter had changes then that no commit has.
    """

    run: Path
    commit: str
    value: float
    dirty: bool


@dataclass(frozen=True, slots=True)
class Bisection:
    """What was found.

    Attributes:
        query: the query that got worse.
        measure: by its printed name.
        retriever: who was asked.
        file: its adapter, inside its repository.
        good, bad: the two ends.
        commits: how many lie between them, the bad end included.
        steps: what was asked, in order; the two ends first.
        found: the first bad commit; several where those between could not be judged.
    """

    query: Query
    measure: Measure
    retriever: str
    file: str
    good: End
    bad: End
    commits: int
    steps: tuple[Step, ...]
    found: tuple[CommitLine, ...]


def bisect(asked: BisectRequest, tell: Callable[[str], None]) -> Bisection:
    """Find the commit after which a query is worse.

    The adapter's repository is only read: its history is walked in a checkout of codebench's own.

    Args:
        asked: what is looked for.
        tell: told what happens, a line each.

    Raises:
        UsageError: the query did not get worse, or the ends cannot be told or reproduced.
        NoBaseline: the runs answered different suites.
        AdapterError, GitError: the adapter's history cannot be found or walked.
        NothingMeasured: a run answered nothing.
    """
    runs = [score_run(path, [asked.measure]) for path in (asked.good, asked.bad)]
    name = asked.retriever or _only(runs)
    sides = [_side(run, name) for run in runs]
    check_suites(sides)
    query = _query(sides[1], asked.query)
    source, options = _source(asked.adapter, sides[1])
    if source.file is None:
        raise AdapterError(f"{name}: is installed; name its file as --adapter file.py:Class")
    place = git.place_in(source.file)
    repository = git.locate(source.file.parent)
    with tempfile.TemporaryDirectory(prefix="codebench-bisect-") as scratch:
        folder = Path(scratch)
        with git.walk(repository, folder / "checkout") as walk:
            good = _end(walk, sides[0], query, asked.good_commit)
            bad = _end(walk, sides[1], query, asked.bad_commit)
            turning = _turning(asked.measure, good, bad)
            commits = _between(walk, good, bad)
            reference = f"{place}:{source.attribute}" if source.attribute else place
            job = _job(asked, sides[1], folder, reference, options, turning)
            _check_ends(walk, job, good, bad)
            tell(f"{len(commits)} commits between the two")
            found = _walk(walk, job, folder, good, bad)
            return Bisection(
                query=query,
                measure=runs[1].measures[0],
                retriever=name,
                file=place,
                good=good,
                bad=bad,
                commits=len(commits),
                steps=read_steps(Path(job.log)),
                found=tuple(walk.line(commit) for commit in found),
            )


def _job(
    asked: BisectRequest,
    bad: Contender,
    folder: Path,
    reference: str,
    options: Mapping[str, Any],
    turning: float,
) -> Job:
    evaluation = bad.evaluation
    return Job(
        run=str(asked.bad.resolve()),
        corpus=str(_corpus(asked, bad).path),
        query=asked.query,
        measure=asked.measure.written,
        name=bad.name,
        reference=reference,
        options=options,
        depth=bad.run.depth,
        query_timeout=_setting(bad, "query_timeout", 30.0),
        index_timeout=_setting(bad, "index_timeout", 1800.0),
        turning=turning,
        fails=evaluation.statuses[evaluation.queries.index(asked.query)] != "ok",
        results=str(folder / "results"),
        log=str(folder / "steps.jsonl"),
    )


def _walk(walk: Walk, job: Job, folder: Path, good: End, bad: End) -> tuple[str, ...]:
    file = folder / "job.json"
    job.write(file)
    # -P: a folder `codebench` in the adapter's repository must not pass for this one.
    command = [sys.executable, "-P", "-c", _BOOT, str(file)]
    found = walk.bisect(good.commit, bad.commit, command, {"PYTHONPATH": str(PACKAGE.parent)})
    outcomes = {step.commit: step.outcome for step in read_steps(Path(job.log))}
    if outcomes.get(found[0]) != "bad":
        raise GitError(f"the bisection ended early: {found[0][:12]} was not judged")
    return found


def _only(runs: list[ScoredRun]) -> str:
    names = [{one.name for one in run.retrievers if not one.floor} for run in runs]
    both = sorted(names[0] & names[1])
    if len(both) != 1:
        listed = ", ".join(both) or "none"
        raise UsageError(f"name a retriever of both runs by -r; there are {listed}")
    return both[0]


def _side(run: ScoredRun, name: str) -> Contender:
    if run.members:
        raise UsageError(f"{run.run.path}: is a run over several suites; name a member's run")
    found = [one for one in run.retrievers if one.name == name]
    if not found:
        hint = near(name, (one.name for one in run.retrievers))
        raise UsageError(f"{run.run.path}: holds no retriever {name!r}; {hint}")
    evaluation = found[0].evaluation
    if evaluation is None:
        raise NothingMeasured(f"{run.run.path}: {name} answered nothing")
    label = f"{name} @ {run.run.path}"
    return Contender(label, run.run, found[0].run, run.suite, run.digest, evaluation)


def _query(side: Contender, name: str) -> Query:
    known = {query.id: query for query in side.suite.queries}
    if name not in known:
        hint = near(name, sorted(known)[:1000])
        raise UsageError(f"{side.run.path}: has no query {name!r}; {hint}")
    return known[name]


def _source(adapter: str, side: Contender) -> tuple[Source, Mapping[str, Any]]:
    candidate = side.answers.candidate
    if adapter:
        reference, options = parse_reference(adapter)
        return find(reference), options
    try:
        return find(candidate.reference), dict(candidate.options)
    except AdapterError as error:
        raise AdapterError(f"{error}; name it as --adapter file.py:Class[:options]") from None


def _end(walk: Walk, side: Contender, query: Query, commit: str) -> End:
    measure = side.evaluation.measures[0]
    value = side.evaluation.per_query[query.id][str(measure)]
    if value is None:
        raise UsageError(f"{query.id} has no gold at the level of {measure.short}")
    rows = side.run.manifest.get("retrievers", ())
    kept = next((one.get("checkout") for one in rows if one.get("name") == side.name), None) or {}
    commit = commit or str(kept.get("commit", ""))
    if not commit:
        raise UsageError(
            f"{side.run.path}: does not say at which commit {side.name} was; name it by "
            "--good-commit or --bad-commit"
        )
    return End(side.run.path, walk.commit(commit), value, bool(kept.get("dirty")))


def _between(walk: Walk, good: End, bad: End) -> tuple[str, ...]:
    if good.commit == bad.commit:
        raise UsageError(
            f"both runs are of {good.commit[:12]}: no commit lies between them (changes that were "
            "not committed cannot be bisected)"
        )
    if not walk.is_before(good.commit, bad.commit):
        raise UsageError(f"{good.commit[:12]} does not lie before {bad.commit[:12]}")
    return walk.between(good.commit, bad.commit)


def _turning(measure: Measure, good: End, bad: End) -> float:
    """Return the gain half way: what is nearer to the bad value is bad."""
    sign = 1 if measure.higher_is_better else -1
    if sign * bad.value >= sign * good.value:
        raise UsageError(
            f"the query did not get worse by {measure.short}: {good.value:.4g} -> {bad.value:.4g}; "
            "name another measure by -m"
        )
    return sign * (good.value + bad.value) / 2


def _check_ends(walk: Walk, job: Job, good: End, bad: End) -> None:
    """Ask at both ends first: where they do not turn out as the runs say, no commit is to blame."""
    for end, outcome in ((good, "good"), (bad, "bad")):
        walk.check_out(end.commit)
        step = examine(job, walk.folder, end.commit)
        step.append(Path(job.log))
        if step.outcome != outcome:
            seen = step.reason if step.value is None else f"{step.value:.4g}"
            dirty = "; it had changes then that no commit has" if end.dirty else ""
            raise UsageError(
                f"at {end.commit[:12]} the query is not {outcome}: it scored {end.value:.4g} in "
                f"{end.run}, now: {seen}{dirty}"
            )


def _corpus(asked: BisectRequest, run: Contender) -> Corpus:
    """Find the directory of the corpus that the runs were over."""
    own = run.run.path / SUITE
    targets = [asked.suite] if asked.suite else [str(own), run.suite.name]
    for target in targets:
        pinned = target == str(own) and not run.suite.snapshot
        if not asked.suite and (pinned or suite_folder(target) is None):
            continue
        for opened in open_target(target, Recipe(), lambda *_: None):
            if opened.corpus.digest == run.suite.corpus_digest:
                return opened.corpus
    raise UsageError(
        f"{run.run.path}: its corpus cannot be found; name the suite's folder by --suite"
    )


def _setting(run: Contender, name: str, default: float) -> float:
    settings = run.run.manifest.get("settings")
    value = settings.get(name) if isinstance(settings, dict) else None
    return float(value) if isinstance(value, int | float) and value > 0 else default
