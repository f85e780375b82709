"""Many grammars in one batch: masks and steps by torch operations alone.

The tables of a group share one map of tokens to classes (tokens that no table tells apart) and
stand in one flat table, each behind the other; a state is a row of it. All shapes are static and
nothing depends on values on the host, so a step can be captured in a CUDA graph or compiled by
``torch.compile`` as one graph. The torch form is the specification of faster kernels; logits in
the memory of the host are masked by the compiled kernel, outside of graphs.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kbnf_core.device.build import MISS
from kbnf_core.device.host_rows import HostRows
from kbnf_core.device.need_torch import torch
from kbnf_core.device.table import DEAD, NEVER, TokenTable

_Int64 = npt.NDArray[np.int64]


class DeviceGrammars:
    """Masks logits and advances states of a batch in which each row has one of several grammars.

    ``tables``: all over one vocabulary. ``device``: what torch calls it. ``width``: of the logits,
    at least that of the tables; ids beyond the tables' are never allowed. Raises ``ValueError``
    for tables over several vocabularies.
    """

    def __init__(
        self,
        tables: Sequence[TokenTable],
        device: torch.device | str = "cpu",
        width: int | None = None,
    ) -> None:
        flat = _Flat(tables, width)
        self.width = len(flat.token_class)
        self._starts = flat.starts
        self._missing = len(flat.transitions)
        # One row more, for what a partial table does not hold: masked as a dead one.
        transitions = np.concatenate((flat.transitions, flat.transitions[:1]))
        transitions[-1] = self._missing
        allowed = np.concatenate((flat.allowed, flat.allowed[:1]))
        self._transitions = torch.from_numpy(transitions.astype(np.int32)).to(device)
        self._allowed = torch.from_numpy(allowed).to(device)
        self._token_class = torch.from_numpy(flat.token_class).to(device)
        self._accepting = torch.from_numpy(np.append(flat.accepting, False)).to(device)
        self._final = torch.from_numpy(np.append(flat.final, False)).to(device)
        self._on_host = HostRows(allowed, flat.token_class)

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        parts = (self._transitions, self._allowed, self._token_class, self._accepting, self._final)
        return sum(part.numel() * part.element_size() for part in parts)

    def start(self, grammar_index: torch.Tensor | Sequence[int]) -> torch.Tensor:
        """Return int32[batch], the first states of the grammars with these numbers."""
        chosen = torch.as_tensor(grammar_index, device=self._transitions.device).long()
        starts = torch.tensor(self._starts, dtype=torch.int32, device=chosen.device)
        return starts[chosen]

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
        return self._transitions[state.long(), self._token_class[tokens.long()]]

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
        return self._final[state.long()]


class _Flat:
    """The tables behind one another, row 0 being dead in all of them, over common classes."""

    def __init__(self, tables: Sequence[TokenTable], width: int | None) -> None:
        if not tables:
            raise ValueError("a group needs at least one table")
        if len({table.fingerprint for table in tables}) > 1:
            raise ValueError("the tables of a group must be over one vocabulary")
        self._size = max(len(table.token_class) for table in tables)
        if width is not None and width < self._size:
            raise ValueError(f"width {width} is less than the tables' {self._size}")
        joint = _common_classes([self._padded(table) for table in tables], width or self._size)
        self.token_class, first = joint
        self.transitions = np.zeros((1, len(first)), np.int32)
        self.allowed = _or_all(self._ends(tables, first))[None, :]
        self.accepting = np.zeros(1, np.bool_)
        self.final = np.zeros(1, np.bool_)
        self.starts: list[int] = []
        count = sum(len(table.transitions) - 1 for table in tables) + 1
        for table in tables:
            self._append(table, first, count)

    def _append(self, table: TokenTable, first: _Int64, count: int) -> None:
        offset = len(self.transitions) - 1
        classes = np.append(self._padded(table), NEVER)[first]
        rows = table.transitions[1:, classes].astype(np.int32)
        moved = np.where(rows > DEAD, rows + offset, rows)
        allowed = rows != DEAD
        # Nothing to go on with: the text is over, or the vocabulary cannot spell what comes.
        allowed[table.final[1:] | ~allowed.any(1)] = self.allowed[0]
        self.transitions = np.concatenate((self.transitions, np.where(rows == MISS, count, moved)))
        self.allowed = np.concatenate((self.allowed, allowed))
        self.accepting = np.concatenate((self.accepting, table.accepting[1:]))
        self.final = np.concatenate((self.final, table.final[1:]))
        self.starts.append(offset + table.initial)

    def _padded(self, table: TokenTable) -> npt.NDArray[np.int32]:
        beyond = self._size - len(table.token_class)
        return np.pad(table.token_class.astype(np.int32), (0, beyond), constant_values=NEVER)

    def _ends(self, tables: Sequence[TokenTable], first: _Int64) -> npt.NDArray[np.bool_]:
        classes = np.append(self._padded(tables[0]), NEVER)[first]
        ends: npt.NDArray[np.bool_] = tables[0].end[classes]
        return ends


def _or_all(ends: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return the classes that empty rows are masked to: without an end, nothing is constrained."""
    return ends if ends.any() else np.ones_like(ends)


def _common_classes(
    maps: Sequence[npt.NDArray[np.int32]], width: int
) -> tuple[npt.NDArray[np.int32], _Int64]:
    """Return the coarsest classes that refine all maps, int32[width], and a token of each.

    Tokens beyond the maps get a class of their own, whose token is one behind the last.
    """
    classes = np.zeros(len(maps[0]), np.int64)
    for each in maps:
        _, classes = np.unique(classes * (int(each.max()) + 1) + each, return_inverse=True)
    _, first = np.unique(classes, return_index=True)
    token_class = np.full(width, len(first), np.int32)
    token_class[: len(classes)] = classes
    return token_class, np.append(first, len(classes))
