"""A bounded memo with approximate eviction of the least recently used (two generations)."""

from collections.abc import Callable
from sys import getsizeof
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LruDict(dict[K, V], Generic[K, V]):
    """A dict that computes missing values and evicts the least recently used beyond ``capacity``.

    Two generations approximate the order of use: when one is full it becomes the older one,
    and what is used again moves over; the rest is forgotten. So a hit costs a dict's hit. Threads
    may share it: at worst a value is computed twice.
    """

    def __init__(self, compute: Callable[[K], V], capacity: int) -> None:
        super().__init__()
        self._compute = compute
        self._half = max(1, capacity // 2)
        self._older: dict[K, V] = {}

    def known(self) -> dict[K, V]:
        """Return all cached values."""
        return {**self._older, **self}

    def bytes_with(self, entry: int) -> int:
        """Return the memory that is taken where an entry takes ``entry`` bytes."""
        count = len(self) + len(self._older)
        return getsizeof(self) + getsizeof(self._older) + count * entry

    def __missing__(self, key: K) -> V:
        value = self._older.get(key)
        if value is None:
            value = self._compute(key)
        if len(self) >= self._half:
            self._older = dict(self)
            self.clear()
        self[key] = value
        return value
