"""A target or a retriever that is not there: what was probably meant is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from codebench.cli.main import main
from codebench.gold.meant import meant
from codebench.home import builtin
from tests.runs import Row, made_run


def test_the_near_suite_folder_or_recipe_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites" / "ours").mkdir(parents=True)
    (tmp_path / "suites" / "outs.txt").write_text("a file is nobody's suite")
    assert meant("suites/our") == "; did you mean suites/ours?"
    assert meant(str(tmp_path / "suites" / "our")) == f"; did you mean {tmp_path}/suites/ours?"
    assert meant("tinny") == "; did you mean tiny?"
    assert meant("suits") == "; did you mean suites?"
    recipe = min(file.stem for file in (builtin("suites") / "recipes").glob("*.yaml"))
    call = f"codebench suite build --recipe {recipe} -o suites/{recipe}"
    assert meant(recipe) == f"; it is a recipe: {call}"


def test_a_baseline_near_the_missing_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results" / "shop").mkdir(parents=True)
    made_run(tmp_path / "run", {"own": Row("s" * 12)})
    assert main(["gate", "run", "-b", "results/shopp"]) == 4
    told = "results/shopp: there is no such baseline; did you mean results/shop?"
    assert told in capsys.readouterr().err
    assert main(["gate", "run", "-b", "accepted"]) == 4
    assert "there is no such baseline; make one of an accepted run" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["", "nothing/of/that/kind", "x" * 5000, "a\0b", "../" * 2000])
def test_what_is_near_nothing_is_near_nothing(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert meant(target) == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run tinny", "tinny: no such folder, suite or repository; did you mean tiny?"),
        ("run tyni", "tyni: no such folder, suite or repository; did you mean tiny?"),
        (
            "run q.yaml",
            "q.yaml: is a questions file: codebench suite build . --questions q.yaml -o suites/q",
        ),
        ("run suites/o/suite.yaml", "suite.yaml: is a file of a suite; name its folder: suites/o"),
        ("run mine.yaml", "mine.yaml: is a file of retrievers: codebench run . -r mine.yaml"),
        ("run x/manifest.json", "manifest.json: is a file; name a suite folder, a repository or"),
        ("run grep.yaml", "grep.yaml: is a file; name a suite folder, a repository or a built-in"),
        ("run tiny -r grep.yml", "grep.yml: No such file or directory; did you mean grep.yaml?"),
        ("gate x --limits grpe.yml", "grpe.yml: No such file or directory; did you mean grep.yaml"),
        ("run tiny -r BM25", "'BM25' is no retriever; did you mean \"bm25\"?"),
        ("run tiny -r bm25,ripgrep", "-r may be repeated: -r bm25 -r ripgrep"),
        ("run tiny -r bm25:k1=1,ripgrep", "another retriever is another -r, as -r bm25 -r ripgrep"),
        ("run tiny -r bm25:k1=0.9,1.5", "'1.5' is not an option; write name=value; several values"),
        ("run tiny -r mine.py::Mine", "the class follows one colon, as mine.py:Mine"),
    ],
)
def test_a_mistyped_reference_is_told_what_to_write(
    words: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("")
    Path("grep.yaml").write_text("")
    Path("q.yaml").write_text("questions: []")
    Path("mine.yaml").write_text("retrievers: [bm25]")
    Path("suites/o").mkdir(parents=True)
    Path("suites/o/suite.yaml").write_text("")
    Path("x").mkdir()
    (Path("x") / "manifest.json").write_text("{}")
    assert main(words.split()) == 2
    assert told in capsys.readouterr().err
