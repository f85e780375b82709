"""A filter for exllamav3's generator.

::

    from kbnf_core.integrations.exllama import KbnfFilter

    generator.generate(prompt=prompt, filters=[KbnfFilter(tokenizer, grammar)], ...)

The filter hands over packed masks, which exllamav3 takes as they are.

Tests: tests/serving
"""

from typing import TYPE_CHECKING, Any

from kbnf_core.batch import allocate_bitmask
from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.integrations.stepwise import fill_ends, fill_or_end
from kbnf_core.mask.ahead import Ahead
from kbnf_core.text.errors import MissingExtraError
from kbnf_core.vocab.vocabulary import Vocabulary

try:
    from exllamav3.generator.filter import Filter
except ImportError:
    raise MissingExtraError("kbnf_core.integrations.exllama", "exllama") from None

if TYPE_CHECKING:
    import torch


class KbnfFilter(Filter):  # type: ignore[misc] # the host is not typed
    """Constrains a job, from its start or from ``trigger_token`` on.

    ``tokenizer``: exllamav3's. ``vocabulary`` saves making one of it for each filter. ``after``,
    ``after_tokens``, ``budget`` and ``canonical``: those of ``Engine``; a prefix is a token before
    ``after``, and none of the budget. ``ahead``: make masks while the model computes (``Engine``).
    The other arguments are ``Filter``'s. Raises what ``Engine`` and ``Vocabulary.of`` raise.
    """

    def __init__(
        self,
        tokenizer: Any,
        grammar: object,
        *,
        vocabulary: Vocabulary | None = None,
        trigger_token: int | None = None,
        prefix_str: str | None = None,
        eos_after_completed: bool = True,
        after: str | int | None = None,
        after_tokens: int | None = None,
        budget: int | None = None,
        ahead: bool = True,
        canonical: bool = False,
    ) -> None:
        super().__init__(tokenizer, trigger_token, prefix_str, eos_after_completed)
        vocabulary = vocabulary or Vocabulary.of(tokenizer)
        made = Grammar.from_any(grammar)
        self._engine = Engine(
            made,
            vocabulary,
            after=after,
            after_tokens=after_tokens,
            budget=budget,
            ahead=ahead,
            canonical=canonical or None,
        )
        self._prefix = (prefix_str or "").encode()
        self.reset()

    @property
    def ahead(self) -> Ahead | None:
        """The counts of the work ahead; None where it is disabled."""
        return self._engine.ahead

    def reset(self) -> None:
        """Go back to the beginning, after the prefix."""
        # Closed: only ends are left. It is over with one of them, since exllamav3 does not
        # constrain the tokens after a completed text.
        self._is_closed = self._is_over = False
        self._engine.reset()
        self._engine.remaining = None
        self._engine.try_accept_new_bytes(self._prefix)
        self._engine.remaining = self._engine.budget

    def accept_token(self, token: int) -> None:
        """Append a token; one that cannot occur ends the text, as a mask that fails does."""
        if self._is_closed:
            self._is_over = token in self._engine.vocabulary.eos_token_ids
        elif not self._engine.accept_tokens([token]):
            self._is_closed = True

    def rollback_tokens(self, num_tokens: int) -> bool:
        """Undo the last tokens; not of a text that was closed, which exllamav3 plays anew."""
        if not self._is_closed:
            self._engine.rollback(num_tokens)
        return not self._is_closed

    def get_next_logit_mask(self) -> "torch.Tensor":
        """Return the mask of the next token, packed: int32 of the shape (1, words).

        Ends alone where it cannot be made: the text is closed, and no other job is.
        """
        import torch

        mask = torch.from_numpy(allocate_bitmask(1, self._engine.vocabulary.size))
        if self._is_closed or not fill_or_end(self._engine, mask, 0):
            self._is_closed = True
            fill_ends(self._engine.vocabulary, mask[0].numpy())
        return mask

    def is_completed(self) -> bool:
        """Return whether the text is over."""
        return self._is_over or self._engine.is_finished()

    def use_background_worker(self) -> bool:
        """Compute masks while the model runs."""
        return True
