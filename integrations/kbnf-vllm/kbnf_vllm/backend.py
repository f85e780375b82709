"""vLLM's structured output backend and grammar over an engine."""

import json
from typing import Any

import torch
from vllm.exceptions import VLLMValidationError
from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)
from vllm.v1.structured_output.request import get_structured_output_key

from kbnf_core import Ahead, Compiler, Engine, Vocabulary, allocate_bitmask
from kbnf_core.convert import detect
from kbnf_core.integrations import schema_options
from kbnf_core.integrations.stepwise import fill_ends, fill_or_end
from kbnf_vllm.requests import Asked, check


class KbnfGrammar(StructuredOutputGrammar):  # type: ignore[misc] # the host is not typed
    """The position of a request in its grammar."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._is_closed = False

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Append tokens and tell whether they can come; those behind the end are passed over.

        Where a mask failed none can: vLLM ends that request with an error.
        """
        del request_id
        if self._is_closed:
            return False
        return self.engine.accept_tokens(tokens) == len(tokens) or self.engine.is_finished()

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """Return the tokens that can come, up to the first that cannot."""
        return tokens[: self.engine.validate_tokens(tokens)]

    def rollback(self, num_tokens: int) -> None:
        """Undo tokens."""
        self.engine.rollback(num_tokens)

    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None:
        """Write what can come here into a row; ends alone where that fails."""
        if self._is_closed or not fill_or_end(self.engine, bitmask, batch_index):
            self._is_closed = True
            fill_ends(self.engine.vocabulary, bitmask[batch_index].numpy())

    def is_terminated(self) -> bool:
        """Return whether the text is over."""
        return self.engine.is_finished()

    def reset(self) -> None:
        """Go back to the beginning."""
        self.engine.reset()
        self._is_closed = False


class KbnfBackend(StructuredOutputBackend):  # type: ignore[misc] # the host is not typed
    """Compiles in a process of its own, so that the scheduler's loop goes on."""

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        super().__init__(vllm_config, tokenizer, vocab_size)
        settings = vllm_config.structured_outputs_config
        own = schema_options()
        if settings.disable_any_whitespace:
            own["whitespace"] = "compact"
        if getattr(settings, "disable_additional_properties", False):
            own["closed"] = True
        vocabulary = Vocabulary.of(tokenizer, size=vocab_size)
        self._compiler = Compiler(vocabulary, workers=1, schema_options=own)

    # vLLM validates requests by the class whose place this one takes.
    @staticmethod
    def is_tokenizer_supported(tokenizer: Any) -> bool:
        """Return whether a tokenizer can be read; all that vLLM has can."""
        del tokenizer
        return True

    @property
    def ahead(self) -> Ahead | None:
        """What was prepared while the model computed; None where ``KBNF_AHEAD=0`` turned it off."""
        return self._compiler.ahead

    def compile_grammar(
        self,
        request_type: StructuredOutputOptions,
        grammar_spec: str,
        stop_token_ids: set[int] | None = None,
    ) -> KbnfGrammar:
        """Compile a request's grammar; raises ``ValueError`` for one that cannot be used."""
        kind, source, options = request(request_type, grammar_spec)
        grammar = self._compiler.submit(kind, source, **options).result()
        stops = sorted(stop_token_ids) if stop_token_ids else None
        engine = Engine(grammar, self._compiler.vocabulary, finish="eos", stop_token_ids=stops)
        return KbnfGrammar(engine)

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """Return a bitmask in the memory of the host."""
        return torch.from_numpy(allocate_bitmask(max_num_seqs, self.vocab_size))

    def destroy(self) -> None:
        """End the process that compiles."""
        self._compiler.close()


def request(kind: StructuredOutputOptions, spec: str) -> Asked:
    """Return what a ``Compiler`` is asked for."""
    name = kind.name
    if name in ("JSON", "JSON_OBJECT"):
        schema = spec if name == "JSON" else {"type": "object"}
        return "json_schema", schema, {}
    if name == "CHOICE":
        return "choice", json.loads(spec), {}
    if name == "GRAMMAR":
        return "grammar", spec, {"language": detect(spec, "").lower()}
    return name.lower(), spec, {}


def validate(sampling_params: Any, tokenizer: Any = None) -> None:
    """Refuse what this backend would refuse, before the request reaches the engine."""
    del tokenizer
    if sampling_params.structured_outputs is None:
        return
    try:
        check(request(*get_structured_output_key(sampling_params.structured_outputs)))
    except ValueError as error:
        raise VLLMValidationError(f"Grammar error: {error}") from error
