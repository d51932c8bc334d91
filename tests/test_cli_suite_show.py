"""`codebench suite show` as a person types it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codebench.cli.main import main
from tests.repositories import Repository, grown
from tests.suites import edit, made_suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def shown(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    status = main(["suite", "show", *map(str, words)])
    captured = capsys.readouterr()
    assert (status, captured.err) == (0, "")
    return captured.out


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert main(["suite", "show", *map(str, words)]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_one_query_with_its_code(
    capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None], form: str
) -> None:
    golden(f"suite-show.{form}", shown(capsys, "tiny", "t04", "--format", form))


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, "tiny")
    assert len(out.splitlines()) == 26
    assert "t04      cancelling a reservation must put the goods back on the shelf" in out
    data = json.loads(shown(capsys, "tiny", "--format", "json"))
    assert data["queries"][3]["id"] == "t04"
    assert data["queries"][3]["tags"]["kind"] == "fix"


def test_members_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_suite(grown(tmp_path / "shop"), tmp_path / "here/e", mode="epochs", epochs=2)
    out = shown(capsys, "e")
    assert out.split()[:3] == ["query", "member", "text"]
    assert out.count("epoch-1") == out.count("epoch-2") == 3
    query = out.splitlines()[2].split()[0]
    assert "member: epoch-1" in shown(capsys, "e", query)


def test_the_beginning_of_an_id(capsys: pytest.CaptureFixture[str]) -> None:
    err = refused(capsys, "tiny", "t0")
    assert err.startswith("codebench: tiny: 't0' begins the IDs of 9 queries: t01, t02, ")
    assert "and 4 more" in err
    err = refused(capsys, "tiny", "t99")
    assert err.startswith("codebench: tiny: has no query 't99'")
    assert "(`codebench suite show tiny` lists them)" in err
    assert "has no query ''" in refused(capsys, "tiny", "")


def test_foreign_text_moves_no_cursor_and_long_code_is_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository(tmp_path / "odd")
    body = "".join(f"\tx{number} = '\x1b[31m\u202e```'\n" for number in range(100))
    for number in (0, 1):
        code = f"def f():\n{body}\treturn {number}\n"
        repository.commit("paint every wall red", {"odd.py": code})
    folder = made_suite(repository, tmp_path / "here/s")
    edit(folder, lambda rows: rows[0].update(text="a\x1b[2Jb", id="q"))
    for form in ("table", "markdown", "json"):
        out = shown(capsys, "s", "q", "--format", form)
        assert "\x1b" not in out
        assert "\u202e" not in out
    out = shown(capsys, "s", "q")
    assert "q: a\\u001b[2Jb" in out
    assert "\n60      x58 = '\\u001b" in out
    assert "… 42 more lines (--all prints them)" in out
    assert "x61" not in out
    assert "\n102      return 0" in shown(capsys, "s", "q", "--all")
    markdown = shown(capsys, "s", "q", "--format", "markdown")
    assert markdown.count("`" * 6) == 2


def test_a_class_is_shown_without_its_members(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository(tmp_path / "odd")
    code = "class A:\n    first = 1\n\n    def f(self):\n        return 1\n\n    last = {}\n"
    for number in (0, 1):
        repository.commit("choose another last letter", {"odd.py": code.format(number)})
    folder = made_suite(repository, tmp_path / "here/s")
    edit(folder, lambda rows: rows[0].update(id="q"))
    lines = shown(capsys, "s", "q").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("odd.py::A "))
    assert lines[at] == "odd.py::A (class, grade 3)"
    assert lines[at + 1 : at + 3] == ["1  class A:", "2      first = 1"]
    assert "…" in lines[at + 3 :]
    assert lines[-1].startswith("7      last = ")
    assert not any("def f" in line for line in lines)


def test_a_target_that_dangles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made_suite(grown(tmp_path / "shop"), tmp_path / "here/s")
    edit(
        folder,
        lambda rows: rows[0].update(
            id="q",
            targets=[
                {"chunk": "shop/zzz.py"},
                {"chunk": "shop/clock.py::z"},
                {"chunk": "README.md"},
            ],
        ),
    )
    out = shown(capsys, "s", "q")
    assert "shop/zzz.py (not in the corpus: `codebench suite check` says where it went" in out
    assert "shop/clock.py::z (not in the corpus" in out
    assert "README.md (file, grade 3)\n1  # shelf" in out
