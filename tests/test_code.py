"""The code of a stored run is found where it still is what was asked, and made again from git."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from codebench.gold.code import find_code
from codebench.gold.folders import open_corpus
from codebench.gold.workshop import workshop
from tests.repositories import grown
from tests.runs import suite

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.model import Suite


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """Return a suite over a repository's snapshot whose corpus is in a cache that is not in use."""
    repository = grown(tmp_path / "shop", edits=2)
    made = suite(
        repository=str(repository.path), snapshot=repository.git("rev-parse", "HEAD").strip()
    )
    monkeypatch.setenv("CODEBENCH_CACHE", str(tmp_path / "first"))
    with workshop(lambda *_: None) as shop:
        corpus = open_corpus(made, tmp_path, shop)
    monkeypatch.setenv("CODEBENCH_CACHE", str(tmp_path / "second"))
    return replace(made, corpus_digest=corpus.digest)


def test_code_is_made_again_where_the_cache_has_it_no_more(
    asked: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "shop/store.py"
    lines = (tmp_path / "shop" / path).read_text("utf-8").splitlines()
    code = find_code(asked, tmp_path, (path,))
    assert (code.missing, list(code.lines(path) or ())) == ("", lines)
    assert code.lines("shop/none.py") is None
    (about,) = (tmp_path / "second" / "corpora").glob("*/corpus.json")
    assert find_code(replace(asked, repository=""), tmp_path, ()).missing == ""  # it is kept now
    kept = about.read_text("utf-8")
    for damage in (kept[:-50], kept.replace("store.py", "stare.py"), "[]"):
        about.chmod(0o600)
        about.write_text(damage, "utf-8")
        missing = find_code(replace(asked, repository=""), tmp_path, ()).missing
        assert missing == "the repository is not on this machine, nor its snapshot in the cache"
    monkeypatch.setenv("CODEBENCH_CACHE", str(tmp_path / "first"))
    assert list(find_code(asked, tmp_path, ()).lines(path) or ()) == lines


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({"corpus_digest": ""}, "the suite names no corpus"),
        ({"corpus_digest": "sha256:0"}, "{shop} gives another corpus than the one that was asked"),
        (
            {"repository": "https://example.org/shop.git"},
            "https://example.org/shop.git is not on this machine, nor its snapshot in the cache",
        ),
        (
            {"repository": "/nowhere/shop"},
            "/nowhere/shop is not on this machine, nor its snapshot in the cache",
        ),
        (
            {"snapshot": "", "repository": "corpus"},
            "the directory corpus of the suite is not here as it was asked",
        ),
    ],
)
def test_why_there_is_no_code(
    asked: Suite, tmp_path: Path, changes: dict[str, str], missing: str
) -> None:
    code = find_code(replace(asked, **changes), tmp_path, ("shop/store.py",))  # type: ignore[arg-type]
    assert code.missing == missing.format(shop=tmp_path / "shop")
    assert code.lines("shop/store.py") is None


def test_a_snapshot_that_the_repository_has_no_more_is_told_on_one_line(
    asked: Suite, tmp_path: Path
) -> None:
    missing = find_code(replace(asked, snapshot="c0ffee" * 6), tmp_path, ()).missing
    assert "c0ffee" in missing
    assert "\n" not in missing
