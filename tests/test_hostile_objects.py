"""Hostile trees, damaged objects and bombs: nothing is written outside, memory stays bounded."""

from __future__ import annotations

import hashlib
import struct
import zlib
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.hostile import ORDINARY, Attack
from tests.repositories import DAY, EPOCH, Repository, grown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

sha1 = partial(hashlib.sha1, usedforsecurity=False)


@pytest.fixture
def attack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Attack:
    monkeypatch.setenv("CODEBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Attack(tmp_path)


# --- trees -------------------------------------------------------------------------------------


def tree_of(repository: Repository, *entries: tuple[str, bytes, str]) -> str:
    """Write a tree of (mode, name, ID) entries that git itself would refuse."""
    raw = b"".join(
        mode.encode() + b" " + name + b"\0" + bytes.fromhex(object_id)
        for mode, name, object_id in entries
    )
    return repository.feed(
        "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw
    ).strip()


def commit_of(repository: Repository, tree: str, message: str) -> str:
    """Commit a tree on top of HEAD."""
    moment = f"{EPOCH + 50 * DAY} +0000"
    when = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    commit = repository.git("commit-tree", tree, "-p", "HEAD", "-m", message, **when).strip()
    repository.git("update-ref", "HEAD", commit)
    return commit


def entries_of(name: str, repository: Repository) -> list[tuple[str, bytes, str]]:
    """The entries that make a tree hostile."""
    python = repository.git("rev-parse", "main~1:shop/store.py").strip()
    link = repository.feed("hash-object", "-w", "--stdin", stdin=b"../../../outside").strip()
    up = tree_of(repository, ("100644", b"evil.py", python))
    file, folder = "100644", "40000"
    return {
        "up and out": [(file, b"..", python), (file, b"../evil.py", python), (folder, b"..", up)],
        "absolute": [(file, b"/tmp/evil.py", python), (folder, b"/", up)],
        "no name": [(folder, b"", up)],
        ".git inside": [(folder, b".git", up), (folder, b".GIT", up), (folder, b"git~1", up)],
        ".git names": [(file, b".git", python), (file, b".gitmodules", link)],
        "links out": [("120000", b"link", link), ("120000", b"abs", link), (folder, b"link", up)],
        "twins": [(file, b"A.py", python), (file, b"a.py", python), (folder, b"a.PY", up)],
        "twice": [(file, b"x.py", python), (file, b"x.py", link), (folder, b"x.py", up)],
        "folder, then file": [(folder, b"y", up), (file, b"y", python), (file, b"y/z", python)],
        "odd modes": [("777", b"m.py", python), ("100664", b"n.py", python), ("0", b"o", python)],
        "wrong kinds": [(file, b"tree.py", up), (folder, b"blob", python)],
        "missing": [(file, b"gone.py", "1" * 40)],
        "missing folder": [(folder, b"gone", "1" * 40)],
        "long name": [(file, b"n" * 5000 + b".py", python)],
        "controls": [(file, b"\x1b[2J\r\n\t.py", python), (file, b"\xff\xfe.py", python)],
    }[name]


TREES = {
    "names that lead out or twice to one place": (
        ("up and out", ".git inside", "links out", "twins", "folder, then file", "odd modes"),
        0,
    ),
    "names that no system takes": (
        ("absolute", ".git names", "twice", "long name", "controls"),
        0,
    ),
    "no name": (("no name",), 2),
    "wrong kinds": (("wrong kinds",), 2),
    "missing": (("missing",), 2),
    "missing folder": (("missing folder",), 2),
}
"""Kinds of hostile entries that stand in one tree, and how a run of it ends."""


@pytest.mark.parametrize("name", TREES)
def test_a_hostile_tree(attack: Attack, name: str) -> None:
    kinds, status = TREES[name]
    repository = grown(attack.folder / "r", edits=2)
    shop, store = (
        repository.git("rev-parse", f"HEAD:{one}").strip() for one in ("shop", "shop/store.py")
    )
    entries = [entry for kind in kinds for entry in entries_of(kind, repository)]
    for number in range(2):  # in the snapshot, and among its later commits
        tree = tree_of(repository, *entries, ("40000", b"shop", shop))
        commit_of(repository, tree, f"plant hostile things over there {number}")
        repository.git("read-tree", "--empty")
        edited = (repository.path / "shop/clock.py").read_text().replace("42", f"4{number + 3}")
        blob = repository.feed("hash-object", "-w", "--stdin", stdin=edited.encode()).strip()
        shop = tree_of(repository, ("100644", b"clock.py", blob), ("100644", b"store.py", store))
        tree = tree_of(repository, *entries, ("40000", b"shop", shop))
        commit_of(repository, tree, f"answer differently at noon {number}")
    ended = attack.run(repository.path, "--snapshot=HEAD~2", apart=True)
    assert ended.status == status, ended.stderr
    assert ended.peak_bytes < ORDINARY
    escaped = {path.name for path in attack.folder.rglob("*evil*")}
    assert escaped <= {"evil.py"}
    for path in (attack.folder / "cache/corpora").rglob("*"):
        assert not path.is_symlink()
        assert ".git" not in {part.lower() for part in path.parts}


# --- damage ------------------------------------------------------------------------------------


def _pack(repository: Repository) -> Path:
    repository.git("repack", "-adq")
    (pack,) = (repository.path / ".git/objects/pack").glob("*.pack")
    pack.chmod(0o644)
    return pack


def _truncated_pack(repository: Repository) -> None:
    pack = _pack(repository)
    with pack.open("rb+") as file:
        file.truncate(pack.stat().st_size // 2)


def _noisy_pack(repository: Repository) -> None:
    pack = _pack(repository)
    data = bytearray(pack.read_bytes())
    for at in range(len(data) // 3, len(data), 5):
        data[at] ^= 0x55
    pack.write_bytes(data)


def _loose(repository: Repository, name: str) -> Path:
    object_id = repository.git("rev-parse", name).strip()
    path = repository.path / ".git/objects" / object_id[:2] / object_id[2:]
    path.chmod(0o644)
    return path


def _wrong_zlib(repository: Repository) -> None:
    path = _loose(repository, "HEAD~1:shop/store.py")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + b"\xff" * 40)


def _wrong_size(repository: Repository) -> None:
    path = _loose(repository, "HEAD~1:shop/store.py")
    path.write_bytes(zlib.compress(b"blob 99999\0short"))


def _wrong_kind(repository: Repository) -> None:
    path = _loose(repository, "HEAD~1:shop/store.py")
    path.write_bytes(zlib.compress(b"commit 5\0short"))


def _many_broken(repository: Repository) -> None:
    """More complaints than a pipe holds: who does not read them waits for ever."""
    for number in range(1000):
        repository.write({f"shop/f{number}.py": f"def f():\n    return {number}\n"})
    repository.commit("import very many new modules")
    for line in repository.git("ls-tree", "-r", "HEAD").splitlines():
        object_id = line.split()[2]
        path = repository.path / ".git/objects" / object_id[:2] / object_id[2:]
        path.chmod(0o644)
        path.write_bytes(b"\xff" * 30)


DAMAGE: dict[str, Callable[[Repository], object]] = {
    "a truncated pack": _truncated_pack,
    "a noisy pack": _noisy_pack,
    "wrong zlib": _wrong_zlib,
    "wrong size": _wrong_size,
    "wrong kind": _wrong_kind,
    "many broken blobs": _many_broken,
    "a commit of noise": lambda r: _loose(r, "HEAD~1").write_bytes(zlib.compress(b"commit 3\0abc")),
    "a tree of noise": lambda r: _loose(r, "HEAD~1^{tree}").write_bytes(
        zlib.compress(b"tree 9\0not a tr")
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_objects(attack: Attack, name: str) -> None:
    repository = grown(attack.folder / "r")
    DAMAGE[name](repository)
    ended = attack.run(repository.path, patience=5)
    assert ended.seconds < 30
    assert ended.peak_bytes < ORDINARY


# --- bombs -------------------------------------------------------------------------------------


STEP = 1 << 20


def squeezed(first: bytes, letter: bytes, count: int, last: bytes) -> bytes:
    """Return zlib data that unpacks to `first`, `count` MB of a letter, and `last`."""
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = pack.compress(first) + pack.flush(zlib.Z_FULL_FLUSH)
    block = pack.compress(letter * STEP) + pack.flush(zlib.Z_FULL_FLUSH)
    tail = pack.compress(last) + pack.flush()
    # The sum of two texts follows from their own sums and the length of the second (Adler-32).
    each = zlib.adler32(letter * STEP)
    low, high = zlib.adler32(first) & 0xFFFF, zlib.adler32(first) >> 16
    for _ in range(count):
        high = (high + (each >> 16) + STEP * (low - 1)) % 65521
        low = (low + (each & 0xFFFF) - 1) % 65521
    digest = zlib.adler32(last, high << 16 | low)
    return b"\x78\xda" + head + block * count + tail + struct.pack(">I", digest)


def loose(repository: Repository, object_id: str) -> Path:
    """Return where a loose object is."""
    path = repository.path / ".git/objects" / object_id[:2] / object_id[2:]
    path.parent.mkdir(exist_ok=True)
    return path


def bomb(repository: Repository, kind: str, size: int, end: bytes, letter: bytes = b"\0") -> str:
    """Write an object of `size` bytes that takes a thousandth of it on disk; return an ID.

    The ID is not the object's digest: git does not look.
    """
    head = f"{kind} {size}\0".encode()
    count, rest = divmod(size - len(end), STEP)
    object_id = sha1(head + end + letter).hexdigest()
    data = squeezed(head, letter, count, letter * rest + end)
    loose(repository, object_id).write_bytes(data)
    return object_id


def add(repository: Repository, message: str, *entries: tuple[str, bytes, str]) -> None:
    """Commit HEAD's tree with more entries."""
    old = [
        (mode.lstrip("0"), name.encode(), object_id)
        for line in repository.git("ls-tree", "HEAD").splitlines()
        for (mode, _, object_id), name in [(line.split("\t")[0].split(), line.split("\t")[1])]
    ]
    named = {entry[1]: entry for entry in [*old, *entries]}
    commit_of(repository, tree_of(repository, *(named[name] for name in sorted(named))), message)


@pytest.mark.slow
def test_blobs_that_unpack_to_two_gigabytes(attack: Attack) -> None:
    repository = grown(attack.folder / "r", edits=4)
    for number in range(2):
        huge = [
            ("100644", name, bomb(repository, "blob", 2 << 30, b"%d" % number, letter))
            for name, letter in ((b"binary.py", b"\0"), (b"text.py", b"a"))
        ]
        add(repository, f"inflate balloons very much {number}", *huge)
    assert sum(path.stat().st_size for path in repository.path.rglob("*")) < 20 << 20
    ended = attack.run(repository.path)
    assert ended.status == 0, ended.stderr
    assert ended.peak_bytes < ORDINARY
    assert ended.seconds < 60


@pytest.mark.slow
def test_a_renamed_blob_that_unpacks_to_gigabytes(attack: Attack) -> None:
    repository = grown(attack.folder / "r", edits=4)
    shop = repository.git("rev-parse", "HEAD:shop").strip()
    for name, end in ((b"a.py", b"1"), (b"b.py", b"2")):
        huge = bomb(repository, "blob", 3 << 30, end)
        tree = tree_of(repository, ("100644", name, huge), ("40000", b"shop", shop))
        commit_of(repository, tree, f"inflate balloons very much {end!r}")
    ended = attack.run(repository.path)
    assert ended.status == 0, ended.stderr
    assert ended.peak_bytes < (2 << 30) + ORDINARY
    assert ended.seconds < 100


@pytest.mark.slow
def test_a_message_that_unpacks_to_much(attack: Attack) -> None:
    repository = grown(attack.folder / "r", edits=4)
    old = repository.git("cat-file", "commit", "HEAD").split("\n\n")[0].split("\n")
    header = "\n".join(f"parent {repository.head}" if one[0] == "p" else one for one in old)
    count = 100
    head = f"commit {len(header) + 2 + count * STEP}\0{header}\n\n".encode()
    digest = sha1(head)
    for _ in range(count):
        digest.update(b"a" * STEP)
    object_id = digest.hexdigest()
    loose(repository, object_id).write_bytes(squeezed(head, b"a", count, b""))
    repository.git("update-ref", "refs/heads/main", object_id)
    little = attack.run(repository.path, memory=64 << 20)
    assert little.status == 2
    assert little.peak_bytes < (64 << 20) + ORDINARY
    much = attack.run(repository.path)
    assert much.status == 0, much.stderr
    assert much.peak_bytes < 2 * count * STEP + ORDINARY


@pytest.mark.slow
def test_a_tree_that_names_billions_of_files(attack: Attack) -> None:
    repository = grown(attack.folder / "r", edits=4)
    leaf = repository.git("rev-parse", "HEAD:shop/store.py").strip()
    tree = tree_of(repository, *(("100644", b"f%d.py" % number, leaf) for number in range(10)))
    for _ in range(9):
        tree = tree_of(repository, *(("40000", b"d%d" % number, tree) for number in range(10)))
    add(repository, "plant very many files", ("40000", b"many", tree))
    add(repository, "answer something else entirely", ("100644", b"x.py", leaf))
    ended = attack.run(repository.path, memory=128 << 20)
    assert ended.status == 2
    assert ended.peak_bytes < (128 << 20) + ORDINARY
    assert ended.seconds < 110


def test_a_snapshot_that_would_fill_the_disk(attack: Attack) -> None:
    repository = grown(attack.folder / "r", edits=4)
    text = b"".join(b"line %d\n" % number for number in range(60_000))
    leaf = repository.feed("hash-object", "-w", "--stdin", stdin=text).strip()
    tree = tree_of(repository, *(("100644", b"f%d.txt" % number, leaf) for number in range(100)))
    tree = tree_of(repository, *(("40000", b"d%03d" % number, tree) for number in range(100)))
    add(repository, "plant very many files", ("40000", b"many", tree))
    old = (repository.path / "shop/clock.py").read_bytes()
    blob = repository.feed("hash-object", "-w", "--stdin", stdin=old.replace(b"42", b"43")).strip()
    store = repository.git("rev-parse", "HEAD:shop/store.py").strip()
    shop = tree_of(repository, ("100644", b"clock.py", blob), ("100644", b"store.py", store))
    add(repository, "answer differently at noon", ("40000", b"shop", shop))
    ended = attack.run(repository.path, "--snapshot=HEAD~1")
    assert ended.status == 2
    assert "holds 6,1" in ended.stderr
    assert "leave some out" in ended.stderr
    assert ended.peak_bytes < ORDINARY


def test_a_path_of_ten_thousand_folders(attack: Attack) -> None:
    repository = grown(attack.folder / "r", edits=4)
    leaf = repository.git("rev-parse", "HEAD:shop/store.py").strip()
    stream = (
        f"commit refs/heads/main\ncommitter Ada <ada@example.org> {EPOCH + 50 * DAY} +0000\n"
        f"data 20\ndig a very deep hole\nfrom {repository.head}\n"
        f"M 100644 {leaf} {'d/' * 10_000}deep.py\n"
    )
    repository.feed("fast-import", "--quiet", stdin=stream.encode())
    assert repository.git("rev-list", "--objects", "HEAD").count("\n") > 10_000
    ended = attack.run(repository.path)
    assert ended.peak_bytes < ORDINARY
    assert ended.seconds < 60
