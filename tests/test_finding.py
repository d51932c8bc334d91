"""A stored run is found by its folder, by its name, as the newest of a folder, and as `latest`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from codebench.cli.main import main
from codebench.errors import ResultsError
from codebench.results import MANIFEST
from codebench.results.finding import find_run
from tests.runs import Row, made_run

OLD, NEW = "20240501T120000Z-shop", "20240501T120001Z-api"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three runs: one of each name, and a copy under the suite's name, as accepted runs have it."""
    folder = tmp_path / "local"
    for name, second in ((NEW, 1), (OLD, 0), ("shop", 2)):
        (folder / name).mkdir(parents=True)
        (folder / name / MANIFEST).write_text(
            json.dumps({"started": f"2024-05-01T12:00:0{second}+00:00"})
        )
    os.utime(folder / OLD)  # what was touched last is not the newest
    (folder / "zzz").mkdir()
    return folder


def test_a_folder_of_runs_is_its_newest_by_when_it_began(results: Path) -> None:
    assert find_run(results, results) == results / "shop"
    (results / "shop" / MANIFEST).unlink()
    assert find_run(results, results) == results / NEW
    assert find_run(results / OLD, results) == results / OLD


def test_a_damaged_run_keeps_its_place_by_its_name(results: Path) -> None:
    newest = results / "20240501T120009Z-shop"
    newest.mkdir()
    (newest / MANIFEST).write_text("{")
    assert find_run(Path("latest"), results) == newest  # who reads it says what is wrong


def test_a_name_and_latest_are_looked_for_in_the_results(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_run(Path(OLD), results) == results / OLD
    assert find_run(Path("latest"), results) == results / "shop"
    (tmp_path / "latest").mkdir()  # what is there is meant
    with pytest.raises(ResultsError, match="is no run; it holds no manifest"):
        find_run(Path("latest"), results)
    with pytest.raises(ResultsError, match="latest-api: is no run"):
        find_run(Path("nowhere/latest-api"), results)


def test_what_is_no_run_is_told_the_near_one_and_where_the_names_are(results: Path) -> None:
    with pytest.raises(ResultsError) as caught:
        find_run(Path("20240501T120000Z-shp"), results)
    assert f'did you mean "{OLD}"' in str(caught.value)
    assert "`codebench list runs`" in str(caught.value)
    with pytest.raises(ResultsError, match="holds no run yet"):
        find_run(Path("latest"), results / "none")
    with pytest.raises(ResultsError, match="is no run"):
        find_run(Path("x" * 5000), results)


@pytest.mark.parametrize(
    "words",
    [
        "score RUN",
        "compare RUN",
        "show RUN q00",
        "show latest --broken-since RUN",
        "report RUN -o page.html",
        "gate RUN",
        "gate RUN --accept",
        "bisect q00 --good latest --bad RUN",
        "suite export tiny --format trec -o out --run RUN",
    ],
)
def test_every_verb_finds_a_run_by_its_name(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made_run(Path("results/local"), {"own": Row("s" * 12)})
    assert main(["score", "latest", "-m", "RR@1"]) == 0
    assert main(words.replace("RUN", "20240501T1200000Z-made").split()) == 2
    assert 'did you mean "20240501T120000Z-made"?' in capsys.readouterr().err
