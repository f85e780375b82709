"""Arrays, interned: equal contents are one number."""

from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

A = TypeVar("A", bound=npt.NDArray[Any])


class Interned(Generic[A]):
    """Arrays of one type, numbered by their digest; ``known`` are those numbered before.

    ``added_bytes`` is the size of what has come since.
    """

    def __init__(self, known: Sequence[A]) -> None:
        self._arrays = list(known)
        self.added_bytes = 0

    def __len__(self) -> int:
        return len(self._arrays)

    def __getitem__(self, number: int) -> A:
        """Return the array with that number; it is not to be written to."""
        return self._arrays[number]

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return {_digest(array): number for number, array in enumerate(self._arrays)}

    def number(self, array: A) -> int:
        """Return the number of an array's content; a new one is copied, so the array may change."""
        number = self._numbers.setdefault(_digest(array), len(self._arrays))
        if number == len(self._arrays):
            self._arrays.append(array.copy())
            self.added_bytes += array.nbytes
        return number


def _digest(array: npt.NDArray[Any]) -> bytes:
    return blake2b(np.ascontiguousarray(array).data, digest_size=16).digest()
