"""The binding's ``kbnf.triton_logits_mask``: masks of engines on logits of any device.

Triton is not needed: the bits go to the device in one copy, and torch applies them there.
"""

from collections.abc import Sequence

import torch

from kbnf.engine import Engine
from kbnf_core import apply_bitmask

__all__ = ["mask_logits_inplace"]


def mask_logits_inplace(
    logits: torch.Tensor,
    bitmasks: torch.Tensor | list[torch.Tensor],
    engines: list[Engine],
    indices: Sequence[int] | torch.Tensor | None = None,
) -> None:
    """Fill the bitmasks with what the engines computed last, and apply them to the logits.

    ``bitmasks``: int32 in the memory of the host, one row, rows, or a list with one for each
    engine. ``indices``: rows of logits and bitmasks that are masked, all if None.
    """
    single = isinstance(bitmasks, torch.Tensor) and bitmasks.ndim == 1
    rows = [bitmasks] if single else list(bitmasks)
    for engine, row in zip(engines, rows, strict=False):
        engine.fill_torch_bitmask(row.data_ptr())
        # What is beyond the vocabulary is in nobody's memory yet, and may come in no text.
        row[-(-engine.vocabulary.size // 32) :] = 0
    apply_bitmask(logits, torch.stack(rows), None if indices is None else list(indices))
