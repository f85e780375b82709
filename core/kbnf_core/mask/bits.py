"""Sets of token ids as bitmasks: uint32 words, bit ``id % 32`` of word ``id // 32``.

That is the layout of XGrammar and LLGuidance.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Bitmask = npt.NDArray[np.uint32]


def word_count(size: int) -> int:
    """Return how many words hold ``size`` bits."""
    return (size + 31) // 32


def pack(ids: npt.NDArray[np.int32] | Iterable[int], size: int) -> Bitmask:
    """Return the words in which the bits of ``ids`` are set."""
    flags = np.zeros(word_count(size) * 32, np.bool_)
    flags[np.fromiter(ids, np.int64) if not isinstance(ids, np.ndarray) else ids] = True
    return np.packbits(flags, bitorder="little").view(np.uint32)


def unpack(words: Bitmask, size: int) -> npt.NDArray[np.bool_]:
    """Return bool[size], True where the bit is set."""
    return np.unpackbits(words.view(np.uint8), count=size, bitorder="little").view(np.bool_)


def ids_of(words: Bitmask, size: int) -> npt.NDArray[np.int64]:
    """Return the ids whose bits are set, ascending."""
    return np.flatnonzero(unpack(words, size))
