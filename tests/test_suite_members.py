"""Suites of several: members a repository, a snapshot or a folder that somebody put there."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from codebench import home
from codebench.cli.main import main
from codebench.errors import InputError, UsageError
from codebench.evaluation import aggregate
from codebench.gold.building import build, preview, total_funnel
from codebench.gold.ceiling import evaluate_ideal
from codebench.gold.check import check
from codebench.gold.context import in_context, queries_of
from codebench.gold.folders import folder_of, open_corpus
from codebench.gold.recipe import Recipe
from codebench.gold.target import open_target
from codebench.gold.workshop import workshop
from codebench.measures.names import DEFAULT
from codebench.suite import members_of, read_suite, repository_of
from tests.repositories import Repository, grown

if TYPE_CHECKING:
    from pathlib import Path


def quiet(*_: Any) -> None:
    """Show no progress."""


def other(path: Path) -> Repository:
    """Build a repository in Go, so that it shares no chunk with `grown`."""
    repository = Repository(path)
    code = "package web\n\nfunc Serve(port int) int {\n\treturn port + %d\n}\n"
    repository.commit("first", {"web/serve.go": code % 0})
    for number, what in enumerate(("accept hanging sockets", "refuse privileged ports"), start=1):
        repository.commit(f"{what} politely", {"web/serve.go": code % number})
    return repository


def both(tmp_path: Path, **recipe: Any) -> Path:
    repositories = [str(grown(tmp_path / "shop").path), str(other(tmp_path / "web").path)]
    build(repositories, Recipe(**recipe), tmp_path / "both", quiet, jobs=1)
    return tmp_path / "both"


def test_several_repositories_make_a_member_each(tmp_path: Path) -> None:
    folder = both(tmp_path)
    assert (folder / "suite.yaml").read_text() == "name: both\nmembers:\n- shop\n- web\n"
    members = members_of(folder)
    assert [name for name, _ in members] == ["shop", "web"]
    for name, place in members:
        suite = read_suite(place)
        assert suite.name == name
        assert {repository_of(query) for query in suite.queries} == {name}
        assert (place / "carry.jsonl").is_file()


def test_one_repository_has_no_such_tag(tmp_path: Path) -> None:
    build([str(grown(tmp_path / "shop").path)], Recipe(), tmp_path / "s", quiet, jobs=1)
    assert {repository_of(query) for query in read_suite(tmp_path / "s").queries} == {""}


def test_figures_can_be_cut_and_averaged_by_repository(tmp_path: Path) -> None:
    folder = both(tmp_path)
    with workshop(quiet, 1) as shop:
        for name, place in members_of(folder):
            suite = read_suite(place)
            ideal = evaluate_ideal(suite, open_corpus(suite, place, shop).by_path, DEFAULT)
            assert set(ideal.repositories) == {name}
            assert aggregate(ideal, "repositories").figures["nDCG@10"].value == 1


def test_epochs_of_several_repositories(tmp_path: Path) -> None:
    folder = both(tmp_path, mode="epochs", epochs=2)
    names = [name for name, _ in members_of(folder)]
    assert names == ["shop-epoch-1", "shop-epoch-2", "web-epoch-1", "web-epoch-2"]
    found = {query.tags["repository"] for _, query in queries_of(str(folder))}
    assert found == {"shop", "web"}


def test_repositories_of_one_name_get_names_of_their_own(tmp_path: Path) -> None:
    paths = [str(grown(tmp_path / place / "api").path) for place in ("a", "b", "c")]
    build(paths, Recipe(), tmp_path / "all", quiet, jobs=1)
    assert [name for name, _ in members_of(tmp_path / "all")] == ["api", "api-2", "api-3"]


def test_a_repository_without_a_query_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    dull = Repository(tmp_path / "dull")
    dull.commit("first", {"a.py": "x = 1\n"})
    with pytest.raises(Exception, match="dull: no query could be made"):
        build(
            [str(grown(tmp_path / "shop").path), str(dull.path)],
            Recipe(),
            tmp_path / "s",
            quiet,
            jobs=1,
        )
    assert not (tmp_path / "s").exists()


def test_the_funnels_of_several_add_up(tmp_path: Path) -> None:
    repositories = [str(grown(tmp_path / "shop").path), str(other(tmp_path / "web").path)]
    funnels = preview(repositories, Recipe(), quiet, jobs=1)
    assert [dict(one)["queries"] for one in funnels.values()] == [6, 2]
    assert total_funnel(list(funnels.values())) == (("commits", 8), ("queries", 8))
    more = {"commits": 3, "merge": 1, "bot": 1, "queries": 1}
    assert total_funnel([more, *funnels.values()]) == (
        ("commits", 11),
        ("merge", 1),
        ("bot", 1),
        ("queries", 9),
    )
    with pytest.raises(UsageError, match="named twice"):
        preview([repositories[0]] * 2, Recipe(), quiet, jobs=1)


def test_a_check_covers_every_member(tmp_path: Path) -> None:
    folder = both(tmp_path)
    found = check(str(folder), quiet, jobs=1)
    assert (found.members, found.readable, found.faults) == (2, 2, ())
    assert found.census.queries == 8
    assert found.census.languages == {"python": 6, "go": 2}


def test_members_put_together_by_hand(tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(home.builtin("suites") / "tiny", tmp_path / "all" / name)
    (tmp_path / "all/suite.yaml").write_text("name: all\nmembers: [one, two]\n")
    found = check(str(tmp_path / "all"), quiet, jobs=1)
    assert (found.faults, found.census.queries) == ((), 48)
    shown = in_context(str(tmp_path / "all"), "t04", quiet, jobs=1)
    assert [one.member for one in shown] == ["one", "two"]
    opened = open_target(str(tmp_path / "all"), Recipe(), quiet, jobs=1)
    assert [one.member for one in opened] == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: all\nmembers: []\n", "members: names no suite"),
        ("name: all\nmembers: [one, one]\n", "is listed twice"),
        ("name: all\nmembers: [../one]\n", "lies outside of this folder"),
        ("name: all\nmembers: one\n", "is not a list"),
        ("members: [one]\n", "name: is missing"),
        ("name: all\nmembers: [one]\nrepository: x\n", "repository: is not a field here"),
    ],
)
def test_a_list_of_members_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "all").mkdir()
    shutil.copytree(home.builtin("suites") / "tiny", tmp_path / "all/one")
    (tmp_path / "all/suite.yaml").write_text(text)
    with pytest.raises(InputError, match=message):
        check(str(tmp_path / "all"), quiet, jobs=1)


def test_the_table_of_members(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repositories = [str(grown(tmp_path / "shop").path), str(other(tmp_path / "web").path)]
    output = str(tmp_path / "both")
    assert main(["suite", "build", *repositories, "-o", output, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [(one["member"], one["queries"]) for one in data["members"]] == [("shop", 6), ("web", 2)]
    assert main(["suite", "build", *repositories, "-o", output, "--force"]) == 0
    out = capsys.readouterr().out
    assert "8 commits after the snapshot = 8 queries" in out
    assert [line.split()[0] for line in out.splitlines()[4:6]] == ["shop", "web"]


def test_a_suite_by_name_or_folder(tmp_path: Path) -> None:
    assert folder_of("tiny") == home.builtin("suites") / "tiny"
    assert folder_of(str(both(tmp_path) / "web")) == tmp_path / "both/web"
