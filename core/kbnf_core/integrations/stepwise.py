"""Texts followed by their tokens, as hosts show them, and the masks after each.

What fails while a server runs closes one text, whose rows are those of ends from then on: no text
goes on without its constraint, and none takes others along.

Tests: tests/serving
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from kbnf_core.batch import allocate_bitmask
from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.mask.bits import apply_bitmask, pack, row_of
from kbnf_core.text.errors import KbnfError
from kbnf_core.vocab.load import load_vocabulary
from kbnf_core.vocab.vocabulary import Vocabulary

L = TypeVar("L")

_logger = logging.getLogger(__name__)


def fill_ends(vocabulary: Vocabulary, row: npt.NDArray[np.int32]) -> None:
    """Allow the ids that end the sequence, and nothing else."""
    ends = pack(sorted(vocabulary.eos_token_ids), vocabulary.size).view(np.int32)
    row[:] = 0
    row[: len(ends)] = ends


def fill_or_end(engine: Engine, out: Any, row: int) -> bool:
    """Write a mask into a row, or ends alone where that fails; return whether it did not."""
    try:
        engine.fill_bitmask(out, row)
    except (KbnfError, MemoryError) as error:
        _logger.error("a text is closed, since its mask cannot be made: %s", error)
        fill_ends(engine.vocabulary, row_of(out, row))
        return False
    return True


def vocabulary_of(tokenizer: object) -> Vocabulary:
    """Return the vocabulary of a tokenizer object, a file, or a model in the local cache.

    Raises what ``Vocabulary.of`` and ``load_vocabulary`` raise.
    """
    if isinstance(tokenizer, Vocabulary):
        return tokenizer
    if isinstance(tokenizer, str | Path):
        return load_vocabulary(tokenizer)
    return Vocabulary.of(tokenizer)


class EngineText:
    """One text of an engine; its host reports the accepted tokens.

    A token that cannot occur, which something else has forced, ends the text: then only what ends
    the sequence is left.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._bitmask = allocate_bitmask(1, engine.vocabulary.size)
        self._is_over = False

    def close(self) -> None:
        """End the text: only tokens that end the sequence are left."""
        self._is_over = True

    def restart(self) -> None:
        """Go back to the beginning."""
        self._engine.reset()
        self._is_over = False

    def append(self, tokens: Sequence[int]) -> None:
        """Append tokens; those after the end are passed over."""
        if not self._is_over and not self._engine.is_finished():
            count = self._engine.accept_tokens(tokens)
            self._is_over = count < len(tokens) and not self._engine.is_finished()

    @property
    def is_over(self) -> bool:
        """Whether nothing but an end of the sequence can occur."""
        return self._is_over or self._engine.is_finished()

    def append_forced(self, limit: int) -> list[int]:
        """Append the tokens that certainly come next, at most ``limit``, and return them."""
        forced = [] if self.is_over or limit <= 0 else self._engine.forced_tokens(limit)
        self.append(forced)
        return forced

    def fill(self, out: npt.NDArray[np.int32], row: int, draft: Sequence[int] = ()) -> None:
        """Write the mask here, and after each token of a draft, into the rows from ``row``."""
        if not self._is_over:
            try:
                self._engine.fill_draft_bitmask(out, row, draft)
            except (KbnfError, MemoryError) as error:
                _logger.error("a text is closed, since its mask cannot be made: %s", error)
                self.close()
        if self._is_over:
            for index in range(row, row + len(draft) + 1):
                fill_ends(self._engine.vocabulary, out[index])

    def mask(self, logits: L) -> L:
        """Mask the logits, (n,) or (1, n), of the next token, in place if possible."""
        self.fill(self._bitmask, 0)
        return apply_bitmask(logits, self._bitmask)


class Stepwise:
    """One text over a grammar in a host of one sequence, which shows it whole at each step.

    Tokens that go on from those of the step before are appended; others are a prompt, after
    which the grammar restarts. ``ahead`` and ``canonical`` are those of ``Engine``.
    """

    def __init__(
        self,
        grammar: object,
        tokenizer: object,
        eos: int | Sequence[int] | None = None,
        after: str | int | None = None,
        after_tokens: int | None = None,
        budget: int | None = None,
        ahead: bool = True,
        canonical: bool = False,
    ) -> None:
        vocabulary = vocabulary_of(tokenizer)
        made = Grammar.from_any(grammar)
        engine = Engine(
            made,
            vocabulary,
            stop_token_ids=eos,
            after=after,
            after_tokens=after_tokens,
            budget=budget,
            ahead=ahead,
            canonical=canonical or None,
        )
        self.ahead = engine.ahead
        self._text = EngineText(engine)
        self._seen: list[int] | None = None

    def mask(self, tokens: list[int], logits: L) -> L:
        """Mask the logits, (n,) or (1, n), of the token after ``tokens``, in place if possible."""
        seen, self._seen = self._seen, list(tokens)
        if seen is None or tokens[: len(seen)] != seen or len(tokens) > len(seen) + 1:
            self._text.restart()
        else:
            self._text.append(tokens[len(seen) :])
        return self._text.mask(logits)
