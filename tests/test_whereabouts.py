"""A suite finds its repository: by the way there, on every machine that has both."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from codebench.corpus.contents import MAX_FILE_BYTES
from codebench.errors import CodebenchError, SuiteError
from codebench.gate.accepting import accept
from codebench.gold.code import KeptCode
from codebench.gold.folders import open_corpus
from codebench.gold.target import open_suite
from codebench.gold.whereabouts import directory_of, place_of, portable
from codebench.gold.workshop import workshop
from codebench.results.stored import columns_key
from codebench.suite import SUITE_FILE, read_suite, write_suite
from tests.runs import Row, made_run, suite

if TYPE_CHECKING:
    from pathlib import Path


def test_a_suite_inside_its_repository_is_written_with_the_way_there(tmp_path: Path) -> None:
    home = tmp_path / "shop"
    inside, beside = home / "suites" / "both" / "api", tmp_path / "shop-suites"
    inside.mkdir(parents=True)
    asked = suite(repository=str(home), snapshot="c0ffee")
    written = portable(asked, inside)
    assert written.repository == "../../.."
    assert place_of(written, inside) == str(home)
    assert place_of(replace(asked, repository="."), inside) == str(inside)  # git looks upwards
    assert portable(asked, beside) == asked
    for kept in ("https://example.org/shop.git", "git@example.org:shop.git", "", "../shop"):
        other = replace(asked, repository=kept)
        assert portable(other, inside) == other
    pinned = suite(repository=str(home))
    assert portable(pinned, inside) == pinned


def test_a_link_to_the_suite_leads_from_where_it_really_is(tmp_path: Path) -> None:
    (tmp_path / "shop" / "suites").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "shop" / "suites")
    asked = suite(repository="..", snapshot="c0ffee")
    assert place_of(asked, tmp_path / "link") == str(tmp_path / "shop")


@pytest.mark.parametrize(
    ("repository", "told"),
    [
        ("/nowhere/shop", "'/nowhere/shop' is not on this machine; write its URL, or its path"),
        ("", "is missing; name the repository that has c0ffee"),
    ],
)
def test_a_repository_that_is_not_here_is_told_with_its_file(
    repository: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(SuiteError) as caught:
        place_of(suite(repository=repository, snapshot="c0ffee"), tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'suite.yaml'}: repository: {told}")


def test_an_accepted_run_holds_no_path_of_the_machine(tmp_path: Path) -> None:
    asked = suite(repository=str(tmp_path), snapshot="c0ffee")
    run = made_run(tmp_path / "results" / "local", {"own": Row("s" * 12)}, asked=asked)
    accepted = accept(run, tmp_path / "results" / "made")
    assert read_suite(accepted / "suite") == replace(asked, repository="../../..")
    assert read_suite(run / "suite") == asked
    # The columns of a sealed run are still believed in the copy, and of another suite they are not.
    assert columns_key(accepted, 20) == columns_key(run, 20)
    write_suite(replace(asked, name="other"), run / "suite")
    assert columns_key(accepted, 20) != columns_key(run, 20)


@pytest.mark.parametrize("repository", ["/etc", "..", "../../../..", "link", "x\0y", ""])
def test_a_suite_hands_out_nothing_that_lies_outside_of_its_folder(
    repository: str, tmp_path: Path
) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "link").symlink_to("/etc")
    told = r"suite\.yaml: repository: .* is no folder beside this file"
    asked = suite(repository=repository)
    with pytest.raises(SuiteError, match=told):
        directory_of(asked, folder)
    write_suite(replace(asked, repository="x"), folder)
    file = folder / SUITE_FILE
    file.write_text(
        file.read_text().replace("repository: x", f"repository: {json.dumps(repository)}")
    )
    with workshop(lambda *_: None, jobs=1) as shop:
        for opened in (
            lambda: open_suite(folder, shop),
            lambda: open_corpus(read_suite(folder), folder, shop),
        ):
            with pytest.raises(CodebenchError, match="repository"):
                opened()


@pytest.mark.parametrize(
    "path", ["../secret", "/etc/passwd", "link", "null", "large", "\ud800", ""]
)
def test_no_code_is_shown_that_no_corpus_can_hold(path: str, tmp_path: Path) -> None:
    root = tmp_path / "s" / "corpus"
    root.mkdir(parents=True)
    (tmp_path / "s" / "secret").write_text("secret")
    (root / "link").symlink_to(tmp_path / "s" / "secret")
    (root / "null").symlink_to("/dev/null")
    (root / "large").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    (root / "a.py").write_text("x = 1\n")
    contents = {"a.py": b"x = 1\n", "../secret": b"secret", "link": b"secret", "null": b""}
    data = contents.get(path, (root / "large").read_bytes())
    digests = {path: hashlib.sha256(data).hexdigest()}
    assert KeptCode(root, digests).lines(path) is None
    digest = hashlib.sha256(b"x = 1\n").hexdigest()
    assert KeptCode(root, {"a.py": digest}).lines("a.py") == ("x = 1",)
