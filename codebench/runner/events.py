"""What a run tells while it goes on, for who shows progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.measures.latency import LoadStep
    from codebench.model import Answer, IndexCost
    from codebench.results import State


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The folder is there; these retrievers follow, floors first."""

    path: Path
    queries: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RetrieverStarted:
    """A retriever's turn begins; `asks` searches are planned, repeats included."""

    name: str
    asks: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """The retriever is ready for searches."""

    name: str
    cost: IndexCost


@dataclass(frozen=True, slots=True)
class Answered:
    """`done` of the planned searches are over, this one last."""

    name: str
    answer: Answer
    done: int


@dataclass(frozen=True, slots=True)
class Restarting:
    """The retriever's process was ended, for this reason, and a new one follows."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that a person should know of a retriever, or (without a name) of the run."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class LoadMeasured:
    """A step of load is over."""

    name: str
    step: LoadStep


@dataclass(frozen=True, slots=True)
class RetrieverEnded:
    """A retriever's turn is over."""

    name: str
    state: State
    reason: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The folder is sealed; `complete` is False where the run was cut off."""

    path: Path
    complete: bool


Event = (
    RunStarted
    | RetrieverStarted
    | Indexed
    | Answered
    | Restarting
    | Noted
    | LoadMeasured
    | RetrieverEnded
    | RunEnded
)
Events = Callable[[Event], None]


def ignore(event: Event) -> None:  # it is the listener that does nothing
    """Listen to nothing."""
