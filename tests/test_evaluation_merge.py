"""Several suites' evaluations put together are what one evaluation of all queries would be."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest

from codebench.errors import NothingMeasured, UsageError
from codebench.evaluation import Evaluation, aggregate, evaluate_answers, merge, recall_curve
from codebench.measures.names import DEFAULT, EXTRA, Measure
from codebench.model import MODULE, Answer, Chunk, FileTable, Hit, Query, Related, Suite, Target

MEASURES: tuple[Measure | str, ...] = (*DEFAULT, *EXTRA, "P(rel=3)@5", "R@4000tokens", "Value@10")


def tables(member: str) -> dict[str, FileTable]:
    found = {}
    for name in "abcd":
        path = f"{member}/{name}.py"
        chunks = (
            Chunk(path, MODULE, 1, "module", ((1, 4),), "", "", 1),
            Chunk(path, "f", 1, "function", ((5, 10),), "", "", 1),
            Chunk(path, "g", 1, "function", ((12, 20),), "", "", 1),
        )
        found[path] = FileTable(path, "python", (30,) * 20, chunks)
    return found


def queries(member: str, grades: tuple[int, ...]) -> tuple[Query, ...]:
    return tuple(
        Query(
            f"{member}-{number}",
            "text",
            (Target(f"{member}/a.py", f"{member}/a.py::f", grade, weight=number + 0.5),),
            weight=1.0 + number,
            related=(Related(f"{member}/b.py", f"{member}/a.py", 2),),
            tags={"repository": member},
        )
        for number, grade in enumerate(grades)
    )


def answers(asked: tuple[Query, ...], member: str, seed: int) -> list[Answer]:
    choose = random.Random(seed)  # noqa: S311
    return [
        Answer(
            query.id,
            "ok",
            tuple(
                Hit(f"{member}/{choose.choice('abcd')}.py", symbol=choose.choice(("f", "g", None)))
                for _ in range(choose.randint(0, 12))
            ),
        )
        for query in asked
    ]


def both(seed: int) -> tuple[Evaluation, Evaluation]:
    """Return the evaluation of all queries at once, and the two members' put together."""
    members = {"one": (3, 3, 2, 1), "two": (2, 2, 3)}
    asked = {name: queries(name, grades) for name, grades in members.items()}
    answered = {name: answers(asked[name], name, seed) for name in members}
    parts = [
        (
            name,
            evaluate_answers(
                Suite(name, "", "", "", asked[name]),
                tables(name),
                answered[name],
                MEASURES,
                depth=50,
            ),
        )
        for name in members
    ]
    everything = evaluate_answers(
        Suite("all", "", "", "", asked["one"] + asked["two"]),
        tables("one") | tables("two"),
        [*answered["one"], *answered["two"]],
        MEASURES,
        depth=50,
    )
    return everything, merge(parts)


@pytest.mark.parametrize("seed", range(20))
def test_every_figure_is_the_same(seed: int) -> None:
    everything, merged = both(seed)
    np.testing.assert_array_equal(merged.table, everything.table)
    assert merged.queries == tuple(f"{query[:3]}/{query}" for query in everything.queries)
    for how in ("macro", "unweighted", "micro", "repositories"):
        assert aggregate(merged, how) == aggregate(everything, how)
    for rel in (1, 2, 3):
        assert recall_curve(merged, rel, 50) == recall_curve(everything, rel, 50)


def test_what_cannot_be_put_together() -> None:
    _, merged = both(0)
    with pytest.raises(NothingMeasured):
        merge([])
    other = dataclasses.replace(merged, measures=merged.measures[:1])
    with pytest.raises(UsageError, match="different measures"):
        merge([("a", merged), ("b", other)])
