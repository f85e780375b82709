"""Stand-ins of the programs that generate text, for the pages of ``docs/decoders``.

Each has as much of its program's surface as the page uses. The model after all of them knows
nothing: it takes tokens at random among those that are left to it, so what it writes is right only
by the grammar.
"""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from random import Random
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from kbnf_core import Engine
from kbnf_testing import tokenizer_files

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ("llama_cpp", "mlx", "mlx_lm", "exllamav3", "outlines", "vllm", "sglang")
OURS = ("kbnf_vllm", "kbnf_sglang", *(f"kbnf_core.integrations.{each}" for each in
                                      ("exllama", "outlines")))  # fmt: skip
PROMPT = [5, 6, 7]
Step = Callable[[list[int]], Any]


@contextmanager
def forgotten() -> Iterator[None]:
    """Remove stand-ins, and modules that were imported over them, at the end."""
    before, path = dict(sys.modules), list(sys.path)
    try:
        yield
    finally:
        for name in list(sys.modules):
            if name.split(".")[0] in PROGRAMS or name.startswith(OURS):
                del sys.modules[name]
        sys.modules.update(before)
        sys.path[:] = path


def put(name: str, **members: Any) -> ModuleType:
    """Put a module, and the packages that contain it, where they are imported from."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        whole = ".".join(parts[:count])
        module = sys.modules.setdefault(whole, ModuleType(whole))
        if count > 1:
            setattr(sys.modules[".".join(parts[: count - 1])], parts[count - 1], module)
    vars(sys.modules[name]).update(members)
    return sys.modules[name]


def tokenizer() -> Any:
    """Return a fast tokenizer of transformers, trained on the spot."""
    import transformers

    fast: Any = transformers.PreTrainedTokenizerFast
    return fast(
        tokenizer_object=tokenizer_files.byte_level(),
        eos_token="<|endoftext|>",  # noqa: S106 - a token
        pad_token="<|im_end|>",  # noqa: S106 - a token
    )


def model() -> Any:
    """Return a GPT-2 for this tokenizer that has learnt nothing."""
    import transformers

    ids = tokenizer()
    config: Any = transformers.GPT2Config(
        vocab_size=len(ids), n_positions=512, n_embd=32, n_layer=1, n_head=1,
        eos_token_id=ids.eos_token_id, pad_token_id=ids.pad_token_id,
    )  # fmt: skip
    made: Any = transformers.GPT2LMHeadModel(config)
    return made.eval()


def written(step: Step) -> str:
    """Return the text of random tokens: ``step`` is given the tokens, and returns the scores."""
    ids, random, tokens = tokenizer(), Random(0), list(PROMPT)
    while True:
        scores = np.asarray(step(tokens)).reshape(-1)
        tokens.append(int(random.choice(np.flatnonzero(scores > -np.inf).tolist())))
        if tokens[-1] == ids.eos_token_id:
            return str(ids.decode(tokens[len(PROMPT) : -1]))


def follow(engine: Engine) -> str:
    """Return a text of an engine's."""

    def step(tokens: list[int]) -> Any:
        engine.accept_tokens(tokens[len(PROMPT) :][-1:])
        return engine.mask_logits(np.zeros(engine.vocabulary.size, np.float32))

    return written(step)


def llama_cpp() -> None:
    """Stand in for llama-cpp-python."""

    class Llama:
        def __init__(self, model_path: str) -> None:
            self._ids = tokenizer()
            self.model_path = model_path

        def n_vocab(self) -> int:
            return len(self._ids)

        def token_eos(self) -> int:
            return int(self._ids.eos_token_id)

        def detokenize(self, tokens: list[int], special: bool = False) -> bytes:
            if not special and set(tokens) & set(self._ids.all_special_ids):
                return b""
            return str(self._ids.decode(tokens)).encode()

        def __call__(self, prompt: str, logits_processor: list[Any]) -> Any:
            del prompt

            def step(tokens: list[int]) -> Any:
                scores = np.zeros(len(self._ids), np.single)
                for processor in logits_processor:
                    scores = processor(np.array(tokens, np.intc), scores)
                return scores

            return {"choices": [{"text": written(step)}]}

    put("llama_cpp", Llama=Llama, LogitsProcessorList=list)


class Array:
    """As much of an array of mlx as is used; bfloat16 is no type of NumPy's."""

    def __init__(self, values: Any, dtype: str = "float32") -> None:
        self.values = np.asarray(values)
        self.dtype = dtype
        self.shape = self.values.shape

    def tolist(self) -> Any:
        """Return lists of numbers."""
        return self.values.tolist()

    def astype(self, dtype: str) -> "Array":
        """Return the same of another type."""
        return Array(self.values, dtype)

    def __add__(self, other: "Array") -> "Array":
        assert (self.dtype, self.shape) == (other.dtype, other.shape)
        return Array(self.values + other.values, self.dtype)


def mlx_lm() -> None:
    """Stand in for mlx-lm."""

    def load(path: str) -> Any:
        return SimpleNamespace(path=path), tokenizer()

    def generate(model: Any, ids: Any, prompt: str, logits_processors: list[Any]) -> str:
        del model, prompt

        def step(tokens: list[int]) -> Any:
            logits = Array(np.zeros((1, len(ids))), "bfloat16")
            for processor in logits_processors:
                logits = processor(Array(tokens), logits)
            return logits.values

        return written(step)

    put("mlx.core", array=Array)
    put("mlx_lm", load=load, generate=generate)


def exllamav3() -> None:
    """Stand in for exllamav3: its generator's part in a filter."""

    class Filter:
        def __init__(self, tokenizer: Any, trigger: Any, prefix: Any, eos_after: bool) -> None:
            self.settings = tokenizer, trigger, prefix, eos_after

    class Generator:
        def generate(self, prompt: str, filters: list[Any]) -> str:
            del prompt

            def step(tokens: list[int]) -> Any:
                for token_id in tokens[len(PROMPT) :][-1:]:
                    filters[0].accept_token(token_id)
                mask = filters[0].get_next_logit_mask().numpy().view(np.uint8)
                return np.where(np.unpackbits(mask, bitorder="little"), 0, -np.inf)

            return written(step)

    put("exllamav3.generator.filter", Filter=Filter)
    put("exllamav3", Generator=Generator)


def outlines() -> None:
    """Stand in for outlines: a model of transformers and a generator."""

    class Processor:
        def __init__(self, library: str) -> None:
            self.library = library

        def __call__(self, input_ids: Any, logits: Any) -> Any:
            return self.process_logits(input_ids, logits)  # type: ignore[attr-defined] # abstract

    def from_transformers(model: Any, tokenizer: Any) -> Any:
        return SimpleNamespace(model=model, tokenizer=tokenizer)

    def generator(model: Any, processor: Any) -> Callable[[str], str]:
        import torch

        width = len(model.tokenizer)

        def generate(prompt: str) -> str:
            del prompt
            return written(lambda tokens: processor(torch.tensor([tokens]), torch.zeros(1, width)))

        return generate

    put("outlines.backends.base", BaseBackend=object)
    put("outlines.processors.base_logits_processor", OutlinesLogitsProcessor=Processor)
    put("outlines", Generator=generator, from_transformers=from_transformers)


def _installed(package: str) -> Any:
    """Return one of our packages, which finds a version of its program that it knows."""
    module: Any = importlib.import_module(package)
    module.version = {package.removeprefix("kbnf_"): max(module.KNOWN_VERSIONS)}.__getitem__
    return module


def vllm() -> None:
    """Stand in for vLLM: its manager's part in structured output."""
    sys.path.insert(0, str(ROOT / "integrations" / "kbnf-vllm"))
    kinds = ("JSON", "JSON_OBJECT", "REGEX", "GRAMMAR", "CHOICE", "STRUCTURAL_TAG")
    options: Any = Enum("StructuredOutputOptions", kinds)  # type: ignore[misc] # all the same

    class Backend:
        def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
            self.settings = vllm_config, tokenizer
            self.vocab_size = vocab_size

    class LLM:
        def __init__(
            self,
            model: str,
            structured_outputs_config: dict[str, str] | None = None,
            logits_processors: list[str] | None = None,
        ) -> None:
            del model
            self.processors = [_named(name)(self) for name in logits_processors or ()]
            if self.processors:
                return
            assert structured_outputs_config == {"backend": "guidance"}
            importlib.import_module("kbnf_vllm").register()
            config = SimpleNamespace(disable_any_whitespace=False)
            settings = SimpleNamespace(structured_outputs_config=config)
            backend = sys.modules["kbnf_vllm.backend"].KbnfBackend
            self.backend = backend(settings, tokenizer(), len(tokenizer()))

        def generate(self, prompt: str, params: Any) -> Any:
            del prompt
            if self.processors:
                params.all_stop_token_ids = {tokenizer().eos_token_id}
                text = _by_processor(self.processors[0].new_req_logits_processor(params))
                return [SimpleNamespace(outputs=[SimpleNamespace(text=text)])]
            ((kind, source),) = vars(params.structured_outputs).items()
            stops = {tokenizer().eos_token_id}
            grammar = self.backend.compile_grammar(options[kind.upper()], source, stops)
            text = follow(grammar.engine)
            self.backend.destroy()
            return [SimpleNamespace(outputs=[SimpleNamespace(text=text)])]

    model_config = SimpleNamespace(get_vocab_size=lambda: len(tokenizer()))

    class Adapter:
        def __init__(self, *settings: Any) -> None:
            self.settings = settings

    def _named(name: str) -> Callable[[LLM], Any]:
        module, _, member = name.partition(":")
        kind = getattr(importlib.import_module(module), member)
        config = SimpleNamespace(model_config=model_config)
        return lambda llm: kind(config, llm, False)

    def _by_processor(follow: Any) -> str:
        import torch

        return written(lambda tokens: follow(tokens[len(PROMPT) :], torch.zeros(len(tokenizer()))))

    put("vllm.tokenizers", cached_tokenizer_from_config=lambda model_config: tokenizer())  # noqa: ARG005
    put("vllm.v1.sample.logits_processor", AdapterLogitsProcessor=Adapter)
    put("vllm.exceptions", VLLMValidationError=ValueError)
    put("vllm.v1.structured_output.backend_guidance")
    put("vllm.v1.structured_output.request", get_structured_output_key=None)
    put("vllm.v1.structured_output.backend_types", StructuredOutputBackend=Backend,
        StructuredOutputGrammar=object, StructuredOutputOptions=options)  # fmt: skip
    put("vllm.sampling_params", StructuredOutputsParams=SimpleNamespace)
    _tool_parsers()
    put("vllm", LLM=LLM, SamplingParams=SimpleNamespace)
    _installed("kbnf_vllm")


class _ToolParser:
    """What vLLM's tool parsers are made of."""

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        self.model_tokenizer, self.tools = tokenizer, tools
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.streamed_args_for_tool: list[str] = []

    def adjust_request(self, request: Any) -> Any:
        """Leave a request as it is."""
        return request


class _Message(SimpleNamespace):
    """A part of an answer."""

    id, content = "call_1", None
    tool_calls: Any = ()


def _tool_parsers() -> None:
    put("vllm.tool_parsers.abstract_tool_parser", ToolParser=_ToolParser)
    messages = ("DeltaMessage", "DeltaToolCall", "ExtractedToolCallInformation", "FunctionCall")
    put(
        "vllm.entrypoints.generate.base.protocol",
        **dict.fromkeys((*messages, "ToolCall", "DeltaFunctionCall"), _Message),
    )


def sglang() -> None:
    """Stand in for SGLang: its scheduler's part in grammars."""
    sys.path.insert(0, str(ROOT / "integrations" / "kbnf-sglang"))
    backends: dict[str, Any] = {}
    serving = SimpleNamespace(
        constrained_json_whitespace_pattern=None,
        constrained_json_disable_any_whitespace=False,
        reasoning_parser=None,
    )

    class Engine:
        def __init__(self, model_path: str, grammar_backend: str) -> None:
            del model_path
            _installed("kbnf_sglang").register()
            ids = tokenizer()
            self.backend = backends[grammar_backend](None, ids, len(ids), {ids.eos_token_id})

        def generate(self, prompt: str, sampling_params: dict[str, str]) -> dict[str, str]:
            del prompt
            ((kind, source),) = sampling_params.items()
            grammar = getattr(self.backend, f"dispatch_{kind.removesuffix('_schema')}")(source)
            return {"text": follow(grammar.engine)}

        def shutdown(self) -> None:
            self.backend._compiler.close()

    put("sglang.srt.constrained.base_grammar_backend", BaseGrammarBackend=object,
        BaseGrammarObject=object, GrammarRow=None, InvalidGrammarObject=None,
        register_vocab_mask_buffer=None,
        register_grammar_backend=backends.__setitem__)  # fmt: skip
    put("sglang.srt.runtime_context", get_serving=lambda: serving)
    put("sglang.srt.arg_groups.choices", add_grammar_backend_choices=list)
    put("sglang", Engine=Engine)
