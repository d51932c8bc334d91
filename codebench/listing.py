"""What there is to name on a command line: retrievers, suites, measures and stored runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codebench.adapter import ENTRY_POINTS, builtin_names, load, one_line
from codebench.errors import AdapterError, CodebenchError, ResultsError
from codebench.home import builtin
from codebench.results import MANIFEST, read_ends
from codebench.results.several import member_runs, read_several, several_digest
from codebench.suite import SUITE_FILE, read_suite, suite_digest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class ListedRetriever:
    """A retriever that can be named.

    Attributes:
        name: as `-r` takes it.
        origin: `built in` or `installed` (an entry point).
        default: whether `run` takes it where none is named.
        version: what its class says; empty where only an instance knows.
        words: the first line of its docstring.
        missing: why it cannot run here and what installs it; empty where it can.
    """

    name: str
    origin: str
    default: bool
    version: str
    words: str
    missing: str


@dataclass(frozen=True, slots=True)
class ListedSuite:
    """A built-in suite.

    Attributes:
        name: as `run` takes it.
        queries, targets: how many; targets of all grades.
        tags: the tags that it can be cut by, sorted.
        digest: of the suite; empty where its corpus is another one on other machines.
        problem: why it cannot be read; empty where it can.
    """

    name: str
    queries: int = 0
    targets: int = 0
    tags: tuple[str, ...] = ()
    digest: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A folder in the results folder.

    Attributes:
        path: the folder.
        started: ISO 8601, in UTC; empty where the manifest does not say.
        suite, digest, queries: what was asked.
        retrievers: who was asked, floors left out.
        complete: whether every retriever answered to the end.
        problem: why the folder cannot be read; empty where it can.
    """

    path: Path
    started: str = ""
    suite: str = ""
    digest: str = ""
    queries: int = 0
    retrievers: tuple[str, ...] = ()
    complete: bool = False
    problem: str = ""


def retrievers(default: Collection[str]) -> list[ListedRetriever]:
    """Return the built-in and the installed retrievers, each sorted by name.

    Their files are imported to ask them whether they can run here.

    Args:
        default: names of those that `run` takes where none is named.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415  # reads every installed package

    own = builtin_names()
    installed = sorted({point.name for point in entry_points(group=ENTRY_POINTS)} - set(own))
    return [_retriever(name, "built in", name in default) for name in own] + [
        _retriever(name, "installed", name in default) for name in installed
    ]


def _retriever(name: str, origin: str, default: bool) -> ListedRetriever:
    try:
        kind = load(name)
    except AdapterError as error:
        return ListedRetriever(name, origin, default, "", "", str(error))
    try:
        missing = kind.missing() or ""
    except Exception as error:  # noqa: BLE001  # it is others' code
        missing = f"missing() raises: {one_line(error)}"
    words = (kind.__doc__ or "").strip().partition("\n")[0].strip()
    return ListedRetriever(name, origin, default, str(kind.version), words, str(missing))


def suites() -> list[ListedSuite]:
    """Return the built-in suites, sorted by name; one that cannot be read says why."""
    return [_suite(builtin("suites") / name) for name in suite_names()]


def suite_names() -> list[str]:
    """Return the names of the built-in suites, sorted."""
    folders = builtin("suites").glob("*/")
    return sorted(folder.name for folder in folders if (folder / SUITE_FILE).is_file())


def _suite(folder: Path) -> ListedSuite:
    try:
        suite = read_suite(folder)
    except CodebenchError as error:
        return ListedSuite(folder.name, problem=str(error).partition("\n")[0])
    return ListedSuite(
        name=folder.name,
        queries=len(suite.queries),
        targets=sum(len(query.targets) for query in suite.queries),
        tags=tuple(sorted({tag for query in suite.queries for tag in query.tags})),
        digest=suite_digest(suite) if suite.corpus_digest else "",
    )


def runs(results: Path) -> list[ListedRun]:
    """Return the run folders of a results folder, the newest first.

    A folder that holds no run, or a damaged one, is listed with the reason; a folder of runs is
    not.

    Raises:
        ResultsError: the results folder cannot be read.
    """
    try:
        folders = sorted(path for path in results.iterdir() if path.is_dir())
        listed = [_run(path) for path in folders if not _holds_runs(path)]
    except OSError as error:
        raise ResultsError(f"{results}: cannot be read ({error.strerror})") from None
    return sorted(listed, key=lambda run: (run.started, run.path.name), reverse=True)


def _holds_runs(path: Path) -> bool:
    if (path / MANIFEST).exists():
        return False
    try:
        return any((inner / MANIFEST).is_file() for inner in path.iterdir())
    except OSError:
        return False


def _run(path: Path) -> ListedRun:
    try:
        several = read_several(path)
        return _one(path) if several is None else _several(path, several)
    except CodebenchError as error:
        return ListedRun(path, problem=str(error).partition("\n")[0])


def _several(path: Path, manifest: Mapping[str, Any]) -> ListedRun:
    members = [(name, _one(run)) for name, run in member_runs(path)]
    own = [run for _, run in members]
    whole = manifest["ended"] and len(members) == len(manifest["members"])
    return ListedRun(
        path=path,
        started=own[0].started,
        suite=manifest["name"],
        digest=several_digest((name, run.digest) for name, run in members),
        queries=sum(run.queries for run in own),
        retrievers=tuple(
            name for name in own[0].retrievers if all(name in run.retrievers for run in own)
        ),
        complete=whole and all(run.complete for run in own),
    )


def _one(path: Path) -> ListedRun:
    manifest, complete = read_ends(path)
    suite = manifest.get("suite")
    suite = suite if isinstance(suite, dict) else {}
    queries = suite.get("queries")
    names = [row for row in manifest.get("retrievers", ()) if not row["floor"]]
    return ListedRun(
        path=path,
        started=_text(manifest.get("started")),
        suite=_text(suite.get("name")),
        digest=_text(suite.get("digest")),
        queries=queries if type(queries) is int else 0,
        retrievers=tuple(row["name"] for row in names),
        complete=complete,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
