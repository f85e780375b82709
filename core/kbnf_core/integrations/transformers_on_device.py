"""The rows of ``generate`` constrained by tables on their device; the host waits for no token.

A row's state is that of the row, one call earlier, which it goes on from; beam search reorders
them. They are found by hashes and then compared, all on the device; only widths are looked at on
the host. A row that goes on from none begins its text.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kbnf_core.device import DeviceGrammars, TokenTable
from kbnf_core.device.need_torch import torch
from kbnf_core.errors import ConfigError
from kbnf_core.grammar import Grammar
from kbnf_core.vocab.vocabulary import Vocabulary

REMEMBERED_WIDTHS = 32
"""Widths whose rows are known: as many tokens of a draft can be taken back."""

_FACTOR = 0x2545F4914F6CDD1D
"""An odd number; hashes are polynomials in it, modulo 2**64."""


class _Call(NamedTuple):
    """The rows of one call, their hashes, and the states after them."""

    ids: torch.Tensor
    hashes: torch.Tensor
    state: torch.Tensor


class RowsOnDevice:
    """Masks the scores of rows, each under the grammar of its prompt; None is free.

    Raises ``TableTooLargeError`` for a grammar that does not close.
    """

    def __init__(self, grammars: Sequence[Grammar | None], vocabulary: Vocabulary) -> None:
        known = [each for each in grammars if each is not None]
        self._tables = [TokenTable.build(each, vocabulary) for each in known]
        self._free = [each is None for each in grammars]
        self._group: DeviceGrammars | None = None
        self._calls: dict[int, _Call] = {}

    def mask(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores, those of tokens that cannot come at minus infinity."""
        prompts, rows = len(self._free), len(input_ids)
        if rows % prompts:
            raise ConfigError(f"{prompts} grammars are for as many prompts, not for {rows} rows")
        if not self._tables:
            return scores
        group = self._on(scores)
        prompt = torch.arange(rows, device=scores.device) // (rows // prompts)
        state = self._states(group, input_ids, prompt)
        masked = group.mask_logits_(scores.clone(), state)
        free = torch.tensor(self._free, device=scores.device)[prompt]
        return torch.where(free[:, None], scores, masked)

    def _on(self, scores: torch.Tensor) -> DeviceGrammars:
        width = scores.shape[-1]
        if self._group is None or self._group.width != width:
            self._group = DeviceGrammars(self._tables, scores.device, width)
            self._calls.clear()
        return self._group

    def _states(
        self, group: DeviceGrammars, ids: torch.Tensor, prompt: torch.Tensor
    ) -> torch.Tensor:
        """Return the states of rows, and remember them."""
        width = ids.shape[1]
        # The number of a prompt's grammar; that of a free one does not matter.
        number = (~torch.tensor(self._free)).long().cumsum(0).sub(1).clamp(min=0)
        state = group.start(number.to(ids.device)[prompt])
        hashes = _hashes(ids, prompt)
        before = self._calls.get(width - 1)
        if before is not None and before.ids.device == ids.device:
            shorter = _hashes(ids[:, :-1], prompt)
            parent = (shorter[:, None] == before.hashes[None, :]).long().argmax(1)
            known = (shorter == before.hashes[parent]) & (ids[:, :-1] == before.ids[parent]).all(1)
            state = torch.where(known, group.advance(before.state[parent], ids[:, -1]), state)
        self._calls.pop(width, None)
        self._calls[width] = _Call(ids.clone(), hashes, state)
        if len(self._calls) > REMEMBERED_WIDTHS:
            del self._calls[next(iter(self._calls))]
        return state


def _hashes(ids: torch.Tensor, prompt: torch.Tensor) -> torch.Tensor:
    """Return int64[rows], hashes of the rows and of the prompts that they are from."""
    powers = torch.full((ids.shape[1] + 1,), _FACTOR, device=ids.device).cumprod(0)
    return (ids * powers[1:]).sum(1) + prompt * powers[0]
