"""Arrays, interned: equal contents are one number."""

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

ARRAY_BYTES = 256
"""What an array takes besides its content."""

A = TypeVar("A", bound=npt.NDArray[Any])


class ArrayPool(Generic[A]):
    """One-dimensional arrays of one type, numbered by content; ``known`` are those from before.

    ``added_bytes`` is the size of what has come since, as it lies in memory.
    """

    def __init__(self, known: Sequence[A]) -> None:
        self._arrays = list(known)
        self._lock = threading.Lock()
        self.added_bytes = 0

    def __len__(self) -> int:
        return len(self._arrays)

    def __getitem__(self, number: int) -> A:
        """Return the array with that number; it is not to be written to."""
        return self._arrays[number]

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return {array.tobytes(): number for number, array in enumerate(self._arrays)}

    def number(self, array: A) -> int:
        """Return the number of an array's content; a new one is copied, so the array may change."""
        content = array.tobytes()
        with self._lock:
            number = self._numbers.setdefault(content, len(self._arrays))
            if number == len(self._arrays):
                self._arrays.append(np.frombuffer(content, array.dtype))  # type: ignore[arg-type] # of the same type
                self.added_bytes += len(content) + ARRAY_BYTES
            return number
