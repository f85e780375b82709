"""A loop of one's own: a text, written with as few passes of a model as its grammar allows.

::

    from kbnf_core.integrations.loop import write

    for tokens in write(engine, prompt, forward, choose):
        ...

What certainly comes next (``Engine.forced_tokens``) is appended without asking the model, and
evaluated together with the token before it: a pass for several tokens.

Tests: tests/serving
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from kbnf_core.engine import Engine
from kbnf_core.integrations.stepwise import EngineText

L = TypeVar("L")


def write(
    engine: Engine,
    prompt: Sequence[int],
    forward: Callable[[list[int]], L],
    choose: Callable[[L], int],
    *,
    limit: int = 256,
    forced: bool = True,
) -> Iterator[list[int]]:
    """Yield the tokens of a text as they come: those that a pass of the model has led to.

    ``forward`` evaluates tokens, at first ``prompt`` with the forced tokens after it and then those
    that were yielded last, and returns the logits, (n,) or (1, n), of the next token; ``choose``
    returns an id of them, once they are masked. The text ends with an id that ends the sequence,
    which is yielded too, or after ``limit`` tokens. The engine begins anew. ``forced``: append
    forced tokens. Raises what ``Engine.mask_logits`` raises.
    """
    text = EngineText(engine)
    text.restart()
    tokens = text.append_forced(limit) if forced else []
    written = len(tokens)
    if tokens:
        yield tokens
    tokens = [*prompt, *tokens]
    while written < limit and not engine.is_finished():
        token = choose(text.mask(forward(tokens)))
        text.append([token])
        tokens = [token]
        if token not in engine.vocabulary.eos_token_ids and forced:
            tokens += text.append_forced(limit - written - 1)
        written += len(tokens)
        yield tokens
        if text.is_over:
            return
