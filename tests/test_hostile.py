"""A hostile repository runs nothing, writes nothing and hangs nothing: config, hooks, structure.

Each repository here is mined and run as a person would do it, in a process of its own that is
measured. Whatever it is, the answer is a table or one line and exit code 2.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.hostile import ORDINARY, Attack
from tests.repositories import Repository, grown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def attack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Attack:
    monkeypatch.setenv("CODEBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Attack(tmp_path)


# --- programs ----------------------------------------------------------------------------------


def planted(attack: Attack) -> Repository:
    """A repository whose config, hooks and attributes run a program for all that git lets them."""
    repository = grown(attack.folder / "r")
    attributes = "*.py diff=trap filter=trap merge=trap text eol=crlf\n"
    repository.commit("attributes", {".gitattributes": attributes + "* text=auto ident\n"})
    trap = attack.trap()
    fetch = f"ext::sh -c touch% {attack.marker}"
    included = attack.folder / "included"
    included.write_text(
        f"[core]\n fsmonitor = {trap}\n[diff]\n external = {trap}\n"
        f'[alias]\n rev-parse = "!{trap}"\n'
    )
    config = {
        **dict.fromkeys(
            (
                "gpg.program",
                "gpg.ssh.program",
                "gpg.ssh.defaultKeyCommand",
                "core.fsmonitor",
                "core.sshCommand",
                "core.gitProxy",
                "core.pager",
                "core.editor",
                "core.askPass",
                "core.alternateRefsCommand",
                "credential.helper",
                "diff.external",
                "diff.trap.textconv",
                "diff.trap.command",
                "filter.trap.smudge",
                "filter.trap.clean",
                "filter.trap.process",
                "merge.trap.driver",
                "interactive.diffFilter",
                "pager.log",
                "sequence.editor",
                "trailer.sign.command",
                "uploadpack.packObjectsHook",
            ),
            trap,
        ),
        "alias.log": f"!{trap}",
        "alias.rev-parse": f"!{trap}",
        "alias.cat-file": f"!{trap}",
        "core.hooksPath": str(attack.folder / "hooks"),
        "core.attributesFile": str(attack.folder / "attributes"),
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "filter.trap.required": "true",
        "http.proxy": "http://127.0.0.1:9",
        "include.path": str(included),
        "includeIf.gitdir:/.path": str(included),
        "log.showSignature": "true",
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "remote.origin.promisor": "true",
        "remote.origin.url": fetch,
        "url.ext::sh -c touch% .insteadOf": "https://",
        "submodule.recurse": "true",
        "trace2.eventTarget": str(attack.folder / "traced"),
    }
    for name, value in config.items():
        repository.git("config", name, value)
    (attack.folder / "attributes").write_text("* diff=trap filter=trap\n")
    (attack.folder / "hooks").mkdir()
    for folder in (attack.folder / "hooks", repository.path / ".git/hooks"):
        for hook in (
            "post-checkout",
            "post-index-change",
            "pre-auto-gc",
            "fsmonitor-watchman",
            "reference-transaction",
        ):
            folder.mkdir(exist_ok=True)
            (folder / hook).write_text((attack.folder / "trap.sh").read_text())
            (folder / hook).chmod(0o755)
    return repository


def test_no_program_of_the_repository_runs(attack: Attack) -> None:
    repository = planted(attack)
    with suppress(subprocess.CalledProcessError):
        repository.git("log", "-1", "-p", "--ext-diff")
    assert attack.marker.exists(), "the traps must work, or this test shows nothing"
    ended = attack.run(repository.path, apart=True)
    assert ended.status == 0, ended.stderr
    assert "6 queries" in ended.stdout + ended.stderr


def test_no_program_runs_to_fetch_what_is_missing(attack: Attack) -> None:
    repository = planted(attack)
    gone = [
        repository.git("rev-parse", name).strip() for name in ("HEAD~2", "HEAD~3:shop/store.py")
    ]
    for one in gone:
        (repository.path / ".git/objects" / one[:2] / one[2:]).unlink()
    for revision in ((), ("--snapshot=HEAD~3",), (f"--snapshot={gone[0]}",)):
        ended = attack.run(repository.path, *revision)
        assert ended.status == 2


def test_no_program_runs_when_it_is_cloned_by_url(attack: Attack) -> None:
    repository = planted(attack)
    ended = attack.run(f"file://{repository.path}")
    assert ended.status == 0, ended.stderr
    again = attack.run(f"file://{repository.path}")
    assert again.status == 0, again.stderr


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c touch% {0}", "fd::17", "ssh://-oProxyCommand=touch {0}/x", "git+ssh://x y/z"],
)
def test_a_url_that_would_run_a_program(attack: Attack, url: str) -> None:
    attack.run(url.format(attack.marker))


# --- structure ---------------------------------------------------------------------------------


def _alternates(repository: Repository, *lines: str) -> None:
    path = repository.path / ".git/objects/info/alternates"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def _pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def _loop(repository: Repository) -> None:
    other = Repository(repository.path.parent / "other")
    _alternates(repository, str(other.path / ".git/objects"), str(repository.path / ".git/objects"))
    _alternates(other, str(repository.path / ".git/objects"), "/nowhere", "relative", "/dev/zero")


def _git_file(repository: Repository, content: str) -> None:
    (repository.path / ".git").rename(repository.path.parent / "moved")
    (repository.path / ".git").write_text(content)


def _symlink(repository: Repository, name: str, target: str) -> None:
    path = repository.path / ".git" / name
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _git_loop(repository: Repository) -> None:
    (repository.path / ".git").rename(repository.path.parent / "moved")
    (repository.path / ".git").symlink_to(repository.path / ".git")


def _sparse_shallow(repository: Repository) -> None:
    with (repository.path / ".git/shallow").open("wb") as file:
        file.truncate(1 << 40)


def _loose_pipe(repository: Repository) -> None:
    blob = repository.git("rev-parse", "HEAD~2:shop/store.py").strip()
    _pipe(repository.path / ".git/objects" / blob[:2] / blob[2:])


def _pack_pipe(repository: Repository) -> None:
    _pipe(repository.path / ".git/objects/pack/pack-x.idx")
    (repository.path / ".git/objects/pack/pack-x.pack").write_bytes(b"PACK")


def _noisy_graph(repository: Repository) -> None:
    folder = repository.path / ".git/objects/info"
    folder.mkdir(exist_ok=True)
    (folder / "commit-graph").write_bytes(b"CGPH" + b"\0" * 99)


STRUCTURES: dict[str, tuple[Callable[[Repository], object], int]] = {
    "alternates in a circle": (_loop, 0),
    "alternates that are a pipe": (lambda r: _pipe(r.path / ".git/objects/info/alternates"), 2),
    "alternates without end": (lambda r: _symlink(r, "objects/info/alternates", "/dev/zero"), 2),
    "config that is a pipe": (lambda r: _pipe(r.path / ".git/config"), 2),
    "config without end": (lambda r: _symlink(r, "config", "/dev/zero"), 2),
    "HEAD that is a pipe": (lambda r: _pipe(r.path / ".git/HEAD"), 2),
    "HEAD that leads out": (lambda r: (r.path / ".git/HEAD").write_text("ref: ../../x\n"), 2),
    "HEAD of noise": (lambda r: (r.path / ".git/HEAD").write_bytes(os.urandom(300)), 2),
    "a loose object that is a pipe": (_loose_pipe, 2),
    "a pack index that is a pipe": (_pack_pipe, 2),
    "a list of shallow commits of noise": (
        lambda r: (r.path / ".git/shallow").write_bytes(b"\0\xff" * 999),
        2,
    ),
    "a list of shallow commits of a terabyte": (_sparse_shallow, 2),
    "a list of shallow commits that leads out": (lambda r: _symlink(r, "shallow", "/dev/zero"), 0),
    "a .git file that leads nowhere": (lambda r: _git_file(r, "gitdir: /nowhere\n"), 2),
    "a .git file that leads to itself": (lambda r: _git_file(r, "gitdir: .git\n"), 2),
    "a .git file of noise": (lambda r: _git_file(r, "\0" * 5000), 2),
    "a .git file that leads outside": (
        lambda r: _git_file(r, f"gitdir: {r.path.parent / 'moved'}\n"),
        0,
    ),
    "a .git link to itself": (_git_loop, 2),
    "an unknown format": (lambda r: r.git("config", "core.repositoryFormatVersion", "99"), 2),
    "an unknown extension": (
        lambda r: (
            r.git("config", "core.repositoryFormatVersion", "1"),
            r.git("config", "extensions.nonsense", "1"),
        ),
        2,
    ),
    "config of noise": (lambda r: (r.path / ".git/config").write_bytes(b"[core\n\xff"), 2),
    "an index of noise": (lambda r: (r.path / ".git/index").write_bytes(b"\0" * 99), 0),
    "a commit graph of noise": (_noisy_graph, 0),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_hostile_git_folder(attack: Attack, name: str) -> None:
    repository = grown(attack.folder / "r")
    make, status = STRUCTURES[name]
    make(repository)
    ended = attack.run(repository.path, patience=3)
    assert ended.status == status, ended.stderr
    assert ended.seconds < 60
    assert ended.peak_bytes < (3 << 30 if "without end" in name else ORDINARY)
