"""Byte classes: bytes that no automaton at hand tells apart share a class."""

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


def classes_of_sets(sets: Sequence[npt.NDArray[np.bool_]]) -> ByteClasses:
    """Return the coarsest classes that no set of bytes, bool[256], cuts through."""
    return join_classes([members.astype(np.uint8) for members in sets])


def rows_over(dfa: Dfa, classes: ByteClasses) -> npt.NDArray[np.int32]:
    """Return ``dfa.next`` with one column per class of ``classes``, which refine its own."""
    rows: npt.NDArray[np.int32] = dfa.next[:, dfa.classes[representatives(classes)]]
    return rows


def reduce_classes(dfa: Dfa) -> Dfa:
    """Merge the classes that ``dfa`` does not tell apart."""
    numbers: dict[bytes, int] = {}
    columns = np.ascontiguousarray(dfa.next.T)
    merged = np.array(
        [numbers.setdefault(column.tobytes(), len(numbers)) for column in columns], dtype=np.uint8
    )
    classes = join_classes([merged[dfa.classes]])
    return Dfa(classes, rows_over(dfa, classes), dfa.accepting)
