"""TREC topics and documents in the shapes in which they come.

Topics: `ID<tab>text` lines, JSON Lines, or `<top>` blocks. Documents: a folder of files, JSON
Lines, or `<DOC>` blocks.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from codebench.errors import Fault, InputError
from codebench.reading import Faults, Fields, read_lines, read_objects
from codebench.trec import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = ("_id", "id", "qid", "query_id", "docno", "docid")
_TEXT = ("text", "title", "query", "contents")
_BODY = ("text", "contents", "body")
_TAG = re.compile(
    r"<(num|title|desc|narr)>\s*(?:(?:Number|Topic|Description|Narrative)\s*:)?", re.IGNORECASE
)
_DOCNO = re.compile(r"<DOCNO>(.*?)</DOCNO>", re.IGNORECASE | re.DOTALL)
_MARK = re.compile(r"</?[A-Za-z][^<>]*>")
_MAX_BYTES = 1 << 30


def read_topics(path: Path) -> dict[str, str]:
    """Return the text of each topic by its ID.

    Raises:
        InputError: the file cannot be read, or something in it is wrong; every fault is listed.
    """
    faults = Faults(path)
    head = _head(path)
    if head.startswith("{"):
        found = list(_json_topics(path, faults))
    elif re.search(r"<top\b", head, re.IGNORECASE):
        found = list(_tagged_topics(_text(path)))
    else:
        found = list(_tabbed_topics(path, faults))
    topics: dict[str, str] = {}
    for name, text in found:
        if name in topics:
            faults.add("stands twice", field="topic", value=name[:80])
        topics[name] = " ".join(text.split())
    if not topics and not faults.found:
        faults.add("holds no topic", mend="give ID<tab>text lines, JSON Lines or <top> blocks")
    faults.check()
    return topics


def _json_topics(path: Path, faults: Faults) -> Iterator[tuple[str, str]]:
    for fields in read_objects(path, faults):
        yield _first(fields, _ID), _first(fields, _TEXT)


def _tabbed_topics(path: Path, faults: Faults) -> Iterator[tuple[str, str]]:
    for number, line in read_lines(path, faults):
        name, tab, text = line.rstrip("\r\n").partition("\t")
        if tab and name.strip() and text.strip():
            yield name.strip(), text
        else:
            faults.add("is not ID<tab>text", line=number, value=line.strip()[:60])


def _tagged_topics(text: str) -> Iterator[tuple[str, str]]:
    for block in re.findall(r"<top\b[^>]*>(.*?)</top>", text, re.IGNORECASE | re.DOTALL):
        parts = _TAG.split(block)
        fields = {
            tag.lower(): _MARK.sub(" ", content)
            for tag, content in zip(parts[1::2], parts[2::2], strict=True)
        }
        name = fields.get("num", "").strip()
        yield name, fields.get("title", "").strip() or fields.get("desc", "")


def read_documents(path: Path) -> Iterator[Document]:
    """Yield documents.

    Raises:
        InputError: the file or folder cannot be read; at the end, everything that is wrong.
    """
    if path.is_dir():
        yield from _files(path)
        return
    faults = Faults(path)
    if _head(path).startswith("{"):
        found = _json_documents(path, faults)
    else:
        found = _tagged_documents(_text(path))
    seen: set[str] = set()
    for one in found:
        if one.id in seen:
            faults.add("stands twice", field="document", value=one.id[:80])
            continue
        seen.add(one.id)
        yield one
    if not seen and not faults.found:
        faults.add("holds no document", mend="give a folder, JSON Lines or <DOC> blocks")
    faults.check()


def _files(folder: Path) -> Iterator[Document]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                text = path.read_bytes().decode("utf-8", "replace")
                yield Document(path.relative_to(folder).as_posix(), "", text)


def _json_documents(path: Path, faults: Faults) -> Iterator[Document]:
    for fields in read_objects(path, faults):
        title = fields.text("title", "") if fields.data.get("title") is not None else ""
        yield Document(_first(fields, _ID), title, _first(fields, _BODY))


def _tagged_documents(text: str) -> Iterator[Document]:
    for block in re.findall(r"<DOC>(.*?)</DOC>", text, re.IGNORECASE | re.DOTALL):
        number = _DOCNO.search(block)
        if number:
            body = block[: number.start()] + block[number.end() :]
            yield Document(number[1].strip(), "", _MARK.sub(" ", body).strip())


def _first(fields: Fields, names: tuple[str, ...]) -> str:
    """Return the first of several fields that is there; numbers are taken as IDs too."""
    for name in names:
        value = fields.data.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            return fields.text(name)
    fields.fault(names[0], "is missing", mend=f"give one of {', '.join(names)}")
    return ""


def _head(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(4096).decode("utf-8-sig", "replace").lstrip()
    except OSError as error:
        raise InputError([Fault(error.strerror or str(error), str(path))]) from None


def _text(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise InputError([Fault(f"is larger than {_MAX_BYTES} bytes", str(path))])
    return data.decode("utf-8-sig", "replace")
