"""The rows of ``generate`` constrained by tables on their device; the host waits for no token.

A row's state is that of the row, one call earlier, which it goes on from; beam search reorders
them. They are found by hashes and then compared, all on the device; only widths are looked at on
the host. A row that goes on from none begins its text. Grammars without a table are left to the
host, as free ones are.

Tests: tests/serving
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from kbnf_core.device import DeviceGrammars, NearestEnds, TableTooLargeError, TokenTable
from kbnf_core.grammar import Grammar
from kbnf_core.text.errors import ConfigError
from kbnf_core.vocab.vocabulary import Vocabulary

REMEMBERED_WIDTHS = 32
"""Widths whose rows are known: as many tokens of a draft can be taken back."""

_FACTOR = 0x2545F4914F6CDD1D
"""An odd number; hashes are polynomials in it, modulo 2**64."""


class _DeviceCall(NamedTuple):
    """The rows of one call, their hashes, the states after them, and the tokens left to them."""

    ids: torch.Tensor
    hashes: torch.Tensor
    state: torch.Tensor
    left: torch.Tensor


class RowsOnDevice:
    """Masks the scores of rows, each under the grammar of its prompt, where that has a table.

    ``after``, ``budget``: see ``KbnfLogitsProcessor``. ``taken``: whether each grammar has a table.
    """

    def __init__(
        self,
        grammars: Sequence[Grammar | None],
        vocabulary: Vocabulary,
        after: str,
        budget: int | None,
    ) -> None:
        tables = [_table(grammar, vocabulary, after) for grammar in grammars]
        self._tables = [table for table in tables if table is not None]
        self.taken = [table is not None for table in tables]
        self._budget = budget
        self._group: DeviceGrammars | None = None
        self._ends: NearestEnds | None = None
        self._calls: dict[int, _DeviceCall] = {}

    def mask(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores, those of tokens that cannot occur at minus infinity."""
        prompts, rows = len(self.taken), len(input_ids)
        if rows % prompts:
            raise ConfigError(f"got {prompts} grammars for {rows} rows; it is one for each prompt")
        if not self._tables:
            return scores
        group = self._on(scores)
        prompt = torch.arange(rows, device=scores.device) // (rows // prompts)
        state, left = self._states(group, input_ids, prompt)
        if self._ends is None:
            masked = group.mask_logits_(scores.clone(), state)
        else:
            masked = self._ends.mask_logits_(scores.clone(), state, left)
        taken = torch.tensor(self.taken, device=scores.device)[prompt]
        return torch.where(taken[:, None], masked, scores)

    def _on(self, scores: torch.Tensor) -> DeviceGrammars:
        width = scores.shape[-1]
        if self._group is None or self._group.width != width:
            self._group = DeviceGrammars(self._tables, scores.device, width)
            self._ends = None if self._budget is None else NearestEnds(self._group)
            self._calls.clear()
        return self._group

    def _states(
        self, group: DeviceGrammars, ids: torch.Tensor, prompt: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the states of rows and the tokens left to them, and remember both."""
        width = ids.shape[1]
        # The number of a prompt's table; that of one without does not matter.
        number = torch.tensor(self.taken).long().cumsum(0).sub(1).clamp(min=0)
        state = group.start(number.to(ids.device)[prompt])
        left = torch.full_like(state, self._budget or 0)
        hashes = _hashes(ids, prompt)
        before = self._calls.get(width - 1)
        if before is not None and before.ids.device == ids.device:
            shorter = _hashes(ids[:, :-1], prompt)
            parent = (shorter[:, None] == before.hashes[None, :]).long().argmax(1)
            is_prefix = (shorter == before.hashes[parent]) & (
                ids[:, :-1] == before.ids[parent]
            ).all(1)
            earlier = before.state[parent]
            state = torch.where(is_prefix, group.advance(earlier, ids[:, -1]), state)
            # While a row waits for its text nothing is used up.
            left = torch.where(
                is_prefix, before.left[parent] - (~group.waiting(earlier)).int(), left
            )
        self._calls.pop(width, None)
        self._calls[width] = _DeviceCall(ids.clone(), hashes, state, left)
        if len(self._calls) > REMEMBERED_WIDTHS:
            del self._calls[next(iter(self._calls))]
        return state, left


def _table(grammar: Grammar | None, vocabulary: Vocabulary, after: str) -> TokenTable | None:
    try:
        return None if grammar is None else TokenTable.build(grammar, vocabulary, after=after)
    except TableTooLargeError:
        return None


def _hashes(ids: torch.Tensor, prompt: torch.Tensor) -> torch.Tensor:
    """Return int64[rows], hashes of the rows and of the prompts that they are from."""
    powers = torch.full((ids.shape[1] + 1,), _FACTOR, device=ids.device).cumprod(0)
    return (ids * powers[1:]).sum(1) + prompt * powers[0]
