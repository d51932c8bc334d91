"""The front door from pytest: a fixture that holds a retriever to its limits.

The plugin is loaded wherever codebench is installed; until the fixture is used it does nothing,
and imports nothing of codebench beyond this file.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.adapter import Retriever
    from codebench.gate.limits import Limit
    from codebench.gate.verdict import Gate
    from codebench.model import Candidate
    from codebench.runner.conformance import Conformance


class UndecidedWarning(pytest.PytestWarning):
    """A limit is neither kept nor broken for certain: the suite has too few queries to tell."""


@pytest.fixture(scope="session")
def codebench_runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Return the runs of this session: what was asked once is not asked again."""
    return Runs(tmp_path_factory)


@pytest.fixture
def codebench_gate(request: pytest.FixtureRequest, codebench_runs: Runs) -> Gated:
    """Return a function that runs a suite against a retriever and asserts limits.

    Call it as `codebench_gate("tiny", "my_tool.py:MyTool", limits=["nDCG@10:>=0.6"])`.
    """
    return Gated(request.config.rootpath, codebench_runs)


@pytest.fixture
def codebench_check(request: pytest.FixtureRequest) -> Checked:
    """Return a function that holds an adapter to its contract, as `list retrievers --check` does.

    Call it as `codebench_check("my_tool.py:MyTool")`.
    """
    return Checked(request.config.rootpath)


class Runs:
    """Runs of this session, by what was asked of whom."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._known: dict[object, Path] = {}

    def folder(
        self, suite: str, candidate: Candidate, root: Path, *, depth: int, repeats: int
    ) -> Path:
        """Run a suite against a retriever, unless that was done before."""
        key = (suite, candidate.name, repr(candidate), str(root), depth, repeats)
        if key not in self._known:
            self._known[key] = self._run(suite, candidate, root, depth, repeats)
        return self._known[key]

    def _run(self, suite: str, candidate: Candidate, root: Path, depth: int, repeats: int) -> Path:
        from codebench.errors import UsageError  # noqa: PLC0415  # only who uses the fixture pays
        from codebench.gold.recipe import Recipe  # noqa: PLC0415
        from codebench.gold.target import open_target  # noqa: PLC0415
        from codebench.runner.plan import RunSettings  # noqa: PLC0415
        from codebench.runner.run import run  # noqa: PLC0415

        here = root / suite
        opened = open_target(str(here) if here.is_dir() else suite, Recipe(), _untold)
        if len(opened) != 1:
            raise UsageError(f"{suite}: is several suites; name one of them")
        settings = RunSettings(depth=depth, repeats=repeats, floors=(), null_asks=0)
        results = self._folders.mktemp("codebench")
        return run(opened[0].suite, opened[0].corpus, [candidate], results, settings, folder=root)


class Checked:
    """Holds an adapter to its contract."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __call__(
        self, retriever: str | type[Retriever], *, options: Mapping[str, Any] | None = None
    ) -> Conformance:
        """Ask hostile questions of a retriever in a process, and fail the test where it breaks.

        It is skipped where the retriever cannot run, with what installs it.

        Args:
            retriever: a name or `file.py:Class`, with options after a colon as on the command
                line; or the class itself, at the top of a file.
            options: of the class.

        Returns:
            what was found, where nothing is broken.
        """
        from codebench.errors import CodebenchError, NothingMeasured  # noqa: PLC0415  # as in `Runs`
        from codebench.report.conformance import conformance_text  # noqa: PLC0415
        from codebench.report.text import printable  # noqa: PLC0415
        from codebench.runner.conformance import check  # noqa: PLC0415

        problem = absent = ""
        try:
            found = check(_candidate_of(retriever, options or {}, self._root), self._root)
        except NothingMeasured as reason:
            absent = printable(str(reason))
        except CodebenchError as error:
            problem = "\n".join(printable(line) for line in str(error).split("\n"))
        if absent:  # said here, as inside of `except` it would be said twice
            pytest.skip(absent)
        if problem:
            pytest.fail(f"codebench: {problem}", pytrace=False)
        if not found.sound:
            pytest.fail(conformance_text([found], "table"), pytrace=False)
        return found


def _untold(*_: object) -> None:
    """Take progress, which a test does not show."""


class Gated:
    """Runs a suite against a retriever and asserts limits."""

    def __init__(self, root: Path, runs: Runs) -> None:
        self._root = root
        self._runs = runs

    def __call__(
        self,
        suite: str,
        retriever: str | type[Retriever],
        *,
        limits: Sequence[str] | Path = (),
        baseline: str | Path | None = None,
        against: str = "",
        options: Mapping[str, Any] | None = None,
        strict: bool = False,
        depth: int = 50,
        repeats: int = 1,
    ) -> Gate:
        """Run, hold against the limits, and fail the test where one is broken.

        Relative paths are relative to pytest's root folder. A run is made once a session: more
        limits of the same suite and retriever cost no more searches.

        Args:
            suite: a built-in suite's name, a suite folder, or a repository, whose history is mined.
            retriever: a name or `file.py:Class`, with options after a colon as on the command
                line; or the class itself, at the top of a file.
            limits: as `nDCG@10:>=0.6`, `nDCG@10:-0.03`, `p95:+10%`; or a file as `gate.yaml`.
                Empty for the default, which needs a baseline.
            baseline: an accepted run, or a folder of runs.
            against: the retriever's name in the baseline, where it is another.
            options: of the class.
            strict: whether what is undecided fails; otherwise it warns.
            depth: hits asked for.
            repeats: times each query is asked; more steady the latency.

        Returns:
            what was found, where no limit is broken.
        """
        from codebench.errors import CodebenchError  # noqa: PLC0415  # as in `Runs`
        from codebench.gate.opening import GateRequest, gate  # noqa: PLC0415
        from codebench.report.gate import gate_text, words  # noqa: PLC0415
        from codebench.report.text import printable  # noqa: PLC0415

        problem = ""
        try:
            candidate = _candidate_of(retriever, options or {}, self._root)
            read, strict = self._limits(limits, strict=strict)
            run = self._runs.folder(suite, candidate, self._root, depth=depth, repeats=repeats)
            accepted = None if baseline is None else self._root / baseline
            asked = GateRequest(run, accepted, read, candidate.name, against, strict)
            found = gate(asked)
        except CodebenchError as error:
            problem = "\n".join(printable(line) for line in str(error).split("\n"))
        if problem:  # said here, as inside of `except` it would be said twice
            pytest.fail(f"codebench: {problem}", pytrace=False)
        if found.exit_code:
            pytest.fail(f"{gate_text(found)}\n\nthe run: {run}", pytrace=False)
        for check in found.checks:
            if check.outcome == "undecided":
                told = printable(words(found, check))
                warnings.warn(UndecidedWarning(told), stacklevel=2)
        return found

    def _limits(
        self, limits: Sequence[str] | Path, *, strict: bool
    ) -> tuple[tuple[Limit, ...], bool]:
        from codebench.gate.limits import parse_limits  # noqa: PLC0415  # as in `Runs`
        from codebench.gate.limits_file import read_limits  # noqa: PLC0415

        if isinstance(limits, Path):
            found = read_limits(self._root / limits)
            return found.limits, strict or found.strict
        texts = [limits] if isinstance(limits, str) else limits
        return parse_limits(texts, "limits"), strict


def _candidate_of(
    retriever: str | type[Retriever], options: Mapping[str, Any], root: Path
) -> Candidate:
    from codebench.errors import AdapterError  # noqa: PLC0415  # as in `Runs`
    from codebench.runner.candidates import candidate  # noqa: PLC0415

    if isinstance(retriever, str):
        if options:
            raise AdapterError(f"{retriever}: write its options after a colon, as name=value")
        return candidate(retriever, root)
    return _of_class(retriever, options, root)


def _of_class(kind: type[Retriever], options: Mapping[str, Any], root: Path) -> Candidate:
    """Return a class as the command line would name it, so that it is found in a baseline."""
    import inspect  # noqa: PLC0415  # as in `Runs`

    from codebench.errors import AdapterError  # noqa: PLC0415
    from codebench.model import Candidate  # noqa: PLC0415

    try:
        file = Path(inspect.getfile(kind)).resolve()
    except (TypeError, OSError):
        raise AdapterError(f"{kind!r}: is no class of a Python file") from None
    if kind.__qualname__ != kind.__name__:
        raise AdapterError(f"{file}: {kind.__qualname__} must stand at the top of the file")
    inside = file.is_relative_to(root)
    reference = f"{file.relative_to(root).as_posix() if inside else file}:{kind.__name__}"
    pairs = tuple(sorted(options.items()))
    tail = ",".join(f"{name}={value}" for name, value in pairs)
    return Candidate(f"{reference}:{tail}" if tail else reference, reference, pairs)
