"""Texts followed by their tokens, as hosts show them, and the masks behind each."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from kbnf_core.batch import allocate_bitmask
from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.mask.bits import apply_bitmask, pack
from kbnf_core.vocab.vocabulary import Vocabulary

L = TypeVar("L")


class Text:
    """One text of an engine, of which a host says what it has taken.

    A token that cannot come, which something else has forced, ends the text: then only what ends
    the sequence is left.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        size = engine.vocabulary.size
        self._ends = pack(sorted(engine.vocabulary.eos_token_ids), size).view(np.int32)
        self._bitmask = allocate_bitmask(1, size)
        self._is_over = False

    def restart(self) -> None:
        """Go back to the beginning."""
        self._engine.reset()
        self._is_over = False

    def append(self, tokens: Sequence[int]) -> None:
        """Append tokens; those behind the end are passed over."""
        if not self._is_over and not self._engine.is_finished():
            count = self._engine.accept_tokens(tokens)
            self._is_over = count < len(tokens) and not self._engine.is_finished()

    def fill(self, out: npt.NDArray[np.int32], row: int, draft: Sequence[int] = ()) -> None:
        """Write what can come here, and after each token of a draft, into the rows from ``row``."""
        if self._is_over:
            out[row : row + len(draft) + 1] = 0
            out[row : row + len(draft) + 1, : len(self._ends)] = self._ends
        else:
            self._engine.fill_draft_bitmask(out, row, draft)

    def mask(self, logits: L) -> L:
        """Mask the logits, (n,) or (1, n), of what follows, in place if possible."""
        self.fill(self._bitmask, 0)
        return apply_bitmask(logits, self._bitmask)


class Stepwise:
    """One text over a grammar in a host of one sequence, which shows it whole at each step.

    Tokens that go on from those of the step before are appended; others are a prompt, behind
    which the grammar restarts.
    """

    def __init__(
        self,
        grammar: str | Grammar,
        tokenizer: object,
        eos: int | Sequence[int] | None = None,
        after: str | int | None = None,
        budget: int | None = None,
    ) -> None:
        vocabulary = tokenizer if isinstance(tokenizer, Vocabulary) else Vocabulary.of(tokenizer)
        engine = Engine(grammar, vocabulary, stop_token_ids=eos, after=after, budget=budget)
        self._text = Text(engine)
        self._seen: list[int] | None = None

    def mask(self, tokens: list[int], logits: L) -> L:
        """Mask the logits, (n,) or (1, n), of what follows ``tokens``, in place if possible."""
        seen, self._seen = self._seen, list(tokens)
        if seen is None or tokens[: len(seen)] != seen or len(tokens) > len(seen) + 1:
            self._text.restart()
        else:
            self._text.append(tokens[len(seen) :])
        return self._text.mask(logits)
