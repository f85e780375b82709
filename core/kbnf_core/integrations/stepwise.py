"""A text that a host shows whole at each step: what its last token changed, and the mask there."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from kbnf_core.batch import allocate_bitmask
from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.mask.logits import apply_bitmask
from kbnf_core.vocab.vocabulary import Vocabulary

L = TypeVar("L")


class Stepwise:
    """One text over a grammar, followed by its tokens as a host of one sequence shows them.

    Tokens that go on from those of the step before are appended; others are a prompt, behind
    which the grammar restarts. A token that cannot come, which something else has forced, ends
    the text: then only what ends the sequence is left.
    """

    def __init__(
        self, grammar: str | Grammar, tokenizer: object, eos: int | Sequence[int] | None = None
    ) -> None:
        vocabulary = tokenizer if isinstance(tokenizer, Vocabulary) else Vocabulary.of(tokenizer)
        self._engine = Engine(grammar, vocabulary, stop_token_ids=eos)
        self._ends = allocate_bitmask(1, self._engine.vocabulary.size)
        self._bitmask = self._ends.copy()
        self._seen: list[int] | None = None
        self._is_over = False
        self._ends[:] = 0
        for token_id in self._engine.vocabulary.eos_token_ids:
            self._ends.view(np.uint32)[0, token_id // 32] |= np.uint32(1 << token_id % 32)

    def mask(self, tokens: list[int], logits: L) -> L:
        """Mask the logits, (n,) or (1, n), of what follows ``tokens``, in place if possible."""
        self._follow(tokens)
        if self._is_over:
            return apply_bitmask(logits, self._ends)
        self._engine.fill_bitmask(self._bitmask)
        return apply_bitmask(logits, self._bitmask)

    def _follow(self, tokens: list[int]) -> None:
        seen = self._seen
        self._seen = list(tokens)
        if seen is None or tokens[: len(seen)] != seen or len(tokens) > len(seen) + 1:
            self._engine.reset()
            self._is_over = False
        elif not self._is_over and not self._engine.is_finished():
            added = tokens[len(seen) :]
            self._is_over = self._engine.accept_tokens(added) < len(added)
