"""Readers of broken input: a result, or lines that a person can read; nothing else, and soon."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.mutations import broken
from tests.fuzz.readers import READERS, Reader, files_below, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType

EXAMPLES = int(os.environ.get("CODEBENCH_FUZZ", "0"))
"""How many inputs each reader is given; few, and always the same, where it is not said."""

FEW = 12
SECONDS = 30.0
"""No input here is larger than a megabyte or two."""

MEGABYTES = 400
LONGEST_LINE = 10_000


@dataclass(frozen=True)
class Input:
    """A reader's files, one of which is broken; prints itself in short."""

    name: str
    data: bytes

    def __repr__(self) -> str:
        data = self.data if len(self.data) <= 2000 else self.data[:2000] + b"..."
        return f"Input({self.name!r}, {data!r})"


class Hang(BaseException):
    """A reader took too long; nothing that it catches."""


@contextlib.contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """End the block with `Hang` when it takes too long."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check(reader: Reader, files: Mapping[str, bytes]) -> None:
    """Read files, and hold what must hold."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "in"
        folder.mkdir()
        write(folder, files)
        said = "nothing"
        try:
            with bounded(SECONDS):
                reader.read(folder)
        except reader.refusals as error:
            said = str(error)
        assert all(said.split("\n")), said
        assert max(map(len, said.split("\n"))) <= LONGEST_LINE, said
        assert os.listdir(root) == ["in"]  # noqa: PTH208
        assert files_below(folder) == files


def inputs(reader: Reader) -> st.SearchStrategy[Input]:
    """Return one of the reader's files, broken."""
    return st.sampled_from(sorted(reader.files)).flatmap(
        lambda name: st.builds(Input, st.just(name), broken(name, reader.files[name]))
    )


@pytest.mark.parametrize("name", sorted(READERS))
def test_a_valid_input_is_read(name: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        write(Path(root), READERS[name].files)
        READERS[name].read(Path(root))


@pytest.mark.parametrize("name", sorted(READERS))
def test_broken_inputs(name: str) -> None:
    reader = READERS[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    @settings(
        max_examples=EXAMPLES or FEW,
        derandomize=not EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs(reader))
    def examine(one: Input) -> None:
        check(reader, {**reader.files, one.name: one.data})

    examine()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MEGABYTES << 10, f"{grown >> 10} MB"
