"""The backend that a server of SGLang asks for, by the server's options."""

from collections.abc import Collection
from typing import Any

from sglang.srt.constrained.base_grammar_backend import BaseGrammarBackend
from sglang.srt.runtime_context import get_serving

from kbnf_core import Vocabulary
from kbnf_sglang.backend import KbnfBackend


def create(
    server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Collection[int] | None = None
) -> BaseGrammarBackend:
    """Return the backend of a server, which waits for the end of reasoning where there is some."""
    del server_args
    serving = get_serving()
    if serving.constrained_json_whitespace_pattern:
        raise ValueError("the backend kbnf has no --constrained-json-whitespace-pattern")
    compact = serving.constrained_json_disable_any_whitespace
    eos = sorted(eos_token_ids) if eos_token_ids else None
    vocabulary = Vocabulary.of(tokenizer, size=vocab_size, eos=eos)
    backend = KbnfBackend(vocabulary, "compact" if compact else None)
    if not serving.reasoning_parser:
        return backend
    # SGLang wraps its own backends so, and leaves it to others to do the same.
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    from kbnf_sglang.reasoning import WaitingBackend

    parser = ReasoningParser(
        model_type=serving.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer
    )
    return WaitingBackend(
        backend, parser, tokenizer, enable_strict_thinking=serving.enable_strict_thinking
    )
