"""Every trap of a history has a test that fails without its handling.

`TRAPS` names for each trap the tests that hold it, here or in another file. The tests here build
a repository with real git and mine it whole: commits, labels, snapshot, queries.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codebench.errors import CorpusError, NothingMeasured
from codebench.gold import filters
from codebench.gold.recipe import Recipe
from codebench.suite import read_suite, write_suite
from tests.repositories import DAY, EPOCH, Repository, grown, in_child
from tests.test_history import history_of
from tests.test_mine import gold, members, opened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TRAPS: Mapping[str, Sequence[str]] = {
    "a merge prints no raw diff": (
        "test_history.test_a_merge_has_no_changes_unless_first_parents_are_followed",
        "test_traps.test_merges_are_counted_and_what_they_merged_is_asked",
        "test_traps.test_an_octopus_merge_is_a_merge",
    ),
    "a root and a shallow boundary look like everything added": (
        "test_history.test_a_shallow_clone_ends_at_its_boundary",
        "test_traps.test_a_shallow_boundary_is_no_query",
    ),
    "partial clones and missing blobs": (
        "test_history.test_missing_blobs_do_not_cut_the_history_short",
        "test_traps.test_a_partial_clone_is_read_without_fetching",
        "test_traps.test_a_snapshot_that_lacks_blobs_is_refused",
    ),
    "a history that ends half way with status 128": (
        "test_history.test_a_damaged_history_is_an_error_and_not_a_short_one",
    ),
    "replace refs and grafts": ("test_history.test_replace_refs_and_grafts_are_not_followed",),
    "worktrees and alternates": (
        "test_history.test_a_worktree_and_a_clone_with_alternates",
        "test_traps.test_every_shape_of_repository_gives_the_same_suite",
    ),
    "config that changes output": ("test_history.test_config_of_the_repository_changes_nothing",),
    "a rename limit that switches renames off": (
        "test_traps.test_many_renames_at_once_are_all_found",
    ),
    "quoted, non-UTF-8, tab and newline paths": (
        "test_history.test_paths_with_tabs_newlines_quotes_and_odd_bytes",
        "test_traps.test_odd_paths_from_history_to_suite_and_corpus",
    ),
    "messages that are not UTF-8, empty, or hold the separator": (
        "test_history.test_a_message_cannot_forge_a_record",
        "test_history.test_an_empty_message_and_one_that_is_no_utf8",
        "test_traps.test_odd_messages_from_history_to_suite",
        "test_traps.test_a_message_of_five_megabytes",
    ),
    "mode-only changes": ("test_traps.test_a_changed_mode_alone_is_no_query",),
    "symlinks, submodules and type changes": (
        "test_history.test_symlinks_submodules_and_type_changes_are_not_regular",
        "test_traps.test_links_modules_and_pointers_are_no_gold",
    ),
    "LFS pointers": ("test_traps.test_links_modules_and_pointers_are_no_gold",),
    "binary by content, not by attribute": (
        "test_snapshot.test_what_is_no_text_is_left_out",
        "test_traps.test_binary_is_told_by_content",
    ),
    "CRLF rewrites and mass reformatting": ("test_traps.test_what_changes_no_structure",),
    "form feeds": ("test_traps.test_a_form_feed_ends_no_line",),
    "decorators, attributes and doc comments belong to their definition": (
        "test_traps.test_what_an_edit_belongs_to",
    ),
    "grouped declarations belong to the spec": ("test_traps.test_what_an_edit_belongs_to",),
    "renamed classes rename their members": (
        "test_traps.test_a_renamed_class_renames_its_members_and_edits_none",
    ),
    "syntax errors": (
        "test_label.test_a_file_with_syntax_errors_gives_no_symbol",
        "test_traps.test_a_broken_file_is_no_gold_and_a_whole_one_beside_it_is",
    ),
    "one-line and generated files, files over 1 MB": (
        "test_traps.test_generated_one_line_and_huge_files_are_no_gold",
    ),
    "test as a substring": ("test_traps.test_words_inside_words",),
    "bot as a substring": ("test_traps.test_words_inside_words",),
    "clock skew": (
        "test_mine.test_a_child_older_than_its_parent_changes_nothing",
        "test_traps.test_times_that_no_calendar_has",
    ),
    "duplicates over --all and pull refs": (
        "test_history.test_only_one_branch_is_walked",
        "test_traps.test_pull_refs_and_other_branches_add_nothing",
    ),
    "SHA-256 repositories": ("test_traps.test_every_shape_of_repository_gives_the_same_suite",),
    "a detached HEAD": ("test_traps.test_every_shape_of_repository_gives_the_same_suite",),
    "a bare repository": ("test_traps.test_every_shape_of_repository_gives_the_same_suite",),
    "a path with spaces and newlines": (
        "test_traps.test_every_shape_of_repository_gives_the_same_suite",
    ),
    "a repository inside another": ("test_traps.test_a_repository_inside_another",),
    "commits of an empty tree": ("test_traps.test_a_commit_that_empties_the_tree",),
    "a commit that touches 10,000 files": ("test_traps.test_a_commit_of_ten_thousand_files",),
    "20,000 empty commits": ("test_traps.test_twenty_thousand_empty_commits",),
}

STORE = """\
class Shelf:
    def take(self, order):
        limit = 0
        return [item for item in self.items if item.rank > limit]
"""
ANCHOR = "def anchored():\n    return 1\n"
ASKED = "refuse empty orders everywhere"


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what another test found out about the same commit away."""
    monkeypatch.setenv("CODEBENCH_CACHE", str(tmp_path / "cache"))


def test_every_trap_names_tests_that_exist() -> None:
    folder = Path(__file__).parent
    for trap, tests in TRAPS.items():
        assert tests, trap
        for test in tests:
            file, name = test.split(".")
            assert name in functions_of(folder / f"{file}.py"), f"{trap}: no {test}"


@cache
def functions_of(file: Path) -> set[str]:
    tree = ast.parse(file.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def started(path: Path, files: dict[str, str | bytes | None]) -> Repository:
    """A repository whose root holds `files` and whose next commit is a query of its own."""
    repository = Repository(path)
    repository.commit("initial import of everything", {**files, "shop/anchor.py": ANCHOR})
    changed = ANCHOR.replace("1", "2")
    repository.commit("answer something else entirely", {"shop/anchor.py": changed})
    return repository


def mined(repository: Repository) -> tuple[list[str] | None, dict[str, int]]:
    """Return the targets of the query `ASKED`, None where it is none, and the funnel."""
    root = repository.git("rev-list", "--max-parents=0", "HEAD").split()[0]
    one = opened(repository.path, snapshot=root)
    assert gold(one)["answer something else entirely"] == ["shop/anchor.py::anchored"]
    return gold(one).get(ASKED), dict(one.suite.funnel)


def edited(
    path: Path, before: str | bytes, after: str | bytes, file: str = "shop/store.py"
) -> tuple[list[str] | None, dict[str, int]]:
    """Mine a repository in which a commit turns `before` into `after`."""
    repository = started(path, {file: before})
    repository.commit(ASKED, {file: after})
    return mined(repository)


# --- merges, roots, shapes ---------------------------------------------------------------------


def test_merges_are_counted_and_what_they_merged_is_asked(tmp_path: Path) -> None:
    repository = started(tmp_path / "r", {"shop/store.py": STORE})
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit(ASKED, {"shop/store.py": STORE.replace("limit = 0", "limit = 1")})
    repository.git("checkout", "--quiet", "main")
    repository.commit("describe everything in the readme", {"README.md": "x\n"})
    repository.git("merge", "--quiet", "--no-ff", "-m", "bring parcels home again", "side")
    targets, funnel = mined(repository)
    assert targets == ["shop/store.py::Shelf.take"]
    assert funnel[filters.MERGE] == 1
    assert funnel["queries"] == 2


def test_an_octopus_merge_is_a_merge(tmp_path: Path) -> None:
    repository = started(tmp_path / "r", {"shop/store.py": STORE})
    base = repository.head
    for number in range(3):
        repository.git("checkout", "--quiet", "-b", f"side{number}", base)
        repository.commit(f"add things of kind {number}", {f"shop/new{number}.py": "x = 1\n"})
    repository.git("checkout", "--quiet", "main")
    sides = [f"side{number}" for number in range(3)]
    repository.git("merge", "--quiet", "--no-ff", "-m", "weave several branches together", *sides)
    repository.commit(ASKED, {"shop/store.py": STORE.replace("limit = 0", "limit = 1")})
    targets, funnel = mined(repository)
    assert targets == ["shop/store.py::Shelf.take"]
    assert (funnel[filters.MERGE], funnel["commits"]) == (1, 6)
    (pulled,) = members(
        repository.path,
        pull_requests=True,
        snapshot=repository.git("rev-list", "--max-parents=0", "HEAD").strip(),
    )
    assert gold(pulled)[ASKED] == ["shop/store.py::Shelf.take"]


def test_a_shallow_boundary_is_no_query(tmp_path: Path) -> None:
    repository = grown(tmp_path / "r", edits=6)
    shallow = tmp_path / "shallow"
    repository.git("clone", "--quiet", "--depth=4", f"file://{repository.path}", str(shallow))
    assert Repository(shallow).git("rev-parse", "--is-shallow-repository").strip() == "true"
    one = opened(shallow)
    assert dict(one.suite.funnel) == {"commits": 3, "queries": 3}
    boundary = one.suite.snapshot
    assert boundary not in {query.origin for query in one.suite.queries}
    verdicts, _ = filters.cheap_verdicts(history_of(Repository(shallow), tmp_path), Recipe())
    assert verdicts[boundary] == filters.ROOT


@pytest.mark.parametrize(
    "shape", ["worktree", "shared", "bare", "detached", "sha256", "odd path", "gitfile", "symlink"]
)
def test_every_shape_of_repository_gives_the_same_suite(tmp_path: Path, shape: str) -> None:
    odd = tmp_path / " a b\n\tc\x85'\"d\\"
    if shape == "sha256":
        repository = grown(tmp_path / "sha256", object_format="sha256")
    else:
        repository = grown(odd if shape == "odd path" else tmp_path / "r")
    place = tmp_path / "other"
    if shape == "worktree":
        repository.git("worktree", "add", "--quiet", "--detach", str(place))
    elif shape == "shared":
        repository.git("clone", "--quiet", "--shared", str(repository.path), str(place))
    elif shape == "bare":
        repository.git("clone", "--quiet", "--bare", str(repository.path), str(place))
    elif shape == "gitfile":
        repository.git("init", "--quiet", f"--separate-git-dir={tmp_path / 'elsewhere'}")
        assert (repository.path / ".git").is_file()
        place = repository.path
    elif shape == "symlink":
        (repository.path / ".git").rename(tmp_path / "elsewhere")
        (repository.path / ".git").symlink_to(tmp_path / "elsewhere")
        place = repository.path
    else:
        if shape == "detached":
            repository.git("checkout", "--quiet", "--detach")
            repository.git("branch", "--quiet", "-D", "main")
        place = repository.path
    one = opened(place)
    plain = opened(grown(tmp_path / "plain").path)
    assert gold(one) == gold(plain)
    assert one.corpus.digest == plain.corpus.digest
    assert len(one.suite.queries[0].origin) == (64 if shape == "sha256" else 40)
    write_suite(one.suite, tmp_path / "suite")
    assert read_suite(tmp_path / "suite").queries == one.suite.queries
    again = opened(tmp_path / "suite")
    assert again.corpus.digest == one.corpus.digest
    assert again.last_changes == one.last_changes


def test_a_repository_inside_another(tmp_path: Path) -> None:
    outer = Repository(tmp_path / "outer")
    outer.commit("outer things only", {"a.py": "x = 1\n"})
    inner = grown(tmp_path / "outer/inner")
    assert {query.origin for query in opened(inner.path).suite.queries} <= set(
        inner.git("rev-list", "HEAD").split()
    )
    subfolder = opened(inner.path / "shop")
    assert len(subfolder.suite.queries) == 6
    assert (subfolder.suite.name, subfolder.suite.repository) == ("inner", str(inner.path))
    assert opened(inner.path / ".git").suite.name == "inner"
    bare = inner.path / "mirror"
    inner.git("clone", "--quiet", "--bare", ".", "mirror")
    assert (opened(bare).suite.name, opened(bare).suite.repository) == ("mirror", str(bare))


def test_a_broken_repository_is_not_taken_for_the_one_around_it(tmp_path: Path) -> None:
    from codebench.errors import GitError

    outer = grown(tmp_path / "outer")
    inner = outer.path / "inner"
    (inner / ".git").mkdir(parents=True)
    with pytest.raises(GitError, match="inner is not a git repository"):
        opened(inner)


def test_a_commit_that_empties_the_tree(tmp_path: Path) -> None:
    repository = started(tmp_path / "r", {"shop/store.py": STORE})
    before = repository.git("rev-parse", "HEAD^{tree}").strip()
    empty = repository.git("mktree").strip()
    for tree, message in (
        (empty, "burn whole shops down tonight"),
        (before, "bring whole shops back again"),
    ):
        commit = repository.git("commit-tree", tree, "-p", "HEAD", "-m", message).strip()
        repository.git("reset", "--quiet", "--hard", commit)
    repository.commit(ASKED, {"shop/store.py": STORE.replace("limit = 0", "limit = 1")})
    targets, funnel = mined(repository)
    assert targets == ["shop/store.py::Shelf.take"]
    assert funnel[filters.DELETED] == 1
    assert funnel[filters.NEW] == 1
    with pytest.raises(NothingMeasured, match="targets not in the snapshot"):
        opened(repository.path, snapshot=repository.git("rev-parse", "HEAD~2").strip())


def test_pull_refs_and_other_branches_add_nothing(tmp_path: Path) -> None:
    repository = grown(tmp_path / "r")
    plain = opened(repository.path)
    repository.git("checkout", "--quiet", "-b", "side", "HEAD~2")
    old = (repository.path / "shop/clock.py").read_text()
    repository.commit("answer differently at noon", {"shop/clock.py": old.replace("42", "43")})
    repository.git("update-ref", "refs/pull/7/head", repository.head)
    repository.git("tag", "extra")
    repository.git("checkout", "--quiet", "main")
    assert opened(repository.path).suite == plain.suite


# --- partial clones ----------------------------------------------------------------------------


def partial_clone(repository: Repository, path: Path) -> Repository:
    """Clone without blobs but those of HEAD, from a server whose address then leads to a trap."""
    repository.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{repository.path}"
    repository.git("clone", "--quiet", "--filter=blob:none", url, str(path))
    clone = Repository(path)
    missing = clone.git("rev-list", "--objects", "--all", "--missing=print")
    assert missing.count("\n?") > 3, "the clone must lack blobs, or this test shows nothing"
    return clone


def test_a_partial_clone_is_read_without_fetching(tmp_path: Path) -> None:
    repository = grown(tmp_path / "r")
    body = "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(30))
    repository.commit("add a great many functions", {"shop/old.py": body})
    moved: dict[str, str | bytes | None] = {
        "shop/old.py": None,
        "shop/new.py": body.replace("return 7", "return 77"),
    }
    repository.commit("move them somewhere else", moved)
    whole = history_of(repository, tmp_path)
    clone = partial_clone(repository, tmp_path / "partial")
    before = clone.contents()
    found = history_of(clone, tmp_path)
    assert [commit.id for commit in found] == [commit.id for commit in whole]
    with pytest.raises(NothingMeasured, match=rf"{filters.MISSING} 8"):
        opened(clone.path)
    assert clone.contents() == before


def test_a_snapshot_that_lacks_blobs_is_refused(tmp_path: Path) -> None:
    repository = grown(tmp_path / "r")
    clone = partial_clone(repository, tmp_path / "partial")
    with pytest.raises(NothingMeasured, match=rf"{filters.MISSING} 6"):
        opened(clone.path)
    # What was missing then is not held against the commit now.
    for commit in ("HEAD~1", "HEAD"):
        clone.git("cat-file", "-p", f"{commit}:shop/store.py")
        clone.git("cat-file", "-p", f"{commit}:shop/clock.py")
    (one,) = members(clone.path)
    assert [query.origin for query in one.suite.queries] == [clone.head]
    snapshot = clone.git("rev-parse", "HEAD~5").strip()
    clone.git("cat-file", "-p", f"{snapshot}:shop/clock.py")
    before = clone.contents()
    with pytest.raises(CorpusError, match=r"lacks 1 of the 3 files.*clone it again"):
        opened(clone.path, snapshot=snapshot)
    assert clone.contents() == before


# --- renames, paths, messages ------------------------------------------------------------------


def body(number: int, more: int) -> str:
    """Text that is alike only to itself."""
    lines = (f"name{number}_{line} = {number * line}\n" for line in range(12))
    return f"more = {more}\n" + "".join(lines)


def test_many_renames_at_once_are_all_found(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    count = 450  # git's own limit was 400 for long
    old = {f"old/a{number}.py": body(number, 0) for number in range(count)}
    repository.commit("add many modules at once", {**old})
    new = {f"new/{number}b.py": body(number, 1) for number in range(count)}
    repository.commit("move many modules at once", {**dict.fromkeys(old), **new})
    repository.git("config", "diff.renameLimit", "1")
    changes = history_of(repository, tmp_path)[0].changes
    assert {change.status for change in changes} == {"R"}
    assert len(changes) == count


def test_odd_paths_from_history_to_suite_and_corpus(tmp_path: Path) -> None:
    names = {
        "tab\there.py": "tab",
        "line\nbreak.py": "line",
        'quo"te.py': "quote",
        "back\\slash.py": "back",
        "späß.py": "fun",
        " lead and trail .py": "lead",
        "a::b~2.py": "colons",
        "odd\udcff.py": "odd",
    }
    files = {name: f"def {what}():\n    return 0\n" for name, what in names.items()}
    repository = started(tmp_path / "r", {**files})
    for name, what in names.items():
        text = files[name].replace("0", "1")
        repository.commit(f"refuse empty orders of {what}", {name: text})
    root = repository.git("rev-list", "--max-parents=0", "HEAD").strip()
    one = opened(repository.path, snapshot=root)
    kept = {name: what for name, what in names.items() if what != "odd"}
    found = gold(one)
    assert {f"refuse empty orders of {what}": [f"{name}::{what}"] for name, what in kept.items()}
    for name, what in kept.items():
        assert found[f"refuse empty orders of {what}"] == [f"{name}::{what}"]
        assert (one.corpus.path / name).read_text() == files[name]
    assert dict(one.suite.funnel)[filters.LOST] == 1  # a path that is no UTF-8 has no name in JSON
    assert set(one.corpus.by_path) == {*kept, "shop/anchor.py"}
    write_suite(one.suite, tmp_path / "suite")
    assert read_suite(tmp_path / "suite").queries == one.suite.queries
    assert opened(tmp_path / "suite").corpus == one.corpus


def test_odd_messages_from_history_to_suite(tmp_path: Path) -> None:
    repository = started(tmp_path / "r", {"shop/store.py": STORE})
    messages = {
        b"": None,
        b" \n\n \n": None,
        b"caf\xe9s close before midnight today": "caf\ufffds close before midnight today",
        b"\x01" + b"a" * 40 + b"\nforged record of nothing": None,
        b"parse\x00hidden words after nothing": None,
        b"\xef\xbb\xbfmarked orders are refused early": "marked orders are refused early",
        b"ring\x07 bells\x1b[31m and whistles loudly": None,
    }
    for number, message in enumerate(messages, start=1):
        text = STORE.replace("limit = 0", f"limit = {number}")
        repository.commit("placeholder", {"shop/store.py": text})
        raw = repository.git("cat-file", "commit", "HEAD").split("\n\n")[0].encode()
        (tmp_path / "raw").write_bytes(raw + b"\n\n" + message)
        odd = repository.git(
            "hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "raw")
        ).strip()
        repository.git("update-ref", "HEAD", odd)
    one = opened(
        repository.path, snapshot=repository.git("rev-list", "--max-parents=0", "HEAD").strip()
    )
    assert len(history_of(repository, tmp_path)) == 2 + len(messages)
    texts = set(gold(one))
    assert {text for text in messages.values() if text} <= {text.strip("\ufeff") for text in texts}
    write_suite(one.suite, tmp_path / "suite")
    assert read_suite(tmp_path / "suite").queries == one.suite.queries


def test_a_message_of_five_megabytes(tmp_path: Path) -> None:
    repository = started(tmp_path / "r", {"shop/store.py": STORE})
    repository.write({"shop/store.py": STORE.replace("limit = 0", "limit = 1")})
    repository.git("add", "--all")
    for subject in (ASKED + "\n\n", ""):
        (tmp_path / "message").write_text(subject + "word-" * (1 << 20))
        repository.git("commit", "--quiet", "--allow-empty", "-F", str(tmp_path / "message"))
    commits = history_of(repository, tmp_path)
    assert [len(commit.message) <= 16_384 for commit in commits] == [True] * 4
    assert [change.path for change in commits[1].changes] == ["shop/store.py"]
    assert mined(repository)[0] == ["shop/store.py::Shelf.take"]


# --- what is no change of code -----------------------------------------------------------------


def test_a_changed_mode_alone_is_no_query(tmp_path: Path) -> None:
    repository = started(tmp_path / "r", {"shop/store.py": STORE})
    (repository.path / "shop/store.py").chmod(0o755)
    repository.commit(ASKED)
    targets, funnel = mined(repository)
    assert targets is None
    assert funnel[filters.UNCHANGED] == 1


def test_links_modules_and_pointers_are_no_gold(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 9\n"
    repository = started(
        tmp_path / "r",
        {"shop/store.py": STORE, "shop/kept.py": STORE, "shop/large.py": pointer.format("0" * 64)},
    )
    (repository.path / "shop/store.py").unlink()
    (repository.path / "shop/store.py").symlink_to("kept.py")
    repository.commit("turn stores into kept ones")
    repository.git(
        "update-index", "--add", "--cacheinfo", f"160000,{repository.head},shop/module.py"
    )
    repository.git("commit", "--quiet", "-m", "depend upon another module")
    (repository.path / "shop/store.py").unlink()
    repository.git("rm", "--quiet", "--cached", "shop/module.py")
    repository.commit("turn kept ones into stores", {"shop/store.py": STORE})
    repository.commit("store larger things remotely", {"shop/large.py": pointer.format("1" * 64)})
    targets, funnel = mined(repository)
    assert targets is None
    assert funnel[filters.NO_CODE] == 3
    assert funnel[filters.MISSING] == 1
    assert funnel["queries"] == 1
    root = repository.git("rev-list", "--max-parents=0", "HEAD").strip()
    paths = set(opened(repository.path, snapshot=root).corpus.by_path)
    assert paths == {"shop/store.py", "shop/kept.py", "shop/anchor.py"}


def test_binary_is_told_by_content(tmp_path: Path) -> None:
    repository = started(
        tmp_path / "r",
        {
            ".gitattributes": "*.py binary -diff\n*.dat text diff\n",
            "shop/store.py": STORE,
            "shop/raw.py": b"\0" + STORE.encode(),
            "x.dat": b"\0\1\2",
        },
    )
    repository.commit("rewrite raw things twice", {"shop/raw.py": b"\0\0" + STORE.encode()})
    repository.commit(ASKED, {"shop/store.py": STORE.replace("limit = 0", "limit = 1")})
    targets, funnel = mined(repository)
    assert targets == ["shop/store.py::Shelf.take"]
    assert funnel[filters.MISSING] == 1


REFORMATTED = '''\
class Shelf:

    def take(
        self,
        order,
    ):
        """Take."""
        limit = 0  # none

        return [
            item
            for item in self.items
            if item.rank > limit
        ]
'''


WORDY = (
    STORE
    + '''
    def label(self):
        return """one
two"""
'''
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (STORE, STORE.replace("\n", "\r\n")),
        (WORDY, WORDY.replace("\n", "\r\n")),
        (STORE, "\ufeff" + STORE),
        (STORE, STORE + "\n\n"),
        (STORE, STORE.replace("    ", "\t")),
        (STORE, REFORMATTED),
    ],
    ids=["CRLF", "CRLF in a string", "byte order mark", "blank lines", "tabs", "reformatted"],
)
def test_what_changes_no_structure(tmp_path: Path, before: str, after: str) -> None:
    targets, funnel = edited(tmp_path / "r", before, after)
    assert targets is None
    assert funnel[filters.UNCHANGED] == 1


def test_a_form_feed_ends_no_line(tmp_path: Path) -> None:
    odd = "x = 'a\x0bb\x1c\x85\u2028'\n\x0c\n"
    before = odd + STORE
    repository = started(tmp_path / "r", {"shop/store.py": before})
    repository.commit(ASKED, {"shop/store.py": before.replace("limit = 0", "limit = 1")})
    one = opened(
        repository.path, snapshot=repository.git("rev-list", "--max-parents=0", "HEAD").strip()
    )
    assert gold(one)[ASKED] == ["shop/store.py::Shelf.take"]
    table = one.corpus.by_path["shop/store.py"]
    (take,) = (chunk for chunk in table.chunks if chunk.name == "Shelf.take")
    assert take.spans == ((4, 6),)
    assert one.corpus.text(take) == "".join(STORE.splitlines(keepends=True)[1:])
    assert len(table.line_bytes) == 6


# --- what an edit belongs to -------------------------------------------------------------------

PYTHON = """\


@cache(size=1)
def price(item):
    return item


class Shelf:
    @property
    def width(self):
        return 1

    @width.setter
    def width(self, value):
        self.value = value
"""
GO = """\
package shop

// Limits of a shop.
const (
	MaxItems = 1
	MaxShelves = 2
)

type Shelf struct {
	Width int `json:"width"`
}

// Take takes.
func (s *Shelf) Take() int {
	return s.Width
}
"""
RUST = """\
#[inline]
fn price(x: u32) -> u32 { x }

#[derive(Debug)]
struct Shelf { width: u32 }

impl Shelf {
    #[must_use = "a"]
    fn take(&self) -> u32 { self.width }
}
"""
JAVA = """\
class Shelf {
    @Deprecated(since = "1")
    int take(int order) { return order; }

    @Override
    public String toString() { return "shelf"; }
}
"""


@pytest.mark.parametrize(
    ("file", "text", "old", "new", "targets"),
    [
        ("a.py", PYTHON, "size=1", "size=2", ["a.py::price"]),
        ("a.py", PYTHON, "@property", "@cached_property", ["a.py::Shelf.width"]),
        ("a.py", PYTHON, "width.setter", "width.deleter", ["a.py::Shelf.width~2"]),
        ("a.go", GO, "MaxShelves = 2", "MaxShelves = 3", ["a.go::MaxShelves"]),
        ("a.go", GO, "s.Width", "s.Width + 1", ["a.go::Shelf.Take"]),
        ("a.go", GO, "Width int", "Width uint", ["a.go::Shelf"]),
        ("a.rs", RUST, "#[inline]", "#[inline(always)]", ["a.rs::price"]),
        ("a.rs", RUST, "derive(Debug)", "derive(Debug, Clone)", ["a.rs::Shelf"]),
        ("a.rs", RUST, '"a"', '"b"', ["a.rs::Shelf.take"]),
        ("a.java", JAVA, 'since = "1"', 'since = "2"', ["a.java::Shelf.take"]),
    ],
)
def test_what_an_edit_belongs_to(
    tmp_path: Path, file: str, text: str, old: str, new: str, targets: list[str]
) -> None:
    found, _ = edited(tmp_path / "r", text, text.replace(old, new), file)
    assert found == targets


@pytest.mark.parametrize(
    ("file", "text", "comment", "first"),
    [
        ("a.go", GO, "// Take takes.", 13),
        ("a.rs", RUST.replace("#[inline]", "/// A price.\n#[inline]"), "/// A price.", 1),
    ],
)
def test_a_doc_comment_belongs_to_its_definition_but_is_no_edit_of_it(
    tmp_path: Path, file: str, text: str, comment: str, first: int
) -> None:
    targets, funnel = edited(tmp_path / "r", text, text.replace(comment, comment + " More."), file)
    assert targets is None
    assert funnel[filters.UNCHANGED] == 1
    one = opened(
        tmp_path / "r",
        snapshot=Repository(tmp_path / "r").git("rev-list", "--max-parents=0", "HEAD").strip(),
    )
    owners = [
        chunk.start_line
        for chunk in one.corpus.by_path[file].chunks
        if any(start <= first <= end for start, end in chunk.spans)
    ]
    assert owners == [first]


def test_a_renamed_class_renames_its_members_and_edits_none(tmp_path: Path) -> None:
    renamed = STORE.replace("class Shelf", "class Rack")
    targets, funnel = edited(tmp_path / "r", STORE, renamed)
    assert targets is None
    assert funnel[filters.MOVED] == 1


def test_what_is_edited_after_its_class_was_renamed_is_carried_back(tmp_path: Path) -> None:
    renamed = STORE.replace("class Shelf", "class Rack")
    repository = started(tmp_path / "r", {"shop/store.py": STORE})
    repository.commit("call shelves racks instead", {"shop/store.py": renamed})
    repository.commit(ASKED, {"shop/store.py": renamed.replace("limit = 0", "limit = 1")})
    assert mined(repository)[0] == ["shop/store.py::Shelf.take"]


# --- what is no source -------------------------------------------------------------------------


def test_a_broken_file_is_no_gold_and_a_whole_one_beside_it_is(tmp_path: Path) -> None:
    broken = "def broken(:\n    return 1\n\n\ndef other(x:\n    return ((1\n"
    repository = started(tmp_path / "r", {"shop/store.py": STORE, "shop/broken.py": broken})
    repository.commit(
        "change broken things somehow", {"shop/broken.py": broken.replace("return 1", "return 2")}
    )
    repository.commit(
        ASKED,
        {
            "shop/store.py": STORE.replace("limit = 0", "limit = 1"),
            "shop/broken.py": broken.replace("return 1", "return 3"),
        },
    )
    targets, funnel = mined(repository)
    assert targets == ["shop/store.py::Shelf.take"]
    assert funnel[filters.UNSOUND] == 1


def test_generated_one_line_and_huge_files_are_no_gold(tmp_path: Path) -> None:
    one_line = "function f(){return 1}" + ";x=1" * 2000 + "\n"
    huge = "def f():\n    return 1\n\n\n" + "# filler\n" * 130_000
    repository = started(
        tmp_path / "r",
        {
            "shop/store.py": STORE,
            "web/bundle.js": one_line,
            "shop/huge.py": huge,
            "gen/types.py": STORE,
            "shop/types_pb2.py": STORE,
        },
    )
    repository.commit(
        "build bigger bundles once again", {"web/bundle.js": one_line.replace("1", "2")}
    )
    repository.commit(
        "extend tremendous tables somewhat", {"shop/huge.py": huge.replace("return 1", "return 2")}
    )
    new = STORE.replace("limit = 0", "limit = 1")
    repository.commit("make generated types wider", {"gen/types.py": new, "shop/types_pb2.py": new})
    repository.commit(ASKED, {"shop/store.py": new})
    targets, funnel = mined(repository)
    assert targets == ["shop/store.py::Shelf.take"]
    assert funnel["queries"] == 2
    assert funnel[filters.MISSING] == 1
    assert funnel[filters.NO_SOURCE] == 1
    assert funnel[filters.UNCHANGED] == 1


def test_words_inside_words(tmp_path: Path) -> None:
    files = {
        f"{folder}/{name}.py": STORE
        for folder, name in (("contest", "rules"), ("shop", "latest"), ("attestation", "keys"))
    }
    repository = started(tmp_path / "r", {**files})
    authors = ("Berenice Abbott", "Robotham", "Tom Botley")
    for author, file in zip(authors, sorted(files), strict=True):
        repository.commit(
            f"refuse empty orders in {file[:7]}",
            {file: STORE.replace("limit = 0", "limit = 1")},
            author=author,
        )
    repository.commit(
        "refuse empty orders by machine",
        {"shop/latest.py": STORE.replace("limit = 0", "limit = 2")},
        author="release-bot",
    )
    _, funnel = mined(repository)
    assert funnel["queries"] == 4
    assert funnel[filters.BOT] == 1


@pytest.mark.parametrize("time", [0, 1, 2**31, 253_402_300_800, 2**63 - 1, 10**30])
def test_times_that_no_calendar_has(tmp_path: Path, time: int) -> None:
    repository = started(tmp_path / "r", {"shop/store.py": STORE})
    raw = (
        f"tree {_edited_tree(repository)}\nparent {repository.head}\n"
        f"author Ada <ada@example.org> {time} +0000\n"
        f"committer Ada <ada@example.org> {time} +0000\n\n{ASKED}\n"
    )
    (tmp_path / "raw").write_text(raw)
    odd = repository.git(
        "hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "raw")
    ).strip()
    repository.git("update-ref", "HEAD", odd)
    targets, _ = mined(repository)
    assert targets == ["shop/store.py::Shelf.take"]


@pytest.mark.parametrize("damage", ["committer", "author", "encoding"])
def test_a_damaged_commit_header(tmp_path: Path, damage: str) -> None:
    repository = started(tmp_path / "r", {"shop/store.py": STORE})
    tree, parent = _edited_tree(repository), repository.head
    author = "author Ada <ada@example.org> 1700000000 +0000\n"
    lines = {
        "committer": author + "committer nobody\n",
        "author": "author <\ncommitter Ada <ada@example.org> 1700000000 +9999\n",
        "encoding": author + "committer Ada <a@b> 1700000000 +0000\nencoding no-such\n",
    }
    (tmp_path / "raw").write_text(f"tree {tree}\nparent {parent}\n{lines[damage]}\n{ASKED}\n")
    odd = repository.git(
        "hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "raw")
    ).strip()
    repository.git("update-ref", "HEAD", odd)
    assert mined(repository)[0] == ["shop/store.py::Shelf.take"]


def _edited_tree(repository: Repository) -> str:
    repository.write({"shop/store.py": STORE.replace("limit = 0", "limit = 1")})
    repository.git("add", "--all")
    return repository.git("write-tree").strip()


# --- large -------------------------------------------------------------------------------------


def test_a_commit_of_ten_thousand_files(tmp_path: Path) -> None:
    repository = started(tmp_path / "r", {"shop/store.py": STORE})
    many = "".join(f"M 100644 :1 big/d{number % 97}/f{number}.py\n" for number in range(10_000))
    stream = (
        "blob\nmark :1\ndata 6\nx = 1\n\n"
        f"commit refs/heads/main\ncommitter Ada <ada@example.org> {EPOCH + 9 * DAY} +0000\n"
        f"data 29\nimport ten thousand new files\nfrom {repository.head}\n{many}\n"
        f"commit refs/heads/main\ncommitter Ada <ada@example.org> {EPOCH + 10 * DAY} +0000\n"
        f"data {len(ASKED)}\n{ASKED}\nM 100644 inline shop/store.py\n"
        f"data {len(STORE)}\n{STORE.replace('limit = 0', 'limit = 1')}\n"
    )
    repository.feed("fast-import", "--quiet", "--force", stdin=stream.encode())
    targets, funnel = mined(repository)
    assert targets == ["shop/store.py::Shelf.take"]
    assert funnel[filters.MANY_FILES] == 1


@pytest.mark.slow
def test_twenty_thousand_empty_commits(tmp_path: Path) -> None:
    repository = grown(tmp_path / "r", edits=2)
    rows = [
        f"commit refs/heads/main\nmark :{number}\n"
        f"committer Ada <ada@example.org> {EPOCH + 9 * DAY + number} +0000\n"
        f"data 36\nturn nothing into nothing, no. {number:05}\n"
        + (f"from {repository.head}\n" if number == 1 else "")
        for number in range(1, 20_001)
    ]
    repository.feed("fast-import", "--quiet", "--force", stdin="".join(rows).encode())
    repository.git("reset", "--quiet", "--hard")
    old = (repository.path / "shop/clock.py").read_text()
    repository.commit(ASKED, {"shop/clock.py": old.replace("42", "43")}, time=EPOCH + 10 * DAY)
    found = in_child(
        "from tests.test_mine import gold, opened\n"
        "one = opened(sys.argv[1])\n"
        "print(gold(one), one.suite.funnel)\n",
        repository.path,
    )
    assert found.status == 0, found.stderr
    assert f"{ASKED!r}: ['shop/clock.py::now']" in found.stdout
    assert found.seconds < 60
    assert found.peak_bytes < 250 << 20
