"""Lists of lists packed into two arrays, as in CSR: offsets, one more than lists, and elements."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, overload

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint32]


def pack_lists(
    lists: Sequence[Sequence[int]], dtype: type[np.signedinteger[Any]] = np.int32
) -> tuple[Ids, npt.NDArray[Any]]:
    """Return (start, elements) of lists of numbers."""
    return _starts(lists), np.array(list(chain.from_iterable(lists)), dtype)


def pack_tuples(lists: Sequence[Sequence[tuple[int, ...]]], width: int) -> tuple[Ids, Ids]:
    """Return (start, rows) of lists of tuples of ``width`` numbers."""
    return _starts(lists), table(chain.from_iterable(lists), width)


def pack_arrays(parts: Sequence[Ids]) -> tuple[Ids, Ids]:
    """Return (start, elements) of arrays."""
    return _starts(parts), np.concatenate([np.zeros(0, np.int32), *parts])


def table(rows: Iterable[tuple[int, ...]], width: int) -> Ids:
    """Return int32[rows, width]."""
    return np.array(list(rows), np.int32).reshape(-1, width)


def pack_words(rows: Sequence[Words]) -> tuple[Ids, Words]:
    """Return (start, elements) of rows of bits, mostly zero ones as pairs; ``Rows`` reads them."""
    start, elements = pack_arrays([_sparse(row).view(np.int32) for row in rows])
    return start, elements.view(np.uint32)


def _sparse(row: Words) -> Words:
    """Return (index, word) pairs for the nonzero words where that is shorter, else the row."""
    index = np.flatnonzero(row)
    if 2 * len(index) >= len(row):
        return row
    return np.stack((index.astype(np.uint32), row[index]), axis=1).reshape(-1)


class Rows(Sequence[Words]):
    """Rows of ``width`` words that ``pack_words`` has packed; each is unpacked when it is read."""

    def __init__(self, start: Ids, elements: Words, width: int) -> None:
        self._start = start
        self._elements = elements
        self._width = width

    def __len__(self) -> int:
        return len(self._start) - 1

    @overload
    def __getitem__(self, number: int) -> Words: ...

    @overload
    def __getitem__(self, number: slice) -> list[Words]: ...

    def __getitem__(self, number: int | slice) -> Words | list[Words]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(number)
        content = self._elements[self._start[number] : self._start[number + 1]]
        if len(content) == self._width:
            return content
        row = np.zeros(self._width, np.uint32)
        row[content[::2]] = content[1::2]
        return row


def _starts(lists: Sequence[Sequence[Any] | Ids]) -> Ids:
    start = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(items) for items in lists], out=start[1:])
    return start
