"""The engines that can be asked, each after one face: a schema or a grammar in, texts read.

All of this runs in a process of its own (``worker``): an engine may hang, or end its process.
Engines are asked with their defaults over a vocabulary of the 256 bytes, so that what they say is
about the schema and not about a tokenizer. ``ENGINES`` is the list.

llama.cpp is asked through its converter of schemas and its parser of GBNF. It ends the process at a
text that does not fit, so which texts fit is read off the GBNF that its converter wrote, by the
reader of GBNF of this library.

Tests: tests/unit/targets/test_process.py
"""

import json
import os
import re
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol


class RefusedError(Exception):
    """The engine does not take a schema or a grammar; the message is in its own words."""


class EngineReader(Protocol):
    """A schema or grammar that an engine has compiled."""

    def read(self, data: bytes) -> int | None:
        """Return None where the engine takes a text as a whole.

        Otherwise the number of bytes that it takes, all of them where the text may not end there.
        """


class Adapter(Protocol):
    """An engine that is loaded."""

    def compile(self, language: str, text: str, options: Mapping[str, Any]) -> EngineReader:
        """Compile a text of ``language``: ``json-schema``, ``gbnf`` or ``lark``.

        ``options`` are the engine's own, beside its defaults. Raises ``RefusedError``, and whatever
        the engine raises.
        """


@dataclass(frozen=True, slots=True)
class TargetEngine:
    """An engine: its name, the packages that bring it, and what it reads.

    ``packages`` are pairs of a module and a distribution, in the order in which they are looked
    for; ``extra`` installs it. ``defaults`` says how it is asked; ``language`` is that of its
    grammars. ``opens`` is an option with which objects are open that its default closes.
    """

    name: str
    packages: tuple[tuple[str, str], ...]
    extra: str
    defaults: str
    language: str | None
    load: Callable[[], Adapter]
    opens: tuple[str, Any] | None = None

    def version(self) -> str | None:
        """Return the version that is installed, with the package that brings it; None for none."""
        for module, distribution in self.packages:
            if find_spec(module) is not None:
                try:
                    number = version(distribution)
                except PackageNotFoundError:
                    number = "unknown"
                if distribution == self.name:
                    return number
                return f"{_build_of(module) or 'unknown build'} ({distribution} {number})"
        return None


def _build_of(module: str) -> str | None:
    """Return the build of llama.cpp in a package, where it says that (cyllama does)."""
    spec = find_spec(module)
    for folder in (spec and spec.submodule_search_locations) or ():
        try:
            build_config = json.loads(Path(folder, "build_config.json").read_text(encoding="utf-8"))
            return str(build_config["versions"]["llama_cpp_version"])
        except (OSError, ValueError, LookupError, TypeError):
            continue
    return None


_END = 256
"""The token that ends a text, after those of the bytes."""


def _bytes_taken(data: bytes, take: Callable[[int], bool], ends: Callable[[], bool]) -> int | None:
    for count, byte in enumerate(data):
        if not take(byte):
            return count
    return None if ends() else len(data)


class _XGrammar:
    def __init__(self) -> None:
        self._module = import_module("xgrammar")
        tokens = [*(bytes([byte]) for byte in range(256)), b"</s>"]
        information = self._module.TokenizerInfo(
            tokens, vocab_size=len(tokens), stop_token_ids=[_END]
        )
        self._compiler = self._module.GrammarCompiler(
            information, max_threads=1, cache_enabled=False
        )

    def compile(self, language: str, text: str, options: Mapping[str, Any]) -> EngineReader:
        if language == "json-schema":
            compiled = self._compiler.compile_json_schema(text, **options)
        else:
            compiled = self._compiler.compile_grammar(self._module.Grammar.from_ebnf(text))
        return _XGrammarReader(self._module, compiled)


class _XGrammarReader:
    def __init__(self, module: Any, compiled: Any) -> None:
        self._module = module
        self._compiled = compiled

    def read(self, data: bytes) -> int | None:
        matcher = self._module.GrammarMatcher(self._compiled)
        return _bytes_taken(data, matcher.accept_token, lambda: bool(matcher.accept_token(_END)))


class _LLGuidance:
    def __init__(self) -> None:
        module = import_module("llguidance")
        self._matcher, self._limits = module.LLMatcher, module.LLParserLimits
        self._tokenizer = module.LLTokenizer("byte")

    def compile(self, language: str, text: str, options: Mapping[str, Any]) -> EngineReader:
        is_schema = language == "json-schema"
        if is_schema:
            grammar = self._matcher.grammar_from_json_schema(text, **options)
        else:
            grammar = self._matcher.grammar_from_lark(text)
        # What a grammar can be given beside its text are limits.
        limits = self._limits(**({} if is_schema else options))
        return _LLGuidanceReader(
            lambda: self._matcher(self._tokenizer, grammar, log_level=0, limits=limits)
        )


class _LLGuidanceReader:
    def __init__(self, begin: Callable[[], Any]) -> None:
        self._begin = begin
        self._matcher = begin()
        if self._matcher.is_error():
            raise RefusedError(self._matcher.get_error())

    def read(self, data: bytes) -> int | None:
        matcher = self._matcher.deep_copy()
        taken = int(matcher.try_consume_tokens(list(data)))
        if matcher.is_error():
            # Copies share limits, which the texts before may have used up.
            self._matcher = self._begin()
            matcher = self._begin()
            taken = int(matcher.try_consume_tokens(list(data)))
        if matcher.is_error():
            raise RefusedError(matcher.get_error())
        if taken < len(data):
            return taken
        return None if matcher.is_accepting() else len(data)


class _OutlinesCore:
    def __init__(self) -> None:
        self._module = import_module("outlines_core")
        self._convert = import_module("outlines_core.json_schema").build_regex_from_schema
        tokens = {bytes([byte]): [byte] for byte in range(256)}
        self._vocabulary = self._module.Vocabulary(_END, tokens)

    def compile(self, language: str, text: str, options: Mapping[str, Any]) -> EngineReader:
        del language
        expression = self._convert(text, **options)
        return _OutlinesReader(self._module, self._module.Index(expression, self._vocabulary))


class _OutlinesReader:
    def __init__(self, module: Any, index: Any) -> None:
        self._index = index
        self._module = module

    def read(self, data: bytes) -> int | None:
        guide = self._module.Guide(self._index)

        def take(byte: int) -> bool:
            if byte not in guide.get_tokens():
                return False
            guide.advance(byte)
            return True

        return _bytes_taken(data, take, guide.is_finished)


class _LlamaCpp:
    """llama.cpp in ``llama-cpp-python`` or ``cyllama``, whichever is installed."""

    def __init__(self) -> None:
        has_bindings = find_spec("llama_cpp") is not None
        self._convert, self._parse = (_llama_cpp_python if has_bindings else _cyllama)()
        # Imports done here do not count as a cost of the first schema.
        OurReading('root ::= "a"').read(b"a")

    def compile(self, language: str, text: str, options: Mapping[str, Any]) -> EngineReader:
        del options
        grammar = self._convert(text) if language == "json-schema" else text
        error_text = self._parse(grammar)
        if error_text is not None:
            raise RefusedError(error_text)
        return OurReading(grammar)


class OurReading:
    """Texts of a GBNF grammar, as this library reads it."""

    def __init__(self, grammar: str) -> None:
        from kbnf_core.grammar import Grammar
        from kbnf_core.targets.judges import GrammarTexts

        self.read = GrammarTexts(Grammar.from_gbnf(grammar)).read


_Converted = tuple[Callable[[str], str], Callable[[str], "str | None"]]


def _llama_cpp_python() -> _Converted:
    module = import_module("llama_cpp")
    convert = import_module("llama_cpp.llama_grammar").json_schema_to_gbnf
    settings = module.llama_model_default_params()
    settings.n_gpu_layers = 0
    load = getattr(module, "llama_model_load_from_file", None) or module.llama_load_model_from_file
    with _model_file() as path:
        model = load(path.encode(), settings)
    vocabulary = module.llama_model_get_vocab(model)

    def parse(grammar: str) -> str | None:
        before = _stderr_size()
        sampler = module.llama_sampler_init_grammar(vocabulary, grammar.encode(), b"root")
        refused = _parse_error(before)
        if sampler:
            module.llama_sampler_free(sampler)
            return refused
        return refused or "llama.cpp cannot parse the grammar"

    return convert, parse


def _cyllama() -> _Converted:
    module = import_module("cyllama.llama.llama_cpp")
    settings = module.LlamaModelParams()
    settings.n_gpu_layers = 0
    with _model_file() as path:
        module.disable_logging()
        vocabulary = module.LlamaModel(path, settings).get_vocab()

    def parse(grammar: str) -> str | None:
        before = _stderr_size()
        sampler = module.LlamaSampler(module.LlamaSamplerChainParams())
        sampler.add_grammar(vocabulary, grammar, "root")
        return _parse_error(before)

    return module.json_schema_to_grammar, parse


_PARSE_ERROR = re.compile(rb"error parsing grammar: ([^\n]*)|failed to parse grammar")


def _stderr_size() -> int:
    return os.fstat(2).st_size


def _parse_error(before: int) -> str | None:
    """Return the parser's newest output, which it only prints: stderr is a file in a worker."""
    stderr_text = os.pread(2, 100_000, before)
    match = _PARSE_ERROR.search(stderr_text)
    if match is None:
        return None
    return f"error parsing grammar: {(match[1] or b'').decode('utf-8', 'replace')}"


@contextmanager
def _model_file() -> Iterator[str]:
    """Lend a file with the smallest model that llama.cpp loads: its grammars want a vocabulary."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bytes.gguf")
        path.write_bytes(_tiny_model())
        yield str(path)


_WIDTH = 32
_TEXT, _NUMBER, _FLOAT, _LIST, _INTEGER = 8, 4, 6, 9, 5
"""Types of values in GGUF."""


def _tiny_model() -> bytes:
    """Return a GGUF file: one layer of zeros, over tokens that are the bytes."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [2, 3, 3, *[6] * 256]
    numbers = {
        "llama.context_length": 8,
        "llama.embedding_length": _WIDTH,
        "llama.block_count": 1,
        "llama.feed_forward_length": _WIDTH,
        "llama.attention.head_count": 1,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    texts = {"general.architecture": "llama", "tokenizer.ggml.model": "llama"}
    fields = [_text(key) + struct.pack("<I", _TEXT) + _text(value) for key, value in texts.items()]
    fields += [_text(key) + struct.pack("<II", _NUMBER, value) for key, value in numbers.items()]
    epsilon = _text("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", _FLOAT, 1e-5)
    fields += [
        epsilon,
        _list("tokens", _TEXT, list(map(_text, tokens))),
        _list("scores", _FLOAT, [struct.pack("<f", 0.0)] * len(tokens)),
        _list("token_type", _INTEGER, [struct.pack("<i", kind) for kind in kinds]),
    ]
    square = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    shapes = {"token_embd": (_WIDTH, len(tokens)), "output_norm": (_WIDTH,)}
    shapes |= {f"blk.0.{name}": (_WIDTH, _WIDTH) for name in square}
    shapes |= {f"blk.0.{name}": (_WIDTH,) for name in ("attn_norm", "ffn_norm")}
    tensors, offset = [], 0
    for name, shape in shapes.items():
        sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        tensors.append(_text(f"{name}.weight") + sizes + struct.pack("<IQ", 0, offset))
        offset += 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields))
    head += b"".join((*fields, *tensors))
    return head + bytes(-len(head) % 32) + bytes(offset)


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _list(name: str, kind: int, items: list[bytes]) -> bytes:
    head = _text(f"tokenizer.ggml.{name}") + struct.pack("<IIQ", _LIST, kind, len(items))
    return head + b"".join(items)


ENGINES: Mapping[str, TargetEngine] = {
    engine.name: engine
    for engine in (
        TargetEngine(
            "xgrammar",
            (("xgrammar", "xgrammar"),),
            "xgrammar",
            "any_whitespace=True, strict_mode=True",
            "gbnf",
            _XGrammar,
            ("strict_mode", False),
        ),
        TargetEngine(
            "llguidance",
            (("llguidance", "llguidance"),),
            "llguidance",
            "whitespace_flexible=true",
            "lark",
            _LLGuidance,
        ),
        TargetEngine(
            "outlines-core",
            (("outlines_core", "outlines-core"),),
            "outlines-core",
            'whitespace_pattern="[ ]?", max_recursion_depth=3',
            None,
            _OutlinesCore,
        ),
        TargetEngine(
            "llama.cpp",
            (("llama_cpp", "llama-cpp-python"), ("cyllama", "cyllama")),
            "cyllama",  # The other one is built from source.
            "json_schema_to_grammar",
            "gbnf",
            _LlamaCpp,
        ),
    )
}
"""The engines that can be asked, by name."""


def words_of(error: BaseException) -> str:
    """Return an engine's message, on one line, without the time and the place in its source."""
    words_ = " ".join(str(error).split()) or type(error).__name__
    words_ = re.sub(r"^\[[\d:]+\] \S+:\d+: ", "", words_)
    try:
        words_ = json.loads(words_) if words_.startswith('"') else words_
    except ValueError:
        return words_[:500]
    return str(words_)[:500]
