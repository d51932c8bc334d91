"""A shadow of a repository: its objects and history, with none of its config."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.errors import GitError
from codebench.git.commands import Command, output, program, run
from codebench.git.repository import SHALLOW, UNSHALLOW

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from codebench.git.repository import Repository

MAX_FILES = 1_000_000
"""A tree with more is no code base: a few kilobytes can spell out billions of paths."""

_GROUP = 400
"""Object IDs that are asked at once: they, and the answers about them, fit into a pipe."""

_MAX_SHALLOW = 64 << 20


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file of a tree: mode as git writes it, object ID, path as bytes."""

    mode: str
    id: str
    path: bytes


@contextmanager
def shadow(repository: Repository, folder: Path) -> Iterator[Shadow]:
    """Open a shadow of `repository` in `folder` (made anew), and remove it at the end."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    form = f"--object-format={repository.object_format or 'sha1'}"
    init = ["init", "--bare", "--quiet", "--template=", form, str(folder)]
    output(program(folder.parent), init, f"cannot make {folder}", keep_reason=True)
    alternates = folder / "objects" / "info" / "alternates"
    alternates.parent.mkdir(parents=True, exist_ok=True)
    alternates.write_bytes(_quoted(repository.common_dir / "objects") + b"\n")
    made = Shadow(folder)
    try:
        _copy_shallow(repository.common_dir / SHALLOW, folder / SHALLOW)
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)


def _copy_shallow(source: Path, target: Path) -> None:
    """Copy the list of commits at which a shallow clone ends."""
    try:
        if not source.is_file():
            return
        if source.stat().st_size > _MAX_SHALLOW:
            raise GitError(f"{source}: too large to be a list of commits; is it damaged?")
        shutil.copyfile(source, target)
    except OSError as error:
        raise GitError(f"{source}: cannot be read ({error.strerror or error})") from None


class Shadow:
    """Reads objects and history through a shadow repository."""

    def __init__(self, folder: Path) -> None:
        self._git = program(
            folder, GIT_DIR=str(folder), GIT_OBJECT_DIRECTORY=str(folder / "objects")
        )
        self._cut = folder / SHALLOW
        self._sizes: Command | None = None
        self._contents: Command | None = None

    def commit(self, revision: str) -> str:
        """Peel an object ID (it may be abbreviated, or a tag's) to its commit's full ID.

        Raises:
            GitError: it is no commit of this repository.
        """
        ask = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
        why = UNSHALLOW if self._cut.is_file() else ""
        return output(self._git, ask, f"{revision} names no commit{why}").strip()

    def tree_id(self, commit: str) -> str:
        """Return the ID of a commit's tree."""
        ask = ["rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}"]
        return output(self._git, ask, f"the tree of {commit} is missing").strip()

    def tree(self, commit: str) -> Iterator[TreeEntry]:
        """Yield every entry of a commit's tree, in git's order.

        Raises:
            GitError: the tree is damaged, or no code base.
        """
        listing = ["ls-tree", "-r", "-z", "--full-tree", commit]
        with run(self._git, listing, f"cannot list the tree of {commit}") as command:
            for number, row in enumerate(command.tokens()):
                if number >= MAX_FILES:
                    raise GitError(
                        f"the tree of {commit} holds more than {MAX_FILES:,} files; choose another "
                        "repository or commit"
                    )
                head, path = row.split(b"\t", 1)
                mode, _, object_id = head.split(b" ")
                yield TreeEntry(mode.decode(), object_id.decode(), path)

    def renames(self, old: str, new: str) -> dict[str, str]:
        """Return the files that have another path in `new` than in `old`: new path by old path.

        Files alike to at least a half count; in a partial clone, which lacks the blobs that this
        needs, only those that are the same.

        Raises:
            GitError: the two trees cannot be compared.
        """
        try:
            return dict(self._renames(old, new, "-M50%"))
        except GitError:
            return dict(self._renames(old, new, "-M100%"))

    def _renames(self, old: str, new: str, alike: str) -> Iterator[tuple[str, str]]:
        what = [
            *("diff-tree", "-r", "-z", "--raw", "--no-abbrev", alike, "-l1000"),
            *("--no-ext-diff", "--no-textconv", "--end-of-options", old, new, "--"),
        ]
        failure = f"{old[:12]} and {new[:12]} cannot be compared"
        with run(self._git, what, failure) as command:
            tokens = command.tokens()
            for head in tokens:
                # Git may end between two of them; it is asked why when the block ends.
                path, renamed = next(tokens, None), head.rpartition(b" ")[2].startswith(b"R")
                new_path = next(tokens, None) if renamed else None
                if path is not None and new_path is not None:
                    yield _path(path), _path(new_path)

    def log(
        self, tip: str, form: str, *, first_parent: bool = False, renames: bool = True
    ) -> Iterator[bytes]:
        """Yield the NUL-separated tokens of one `git log -z --raw` stream, newest first.

        Args:
            tip: where to start.
            form: a `--format` whose fields end with `%x00`.
            first_parent: follow first parents only, and give merges their raw lines.
            renames: find inexact renames; it needs every blob, which a partial clone lacks.

        Raises:
            GitError: git ended early; what was read so far must not pass for the whole.
        """
        what = [
            *("log", "-z", "--raw", "--no-abbrev", "--topo-order", "--encoding=UTF-8"),
            *("--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color"),
            *("--no-mailmap", "--no-notes", "--no-decorate", "-l1000"),
            "-M50%" if renames else "-M100%",
            *(("--first-parent", "--diff-merges=first-parent") if first_parent else ()),
            *(f"--format=tformat:{form}", "--end-of-options", tip, "--"),
        ]
        with run(self._git, what, "the history could not be read to its end") as command:
            yield from command.tokens()

    def blobs(self, ids: Iterable[str], limit: int) -> Iterator[tuple[str, bytes | None]]:
        """Yield (ID, content) in the order asked; None for one that is missing or over `limit`.

        Args:
            ids: object IDs.
            limit: bytes; a larger blob is skipped without being held in memory.
        """
        if self._contents is None:
            self._contents = self._batch("--batch")
        for group in _groups(ids, _GROUP):
            # Git unpacks a blob before it says how large it is, so that is asked first.
            sizes = [size for _, size in self.sizes(group)]
            fits = [size is not None and size <= limit for size in sizes]
            self._contents.ask([one for one, fit in zip(group, fits, strict=True) if fit])
            for object_id, fit in zip(group, fits, strict=True):
                yield object_id, self._contents.content(object_id) if fit else None

    def sizes(self, ids: Iterable[str]) -> Iterator[tuple[str, int | None]]:
        """Yield (ID, bytes of the blob) in the order asked; None for one that is missing."""
        if self._sizes is None:
            self._sizes = self._batch("--batch-check")
        for group in _groups(ids, _GROUP):
            self._sizes.ask(group)
            yield from [(object_id, self._sizes.blob_size(object_id)) for object_id in group]

    def close(self) -> None:
        """End the processes that read blobs."""
        for command in (self._sizes, self._contents):
            if command is not None:
                command.kill()
        self._sizes = self._contents = None

    def _batch(self, kind: str) -> Command:
        failure = "git cat-file ended early; is the object store damaged?"
        what = ["cat-file", kind]
        return run(self._git, what, failure, patient=False, istream=subprocess.PIPE)


def _path(token: bytes) -> str:
    return token.decode("utf-8", "surrogateescape")


def _groups(ids: Iterable[str], size: int) -> Iterator[list[str]]:
    group: list[str] = []
    for object_id in ids:
        group.append(object_id)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def _quoted(path: Path) -> bytes:
    """Quote a path as `objects/info/alternates` wants it when it could be misread."""
    raw = os.fsencode(path)
    if b"\n" not in raw and not raw.startswith((b'"', b"#")):
        return raw
    escaped = raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'
