"""``generate`` of Hugging Face transformers with fewer passes: none for forced tokens.

::

    from kbnf_core.integrations.transformers_loop import KbnfGenerate

    model.generate(**inputs, custom_generate=KbnfGenerate(grammar, tokenizer), do_sample=False)

Settings of ``generate`` that are processors of logits (temperature, top-p, penalties) and criteria
for stopping (``max_new_tokens``) apply; it is for one prompt and one text.

Tests: tests/serving
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.integrations.loop import write
from kbnf_core.integrations.stepwise import vocabulary_of
from kbnf_core.text.errors import ConfigError, MissingExtraError

try:
    import torch
except ImportError:
    raise MissingExtraError("kbnf_core.integrations.transformers_loop", "transformers") from None

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class KbnfGenerate:
    """A ``custom_generate``: constrains one text, and appends forced tokens.

    ``grammar``, ``tokenizer``, ``eos``, ``after``, ``after_tokens``, ``budget``, ``canonical``:
    those of ``KbnfLogitsProcessor``. ``passes``: of the model, for the last text. Raises what
    ``Engine`` raises.
    """

    def __init__(
        self,
        grammar: object,
        tokenizer: object,
        *,
        eos: int | Sequence[int] | None = None,
        after: str | None = None,
        after_tokens: int | None = None,
        budget: int | None = None,
        canonical: bool = False,
    ) -> None:
        self._engine = Engine(
            Grammar.from_any(grammar),
            vocabulary_of(tokenizer),
            stop_token_ids=eos,
            after=after,
            after_tokens=after_tokens,
            budget=budget,
            canonical=canonical or None,
        )
        self.passes = 0

    def __call__(
        self,
        model: "PreTrainedModel",
        input_ids: torch.Tensor,
        *,
        logits_processor: Any,
        stopping_criteria: Any,
        generation_config: Any,
        **settings: Any,
    ) -> torch.Tensor:
        """Return the prompt with the text, int64[1, n]; called by ``generate``."""
        del settings
        if len(input_ids) != 1 or generation_config.num_return_sequences not in (None, 1):
            raise ConfigError("`KbnfGenerate` is for one prompt and one text")
        limit = generation_config.max_length - input_ids.shape[1]
        cache, ids = None, input_ids
        self.passes = 0

        def forward(new: list[int]) -> torch.Tensor:
            nonlocal cache
            fed = torch.tensor([new], device=input_ids.device)
            output: Any = model(input_ids=fed, past_key_values=cache, use_cache=True)
            cache, self.passes = output.past_key_values, self.passes + 1
            scores: torch.Tensor = output.logits[:, -1].float()
            return scores

        def choose(scores: torch.Tensor) -> int:
            scores = logits_processor(ids, scores)
            if generation_config.do_sample:
                return int(torch.multinomial(scores.softmax(-1), 1))
            return int(scores.argmax())

        for tokens in write(self._engine, input_ids[0].tolist(), forward, choose, limit=limit):
            ids = torch.cat((ids, torch.tensor([tokens], device=ids.device)), dim=1)
            if bool(stopping_criteria(ids, None).all()):
                break
        return ids
