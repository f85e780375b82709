"""vLLM and SGLang without themselves: stand-ins, and their own files from their wheels.

A stand-in has as much of a module as our adapters and the servers' own files use. Where
``tests/serving/hosts.py`` has fetched those files, ``REAL`` take the place of the stand-ins.
"""

import ast
import enum
import importlib.util
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import pytest
from pydantic import BaseModel

from kbnf_testing.hosts import put

ROOT = Path(__file__).resolve().parents[3]
HOSTS = ROOT / ".hosts"
PLACES = [ROOT / "integrations" / name for name in ("kbnf-vllm", "kbnf-sglang")]


class Object:
    """SGLang's ``BaseGrammarObject``."""

    def __init__(self) -> None:
        self.finished = False

    @staticmethod
    def fill_vocab_mask_batched(entries: Any, vocab_mask: Any) -> None:
        """Fill the rows one by one."""
        for entry in entries:
            entry.grammar.fill_vocab_mask(vocab_mask, entry.row)


class InvalidGrammarObject(Object):
    """SGLang's value of a refusal."""

    def __init__(self, error_message: str) -> None:
        super().__init__()
        self.error_message = error_message


class Row(NamedTuple):
    """SGLang's ``GrammarRow``."""

    row: int
    grammar: Any


class Options(enum.Enum):
    """vLLM's kinds of requests."""

    JSON = 1
    JSON_OBJECT = 2
    REGEX = 3
    GRAMMAR = 4
    CHOICE = 5
    STRUCTURAL_TAG = 6


class Backend:
    """vLLM's ``StructuredOutputBackend``, SGLang's ``BaseGrammarBackend``."""

    def __init__(self, *settings: Any) -> None:
        self.vllm_config, self.tokenizer, self.vocab_size = settings or (None, None, 0)


class Reasoner:
    """SGLang's backend that waits for the end of reasoning."""

    def __init__(
        self, backend: Any, parser: Any, tokenizer: Any, enable_strict_thinking: bool
    ) -> None:
        self.grammar_backend = backend
        self.settings = parser, tokenizer, enable_strict_thinking


class ByRequest:
    """vLLM's ``AdapterLogitsProcessor``: a callable a request."""

    def __init__(self, *settings: Any) -> None:
        self.settings = settings
        self.rows: dict[int, Any] = {}

    def update_state(self, update: Any) -> None:
        """Take the requests that have come."""
        for row, params, _, output in update.added:
            made = self.new_req_logits_processor(params)  # type: ignore[attr-defined] # abstract
            self.rows[row] = made and (made, output)

    def apply(self, logits: Any) -> Any:
        """Constrain the rows of requests that ask for it."""
        for row, made in self.rows.items():
            if made:
                logits[row] = made[0](made[1], logits[row])
        return logits


class OnDevice:
    """vLLM's ``LogitsProcessor`` of its model runner V2."""

    def __init__(self, *settings: Any) -> None:
        self.settings = settings


class ValidationError(ValueError):
    """vLLM's answer to a request that cannot be used."""


class Batch(NamedTuple):
    """vLLM's ``BatchUpdate``."""

    batch_size: int
    removed: Any
    added: Any
    moved: Any


class Reply(SimpleNamespace):
    """A part of an answer: vLLM's deltas and calls, SGLang's results and calls."""

    id = "call_1"
    content = normal_text = None
    name = arguments = None
    tool_calls: Any = ()
    calls: Any = ()


class Parsers:
    """vLLM's ``ToolParserManager``, SGLang's ``FunctionCallParser``: parsers by their names."""

    lazy_parsers: ClassVar[dict[str, tuple[str, str]]] = {}
    ToolCallParserEnum: ClassVar[dict[str, Any]] = {}

    @classmethod
    def register_lazy_module(cls, name: str, module_path: str, class_name: str) -> None:
        """Note where a parser is."""
        cls.lazy_parsers[name] = module_path, class_name


class Parser:
    """vLLM's ``ToolParser``, SGLang's ``BaseFormatDetector``."""

    def __init__(self, *settings: Any) -> None:
        self.settings = settings
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.streamed_args_for_tool: list[str] = []
        self.current_tool_id = -1

    def adjust_request(self, request: Any) -> Any:
        """Leave a request as it is."""
        return request

    def _get_tool_indices(self, tools: list[Any]) -> dict[str, int]:
        return {tool.function.name: number for number, tool in enumerate(tools)}


def _buffer(name: str, mask: Any, rows: int) -> Any:
    assert (len(mask), bool(name)) == (rows, True)
    return mask


def _same(value: Any) -> Any:
    return value


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def _without_padding(tokens: list[int]) -> list[int]:
    return tokens[: tokens.index(-1)] if -1 in tokens else tokens


def _settings(**values: Any) -> Any:
    """Return settings of SGLang's environment."""
    return SimpleNamespace(**{k: SimpleNamespace(get=lambda v=v: v) for k, v in values.items()})


class Detector:
    """SGLang's detector of reasoning, of a model that ends it by the token of ``|``."""

    think_end_token = "|"
    think_excluded_tokens = ()

    @staticmethod
    def get_think_end_token_ids(tokenizer: Any) -> list[int]:
        """Return what ends reasoning."""
        return [tokenizer.token_to_id("|")]

    @staticmethod
    def get_answer_frame() -> None:
        """Return that answers have no frame."""


SERVING = SimpleNamespace(
    constrained_json_whitespace_pattern=None,
    constrained_json_disable_any_whitespace=False,
    reasoning_parser="",
    enable_strict_thinking=False,
    skip_tokenizer_init=False,
)
REGISTRY: dict[str, Any] = {}
CHOICES: list[str] = []
TOKENIZERS: list[Any] = []
"""The tokenizer of the model that a server is thought to have."""

LOGGER = logging.getLogger("server")

_REPLIES = (
    "DeltaFunctionCall", "DeltaMessage", "DeltaToolCall", "ExtractedToolCallInformation",
    "FunctionCall", "ToolCall", "StreamingParseResult", "ToolCallItem",
)  # fmt: skip

STANDINS: dict[str, dict[str, Any]] = {
    "orjson": {},
    "partial_json_parser.core.exceptions": {"MalformedJSON": ValueError},
    "partial_json_parser.core.options": {"Allow": None},
    "sglang.srt.function_call.base_format_detector": {"BaseFormatDetector": Parser},
    "sglang.srt.function_call.core_types": dict.fromkeys(_REPLIES, Reply),
    "sglang.srt.function_call.function_call_parser": {"FunctionCallParser": Parsers},
    "sglang.srt.arg_groups.choices": {
        "add_grammar_backend_choices": CHOICES.extend, "GRAMMAR_BACKEND_CHOICES": CHOICES,
    },
    "sglang.srt.constrained.base_grammar_backend": {
        "BaseGrammarBackend": Backend, "BaseGrammarObject": Object, "GrammarRow": Row,
        "InvalidGrammarObject": InvalidGrammarObject, "GRAMMAR_BACKEND_REGISTRY": REGISTRY,
        "register_vocab_mask_buffer": _buffer,
        "register_grammar_backend": REGISTRY.__setitem__,
    },
    "sglang.srt.constrained.reasoner_grammar_backend": {
        "ReasonerGrammarBackend": Reasoner, "ReasonerGrammarObject": object,
    },
    "sglang.srt.distributed.communication_tags": {"P2PTag": None},
    "sglang.srt.environ": {
        "envs": _settings(
            SGLANG_MAX_THINK_TOKENS=-1, SGLANG_GRAMMAR_POLL_INTERVAL=0.02, SGLANG_PLUGINS=None,
            SGLANG_GRAMMAR_MAX_POLL_ITERATIONS=500, SGLANG_PLATFORM=None,
            SGLANG_TOOL_STRICT_LEVEL=0,
        ),
    },
    "sglang.srt.parser.reasoning_parser": {
        "ReasoningParser": lambda **settings: SimpleNamespace(detector=Detector, **settings),
    },
    "sglang.srt.parser.response_template": {"ResponseTemplateReasoningDetector": type(None)},
    "sglang.srt.runtime_context": {
        "get_serving": lambda: SERVING, "get_context": None,
        "get_exec": lambda: SimpleNamespace(kernel=SimpleNamespace(grammar_backend="kbnf")),
        "get_parallel": lambda: SimpleNamespace(pp_rank=0, pp_size=1),
        "get_resources": lambda: SimpleNamespace(buffers={}),
    },
    "sglang.srt.sampling.sampling_params": {
        "get_request_reasoning_end_token_ids": lambda *_, **__: None,
        "get_request_reasoning_in_grammar": lambda _: False,
    },
    "sglang.srt.server_args": {"ServerArgs": object},
    "sglang.srt.utils": {},
    "vllm": {"SamplingParams": object},
    "vllm.config": {"VllmConfig": object},
    "vllm.entrypoints.generate.base.protocol": dict.fromkeys(_REPLIES, Reply),
    "vllm.entrypoints.serve.engine.protocol": {"OpenAIBaseModel": BaseModel},
    "vllm.envs": {"VLLM_MAX_STOP_STRINGS": 16, "VLLM_ENFORCE_STRICT_TOOL_CALLING": False},
    "vllm.renderers.chat_utils": {"make_tool_call_id": lambda: "call_1"},
    "vllm.tool_parsers.abstract_tool_parser": {
        "ToolParser": Parser, "ToolParserManager": Parsers,
    },
    "vllm.tool_parsers.tool_strict_level": {"ToolStrictLevel": SimpleNamespace(AUTO=0)},
    "vllm.tool_parsers.utils": {
        "Tool": object, "get_json_schema_from_tools": lambda **settings: settings and None,
    },
    "vllm.exceptions": {"VLLMValidationError": ValidationError},
    "vllm.logger": {"init_logger": lambda _: LOGGER},
    "vllm.logits_process": {"LogitsProcessor": object},
    "vllm.parser.engine.adapters": {"ParserEngineReasoningAdapter": type(None)},
    "vllm.platforms": {"current_platform": SimpleNamespace(is_tpu=lambda: False)},
    "vllm.reasoning": {"ReasoningParserManager": None},
    "vllm.sampling_params": {"SamplingParams": object, "StructuredOutputsParams": object},
    "vllm.tokenizers": {
        "TokenizerLike": object,
        "cached_tokenizer_from_config": lambda model_config: TOKENIZERS[-1],  # noqa: ARG005 - its name
    },
    "vllm.utils.import_utils": {"LazyLoader": lambda _, __, name: importlib.import_module(name)},
    "vllm.utils.torch_utils": {"guard_cuda_initialization": _nothing, "async_tensor_h2d": None},
    "vllm.v1.sample.logits_processor": {
        "AdapterLogitsProcessor": ByRequest, "BatchUpdate": Batch,
    },
    "vllm.v1.structured_output": {"GuidanceBackend": object},
    "vllm.v1.structured_output.backend_guidance": {
        "GuidanceBackend": object, "validate_guidance_grammar": None,
    },
    "vllm.v1.structured_output.backend_types": {
        "StructuredOutputBackend": Backend, "StructuredOutputGrammar": object,
        "StructuredOutputOptions": Options,
    },
    "vllm.v1.structured_output.backend_xgrammar": {"XgrammarBackend": object},
    "vllm.v1.structured_output.request": {"get_structured_output_key": _same},
    "vllm.v1.structured_output.utils": {"strip_speculative_padding": _without_padding},
    "vllm.v1.worker.gpu.sample.logits_processor": {"LogitsProcessor": OnDevice},
}  # fmt: skip
_OF_CALLS = (
    "sglang.srt.function_call.core_types",
    "sglang.srt.function_call.base_format_detector",
    "sglang.srt.function_call.function_call_parser",
    "vllm.entrypoints.generate.base.protocol",
    "vllm.tool_parsers.abstract_tool_parser",
)
"""Files that import most of their server, for which empty classes stand in."""

REAL = (
    "sglang.srt.arg_groups.choices",
    "sglang.srt.utils.token_sequence_matcher",
    "sglang.srt.constrained.base_grammar_backend",
    "sglang.srt.constrained.reasoner_grammar_backend",
    "sglang.srt.constrained.grammar_manager",
    "sglang.srt.plugins",
    "vllm.v1.structured_output.backend_types",
    "vllm.v1.structured_output",
    "vllm.v1.sample.logits_processor",
    "vllm.v1.worker.gpu.sample.logits_processor",
    *_OF_CALLS,
)
"""In an order in which each finds what it imports."""


def _stand_in(file: Path, program: str) -> None:
    """Put classes in the place of imports from the program that have no stand-in."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == program:
            held = put(str(node.module))
            for each in node.names:
                if not hasattr(held, each.name):
                    setattr(held, each.name, type(each.name, (BaseModel,), {}))


def _load(name: str) -> None:
    """Run a server's own file in the place of its stand-in."""
    path = HOSTS / name.replace(".", "/")
    is_package = path.is_dir()
    file = path / "__init__.py" if is_package else path.with_suffix(".py")
    before = vars(sys.modules[name]) if name in sys.modules else {}
    submodules = {k: v for k, v in before.items() if isinstance(v, ModuleType)}
    spec = importlib.util.spec_from_file_location(
        name, file, submodule_search_locations=[str(path)] if is_package else None
    )
    assert spec is not None
    assert spec.loader is not None
    put(name)
    holder, _, last = name.rpartition(".")
    if name in _OF_CALLS:
        _stand_in(file, name.partition(".")[0])
    module = importlib.util.module_from_spec(spec)
    vars(module).update(submodules)
    sys.modules[name] = module
    setattr(sys.modules[holder], last, module)
    spec.loader.exec_module(module)


_PROGRAMS = ("vllm", "sglang", "kbnf_vllm", "kbnf_sglang", "orjson", "partial_json_parser")


def _forget() -> None:
    for name in list(sys.modules):
        if name.split(".")[0] in _PROGRAMS:
            del sys.modules[name]


def need_wheels() -> None:
    """Skip a test of the servers' own files where those, or what they import, are missing."""
    if not HOSTS.exists():
        pytest.skip("tests/serving/hosts.py has fetched no files of servers")
    pytest.importorskip("openai")


@contextmanager
def installed(tokenizer: Any, *, is_real: bool) -> Iterator[None]:
    """Have both servers' modules, and our distributions for them, to import; forget them after."""
    path = list(sys.path)
    sys.path[:0] = map(str, PLACES)
    _forget()
    TOKENIZERS.append(tokenizer)
    try:
        for name, members in STANDINS.items():
            put(name, **members)
        for name in REAL if is_real else ():
            _load(name)
        REGISTRY.clear()
        CHOICES.clear()
        yield
    finally:
        TOKENIZERS.clear()
        _forget()
        sys.path[:] = path
