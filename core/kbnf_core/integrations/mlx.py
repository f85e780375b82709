"""A logits processor for mlx-lm.

::

    from mlx_lm import generate, load
    from kbnf_core.integrations.mlx import KbnfLogitsProcessor

    model, tokenizer = load(path)
    processor = KbnfLogitsProcessor(grammar, tokenizer)
    generate(model, tokenizer, prompt, logits_processors=[processor])

In a batch each sequence has processors of its own: ``logits_processors=[[first], [second]]``.

Tests: tests/serving
"""

from typing import Any

import numpy as np

from kbnf_core.integrations.stepwise import Stepwise
from kbnf_core.mask.ahead import Ahead
from kbnf_core.text.errors import MissingExtraError


class KbnfLogitsProcessor:
    """Constrains one sequence: ``processor(tokens, logits)``, arrays of mlx, logits (1, n).

    ``tokenizer``: mlx-lm's ``TokenizerWrapper``, or a ``Vocabulary``; ``eos`` overrides the ids
    that end a sequence; ``after``, ``after_tokens``, ``budget``, ``canonical``: those of
    ``Engine``; ``ahead``: make masks while the model computes (``Engine``). Raises what ``Engine``
    and ``Vocabulary.of`` raise.
    """

    def __init__(
        self,
        grammar: object,
        tokenizer: object,
        *,
        eos: int | list[int] | None = None,
        after: str | int | None = None,
        after_tokens: int | None = None,
        budget: int | None = None,
        ahead: bool = True,
        canonical: bool = False,
    ) -> None:
        self._text = Stepwise(
            grammar, tokenizer, eos, after, after_tokens, budget, ahead, canonical
        )

    @property
    def ahead(self) -> Ahead | None:
        """The counts of the work ahead; None where it is disabled."""
        return self._text.ahead

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """Return the logits, those of tokens that cannot occur at minus infinity."""
        try:
            import mlx.core as mx
        except ImportError:
            raise MissingExtraError("kbnf_core.integrations.mlx", "mlx") from None
        # NumPy has no bfloat16: a mask is added, and the logits stay what they are.
        refused = self._text.mask(tokens.tolist(), np.zeros(tuple(logits.shape), np.float32))
        return logits + mx.array(refused).astype(logits.dtype)
