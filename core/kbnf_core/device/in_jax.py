"""The three operations in JAX, over the same flat table; logits are returned, not changed.

Functions of arrays alone, for ``jax.jit``: a ``JaxGrammars`` holds the arrays that they take.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kbnf_core.device.table import FlatTable, TokenTable
from kbnf_core.text.errors import MissingExtraError

try:
    import jax.numpy as jnp
except ImportError:
    raise MissingExtraError("kbnf_core.device.in_jax", "jax") from None

if TYPE_CHECKING:
    from jax import Array


class JaxGrammars:
    """Masks logits and advances states of a batch, as ``DeviceGrammars`` does."""

    def __init__(self, tables: Sequence[TokenTable], width: int | None = None) -> None:
        flat = FlatTable(tables, width)
        self._starts = jnp.asarray(np.array(flat.starts, np.int32))
        self._missing = flat.missing
        self._transitions = jnp.asarray(flat.transitions)
        self._allowed = jnp.asarray(flat.allowed)
        self._token_class = jnp.asarray(flat.token_class)
        self._accepting = jnp.asarray(flat.accepting)
        self._final = jnp.asarray(flat.final)
        self._waiting = jnp.asarray(flat.waiting)

    def start(self, grammar_index: "Array | Sequence[int]") -> "Array":
        """Return int32[batch], the first states of the grammars with these numbers."""
        return self._starts[jnp.asarray(grammar_index)]

    def mask_logits(self, logits: "Array", state: "Array") -> "Array":
        """Return the logits, those of tokens that cannot come at minus infinity."""
        allowed = self._allowed[state][:, self._token_class]
        return jnp.where(allowed, logits, -jnp.inf)

    def advance(self, state: "Array", tokens: "Array") -> "Array":
        """Return int32[batch], the states after one token each; 0 where it cannot come."""
        return self._transitions[state, self._token_class[tokens]]

    def advance_draft(self, state: "Array", draft: "Array") -> "tuple[Array, Array]":
        """Return the states along a draft, int32[batch, k], and how many tokens can come."""
        along = []
        for place in range(draft.shape[1]):
            state = self.advance(state, draft[:, place])
            along.append(state)
        states = jnp.stack(along, 1)
        return states, jnp.cumprod((states != 0).astype(jnp.int32), 1).sum(1)

    def missed(self, state: "Array") -> "Array":
        """Return bool[batch]: beyond what a partial table holds."""
        return state == self._missing

    def accepting(self, state: "Array") -> "Array":
        """Return bool[batch]: the text may end here."""
        return self._accepting[state]

    def is_final(self, state: "Array") -> "Array":
        """Return bool[batch]: the text is over."""
        return self._final[state]

    def waiting(self, state: "Array") -> "Array":
        """Return bool[batch]: all is free, the text that the grammar follows has not come."""
        return self._waiting[state]
