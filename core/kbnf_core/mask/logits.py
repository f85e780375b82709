"""Apply a mask to logits: what is not allowed becomes minus infinity."""

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kbnf_core.errors import InvalidLogitsError
from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.mask.bits import Bitmask, unpack

if TYPE_CHECKING:
    import torch

L = TypeVar("L")

_KERNEL_TYPES = (np.float32, np.float64)


def apply_mask(words: Bitmask, size: int, logits: L) -> L:
    """Set the logits of all ids that are not in ``words`` to minus infinity, in place if possible.

    ``logits``: a floating-point NumPy array or torch tensor of shape (n,) or (1, n) with n at
    least ``size``; entries beyond ``size`` become minus infinity too. A read-only array is
    copied. Returns the array that was changed. Raises InvalidLogitsError where n is less than
    ``size``, TypeError or ValueError for anything else than such an array.
    """
    check_logits(size, logits)
    if isinstance(logits, np.ndarray):
        return _apply_numpy(words, size, logits)  # type: ignore[return-value] # same type as given
    return _apply_torch(words, size, logits)  # type: ignore[arg-type,return-value] # a tensor


def check_logits(size: int, logits: Any) -> None:
    """Raise what ``apply_mask`` would raise for these logits."""
    if not isinstance(logits, np.ndarray) and not _is_tensor(logits):
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
    shape = tuple(logits.shape)
    if len(shape) not in (1, 2) or (len(shape) == 2 and shape[0] != 1):
        raise ValueError(f"logits must have the shape (n,) or (1, n), not {shape}")
    if shape[-1] < size:
        raise InvalidLogitsError(shape[-1], size)


def _is_tensor(logits: object) -> bool:
    # By name, so that torch is never imported for people who do not use it.
    return any(c.__module__ == "torch" and c.__name__ == "Tensor" for c in type(logits).__mro__)


def _apply_numpy(words: Bitmask, size: int, logits: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not logits.flags.writeable:
        logits = logits.copy()
    if logits.dtype in _KERNEL_TYPES and logits.flags.c_contiguous:
        KERNEL.apply(words, size, logits.reshape(-1))
        return logits
    logits[..., :size][..., ~unpack(words, size)] = -np.inf
    logits[..., size:] = -np.inf
    return logits


def _apply_torch(words: Bitmask, size: int, logits: "torch.Tensor") -> "torch.Tensor":
    import torch

    refused = np.ones(logits.shape[-1], np.bool_)
    refused[:size] = ~unpack(words, size)
    return logits.masked_fill_(torch.from_numpy(refused).to(logits.device), float("-inf"))
