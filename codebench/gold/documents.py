"""Imported documents as a pinned corpus: each becomes a file, under a name that any disk takes."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codebench.corpus.contents import MAX_FILE_BYTES
from codebench.reading import Faults, read_objects

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from codebench.trec import Document

CORPUS = "corpus"
DOCUMENTS_FILE = "documents.jsonl"
"""Beside `suite.yaml`: the ID that each file of the corpus had where it came from."""

_LONGEST_NAME = 60


@dataclass
class Documents:
    """What was written, and what had to be mended.

    Attributes:
        paths: the file of each document, by its ID.
        cut: how many were longer than a corpus file may be.
        mended: how many held NUL characters, which make a file binary.
    """

    paths: dict[str, str] = field(default_factory=dict)
    cut: int = 0
    mended: int = 0

    def path(self, name: str) -> str:
        """Return a document's file; also of one that was judged and never came."""
        return self.paths.get(name) or safe_path(name)

    def notes(self) -> list[str]:
        """Say what had to be mended, one line each."""
        lines = []
        if self.cut:
            lines.append(f"{self.cut} documents were cut to {MAX_FILE_BYTES} bytes")
        if self.mended:
            lines.append(f"{self.mended} documents held NUL characters, which were replaced")
        return lines


def safe_path(name: str) -> str:
    """Return a relative path for a document's ID: printable, short, alike on every system.

    A hash is added where letters had to change, so that no two IDs share a file, whether or not
    the disk tells `A` from `a`.
    """
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    slug = re.sub(r"[^a-z0-9_.-]+", "-", name.lower()).strip(".-")[:_LONGEST_NAME]
    if slug != name or not slug:
        slug = f"{slug or 'document'}-{digest[:16]}"
    return f"{digest[:2]}/{slug}.txt"


def write_documents(documents: Iterable[Document], folder: Path) -> Documents:
    """Write documents as files below `corpus`, and their IDs beside it.

    Raises:
        InputError: what is read is wrong.
        OSError: the disk.
    """
    written = Documents()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / DOCUMENTS_FILE).open("w", encoding="utf-8") as ids:
        for one in documents:
            path = safe_path(one.id)
            place = folder / CORPUS / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                file.write(_content(one, written))
            written.paths[one.id] = path
            ids.write(json.dumps({"id": one.id, "path": path}, ensure_ascii=False) + "\n")
    return written


def _content(one: Document, written: Documents) -> bytes:
    text = f"{one.title}\n{one.text}" if one.title.strip() else one.text
    if "\0" in text:
        written.mended += 1
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    data = text.encode("utf-8", "replace")
    if len(data) >= MAX_FILE_BYTES:
        written.cut += 1
        data = data[: MAX_FILE_BYTES - 1].decode("utf-8", "ignore").encode()
    return data if data.endswith(b"\n") else data + b"\n"


def document_ids(folder: Path) -> dict[str, str]:
    """Return the ID of each document by its path; nothing where the suite was not imported.

    Raises:
        InputError: the file is wrong; every fault is listed.
    """
    file = folder / DOCUMENTS_FILE
    if not file.is_file():
        return {}
    faults = Faults(file)
    ids = {}
    for fields in read_objects(file, faults):
        ids[fields.text("path", empty=False)] = fields.text("id")
        fields.finish()
    faults.check()
    return ids
