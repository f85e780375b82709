"""Byte classes as arrays: bytes that no automaton at hand tells apart share a class.

``columns`` has the same for small automata, which are faster put together without arrays.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.dfa import Dfa

ByteClasses = npt.NDArray[np.uint8]


def join_classes(classes: Sequence[ByteClasses]) -> ByteClasses:
    """Return the coarsest classes, uint8[256], that refine all the given ones.

    They are numbered from 0 without gaps, by first byte. Without any, all bytes are class 0.
    """
    if not classes:
        return np.zeros(256, dtype=np.uint8)
    numbers: dict[bytes, int] = {}
    # Viewed as one value each, the rows become bytes all at once.
    rows = np.stack(classes, axis=1).view(f"V{len(classes)}").ravel().tolist()
    joined = [numbers.setdefault(row, len(numbers)) for row in rows]
    return np.array(joined, dtype=np.uint8)


def representatives(classes: ByteClasses) -> npt.NDArray[np.uint8]:
    """Return the first byte of each class, uint8[class count]."""
    return np.unique(classes, return_index=True)[1].astype(np.uint8)


def class_count(classes: ByteClasses) -> int:
    """Return the number of classes."""
    return int(classes.max()) + 1


def rows_over(dfa: Dfa, classes: ByteClasses) -> npt.NDArray[np.int32]:
    """Return ``dfa.next`` with one column per class of ``classes``, which refine its own."""
    rows: npt.NDArray[np.int32] = dfa.next[:, dfa.classes[representatives(classes)]]
    return rows
