"""What is asked at every commit, as a file: the process that `git bisect run` starts reads it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from codebench.errors import ResultsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Outcome = Literal["good", "bad", "skipped"]


@dataclass(frozen=True, slots=True)
class Job:
    """One query, asked of the adapter as it was at a commit.

    Attributes:
        run: the bad run's folder: its suite and the corpus's chunk tables.
        corpus: the corpus's directory.
        query: the query's ID.
        measure: what is measured.
        name: the retriever's.
        reference: its adapter's file inside the checkout, with its class.
        options: of its constructor.
        depth: hits asked for.
        query_timeout, index_timeout: seconds.
        turning: a value is bad where its gain (the value, or less where less is better) is below.
        fails: whether an answer that failed counts as bad, as the bad run's did; else such a
            commit is skipped.
        results: a folder for runs.
        log: where each step is written, a line each.
    """

    run: str
    corpus: str
    query: str
    measure: str
    name: str
    reference: str
    options: Mapping[str, Any]
    depth: int
    query_timeout: float
    index_timeout: float
    turning: float
    fails: bool
    results: str
    log: str

    def write(self, file: Path) -> None:
        """Write it."""
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")


def read_job(file: Path) -> Job:
    """Read what `write` wrote."""
    return Job(**json.loads(file.read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class Step:
    """One commit, judged.

    Attributes:
        commit: its ID.
        outcome: `good`, `bad`, or `skipped` where it cannot be judged.
        value: of the measure; None where there is none.
        reason: why it was skipped, or how the answer failed.
    """

    commit: str
    outcome: Outcome
    value: float | None
    reason: str = ""

    def append(self, log: Path) -> None:
        """Add it to the log."""
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(self)) + "\n")


def read_steps(log: Path) -> tuple[Step, ...]:
    """Return the steps in their order."""
    try:
        lines = log.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ResultsError(f"{log}: cannot be read ({error.strerror})") from None
    return tuple(Step(**json.loads(line)) for line in lines)
