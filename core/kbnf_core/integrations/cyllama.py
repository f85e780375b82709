"""Texts of llama.cpp's models through cyllama, which has wheels.

::

    from kbnf_core.integrations.cyllama import KbnfModel

    model = KbnfModel("model.gguf")
    answer = model.write(prompt, grammar)
    print(answer.text, answer.passes)

cyllama has no processor of logits, so this is a loop of its own (``loop.write``).

Tests: tests/serving
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.integrations.loop import write
from kbnf_core.text.errors import ConfigError, MissingExtraError
from kbnf_core.vocab.load import load_vocabulary

try:
    from cyllama.llama import llama_cpp
except ImportError:
    raise MissingExtraError("kbnf_core.integrations.cyllama", "gguf") from None

Logits = npt.NDArray[np.float32]


class _Model(llama_cpp.LlamaModel):  # type: ignore[misc] # the host is not typed
    @property
    def n_vocab(self) -> int:
        """The number of logits, which a context of cyllama asks its model for."""
        return int(self.get_vocab().n_vocab)


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A generated text: its tokens, the ends left out, the text, and the passes of the model.

    ``log``: a record for each token, as ``kbnf trace`` reads them, where they were asked for.
    """

    tokens: list[int]
    text: str
    passes: int
    log: list[dict[str, Any]]


class KbnfModel:
    """A model in a GGUF file, and one context: what texts begin with in common is evaluated once.

    ``context``: the tokens of a prompt and its text, at most. ``threads``: of llama.cpp. Raises
    ``ConfigError`` for less than one, and what ``load_vocabulary`` raises.
    """

    def __init__(self, path: str | Path, *, context: int = 4096, threads: int = 1) -> None:
        if context < 1 or threads < 1:
            raise ConfigError("`context` and `threads` are at least 1")
        llama_cpp.disable_logging()
        llama_cpp.ggml_backend_load_all()
        settings = llama_cpp.LlamaModelParams()
        settings.n_gpu_layers = 0
        self.vocabulary = load_vocabulary(path)
        self._model = _Model(str(path), settings, verbose=False)
        self._tokenizer = self._model.get_vocab()
        wanted = llama_cpp.LlamaContextParams()
        wanted.n_ctx = wanted.n_batch = context
        wanted.n_threads = wanted.n_threads_batch = threads
        self._context = llama_cpp.LlamaContext(self._model, wanted, verbose=False)
        self._batch = llama_cpp.LlamaBatch(n_tokens=context, embd=0, n_seq_max=1, verbose=False)
        self._room = context
        self._evaluated: list[int] = []

    def write(
        self,
        prompt: str,
        grammar: object,
        *,
        after: str | int | None = None,
        after_tokens: int | None = None,
        budget: int | None = None,
        canonical: bool = False,
        forced: bool = True,
        limit: int = 256,
        top: int = 0,
        choose: Callable[[Logits], int] = np.argmax,
    ) -> WrittenText:
        """Return the text of the model after a prompt, in which special tokens are read.

        ``grammar``: what ``Grammar.from_any`` takes. ``after``, ``after_tokens``, ``budget``,
        ``canonical``: those of ``Engine``; ``forced``, ``limit``, ``choose``: those of
        ``loop.write``, by default the most likely token. ``top``: the most likely tokens, before
        the mask, of each record in the log; none by default. Raises ``ConfigError`` for a prompt
        that is empty or leaves no room, and what ``Engine`` raises.
        """
        tokens = self._tokenizer.tokenize(prompt, True, True)
        if not tokens:
            raise ConfigError("a prompt of no tokens: the model has nothing to go on from")
        if len(tokens) + limit > self._room:
            raise ConfigError(
                f"a prompt of {len(tokens)} tokens and {limit} more are too many for a context of"
                f" {self._room}"
            )
        engine = Engine(
            Grammar.from_any(grammar),
            self.vocabulary,
            after=after,
            after_tokens=after_tokens,
            budget=budget,
            canonical=canonical or None,
        )
        passes = 0
        logits: Logits | None = None
        prompt_and_text: list[int] = []

        def forward(new: list[int]) -> Logits:
            nonlocal passes, logits
            prompt_and_text.extend(new)
            passes += 1
            logits = self._evaluate(prompt_and_text)
            return logits.copy()

        log: list[dict[str, Any]] = []
        written: list[int] = []
        steps = write(
            engine, tokens, forward, lambda logits: int(choose(logits)), limit=limit, forced=forced
        )
        for step in steps:
            written += step
            if top:
                log += _records(step, logits, top)
        written = [
            token_id for token_id in written if token_id not in self.vocabulary.eos_token_ids
        ]
        data = self.vocabulary.decode(written)
        return WrittenText(written, data.decode("utf-8", "replace"), passes, log)

    def _evaluate(self, tokens: list[int]) -> Logits:
        """Return the logits after some tokens, of which the context may have the first already."""
        pairs = zip(tokens[:-1], self._evaluated, strict=False)
        kept = next(
            (index for index, (one, other) in enumerate(pairs) if one != other),
            min(len(tokens) - 1, len(self._evaluated)),
        )
        self._evaluated = []
        if not self._context.memory_seq_rm(0, kept, -1):  # a model that keeps no part of a text
            kept = 0
            self._context.memory_seq_rm(0, 0, -1)
        self._batch.set_batch(tokens[kept:], n_past=kept, logits_all=False)
        self._context.decode(self._batch)
        self._evaluated = [*tokens]
        return np.array(self._context.get_logits_ith(-1), np.float32)


def _records(tokens: list[int], logits: Logits | None, top: int) -> list[dict[str, Any]]:
    """Return the records of a token that was chosen by logits, and of those forced after it."""
    forced = [{"token_id": token, "logprob": 0.0} for token in tokens]
    if logits is None:
        return forced
    scores = logits - logits.max()
    scores -= np.log(np.exp(scores).sum())
    best = np.argpartition(-scores, min(top, len(scores) - 1))[:top]
    likely = [
        {"token_id": int(token_id), "logprob": float(scores[token_id])}
        for token_id in best[np.argsort(-scores[best], kind="stable")]
    ]
    chosen = {"token_id": tokens[0], "logprob": float(scores[tokens[0]]), "top_logprobs": likely}
    return [chosen, *forced[1:]]
