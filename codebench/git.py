"""The only file that runs git, and how it runs it safely.

A repository is untrusted: its own config can make plain `git log` or `git diff` run programs.
So its history is read from a *shadow*, a bare repository of codebench's own whose only tie to
the real one is `objects/info/alternates`: no config, hook, filter or attribute of the
repository is ever in force, and nothing is written to it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from codebench.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from git.cmd import Git

_READ = 1 << 16
_DEFUSED = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.sshCommand=false"),
    *("-c", "protocol.allow=never"),
    *("-c", "safe.directory=*"),
)
"""For the few questions that only the repository itself can answer (where it is, what HEAD is)."""


_STRAY = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_EXTERNAL_DIFF",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_TRACE",
        "GIT_WORK_TREE",
    }
)


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a repository keeps what codebench reads.

    Attributes:
        path: as it was given.
        git_dir: its own git folder (a worktree has one for itself).
        common_dir: the git folder that holds the objects.
        object_format: `sha1` or `sha256`.
    """

    path: Path
    git_dir: Path
    common_dir: Path
    object_format: str


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file of a tree: mode as git writes it, object ID, path as bytes."""

    mode: str
    id: str
    path: bytes


def locate(path: Path) -> Repository:
    """Find the repository that holds `path`.

    Raises:
        GitError: there is none, or git cannot read it.
    """
    ask = ("rev-parse", "--absolute-git-dir", "--git-common-dir", "--show-object-format")
    lines = _output(_git(path), [*_DEFUSED, *ask], f"{path} is not a git repository").splitlines()
    git_dir, common, object_format = (*lines, "", "")[:3]
    return Repository(path, Path(git_dir), (path / common).resolve(), object_format)


def resolve(repository: Repository, revision: str) -> str:
    """Return the object ID that a branch, tag, HEAD or (abbreviated) commit ID names.

    Raises:
        GitError: it names nothing.
    """
    found = _output(
        _git(repository.path),
        [*_DEFUSED, "rev-parse", "--verify", "--quiet", "--end-of-options", revision],
        f"{repository.path}: {revision} names no commit"
        + (" (the repository is empty)" if revision == "HEAD" else ""),
    )
    return found.strip()


def clone(url: str, folder: Path) -> None:
    """Clone a repository without its work tree.

    Raises:
        GitError: with git's own last line.
    """
    git = _git(Path.cwd())
    what = ["clone", "--bare", "--quiet", "--template=", "--end-of-options", url, str(folder)]
    _output(git, what, f"cannot clone {url}", keep_reason=True)


def refresh(folder: Path) -> None:
    """Bring a clone that `clone` made up to date with where it came from.

    Raises:
        GitError: with git's own last line.
    """
    fetch = ["fetch", "--quiet", "--prune", "origin", "+refs/heads/*:refs/heads/*"]
    _output(_git(folder), fetch, f"cannot bring {folder} up to date", keep_reason=True)


@contextmanager
def shadow(repository: Repository, folder: Path) -> Iterator[Shadow]:
    """Open a shadow of `repository` in `folder` (made anew), and remove it at the end."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    form = f"--object-format={repository.object_format or 'sha1'}"
    init = ["init", "--bare", "--quiet", "--template=", form, str(folder)]
    _output(_git(folder.parent), init, f"cannot make {folder}", keep_reason=True)
    alternates = folder / "objects" / "info" / "alternates"
    alternates.parent.mkdir(parents=True, exist_ok=True)
    alternates.write_bytes(_quoted(repository.common_dir / "objects") + b"\n")
    if (repository.common_dir / "shallow").is_file():
        shutil.copyfile(repository.common_dir / "shallow", folder / "shallow")
    made = Shadow(folder)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)


class Shadow:
    """Reads objects and history through a shadow repository."""

    def __init__(self, folder: Path) -> None:
        self._git = _git(folder, GIT_DIR=str(folder), GIT_OBJECT_DIRECTORY=str(folder / "objects"))
        self._batch: Any = None

    def commit(self, revision: str) -> str:
        """Peel an object ID (it may be abbreviated, or a tag's) to its commit's full ID.

        Raises:
            GitError: it is no commit of this repository.
        """
        ask = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
        return _output(self._git, ask, f"{revision} names no commit").strip()

    def tree_id(self, commit: str) -> str:
        """Return the ID of a commit's tree."""
        ask = ["rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}"]
        return _output(self._git, ask, f"the tree of {commit} is missing").strip()

    def tree(self, commit: str) -> Iterator[TreeEntry]:
        """Yield every entry of a commit's tree, in git's order."""
        listing = ["ls-tree", "-r", "-z", "--full-tree", commit]
        with self._stream(listing, f"cannot list the tree of {commit}") as stdout:
            for row in _tokens(stdout):
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
        with self._stream(what, f"{old[:12]} and {new[:12]} cannot be compared") as stdout:
            tokens = _tokens(stdout)
            for head in tokens:
                path = next(tokens).decode("utf-8", "surrogateescape")
                if head.rsplit(b" ", 1)[1].startswith(b"R"):
                    yield path, next(tokens).decode("utf-8", "surrogateescape")

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
        with self._stream(what, "the history could not be read to its end") as stdout:
            yield from _tokens(stdout)

    def blobs(self, ids: Iterable[str], limit: int) -> Iterator[tuple[str, bytes | None]]:
        """Yield (ID, content) in the order asked; None for one that is missing or over `limit`.

        Args:
            ids: object IDs.
            limit: bytes; a larger blob is skipped without being held in memory.
        """
        if self._batch is None:
            self._batch = _run(self._git, ["cat-file", "--batch"], istream=subprocess.PIPE)
        for group in _groups(ids, 400):
            self._batch.stdin.write("".join(f"{object_id}\n" for object_id in group).encode())
            self._batch.stdin.flush()
            for object_id in group:
                yield object_id, self._answer(self._batch.stdout, limit)

    def close(self) -> None:
        """End the process that reads blobs."""
        if self._batch is not None:
            self._batch.proc.kill()
            self._batch.proc.communicate()
            self._batch = None

    def _answer(self, stdout: IO[bytes], limit: int) -> bytes | None:
        head = stdout.readline()
        if not head:
            raise GitError("git cat-file ended early; is the object store damaged?")
        if head.endswith((b" missing\n", b" ambiguous\n")):
            return None
        size = int(head.rsplit(b" ", 1)[1])
        content = stdout.read(size + 1)[:-1] if size <= limit else None
        if content is None:
            left = size + 1
            while left:
                left -= len(stdout.read(min(left, _READ)))
        return content

    @contextmanager
    def _stream(self, what: Sequence[str], failure: str) -> Iterator[IO[bytes]]:
        process = _run(self._git, what)
        finished = False
        try:
            yield process.stdout
            _wait(process, failure)
            finished = True
        finally:
            if not finished:
                process.proc.kill()
                process.proc.communicate()


def _git(folder: Path, **environment: str) -> Git:
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    from git.cmd import Git  # noqa: PLC0415  # 0.1 s, and not every verb needs it

    # A hook or an alias that started codebench leaves these set, and each would send git to
    # another repository than the one that was asked for.
    for name in [name for name in os.environ if name in _STRAY or name.startswith("GIT_CONFIG")]:
        del os.environ[name]
    git = Git(str(folder))
    git.update_environment(
        **{
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
            **environment,
        }
    )
    return git


def _run(git: Git, what: Sequence[str], **how: Any) -> Any:
    from git.exc import GitCommandNotFound  # noqa: PLC0415

    try:
        return git.execute(["git", *what], as_process=True, **how)
    except GitCommandNotFound:
        raise GitError("git is not installed, or not on PATH; install git 2.30 or later") from None


def _wait(process: Any, failure: str, *, keep_reason: bool = True) -> None:
    reason = process.proc.stderr.read().decode("utf-8", "replace").strip()
    status = process.proc.wait()
    process.proc.stdout.close()
    process.proc.stderr.close()
    if status != 0:
        last = reason.splitlines()[-1] if reason and keep_reason else ""
        raise GitError(f"{failure}: {last}" if last else failure)


def _output(git: Git, what: Sequence[str], failure: str, *, keep_reason: bool = False) -> str:
    process = _run(git, what)
    output: bytes = process.stdout.read()
    _wait(process, failure, keep_reason=keep_reason)
    return os.fsdecode(output)


def _tokens(stdout: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while block := stdout.read(_READ):
        *whole, rest = (rest + block).split(b"\0")
        yield from whole
    if rest:
        yield rest


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
