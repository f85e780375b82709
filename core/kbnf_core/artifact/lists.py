"""Lists of lists packed into two arrays, as in CSR: offsets, one more than lists, and elements."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]


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


def _starts(lists: Sequence[Sequence[Any] | Ids]) -> Ids:
    start = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(items) for items in lists], out=start[1:])
    return start
