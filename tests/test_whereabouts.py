"""A suite finds its repository: by the way there, on every machine that has both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from codebench.errors import SuiteError
from codebench.gate.accepting import accept
from codebench.gold.whereabouts import place_of, portable
from codebench.results.stored import columns_key
from codebench.suite import read_suite, write_suite
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
