"""One adapter for each engine, all with the same face."""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from benchmarks.vocabulary import BOS, EOS, Setting, all_bytes
from benchmarks.workloads import Workload
from kbnf_core import Config, Engine, Grammar

if TYPE_CHECKING:
    from collections.abc import Callable


class Matcher(Protocol):
    """An engine with one grammar."""

    def begin(self) -> object:
        """Go to the beginning of a text."""

    def mask(self) -> object:
        """Work out which tokens can come."""

    def accept(self, token: int, /) -> object:
        """Append a token."""


class Maker(Protocol):
    """An engine with the vocabulary loaded; ``name`` is what the report calls it."""

    name: str

    def make(self, workload: Workload) -> Matcher | None:
        """Return a matcher from the grammar's text, None where there is none for this engine."""


class Ours:
    """The library measured, with ``finish=eos`` as the peers have it."""

    name = "kbnf-toolkit"

    def __init__(self, setting: Setting) -> None:
        self.vocabulary = setting.vocabulary
        # Built once for a vocabulary and kept on disk, as the peers' are built once.
        _ = setting.vocabulary.trie

    def make(self, workload: Workload) -> "OurMatcher":
        """Return a matcher that has learnt nothing."""
        grammar = Grammar(_text(workload, "kbnf"))
        return OurMatcher(Engine(grammar, self.vocabulary, Config(finish="eos")))


class OurMatcher:
    """See ``Matcher``; the mask is written to an array, as by the peers but kbnf."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.bits = np.zeros((engine.vocabulary.size + 31) // 32, np.int32)
        self.begin = engine.reset
        self.mask = partial(engine.fill_bitmask, self.bits)
        self.accept = engine.try_accept_new_token


class OurMatcherInside:
    """See ``Matcher``; the mask stays inside the engine, as kbnf's does."""

    def __init__(self, matcher: OurMatcher) -> None:
        self.begin = matcher.begin
        self.mask = matcher.engine.compute_allowed_token_ids
        self.accept = matcher.accept


class LLGuidance:
    """llguidance, through its Python binding."""

    name = "llguidance"

    def __init__(self, setting: Setting) -> None:
        llguidance = import_module("llguidance")

        self._size = setting.vocabulary.size
        wrapper = llguidance.TokenizerWrapper(_Tokenizer(setting))
        self.tokenizer = llguidance.LLTokenizer(wrapper, n_vocab=self._size)

    def make(self, workload: Workload) -> "LLGuidanceMatcher":
        """Return a matcher."""
        llguidance = import_module("llguidance")

        grammar = llguidance.LLMatcher.grammar_from_lark(_text(workload, "lark"))
        return LLGuidanceMatcher(self.tokenizer, grammar, self._size)


class _Tokenizer:
    """What llguidance asks of a tokenizer."""

    bos_token_id = BOS

    def __init__(self, setting: Setting) -> None:
        vocabulary = setting.vocabulary
        self.eos_token_id = min(vocabulary.eos_token_ids)
        self._encode = setting.encode
        self.tokens = all_bytes(vocabulary)
        self.special_token_ids = [i for i in range(vocabulary.size) if i in vocabulary.special_ids]

    def __call__(self, text: str | bytes) -> list[int]:
        return self._encode(text if isinstance(text, str) else text.decode("utf-8", "replace"))


class LLGuidanceMatcher:
    """See ``Matcher``."""

    def __init__(self, tokenizer: Any, grammar: str, size: int) -> None:
        llguidance = import_module("llguidance")
        llguidance_numpy = import_module("llguidance.numpy")

        # To make a matcher is to compile the grammar: once.
        self._matcher = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
        if self._matcher.is_error():
            raise ValueError(self._matcher.get_error())
        self._fill = llguidance_numpy.fill_next_token_bitmask
        self.bits = llguidance_numpy.allocate_token_bitmask(1, size)
        self.begin: Callable[[], object] = self._matcher.reset

    def mask(self) -> None:
        """See ``Matcher``."""
        self._fill(self._matcher, self.bits, 0)

    def accept(self, token: int) -> None:
        """See ``Matcher``."""
        if not self._matcher.consume_token(token):
            raise ValueError(self._matcher.get_error())


class KbnfRust:
    """kbnf of crates.io and PyPI. Its language finishes at the end of a token."""

    name = "kbnf (Rust)"

    def __init__(self, setting: Setting) -> None:
        kbnf = import_module("kbnf")

        tokens = setting.vocabulary.tokens
        self._vocabulary = kbnf.Vocabulary(
            {key: kbnf.Token(data) for key, data in tokens.items()},
            {key: data.decode("utf-8", "replace") for key, data in tokens.items()},
        )

    def make(self, workload: Workload) -> "KbnfRustMatcher":
        """Return a matcher."""
        kbnf = import_module("kbnf")

        text = workload.grammar("kbnf-rust") or _text(workload, "kbnf")
        return KbnfRustMatcher(kbnf.Engine(text, self._vocabulary))


class KbnfRustMatcher:
    """See ``Matcher``; the mask stays inside the engine."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.begin = engine.reset
        self.mask = engine.compute_allowed_token_ids
        self.accept = engine.try_accept_new_token


class XGrammar:
    """XGrammar with its generic EBNF."""

    name = "xgrammar"

    def __init__(self, setting: Setting) -> None:
        xgrammar = import_module("xgrammar")

        self._size = setting.vocabulary.size
        self._information = xgrammar.TokenizerInfo(
            all_bytes(setting.vocabulary), vocab_size=self._size, stop_token_ids=[EOS]
        )

    def make(self, workload: Workload) -> "XGrammarMatcher":
        """Return a matcher; nothing is kept from an earlier one."""
        return self.compile(self.compiler(cached=False), workload)

    def compiler(self, cached: bool) -> Any:
        """Return a compiler, which keeps what it compiled or does not."""
        xgrammar = import_module("xgrammar")

        return xgrammar.GrammarCompiler(self._information, cache_enabled=cached)

    def compile(self, compiler: Any, workload: Workload) -> "XGrammarMatcher":
        """Return a matcher by a compiler."""
        return XGrammarMatcher(compiler.compile_grammar(_text(workload, "gbnf")), self._size)


class XGrammarMatcher:
    """See ``Matcher``."""

    def __init__(self, compiled: Any, size: int) -> None:
        xgrammar = import_module("xgrammar")

        self._new: Callable[[], Any] = lambda: xgrammar.GrammarMatcher(compiled)
        self._bits = xgrammar.allocate_token_bitmask(1, size)
        self.begin()

    def begin(self) -> None:
        """See ``Matcher``."""
        self._matcher = self._new()

    def mask(self) -> None:
        """See ``Matcher``."""
        self._matcher.fill_next_token_bitmask(self._bits)

    def accept(self, token: int) -> None:
        """See ``Matcher``."""
        if not self._matcher.accept_token(token):
            raise ValueError(f"token {token} was refused")


class OutlinesCore:
    """outlines-core; regular languages only."""

    name = "outlines-core"

    def __init__(self, setting: Setting) -> None:
        outlines_core = import_module("outlines_core")

        by_bytes: dict[bytes, list[int]] = {}
        for token, data in setting.vocabulary.tokens.items():
            by_bytes.setdefault(data, []).append(token)
        self._size = setting.vocabulary.size
        self._vocabulary = outlines_core.Vocabulary(EOS, by_bytes)

    def make(self, workload: Workload) -> "OutlinesMatcher | None":
        """Return a matcher; the index is made anew."""
        outlines_core = import_module("outlines_core")

        text = workload.grammar("regex")
        if text is None:
            return None
        return OutlinesMatcher(
            outlines_core.Guide(outlines_core.Index(text, self._vocabulary)), self._size
        )


class OutlinesMatcher:
    """See ``Matcher``."""

    def __init__(self, guide: Any, size: int) -> None:
        self._guide = guide
        self._bits = np.zeros((size + 31) // 32, np.int32)
        self.begin = guide.reset

    def mask(self) -> None:
        """See ``Matcher``."""
        bits = self._bits
        self._guide.write_mask_into(bits.ctypes.data, bits.size, bits.itemsize)

    def accept(self, token: int) -> None:
        """See ``Matcher``."""
        self._guide.advance(token, False)


class GLRMask:
    """glrmask with the grammars for llguidance."""

    name = "glrmask"

    def __init__(self, setting: Setting) -> None:
        glrmask = import_module("glrmask")

        self._size = setting.vocabulary.size
        self._vocabulary = glrmask.Vocab.from_id_to_bytes(dict(setting.vocabulary.tokens))

    def make(self, workload: Workload) -> "GLRMaskMatcher":
        """Return a matcher."""
        glrmask = import_module("glrmask")

        grammar = glrmask.Grammar.from_lark(_text(workload, "lark"))
        return GLRMaskMatcher(grammar.compile(self._vocabulary), self._size)


class GLRMaskMatcher:
    """See ``Matcher``."""

    def __init__(self, constraint: Any, size: int) -> None:
        self._constraint = constraint
        self._bits = np.zeros((size + 31) // 32, np.int32)
        self.begin()

    def begin(self) -> None:
        """See ``Matcher``."""
        self._state = self._constraint.start()

    def mask(self) -> None:
        """See ``Matcher``."""
        self._state.fill_mask(self._bits)

    def accept(self, token: int) -> None:
        """See ``Matcher``."""
        if not self._state.commit_token(token):
            raise ValueError(f"token {token} was refused")


def _text(workload: Workload, form: str) -> str:
    text = workload.grammar(form)
    if text is None:
        raise LookupError(f"{workload.name} has no {form} grammar")
    return text


PEERS: tuple[type[Any], ...] = (LLGuidance, GLRMask, KbnfRust, XGrammar, OutlinesCore)


def make_peers(setting: Setting) -> tuple[list[Maker], list[str]]:
    """Return the peers that are installed, and the names of the others."""
    makers: list[Maker] = []
    missing: list[str] = []
    for peer in PEERS:
        try:
            makers.append(peer(setting))
        except ImportError:
            missing.append(peer.name)
    return makers, missing
