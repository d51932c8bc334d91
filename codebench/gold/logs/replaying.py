"""An agent's own search steps, asked of a candidate: what finding the first target would have cost.

The steps are asked in the agent's order. Under each, the candidate's results are read from the
top, as an agent reads them, until one shows a target; where none does, all that were looked at are
paid for, and the next step is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codebench.grading import Files, compile_gold, reaches, read_bytes
from codebench.model import Suite

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codebench.gold.logs.efforts import Navigation
    from codebench.model import Answer, FileTable, Hit, Query

BYTES_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Replayed:
    """One trajectory with one candidate in place of the agent's own search.

    Attributes:
        task: the query's ID.
        agent: tokens on the agent's screen until the first target; all where there was none.
        agent_reached: whether there was one.
        tokens: that the candidate's results make one read until the first target; all of them
            where none shows one.
        reached: whether one shows one.
        step: the step that did, from 1; 0 where none did.
        steps: how many steps there were.
        failed: how many steps the candidate did not answer.
    """

    task: str
    agent: int
    agent_reached: bool
    tokens: int
    reached: bool
    step: int
    steps: int
    failed: int


def step_suite(suite: Suite, navigation: Mapping[str, Navigation]) -> Suite:
    """Return the search steps as a suite: one query a step, with the targets of its task."""
    queries = [
        replace(
            _task(query),
            id=step_id(query.id, number),
            text=text,
            tags={**query.tags, "task": query.id},
        )
        for query in suite.queries
        if query.id in navigation
        for number, text in enumerate(navigation[query.id].steps, 1)
    ]
    return Suite(
        name=f"{suite.name}-steps",
        repository=suite.repository,
        snapshot=suite.snapshot,
        corpus_digest=suite.corpus_digest,
        queries=tuple(sorted(queries, key=lambda one: one.id)),
        recipe={"replay": suite.name, **dict(suite.recipe)},
    )


def step_id(task: str, number: int) -> str:
    """Return the ID of a task's step."""
    return f"{task}/{number:03}"


def replayed(
    suite: Suite,
    navigation: Mapping[str, Navigation],
    answers: Iterable[Answer],
    tables: Mapping[str, FileTable],
    looked_at: int,
) -> tuple[Replayed, ...]:
    """Work out what a candidate's answers to the steps would have cost, by task.

    Args:
        suite: whose trajectories they are.
        navigation: by task.
        answers: the candidate's, to the queries of `step_suite`.
        tables: of the corpus.
        looked_at: so many results of each answer are read.
    """
    known = {answer.query: answer for answer in answers if answer.repeat == 0}
    files = Files(tables)
    found = []
    for query in suite.queries:
        way = navigation.get(query.id)
        if way is not None and way.steps:
            own = [known.get(step_id(query.id, at)) for at in range(1, len(way.steps) + 1)]
            found.append(_one(_task(query), way, own, files, looked_at))
    return tuple(found)


def _task(query: Query) -> Query:
    """Return a task with its best targets alone: they are what the agent was looking for."""
    best = max(target.grade for target in query.targets)
    targets = tuple(target for target in query.targets if target.grade == best)
    return replace(query, targets=targets, related=(), weight=1.0)


def _one(
    task: Query,
    way: Navigation,
    answers: Sequence[Answer | None],
    files: Files,
    looked_at: int,
) -> Replayed:
    gold = compile_gold(task, files)
    level = max(unit.level for unit in gold.units)

    def shows(hit: Hit) -> bool:
        return any(one.level == level and one.kind == "target" for one in reaches(gold, hit))

    read = step = 0
    for number, answer in enumerate(answers, 1):
        for hit in (answer.hits if answer is not None else ())[:looked_at]:
            read += read_bytes(gold, hit)
            if shows(hit):
                step = number
                break
        if step:
            break
    asked = answers[: step or len(answers)]
    return Replayed(
        task=task.id,
        agent=way.tokens,
        agent_reached=way.reached,
        tokens=read // BYTES_A_TOKEN,
        reached=bool(step),
        step=step,
        steps=len(answers),
        failed=sum(one is None or one.status != "ok" for one in asked),
    )
