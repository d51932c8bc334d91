"""TREC topics and documents in the shapes in which they come.

Topics: `ID<tab>text` lines, JSON Lines, or `<top>` blocks. Documents: a folder of files, JSON
Lines, or `<DOC>` blocks.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import IO, TYPE_CHECKING

from codebench.corpus.contents import MAX_FILE_BYTES
from codebench.errors import Fault, InputError
from codebench.reading import Faults, Fields, open_file, read_lines, read_objects
from codebench.trec import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = ("_id", "id", "qid", "query_id", "docno", "docid")
_TEXT = ("text", "title", "query", "contents")
_BODY = ("text", "contents", "body")
_TAG = re.compile(
    r"<(num|title|desc|narr)>\s*(?:(?:Number|Topic|Description|Narrative)\s*:)?", re.IGNORECASE
)
_MARK = re.compile(r"</?[A-Za-z][^<>]*>")
_CHUNK = 1 << 20
_LONGEST_MARK = 1000
_MAX_BLOCK = 64 << 20
"""Bytes of one topic or document."""


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
        found = list(_tagged_topics(path, faults))
    else:
        found = list(_tabbed_topics(path, faults))
    topics: dict[str, str] = {}
    for name, text in found:
        if name and name in topics:
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


def _tagged_topics(path: Path, faults: Faults) -> Iterator[tuple[str, str]]:
    for block in _blocks(path, "top", faults):
        parts = _TAG.split(block)
        fields = {
            tag.lower(): _MARK.sub(" ", content)
            for tag, content in zip(parts[1::2], parts[2::2], strict=True)
        }
        name = fields.get("num", "").strip()
        text = fields.get("title", "").strip() or fields.get("desc", "").strip()
        if name and text:
            yield name, text
        else:
            field = "title" if name else "num"
            faults.add(f"a <top> has no <{field}>", value=" ".join(block.split())[:60])


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
        found = _tagged_documents(path, faults)
    seen: set[str] = set()
    for one in found:
        if one.id in seen:
            if one.id:
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
                with open_file(path) as file:  # a longer one is cut where it is written
                    text = file.read(MAX_FILE_BYTES + 1).decode("utf-8", "replace")
                yield Document(path.relative_to(folder).as_posix(), "", text)


def _json_documents(path: Path, faults: Faults) -> Iterator[Document]:
    for fields in read_objects(path, faults):
        title = fields.text("title", "") if fields.data.get("title") is not None else ""
        yield Document(_first(fields, _ID), title, _first(fields, _BODY))


def _tagged_documents(path: Path, faults: Faults) -> Iterator[Document]:
    for block in _blocks(path, "DOC", faults):
        head, _, rest = _parted(block, "<DOCNO>")
        number, end, tail = _parted(rest, "</DOCNO>")
        if end and number.strip():
            yield Document(number.strip(), "", _MARK.sub(" ", head + tail).strip())
        else:
            faults.add("a <DOC> has no <DOCNO>", value=" ".join(block.split())[:60])


def _parted(text: str, mark: str) -> tuple[str, str, str]:
    """Part a text at a mark in whatever case, as `str.partition` does."""
    found = re.search(re.escape(mark), text, re.IGNORECASE)
    if found is None:
        return text, "", ""
    return text[: found.start()], found[0], text[found.end() :]


def _blocks(path: Path, tag: str, faults: Faults) -> Iterator[str]:
    """Yield what stands between a tag's beginning and its end, piece by piece of the file.

    Raises:
        InputError: the file cannot be read, or one of them is too long.
    """
    begin = re.compile(rb"<%b\b[^<>]*>" % tag.encode(), re.IGNORECASE)
    end = re.compile(rb"</%b>" % tag.encode(), re.IGNORECASE)
    marks, data, inside, at = (begin, end), bytearray(), False, 0
    with _opened(path) as file:
        while chunk := file.read(_CHUNK):
            data += chunk
            while found := marks[inside].search(data, at):
                if inside:
                    yield data[: found.start()].decode("utf-8", "replace")
                del data[: found.end()]
                inside, at = not inside, 0
            # A mark may be cut in two here, and no mark is long.
            at = max(0, len(data) - _LONGEST_MARK)
            if not inside:
                del data[:at]
                at = 0
            elif len(data) > _MAX_BLOCK:
                faults.add(f"holds a <{tag}> of more than {_MAX_BLOCK} bytes")
                faults.check()
    if inside:
        faults.add(f"its last <{tag}> does not end")


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
    with _opened(path) as file:
        return file.read(4096).decode("utf-8-sig", "replace").lstrip()


def _opened(path: Path) -> IO[bytes]:
    try:
        return open_file(path)
    except OSError as error:
        raise InputError([Fault(error.strerror or str(error), str(path))]) from None
