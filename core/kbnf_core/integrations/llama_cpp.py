"""A logits processor for llama-cpp-python.

::

    from llama_cpp import Llama, LogitsProcessorList
    from kbnf_core.integrations.llama_cpp import KbnfLogitsProcessor

    llm = Llama(model_path)
    processor = KbnfLogitsProcessor(grammar, llm)
    llm("Answer: ", logits_processor=LogitsProcessorList([processor]))

A new prompt begins a new text, so one processor serves any number of calls; it is for one text at
a time, as ``Llama`` is.

Tests: tests/serving
"""

from typing import Any

import numpy.typing as npt

from kbnf_core.integrations.stepwise import Stepwise
from kbnf_core.mask.ahead import Ahead


class KbnfLogitsProcessor:
    """Constrains the text of a call: ``processor(input_ids, scores)``, both NumPy arrays.

    ``tokenizer``: the ``Llama`` of the call, or a ``Vocabulary``; ``eos`` overrides the ids that
    end a sequence; ``after``, ``after_tokens``, ``budget``, ``canonical``: those of ``Engine``;
    ``ahead``: make masks while the model computes (``Engine``). Raises what ``Engine`` and
    ``Vocabulary.of`` raise.
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

    def __call__(self, input_ids: npt.NDArray[Any], scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the scores, those of tokens that cannot occur at minus infinity."""
        return self._text.mask(input_ids.tolist(), scores.copy())
