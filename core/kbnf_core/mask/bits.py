"""Sets of token ids as bitmasks: uint32 words, bit ``id % 32`` of word ``id // 32``.

That is the layout of XGrammar and LLGuidance.
"""

from collections.abc import Iterable, Sized
from operator import index
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

Bitmask = npt.NDArray[np.uint32]

FEW_IDS = 8
"""Set one by one, which takes less time than a pass over all bits."""


def word_count(size: int) -> int:
    """Return the number of words that hold ``size`` bits."""
    return (size + 31) // 32


def pack(ids: npt.NDArray[np.int32] | Iterable[int], size: int) -> Bitmask:
    """Return the words in which the bits of ``ids`` are set."""
    if isinstance(ids, Sized) and len(ids) <= FEW_IDS:
        words = np.zeros(word_count(size), np.uint32)
        for token_id in map(int, ids):
            words[token_id // 32] |= np.uint32(1 << token_id % 32)
        return words
    flags = np.zeros(word_count(size) * 32, np.bool_)
    flags[np.fromiter(ids, np.int64) if not isinstance(ids, np.ndarray) else ids] = True
    return np.packbits(flags, bitorder="little").view(np.uint32)


def unpack(words: Bitmask, size: int) -> npt.NDArray[np.bool_]:
    """Return bool[size], True where the bit is set."""
    return np.unpackbits(words.view(np.uint8), count=size, bitorder="little").view(np.bool_)


def ids_of(words: Bitmask, size: int) -> npt.NDArray[np.int64]:
    """Return the ids whose bits are set, ascending."""
    return np.flatnonzero(unpack(words, size))


def only_id(words: Bitmask) -> int | None:
    """Return the id whose bit is set; None unless it is just one."""
    places = words.nonzero()[0]
    if len(places) != 1:
        return None
    word = int(words[places[0]])
    return None if word & (word - 1) else int(places[0]) * 32 + word.bit_length() - 1


def is_tensor(value: object) -> bool:
    """Tell whether a value is a torch tensor."""
    # By name, so that torch is never imported where it is not used.
    return any(c.__module__ == "torch" and c.__name__ == "Tensor" for c in type(value).__mro__)


def as_words(bitmask: Any) -> npt.NDArray[np.int32]:
    """Return an int32 array over the memory of a bitmask, whatever library it is of.

    A NumPy array, a torch tensor in the memory of the host, or anything with the buffer protocol
    or DLPack. Raises ``TypeError`` for anything else, ``ValueError`` for other numbers.
    """
    array: npt.NDArray[Any] = _shared(bitmask)
    if array.dtype != np.int32 or array.ndim not in (1, 2):
        raise ValueError(
            "a bitmask is a one- or two-dimensional array of int32,"
            f" not of {array.dtype} and the shape {array.shape}"
        )
    words: npt.NDArray[np.int32] = array
    return words


def _shared(bitmask: Any) -> npt.NDArray[Any]:
    if isinstance(bitmask, np.ndarray):
        return bitmask
    if is_tensor(bitmask):
        if bitmask.device.type != "cpu":
            raise ValueError(
                f"this bitmask is on {bitmask.device}; fill one in the memory of the host, and copy"
            )
        array: npt.NDArray[Any] = bitmask.detach().numpy()
        return array
    try:
        plain: npt.NDArray[Any] = np.asarray(memoryview(bitmask))
    except TypeError:
        if hasattr(bitmask, "__dlpack__"):
            shared: npt.NDArray[Any] = np.from_dlpack(bitmask)
            return shared
    else:
        return plain
    raise TypeError(
        "a bitmask is a NumPy array, a torch tensor, or has the buffer protocol or DLPack;"
        f" not {type(bitmask).__name__}"
    )


def row_of(bitmask: Any, row: SupportsIndex | None) -> npt.NDArray[np.int32]:
    """Return a writable row of a bitmask; None is the only one.

    Raises what ``as_words`` raises, and ``ValueError`` for a row that it does not have.
    """
    words = as_words(bitmask)
    rows = words if words.ndim == 2 else words.reshape(1, -1)
    if row is None and len(rows) != 1:
        raise ValueError(f"this bitmask has {len(rows)} rows; say which: `row=`")
    number = 0 if row is None else index(row)
    if not 0 <= number < len(rows):
        raise ValueError(f"this bitmask has no row {number}, but {len(rows)} rows")
    if not rows.flags.writeable:
        raise ValueError("this bitmask is read-only")
    chosen: npt.NDArray[np.int32] = rows[number]
    return chosen
