"""Many grammars in one batch: masks and steps by torch operations alone.

The tables of a group share one map of tokens to classes (tokens that no table tells apart) and
stand in one flat table, each behind the other; a state is a row of it. All shapes are static and
nothing depends on values on the host, so a step can be captured in a CUDA graph or compiled by
``torch.compile`` as one graph. The torch form is the specification of faster kernels; logits in
the memory of the host are masked by the compiled kernel, outside of graphs.
"""

from collections.abc import Sequence

from kbnf_core.device.flat import FlatTable
from kbnf_core.device.host_rows import HostRows
from kbnf_core.device.need_torch import torch
from kbnf_core.device.table import DEAD, TokenTable


class DeviceGrammars:
    """Masks logits and advances states of a batch in which each row has one of several grammars.

    ``tables``: all over one vocabulary. ``device``: what torch calls it. ``width``: of the logits,
    at least that of the tables; ids beyond the tables' are never allowed. ``transitions``:
    int32[states, classes]. ``final``: bool[states], the text is over. Raises ``ValueError`` for
    tables over several vocabularies.
    """

    def __init__(
        self,
        tables: Sequence[TokenTable],
        device: torch.device | str = "cpu",
        width: int | None = None,
    ) -> None:
        flat = FlatTable(tables, width)
        self.width = len(flat.token_class)
        self._starts = torch.tensor(flat.starts, dtype=torch.int32, device=device)
        self._missing = flat.missing
        self.transitions = torch.from_numpy(flat.transitions).to(device)
        self._allowed = torch.from_numpy(flat.allowed).to(device)
        self._token_class = torch.from_numpy(flat.token_class).to(device)
        self._accepting = torch.from_numpy(flat.accepting).to(device)
        self.final = torch.from_numpy(flat.final).to(device)
        self._waiting = torch.from_numpy(flat.waiting).to(device)
        self._on_host = HostRows(flat.allowed, flat.token_class)

    @property
    def arrays(self) -> tuple[torch.Tensor, torch.Tensor]:
        """What masks are: bool[states, classes], and the class of each token."""
        return self._allowed, self._token_class

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        tables = (self.transitions, self._allowed, self._token_class)
        flags = (self._accepting, self.final, self._waiting)
        return sum(part.numel() * part.element_size() for part in (*tables, *flags))

    def start(self, grammar_index: torch.Tensor | Sequence[int]) -> torch.Tensor:
        """Return int32[batch], the first states of the grammars with these numbers."""
        return self._starts[torch.as_tensor(grammar_index, device=self._starts.device).long()]

    def mask_logits_(self, logits: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        """Set the logits of tokens that cannot come to minus infinity, in place; return them.

        ``logits``: floating point, (batch, width). Rows that are dead, missing or over keep only
        the ids that end a sequence (all, if there are none), so that no row is all minus infinity.
        """
        if self._on_host.takes(logits):
            self._on_host.mask_(logits, state)
            return logits
        mask = self._allowed[state.long()].index_select(1, self._token_class)
        return logits.masked_fill_(~mask, float("-inf"))

    def advance(self, state: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return int32[batch], the states after one token each; 0 where it cannot come."""
        return self.transitions[state.long(), self._token_class[tokens.long()]]

    def advance_draft(
        self, state: torch.Tensor, draft: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the states along a draft, int32[batch, k], and how many tokens can come.

        ``draft``: (batch, k). The second is int64[batch]: tokens before the first rejection.
        """
        along = []
        for tokens in draft.unbind(1):
            state = self.advance(state, tokens)
            along.append(state)
        states = torch.stack(along, 1)
        return states, (states != DEAD).long().cumprod(1).sum(1)

    def missed(self, state: torch.Tensor) -> torch.Tensor:
        """Return bool[batch]: beyond what a partial table holds."""
        return state == self._missing

    def accepting(self, state: torch.Tensor) -> torch.Tensor:
        """Return bool[batch]: the text may end here."""
        return self._accepting[state.long()]

    def is_final(self, state: torch.Tensor) -> torch.Tensor:
        """Return bool[batch]: the text is over."""
        return self.final[state.long()]

    def waiting(self, state: torch.Tensor) -> torch.Tensor:
        """Return bool[batch]: all is free, the text that the grammar follows has not come."""
        return self._waiting[state.long()]
