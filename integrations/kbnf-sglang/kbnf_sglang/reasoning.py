"""SGLang's wrapper for reasoning over an engine that waits for its end by itself.

SGLang's own wrapper counts tokens to know where a grammar is, and finds the end of reasoning by
whole tokens. An engine has that as a state: over drafts and rollbacks, and where the end falls
inside a token. What the engine cannot do stays with SGLang's books: strict thinking, which forbids
tokens of the reasoning and bounds it, and models whose reasoning has openers.
"""

from collections.abc import Sequence
from typing import Any

import torch
from sglang.srt.constrained.base_grammar_backend import BaseGrammarObject, GrammarRow
from sglang.srt.constrained.reasoner_grammar_backend import (
    ReasonerGrammarBackend,
    ReasonerGrammarObject,
)

from kbnf_core import Vocabulary
from kbnf_sglang.backend import KbnfGrammar


class WaitingGrammar(ReasonerGrammarObject):  # type: ignore[misc] # the host is not typed
    """A grammar behind the end of reasoning; ``grammar`` is the position in both."""

    def __init__(self, grammar: KbnfGrammar, think_end_ids: Sequence[int]) -> None:
        super().__init__(grammar, think_end_ids)

    def maybe_init_reasoning(self, reasoning: bool) -> None:
        """Begin with reasoning, or without."""
        super().maybe_init_reasoning(reasoning)
        vocabulary = self.grammar.engine.vocabulary
        self.grammar.wait_for(_text(vocabulary, self.think_end_ids) if reasoning else None)

    def set_request_think_end_ids(self, think_end_ids: Sequence[int]) -> None:
        """Wait for other tokens in this request."""
        super().set_request_think_end_ids(think_end_ids)
        self.maybe_init_reasoning(self.grammar.engine.after is not None)

    def set_reasoning_in_grammar(self) -> None:
        """Wait for nothing: the grammar describes the reasoning, too."""
        super().set_reasoning_in_grammar()
        self.grammar.wait_for(None)

    def accept_token(self, token: int) -> None:
        """Append a token of the reasoning or of the text."""
        self.current_token = token
        self.grammar.accept_token(token)

    def rollback(self, k: int) -> None:
        """Undo tokens, also over the end of reasoning."""
        self.grammar.rollback(k)

    def is_terminated(self) -> bool:
        """Return whether the text is over."""
        return bool(self.grammar.is_terminated())

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Write what can come here into a row: every token there is while the model reasons."""
        self.grammar.fill_vocab_mask(vocab_mask, idx)

    @staticmethod
    def fill_vocab_mask_batched(entries: list[GrammarRow], vocab_mask: torch.Tensor) -> None:
        """Write many rows at once; others keep what they hold."""
        inner = [
            GrammarRow(entry.row, getattr(entry.grammar, "grammar", entry.grammar))
            for entry in entries
        ]
        KbnfGrammar.fill_vocab_mask_batched(inner, vocab_mask)

    def copy(self) -> "WaitingGrammar":
        """Return another position at the same place."""
        twin = WaitingGrammar(self.grammar.copy(), self.think_end_ids)
        twin.current_token = self.current_token
        twin.reasoning_in_grammar = self.reasoning_in_grammar
        return twin

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """Return the tokens that have to come, if any; none do while the model reasons."""
        result: tuple[list[int], str] | None = self.grammar.try_jump_forward(tokenizer)
        return result


class WaitingBackend(ReasonerGrammarBackend):  # type: ignore[misc] # the host is not typed
    """SGLang's backend for reasoning, with engines that wait where they can."""

    def _make_grammar_object(
        self, grammar: BaseGrammarObject | None, reasoning: bool
    ) -> ReasonerGrammarObject:
        has_books = bool(self.think_starts) or self.enable_token_filter
        if has_books or not isinstance(grammar, KbnfGrammar):
            return super()._make_grammar_object(grammar, reasoning)
        result = WaitingGrammar(grammar, self.think_end_ids)
        result.maybe_init_reasoning(reasoning)
        return result


def _text(vocabulary: Vocabulary, ids: Sequence[int]) -> str:
    return vocabulary.decode(ids).decode()
