"""Sets of token ids as bitmasks: uint32 words, bit ``id % 32`` of word ``id // 32``.

That is the layout of XGrammar and LLGuidance. Applied to logits, the values of refused tokens
become minus infinity: in NumPy arrays and torch tensors, in place where possible, also in a tensor
that was made in inference mode and a leaf that collects gradients. A device gets the bits, packed,
in one copy.

Tests: tests/unit/mask/test_forced_tokens.py
"""

from collections.abc import Iterable, Sized
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt

from kbnf_core import kernel
from kbnf_core.text.errors import InvalidLogitsError

Bitmask = npt.NDArray[np.uint32]

FEW_IDS = 8
"""Set one by one, which takes less time than a pass over all bits."""


def word_count(size: int) -> int:
    """Return the number of words that contain ``size`` bits."""
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
    nonzero = words.nonzero()[0]
    if len(nonzero) != 1:
        return None
    word = int(words[nonzero[0]])
    return None if word & (word - 1) else int(nonzero[0]) * 32 + word.bit_length() - 1


def is_tensor(value: object) -> bool:
    """Return whether a value is a torch tensor."""
    # By name, so that torch is never imported where it is not used.
    return any(c.__module__ == "torch" and c.__name__ == "Tensor" for c in type(value).__mro__)


def _is_dense(tensor: Any) -> bool:
    return str(tensor.layout) == "torch.strided"


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
        if not _is_dense(bitmask):
            raise TypeError("a bitmask is a dense tensor: use `to_dense()`")
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


def checked_tree(parents: Any, tokens: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the parents and tokens of a tree as int64[nodes]; raise ``ValueError`` for no tree."""
    above, read = (np.ascontiguousarray(values, np.int64) for values in (parents, tokens))
    if above.ndim != 1 or above.shape != read.shape:
        raise ValueError(
            f"a tree has a parent and a token for each node, not {above.shape} and {read.shape}"
        )
    if ((above < -1) | (above >= np.arange(len(above)))).any():
        raise ValueError("the parent of a node is -1, or a node before it")
    return above, read


def check_rows(words: npt.NDArray[np.int32], first: int, count: int, size: int) -> None:
    """Raise ``ValueError`` unless a bitmask of two dimensions has these rows of ``size`` bits."""
    if words.ndim != 2 or not words.flags.c_contiguous or not words.flags.writeable:
        raise ValueError("the bitmask of a tree has rows, is contiguous and can be written")
    if not 0 <= first <= first + count <= len(words):
        raise ValueError(f"this bitmask has no rows {first} to {first + count - 1}")
    if words.shape[1] < word_count(size):
        width = words.shape[1]
        raise ValueError(f"a bitmask of {width} words is too short for {word_count(size)}")


if TYPE_CHECKING:
    import torch

L = TypeVar("L")
Words = npt.NDArray[np.int32]

_LEAST_BYTES = 2
"""Of a floating-point number; torch cannot fill those of one byte, of which some lack infinity."""

_KERNEL_TYPES = (np.float32, np.float64)


def apply_mask(words: Bitmask, size: int, logits: L) -> L:
    """Set the logits of all ids that are not in ``words`` to minus infinity, in place if possible.

    ``logits``: a floating-point NumPy array or torch tensor of shape (n,) or (rows, n) with n at
    least ``size``; entries beyond ``size`` become minus infinity too. A read-only array is
    copied. Returns the array that was changed. Raises InvalidLogitsError where n is less than
    ``size``, TypeError or ValueError for anything else than such an array.
    """
    check_logits(size, logits)
    masked: L = _apply(words.view(np.int32).reshape(1, -1), logits, None, size)
    return masked


def apply_bitmask(logits: L, bitmask: Any, rows: Iterable[SupportsIndex] | None = None) -> L:
    """Set the values of refused tokens to minus infinity, row by row, in place if possible.

    Row r of ``bitmask`` is applied to row r of ``logits`` for each r of ``rows``, by default all;
    other rows stay as they are. ``logits``: floating point, (n,) or (rows, n), NumPy or torch on
    any device. ``bitmask``: int32, see ``Engine.fill_bitmask``; a tensor may be on the device of
    the logits. Columns beyond the bits become minus infinity. Returns the array that was changed.
    Raises TypeError or ValueError for anything else.
    """
    check_logits(0, logits)
    on_device = is_tensor(bitmask) and bitmask.device.type != "cpu"
    words = bitmask if on_device else as_words(bitmask)
    height = logits.shape[0] if len(logits.shape) == 2 else 1  # type: ignore[attr-defined] # checked
    table = words.reshape(-1, words.shape[-1])
    numbers = None if rows is None else [index(row) for row in rows]
    _check_rows(height, len(table), numbers)
    masked: L = _apply(table, logits, numbers, table.shape[-1] * 32)
    return masked


def _check_rows(logits: int, bitmask: int, rows: list[int] | None) -> None:
    if rows is None and logits != bitmask:
        raise ValueError(f"{logits} rows of logits need as many of the bitmask, not {bitmask}")
    for row in rows or ():
        if not 0 <= row < min(logits, bitmask):
            raise ValueError(f"there is no row {row} in {logits} of logits and {bitmask} of bits")


def check_logits(size: int, logits: Any) -> None:
    """Raise the errors of ``apply_mask`` for these logits."""
    if not isinstance(logits, np.ndarray) and not is_tensor(logits):
        raise TypeError(
            f"logits must be a NumPy array or a torch tensor, not {type(logits).__name__}"
        )
    floating = (
        np.issubdtype(logits.dtype, np.floating)
        if isinstance(logits, np.ndarray)
        else logits.is_floating_point()
    )
    if not floating:
        raise TypeError(f"logits must be floating point, not {logits.dtype}")
    if is_tensor(logits):
        if not _is_dense(logits):
            raise TypeError("logits must be a dense tensor: use `to_dense()`")
        if logits.element_size() < _LEAST_BYTES:
            raise TypeError(f"logits of {logits.dtype} have no minus infinity: use a wider type")
    shape = tuple(logits.shape)
    if len(shape) not in (1, 2):
        raise ValueError(f"logits must have the shape (n,) or (rows, n), not {shape}")
    if shape[-1] < size:
        raise InvalidLogitsError(shape[-1], size)


def _apply(words: Any, logits: Any, rows: list[int] | None, size: int) -> Any:
    """Apply rows of words, or one row to all, to the rows of checked logits."""
    if not isinstance(logits, np.ndarray):
        return _apply_torch(words, logits, rows, size)
    changed = logits if logits.flags.writeable else logits.copy()
    # A view, also where the rows are not contiguous: only a dimension is put in front.
    table = changed if changed.ndim == 2 else changed[np.newaxis]
    _apply_numpy(words, table, rows, size)
    return changed


def _apply_numpy(words: Words, logits: npt.NDArray[Any], rows: list[int] | None, size: int) -> None:
    size = min(size, logits.shape[1])
    plain = logits.dtype in _KERNEL_TYPES and (logits.strides[1] == logits.itemsize)
    for row in range(len(logits)) if rows is None else rows:
        bits = words[row if len(words) > 1 else 0].view(np.uint32)
        if plain:
            kernel.apply(np.ascontiguousarray(bits), size, logits[row])
        else:
            logits[row, :size][~unpack(np.ascontiguousarray(bits), size)] = -np.inf
            logits[row, size:] = -np.inf


def _apply_torch(
    words: Any, logits: "torch.Tensor", rows: list[int] | None, size: int
) -> "torch.Tensor":
    import torch

    # Tensors of inference mode may be changed in it only, and leaves with gradients without them.
    with torch.inference_mode():
        table = logits if logits.dim() == 2 else logits.unsqueeze(0)
        in_memory = logits.device.type == "cpu" and not logits.is_neg()
        if in_memory and logits.dtype in (torch.float32, torch.float64):
            _apply_numpy(words, table.detach().numpy(), rows, size)
        else:
            refused = _refused(words, table, size)
            if rows is None:
                table.masked_fill_(refused, float("-inf"))
            elif rows:
                chosen = torch.tensor(rows, device=table.device)
                own = refused if len(refused) == 1 else refused[chosen]
                table[chosen] = table[chosen].masked_fill(own, float("-inf"))
    return logits


def _refused(words: Any, logits: "torch.Tensor", size: int) -> "torch.Tensor":
    """Return bool[rows of words, columns]: which columns are not allowed, on the logits' device."""
    import torch

    packed = words if is_tensor(words) else torch.from_numpy(np.array(words))
    packed = packed.to(logits.device, non_blocking=True)
    shifts = torch.arange(32, dtype=torch.int32, device=logits.device)
    bits = ((packed.unsqueeze(-1) >> shifts) & 1).flatten(1)
    width = min(size, logits.shape[1])
    refused = torch.ones((len(bits), logits.shape[1]), dtype=torch.bool, device=logits.device)
    refused[:, :width] = bits[:, :width] == 0
    return refused
