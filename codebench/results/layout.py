"""What lies where in a run folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.model import Candidate

FORMAT = 1
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 32_000_000
SUITE = "suite"
TABLES = "chunks.jsonl.gz"
ANSWERS = "answers"
COLUMNS = "columns"
ASKED = "queries.npz"
PACKED = ".gz"


def raw_file(path: Path, file: str) -> Path:
    """Return where a retriever's rows are: as they were written, or packed."""
    plain = path / ANSWERS / file
    packed = plain.with_name(plain.name + PACKED)
    return packed if packed.exists() and not plain.exists() else plain


def columns_file(path: Path, file: str) -> Path:
    """Return where the columns of a retriever are, by the name of its answers file."""
    return path / COLUMNS / f"{file}.npz"


def candidate_row(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as JSON."""
    return {
        "name": candidate.name,
        "reference": candidate.reference,
        "options": dict(candidate.options),
        "version": candidate.version,
        "digest": candidate.digest,
        "floor": candidate.floor,
        **({"sweep": candidate.sweep} if candidate.sweep else {}),
    }
