"""Recipes: read strictly, built at the user's side, and compared with what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from codebench.cli.main import main
from codebench.gold.building import build
from codebench.gold.published import read_recipe, recipe_names
from codebench.gold.recipe import Recipe
from codebench.suite import read_suite, suite_digest
from tests.long_history import long_history

if TYPE_CHECKING:
    from pathlib import Path

    from tests.repositories import Repository


def test_the_built_in_recipes_are_many_and_whole() -> None:
    recipes = [read_recipe(name) for name in recipe_names()]
    assert len(recipes) >= 8
    assert len({one.language for one in recipes}) >= 6
    assert len({one.repository for one in recipes}) == len(recipes)
    for one in recipes:
        assert one.repository.startswith("https://")
        assert one.recipe.snapshot != one.tip
        assert one.queries <= one.recipe.max_queries
        for digest in (one.digest, one.corpus_digest):
            assert digest.startswith("sha256:")
            assert len(digest) == 71


def recipe(tmp_path: Path, source: Repository, **changes: Any) -> Path:
    """Write a recipe for what `build` makes of a repository."""
    tip = source.git("rev-parse", "main~5").strip()
    snapshot = source.git("rev-parse", "main~25").strip()
    made = build(
        [str(source.path)],
        Recipe(max_queries=30, snapshot=snapshot),
        tmp_path / "expected",
        lambda *_: None,
        jobs=1,
        force=True,
        tip=tip,
    )
    data = {
        "repository": "https://example.org/garden",
        "language": "python",
        "tip": tip,
        "snapshot": snapshot,
        "max_queries": 30,
        "queries": len(made[0].suite.queries),
        "corpus_digest": made[0].suite.corpus_digest,
        "suite_digest": suite_digest(made[0].suite),
    }
    file = tmp_path / "garden.yaml"
    file.write_text(yaml.safe_dump(data | changes), "utf-8")
    return file


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return long_history(tmp_path / "garden", 60)


def test_a_recipe_gives_the_suite_that_was_published_whatever_came_after_its_tip(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recipe(tmp_path, repository)
    words = ["suite", "build", str(repository.path), "--recipe", str(file), "--jobs", "1"]
    assert main([*words, "-o", str(tmp_path / "suite")]) == 0
    assert "this is the published suite garden: its digest is the same" in capsys.readouterr().out
    suite = read_suite(tmp_path / "suite")
    after = set(repository.git("rev-list", "main~5..main").split())
    assert suite.queries
    assert not after & {query.origin for query in suite.queries}


def test_another_suite_than_the_published_one_is_said(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recipe(tmp_path, repository, suite_digest="sha256:" + "0" * 64)
    words = ["suite", "build", str(repository.path), "--recipe", str(file), "--jobs", "1"]
    assert main([*words, "-o", str(tmp_path / "suite"), "--format", "json"]) == 0
    out = capsys.readouterr().out
    assert "warning: not the published suite garden: the suite sha256:" in out
    assert "compare no figures with published ones" in out


def test_wrong_recipes_are_told(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ["-o", str(tmp_path / "suite")]
    assert main(["suite", "build", "--recipe", "flsk", *folder]) == 2
    assert 'did you mean "flask"?' in capsys.readouterr().err
    changes = {"tip": "main", "repository": "garden", "queries": 0, "tpi": 3}
    file = recipe(tmp_path, repository, **changes)
    assert main(["suite", "build", "--recipe", str(file), *folder]) == 2
    err = capsys.readouterr().err
    for problem in ("is no full commit ID", "is no URL", "is not from 1 to", "did you mean"):
        assert problem in err
    file = recipe(tmp_path, repository, tip="0" * 40)
    words = ["suite", "build", str(repository.path), "--recipe", str(file), *folder]
    assert main(words) == 2
    assert "names no commit" in capsys.readouterr().err
    assert not (tmp_path / "suite").exists()


def test_what_is_needed_is_said() -> None:
    assert main(["suite", "build", "-o", "x"]) == 2
    assert main(["suite", "build", "--recipe", "flask", "--dry-run"]) == 2
