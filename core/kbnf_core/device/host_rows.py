"""Masks on the host: the same rows, as packed bits that the compiled kernel applies.

On a CPU a lookup per logit is many times what it takes to clear the few words of a mask that are
not all ones or zeros. So a state's row is spelt out as bits when it is met, and kept.
"""

import numpy as np
import numpy.typing as npt

from kbnf_core.device.need_torch import torch
from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.mask.bits import Bitmask, word_count
from kbnf_core.mask.cache import LruDict

KEPT_BYTES = 2**25
"""Size of the rows that are kept."""


class HostRows:
    """Masks logits in the memory of the host; ``allowed``: bool[states, classes]."""

    def __init__(self, allowed: npt.NDArray[np.bool_], token_class: npt.NDArray[np.int32]) -> None:
        self._allowed = allowed
        self._token_class = token_class
        kept = max(1, KEPT_BYTES // (4 * word_count(len(token_class))))
        self._rows: LruDict[int, Bitmask] = LruDict(self._packed, kept)

    def takes(self, logits: torch.Tensor) -> bool:
        """Tell whether these logits can be masked here; never while a graph is compiled."""
        return (
            logits.device.type == "cpu"
            and logits.dtype in (torch.float32, torch.float64)
            and logits.stride(-1) == 1
            and not torch.compiler.is_compiling()
        )

    def mask_(self, logits: torch.Tensor, state: torch.Tensor) -> None:
        """Do what ``DeviceGrammars.mask_logits_`` does."""
        width = len(self._token_class)
        # Tensors of inference mode may be changed in it only, leaves with gradients without them.
        with torch.inference_mode():
            for row, number in zip(logits.detach().numpy(), state.tolist(), strict=True):
                KERNEL.apply(self._rows[number], width, row)

    def _packed(self, state: int) -> Bitmask:
        bits = np.packbits(self._allowed[state][self._token_class], bitorder="little")
        return np.pad(bits, (0, -len(bits) % 4)).view(np.uint32)
