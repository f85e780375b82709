"""Masking through classes as one Triton kernel: no mask is written to memory and read again.

The torch form gathers a mask of a byte a logit and fills with it; here a program looks up the class
of its tokens, whether the state allows the class, and stores minus infinity where it does not.
Logits that stay are neither read nor written.
"""

from typing import Any

from kbnf_core.device.group import DeviceGrammars
from kbnf_core.device.need_torch import torch
from kbnf_core.text.errors import MissingExtraError

try:
    import triton
    import triton.language as tl
except ImportError:
    raise MissingExtraError("kbnf_core.device.in_triton", "triton") from None

BLOCK = 1024
"""Logits that one program masks."""


@triton.jit  # type: ignore[untyped-decorator] # triton has no types
def _mask(
    logits: Any,
    state: Any,
    allowed: Any,
    token_class: Any,
    width: Any,
    stride: Any,
    classes: Any,
    block: tl.constexpr,
) -> None:
    row = tl.program_id(0)
    token = tl.program_id(1) * block + tl.arange(0, block)
    inside = token < width
    here = tl.load(state + row).to(tl.int64)
    of = tl.load(token_class + token, mask=inside, other=0)
    stays = tl.load(allowed + here * classes + of, mask=inside, other=1)
    refused = inside & (stays == 0)
    tl.store(logits + row.to(tl.int64) * stride + token, float("-inf"), mask=refused)


def mask_logits_(group: DeviceGrammars, logits: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    """Do what ``group.mask_logits_`` does, by one kernel."""
    allowed, token_class = group.arrays
    rows, width = logits.shape
    grid = (rows, triton.cdiv(width, BLOCK))
    _mask[grid](
        logits,
        state,
        allowed.view(torch.uint8),
        token_class,
        width,
        logits.stride(0),
        allowed.shape[1],
        block=BLOCK,
    )
    return logits
