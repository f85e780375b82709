"""Memos within a bound: of entries (``LruDict``), or of bytes (``Remembered``, ``remembered``).

The least recently used goes first, approximately in an ``LruDict``, whose hit costs that of a dict.
Values that differ in size by a factor of thousands, as automata do, need a bound of bytes.

Tests: tests/unit/mask/test_cache.py
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import update_wrapper
from math import inf
from sys import getsizeof
from typing import Generic, ParamSpec, TypeVar

from kbnf_core.text.locks import new_lock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
P = ParamSpec("P")


class Remembered(Generic[K, V]):
    """Values by key, ``most`` bytes of them by an estimate, and the last one in any case.

    None that takes more than ``largest`` bytes when it is kept.
    """

    def __init__(self, most: int, size_of: Callable[[K, V], int], largest: float = inf) -> None:
        self._most = most
        self._largest = largest
        self._size_of = size_of
        self._size = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = new_lock()

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: K) -> V | None:
        """Return a value that is known."""
        with self._lock:
            cached = self._entries.get(key)
            if cached is None:
                return None
            self._entries.move_to_end(key)
            return cached[0]

    def keep(self, key: K, value: V) -> None:
        """Remember a value; the first of a key stays."""
        size = self._size_of(key, value)
        with self._lock:
            if key not in self._entries and size <= self._largest:
                self._entries[key] = value, size
                self._size += size
                while self._size > self._most and len(self._entries) > 1:
                    self._size -= self._entries.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._entries.clear()
            self._size = 0


class Remembering(Generic[P, V]):
    """A function of hashable arguments, whose results are remembered; ``__wrapped__`` is bare."""

    __wrapped__: Callable[P, V]

    def __init__(self, function: Callable[P, V], most: int, size_of: Callable[[V], int]) -> None:
        self._function = function
        self.known = Remembered[Hashable, V](most, lambda _, value: size_of(value))
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> V:
        """Return the cached value, or that of the function."""
        key = (args, *kwargs.items()) if kwargs else args
        result = self.known.find(key)
        if result is None:
            result = self._function(*args, **kwargs)
            self.known.keep(key, result)
        return result


def remembered(
    most: int, size_of: Callable[[V], int]
) -> Callable[[Callable[P, V]], Remembering[P, V]]:
    """Remember the results of a function, never None, within ``most`` bytes."""
    return lambda function: Remembering(function, most, size_of)


class LruDict(dict[K, V], Generic[K, V]):
    """A dict that computes missing values and evicts the least recently used beyond ``capacity``.

    Two generations approximate the order of use: when one is full it becomes the older one, and
    entries that are used again move over; the rest is dropped. So a hit costs a dict's hit. Threads
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
