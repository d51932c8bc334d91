"""A sequence whose length is known and whose items are read when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar, overload

T = TypeVar("T")


class Lazy(Sequence[T]):
    """Stands for a tuple of items, and is equal to it.

    Args:
        count: how many there are.
        read: reads them all; called at most once.
    """

    def __init__(self, count: int, read: Callable[[], tuple[T, ...]]) -> None:
        self._count = count
        self._read = read

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        return self._items[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._items == tuple(other)

    def __hash__(self) -> int:
        return hash(self._items)

    @cached_property
    def _items(self) -> tuple[T, ...]:
        return self._read()
