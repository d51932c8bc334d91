"""Shared conformance cases: plain judgments and units by level, with expected values.

The small set in `data/` always runs; the large one beside the checkout runs where it is there.
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

import codebench
from codebench.evaluation import Evaluation, evaluate_answers
from codebench.measures.statistics import smallest_effect, wilson
from codebench.model import Answer, Chunk, FileTable, Hit, Query, Related, Suite, Target
from tests.test_statistics import sign_flip

Case = dict[str, Any]

HERE = Path(__file__).parent
SHARED = HERE.parent.parent / "shared" / "cases"
TOLERANCE = 1e-9

NAMES = {"ndcg": "nDCG", "rr": "RR", "map": "AP", "p": "P", "recall": "R", "success": "Success"}
NAMES |= {"rprec": "Rprec", "f1": "F1", "bpref": "Bpref"}
GRADED = {"ndcg", "ndcg_exp"}


def _read(name: str) -> dict[str, Any]:
    cases: dict[str, Any] = {}
    for folder in (HERE / "data", SHARED):
        path = folder / name
        if path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))
            for key in ("cases", "statistics"):
                cases.setdefault(key, []).extend(found.get(key, []))
    return cases


MEASURES = _read("measures.json")
LEVELS = _read("levels.json")


def _ids(case: Case) -> str:
    return str(case["id"])


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no shared cases at {SHARED}")
def test_the_shared_cases_are_there() -> None:
    assert len(MEASURES["cases"]) > 30
    assert len(LEVELS["cases"]) > 43


def _named(name: str, rel: int) -> str:
    family, _, cutoff = name.partition("@")
    suffix = f"@{cutoff}" if cutoff else ""
    threshold = f"rel={rel}" if rel != 1 else ""
    if family == "ndcg_exp":
        return f"nDCG(dcg='exp-log2'){suffix}"
    if family == "rbp":
        return f"RBP({','.join(filter(None, ['p=0.9', threshold]))}){suffix}"
    if family in GRADED or not threshold:
        return f"{NAMES[family]}{suffix}"
    return f"{NAMES[family]}({threshold}){suffix}"


def _close(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return abs(found - expected) <= TOLERANCE


def _lists(case: Case) -> dict[str, list[str]]:
    return {query: [row[0] for row in rows] for query, rows in case["run"].items()}


def _maps(case: Case) -> dict[str, dict[str, float]]:
    return {query: {row[0]: row[1] for row in rows} for query, rows in case["run"].items()}


@pytest.mark.parametrize("case", MEASURES["cases"], ids=_ids)
def test_plain_judgments(case: Case) -> None:
    names = {own: _named(own, case["rel"]) for own in case["metrics"]}
    evaluation = codebench.evaluate(case["qrels"], _lists(case), list(names.values()))
    zero = codebench.evaluate(case["qrels"], _lists(case), list(names.values()), empty_gold="zero")
    for own, name in names.items():
        expected = case["metrics"][own]
        assert _close(evaluation.values[name], expected["expected"]), name
        assert evaluation.figures[name].n == expected["n_scored"], name
        assert _close(zero.values[name], expected["zero_policy"]), name
        for query, value in (expected["per_query"] or {}).items():
            assert _close(evaluation.per_query[query][name], value), (name, query)


TIED = [
    case
    for case in MEASURES["cases"]
    if any("ties_trec" in metric for metric in case["metrics"].values())
]


@pytest.mark.parametrize("case", TIED, ids=_ids)
def test_ties_broken_as_trec_eval_does(case: Case) -> None:
    names = {own: _named(own, case["rel"]) for own in case["metrics"]}
    evaluation = codebench.evaluate(case["qrels"], _maps(case), list(names.values()), ties="trec")
    for own, name in names.items():
        assert _close(evaluation.values[name], case["metrics"][own]["ties_trec"]), name


@pytest.mark.parametrize("case", MEASURES["statistics"], ids=_ids)
def test_statistics(case: Case) -> None:
    expected = case["expected"]
    if case["kind"] == "paired_diffs":
        result = sign_flip(case["diffs"])
        assert _close(result.p, expected["signflip_exact_two_sided_p"])
        assert result.changed == expected["n_changed"]
        assert _close(result.delta, expected["mean"])
    elif case["kind"] == "mde":
        error = case["sd"] / case["n"] ** 0.5
        assert _close(smallest_effect(error, case["alpha"], case["power"]), expected)
    else:
        low, high = wilson(case["k"] / case["n"], case["n"])
        assert _close(low, expected[0])
        assert _close(high, expected[1])


def _order(names: list[str], wanted: list[frozenset[str]]) -> tuple[str, ...]:
    """Order a file's targets so that each wanted set stands in adjacent lines."""
    for order in itertools.permutations(names):
        places = {name: place for place, name in enumerate(order)}
        spread = [max(places[n] for n in s) - min(places[n] for n in s) + 1 for s in wanted]
        if spread == [len(s) for s in wanted]:
            return order
    raise AssertionError(f"no order of {names} keeps {wanted} together")


def _world(case: Case) -> tuple[Suite, dict[str, FileTable], tuple[Hit, ...]]:
    """Build files whose chunks are one line each, and hits that show exactly what is said."""
    targets = [Target(path=t["file"], chunk=t["chunk"], grade=t["grade"]) for t in case["targets"]]
    related = tuple(Related(path, of, 2) for path, of in case["related"].items())
    wanted = [frozenset(row["shows"]) for row in case["ranking"] if row["shows"]]
    paths = {row["file"] for row in case["ranking"]} | {t.path for t in targets}
    paths |= set(case["related"])
    tables: dict[str, FileTable] = {}
    line_of: dict[str, int] = {}
    for path in sorted(paths):
        own = [t.chunk for t in targets if t.path == path]
        order = _order(own, [s for s in wanted if next(iter(s)).startswith(f"{path}::")])
        chunks = [
            Chunk(path, name.split("::")[1], 1, "function", ((line, line),), "", "", 1)
            for line, name in enumerate(order, 2)
        ]
        line_of |= {name: line for line, name in enumerate(order, 2)}
        module = Chunk(path, "<module>", 1, "module", ((1, 1),), "", "", 1)
        tables[path] = FileTable(path, "python", (5,) * (len(own) + 1), (module, *chunks))
    hits = []
    for row in case["ranking"]:
        lines = sorted(line_of[name] for name in row["shows"])
        hits.append(Hit(row["file"], *((lines[0], lines[-1]) if lines else ())))
    query = Query("q", "text", tuple(targets), related=related)
    return Suite("s", "", "", "", (query,)), tables, tuple(hits)


def _graded(case: Case) -> Evaluation:
    suite, tables, hits = _world(case)
    answer = Answer("q", "ok", hits)
    names = sorted(case["expected"])
    return evaluate_answers(suite, tables, [answer], names, depth=100)


@pytest.mark.parametrize("case", LEVELS["cases"], ids=_ids)
def test_units_by_level(case: Case) -> None:
    evaluation = _graded(case)
    for name, expected in case["expected"].items():
        printed = re.sub(r"\(rel=1\)", "", name)
        assert _close(evaluation.per_query["q"][printed], expected), name
