"""What could change a run: what is asked of whom, with which settings, on which machine."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench.errors import AdapterError, NothingMeasured
from codebench.runner.candidates import candidate as candidate_of
from codebench.runner.machine import fingerprint
from codebench.runner.secret import masked_text
from codebench.runner.supervise import describe
from codebench.suite import suite_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.model import Candidate, Corpus, Suite
    from codebench.runner.plan import RunSettings


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked.

    Attributes:
        floors: the reference rows.
        described: the retrievers, with their versions and digests.
        missing: why some of them cannot run here, by name.
        files: the files that hold their adapters, by name.
    """

    floors: tuple[Candidate, ...]
    described: tuple[Candidate, ...]
    missing: Mapping[str, str]
    files: Mapping[str, str]

    @property
    def all(self) -> tuple[Candidate, ...]:
        """Floors first."""
        return (*self.floors, *self.described)


def asked_of(
    candidates: Sequence[Candidate],
    floors: Sequence[Candidate],
    folder: Path,
    settings: RunSettings,
) -> Asked:
    """Load every adapter once, in a process of its own, and describe it.

    A secret that is part of a retriever's name is masked there.

    Raises:
        AdapterError: one cannot be loaded or made, or two would have the same name; all are named.
        NothingMeasured: none can run here.
    """
    taken = {row.name for row in floors}
    described: list[Candidate] = []
    missing: dict[str, str] = {}
    files: dict[str, str] = {}
    problems = []
    waiting = list(candidates)
    while waiting:
        asked = waiting.pop(0)
        name = masked_text(asked.name, dict(asked.options))
        candidate = dataclasses.replace(asked, name=name)
        if name in taken:
            problems.append(f"{name}: two rows of the run would have this name")
            continue
        taken.add(name)
        try:
            known, reason, files[name] = describe(candidate, folder, settings)
        except AdapterError as error:
            problems.append(str(error))
            continue
        described.append(known)
        waiting += _beside(known, [*described, *waiting], folder, problems)
        if reason:
            missing[name] = reason
    if problems:
        raise AdapterError("\n".join(problems))
    if len(missing) == len(described):
        reasons = "; ".join(f"{name}: {reason}" for name, reason in missing.items())
        raise NothingMeasured(f"no retriever can run here ({reasons or 'none was asked for'})")
    return Asked(tuple(floors), tuple(described), missing, files)


def _beside(
    candidate: Candidate, there: Sequence[Candidate], folder: Path, problems: list[str]
) -> list[Candidate]:
    """Return the rows that a retriever wants beside it and that nobody has asked for yet."""
    known = [(one.reference, one.options) for one in there]  # options may hold lists
    added: list[Candidate] = []
    for text in candidate.beside:
        try:
            one = candidate_of(text, folder)
        except AdapterError as error:
            problems.append(f"{candidate.name}: {error}")
            continue
        if (one.reference, one.options) not in known:
            known.append((one.reference, one.options))
            added.append(one)
    return added


def identity_of(suite: Suite, corpus: Corpus, settings: RunSettings) -> dict[str, Any]:
    """Return what could change a run, beside its retrievers. No environment is in it."""
    plain = dataclasses.asdict(settings)
    depth = plain.pop("depth")
    lists = {name: list(value) for name, value in plain.items() if isinstance(value, tuple)}
    return {
        "suite": {
            "name": suite.name,
            "digest": suite_digest(suite),
            "queries": len(suite.queries),
        },
        "corpus": {
            "digest": corpus.digest,
            "files": len(corpus.tables),
            "chunks": sum(len(table.chunks) for table in corpus.tables),
        },
        "depth": depth,
        "settings": {**plain, **lists},
        "codebench": _version(),
        "machine": fingerprint(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def checkout_of(file: str) -> dict[str, Any] | None:
    """Return the commit of the checkout that an adapter's file lies in, and whether it is dirty."""
    if not file or not any((parent / ".git").exists() for parent in Path(file).parents):
        return None
    from codebench.git import checkout_state  # noqa: PLC0415  # git is slow to import

    found = checkout_state(Path(file))
    return None if found is None else {"commit": found[0], "dirty": found[1]}


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  # slow to import

    try:
        return version("codebench-harness")
    except PackageNotFoundError:
        return "not installed"
