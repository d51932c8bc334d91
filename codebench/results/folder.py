"""Run folders <-> Run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codebench.errors import ResultsError
from codebench.model import Candidate
from codebench.reading import Faults, Fields, is_file, is_name, parse_json, read_text, shown
from codebench.results.layout import (
    ANSWERS,
    FORMAT,
    MANIFEST,
    MAX_MANIFEST_BYTES,
    SUITE,
    TABLES,
    raw_file,
)
from codebench.results.retriever import GOOD_ENDS
from codebench.results.rows import last_state, read_answers
from codebench.results.several import check_updates
from codebench.results.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codebench.measures.columns import Asked
    from codebench.results.retriever import RetrieverRun

_MAX = 2**53
_PARTS = ("suite", "corpus", "machine", "settings", "harness")


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder, read.

    Attributes:
        path: the folder.
        manifest: `manifest.json` as it is.
        retrievers: in the order in which they were asked for, floors first.
        depth: how many hits each answer could hold.
        complete: True where nothing was cut off and every retriever that can run here
            answered to the end.
        asked: the queries in columns, where the run is sealed and its columns can be believed.
    """

    path: Path
    manifest: Mapping[str, Any]
    retrievers: tuple[RetrieverRun, ...]
    depth: int
    complete: bool
    asked: Asked | None = None

    @property
    def suite_folder(self) -> Path:
        """The suite that was asked."""
        return self.path / SUITE

    @property
    def tables_file(self) -> Path:
        """The chunk tables of the corpus."""
        return self.path / TABLES


def read_run(path: Path) -> Run:
    """Read a run folder, complete or not.

    Raises:
        ResultsError: the folder is no run, or of another format.
        InputError: a file in it is damaged beyond a torn last line; every fault is listed.
    """
    if not is_file(path / MANIFEST):
        raise ResultsError(f"{path}: is no run; it holds no {MANIFEST}")
    faults = Faults(path / MANIFEST)
    manifest = _read_manifest(path / MANIFEST, faults)
    fields = Fields(manifest, faults)
    _check_format(path, manifest)
    depth = fields.integer("depth", low=1, high=_MAX)
    sealed = fields.flag("complete")
    for part in _PARTS:
        if fields.take(part, None) is not None:
            fields.mapping(part)
    check_updates(fields)
    stored = Stored(path, depth)
    retrievers = []
    for inner in fields.objects("retrievers"):
        candidate, file = _candidate(inner)
        if faults.found:
            continue
        found = stored.retriever(candidate, file)
        retrievers.append(found or read_answers(raw_file(path, file), candidate, faults))
    faults.check()
    done = all(one.state in GOOD_ENDS for one in retrievers)
    asked = stored.asked if any(one.columns for one in retrievers) else None
    return Run(path, manifest, tuple(retrievers), depth, sealed and done, asked)


def read_ends(path: Path) -> tuple[dict[str, Any], bool]:
    """Return a run folder's manifest, and whether the run is complete, without its answers.

    Raises:
        ResultsError: the folder is no run, or of another format.
        InputError: the manifest, or a retriever's last row, is damaged.
    """
    if not is_file(path / MANIFEST):
        raise ResultsError(f"{path}: is no run; it holds no {MANIFEST}")
    faults = Faults(path / MANIFEST)
    manifest = _read_manifest(path / MANIFEST, faults)
    fields = Fields(manifest, faults)
    _check_format(path, manifest)
    complete = fields.flag("complete")
    rows = list(fields.objects("retrievers"))
    files = [_candidate(inner)[1] for inner in rows]
    faults.check()
    states = [inner.data.get("state") for inner in rows]
    return manifest, complete and all(
        (state or last_state(path / ANSWERS / file)) in GOOD_ENDS
        for file, state in zip(files, states, strict=True)
    )


def _check_format(path: Path, manifest: Mapping[str, Any]) -> None:
    if manifest.get("format") != FORMAT:
        raise ResultsError(
            f"{path / MANIFEST}: is of format {shown(manifest.get('format'))}, not {FORMAT}; "
            "read it with the codebench that wrote it"
        )


def _read_manifest(path: Path, faults: Faults) -> dict[str, Any]:
    try:
        data = parse_json(read_text(path, MAX_MANIFEST_BYTES))
    except OSError as error:
        faults.add(error.strerror or str(error))
    except ValueError as error:
        faults.add(str(error))
    else:
        if isinstance(data, dict):
            return data
        faults.add("is not an object")
    faults.check()
    raise AssertionError  # check() has raised


def _candidate(fields: Fields) -> tuple[Candidate, str]:
    file = fields.text("file", empty=False)
    if file and not is_name(file):
        fields.fault("file", "is not a name in the folder answers", file)
    candidate = Candidate(
        name=fields.text("name", empty=False),
        reference=fields.text("reference"),
        options=tuple(sorted(fields.mapping("options").items())),
        version=fields.text("version"),
        digest=fields.text("digest"),
        floor=fields.flag("floor"),
        sweep=fields.text("sweep", ""),
    )
    fields.text("state", "")
    fields.mapping("checkout", {})
    fields.finish()
    return candidate, file
