"""Suite folders as commands name and write them: found by name, written whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.corpus.directory import open_directory
from codebench.corpus.installed import is_installed, open_installed
from codebench.errors import SuiteError, UsageError
from codebench.gold.target import rules_of, suite_folder
from codebench.gold.whereabouts import directory_of, place_of, portable
from codebench.suite import SUITE_FILE, write_members, write_suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from codebench.gold.carrying import Journey
    from codebench.gold.workshop import Workshop
    from codebench.model import Corpus, Suite

CARRY_FILE = "carry.jsonl"


@dataclass(frozen=True, slots=True)
class Written:
    """A suite that is to be written, with the report of how its targets came to its snapshot.

    Attributes:
        member: its folder's name in a suite of several; empty where it stands alone.
        suite: the suite.
        journeys: of its targets, the lost ones too.
    """

    member: str
    suite: Suite
    journeys: tuple[Journey, ...]


def folder_of(named: str) -> Path:
    """Return the folder of a built-in suite or of a suite.

    Raises:
        SuiteError: there is none.
    """
    folder = suite_folder(named)
    if folder is None:
        raise SuiteError(
            f"{named}: is no suite; name a folder that holds a {SUITE_FILE}, or a built-in suite "
            "(`codebench list suites`)"
        )
    return folder


def open_corpus(suite: Suite, folder: Path, shop: Workshop) -> Corpus:
    """Return the corpus that a suite names, whether or not it is the one it was made for.

    Raises:
        CodebenchError: it cannot be opened.
    """
    if not suite.repository:
        raise SuiteError(
            f"{folder / SUITE_FILE}: repository: is missing; name the repository, or the folder "
            "of the corpus beside this file"
        )
    if is_installed(suite.repository):
        return open_installed(
            suite.repository, cache=shop.corpora, outliner=shop.outliner, rules=rules_of(suite)
        )
    if not suite.snapshot:
        return open_directory(directory_of(suite, folder), shop.outliner)
    with shop.repository(place_of(suite, folder)) as source:
        return source.corpus(source.shadow.commit(suite.snapshot), rules_of(suite))


def check_free(folder: Path, *, force: bool) -> None:
    """Check that a suite can be written to a folder, before the work begins.

    Raises:
        UsageError: something is there already; with `force` a suite may be, and nothing else.
    """
    try:
        taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise UsageError(f"{folder}: cannot be read ({error.strerror})") from None
    if not taken:
        return
    if not (folder / SUITE_FILE).is_file():
        raise UsageError(f"{folder}: holds something that is no suite; choose another folder")
    if not force:
        raise UsageError(f"{folder}: holds a suite already; choose another folder, or add --force")


def write_whole(
    name: str,
    members: Sequence[Written],
    folder: Path,
    *,
    force: bool,
    extra: Mapping[str, bytes] | None = None,
) -> None:
    """Write a suite, or a suite of several, so that the folder holds all of it or nothing.

    Args:
        name: of a suite of several.
        members: one without a name, or several with.
        folder: where to.
        force: whether a suite that is there is replaced.
        extra: contents of files beside `suite.yaml`, by name.

    Raises:
        UsageError: something else is there already.
        SuiteError: it cannot be written.
    """
    with whole(folder, force=force) as scratch:
        for one in members:
            write_suite(portable(one.suite, scratch / one.member), scratch / one.member)
            rows = [json.dumps(j.row(), ensure_ascii=False) + "\n" for j in _sorted(one.journeys)]
            if rows:
                (scratch / one.member / CARRY_FILE).write_text("".join(rows), "utf-8")
        for file, content in (extra or {}).items():
            (scratch / file).write_bytes(content)
        if any(one.member for one in members):
            write_members(name, [one.member for one in members], scratch)


@contextmanager
def whole(folder: Path, *, force: bool) -> Iterator[Path]:
    """Give a scratch folder that takes its place when the block ends well.

    Raises:
        UsageError: something is there already; with `force` a suite may be, and nothing else.
        SuiteError: it cannot be written.
    """
    place = folder.resolve()
    check_free(place, force=force)
    scratch = place.with_name(f".{place.name[:100]}-{secrets.token_hex(6)}")
    try:
        scratch.mkdir(parents=True)
        yield scratch
        _put(scratch, place)
    except UnicodeEncodeError:
        raise SuiteError(
            f"{str(folder)!a}: the name of the suite or of its repository is not UTF-8; rename it"
        ) from None
    except OSError as error:
        raise SuiteError(f"{folder}: the suite cannot be written ({error.strerror})") from None
    except SuiteError as error:
        raise SuiteError(str(error).replace(str(scratch), str(folder))) from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _sorted(journeys: Sequence[Journey]) -> list[Journey]:
    return sorted(journeys, key=lambda one: (one.query, one.origin.id))


def _put(scratch: Path, place: Path) -> None:
    """Rename a finished folder into its place; what was there goes after that."""
    old = scratch.with_name(f"{scratch.name}-old")
    if place.exists() and any(place.iterdir()):
        place.rename(old)
    try:
        os.replace(scratch, place)  # noqa: PTH105  # onto an empty folder too
    except OSError:
        if old.exists():
            old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)
