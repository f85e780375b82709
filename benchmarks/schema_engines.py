"""Engines that take JSON Schemas, all with the same face; a missing one is left out.

The builders of this library and llguidance are those of ``maskbench``. ``grid-guardrail`` asks for
torch, and for ``grid_core``, its compiled kernel; without the kernel it is left out.
"""

import json
import warnings
from collections.abc import Callable, Collection
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.maskbench import Build, RefusedError, Session, ours, theirs
from benchmarks.vocabulary import EOS, Setting, all_bytes
from kbnf_core.languages.json_schema import Standard

OURS, LLGUIDANCE = "kbnf-toolkit", "llguidance"


class _BitsSession:
    """Calls two functions of an engine; ``fill`` writes into ``bits``."""

    def __init__(
        self,
        bits: Any,
        fill: Callable[[], object],
        accept: Callable[[int], bool],
        complete: Callable[[], bool] | None = None,
    ) -> None:
        self.bits = bits
        self.mask = fill
        self.accept = accept
        self.complete = complete or self._may_end

    def _may_end(self) -> bool:
        """Return whether the mask has the end of the text."""
        self.mask()
        return bool(self.bits[EOS // 32] >> EOS % 32 & 1)

    def prepare(self) -> None:
        """Do nothing: none of them works ahead."""


def _xgrammar(setting: Setting) -> Build:
    xgrammar = import_module("xgrammar")
    size = setting.vocabulary.size
    information = xgrammar.TokenizerInfo(
        all_bytes(setting.vocabulary), vocab_size=size, stop_token_ids=[EOS]
    )
    bits = xgrammar.allocate_token_bitmask(1, size)

    def begin(compiled: Any) -> Session:
        matcher = xgrammar.GrammarMatcher(compiled)
        fill = partial(matcher.fill_next_token_bitmask, bits)
        return _BitsSession(bits.numpy()[0], fill, matcher.accept_token)

    def build(schema: Any) -> Callable[[], Session]:
        compiler = xgrammar.GrammarCompiler(information, max_threads=1, cache_enabled=False)
        try:
            compiled = compiler.compile_json_schema(json.dumps(schema), any_whitespace=True)
        except Exception as error:
            raise RefusedError(str(error)) from None
        return partial(begin, compiled)

    return build


def _glrmask(setting: Setting) -> Build:
    glrmask = import_module("glrmask")
    vocabulary = glrmask.Vocab.from_id_to_bytes(dict(setting.vocabulary.tokens))
    bits = np.zeros((setting.vocabulary.size + 31) // 32, np.int32)

    def begin(constraint: Any) -> Session:
        state = constraint.start()
        return _BitsSession(
            bits, partial(state.fill_mask, bits), state.commit_token, state.is_accepting
        )

    def build(schema: Any) -> Callable[[], Session]:
        try:
            constraint = glrmask.Grammar.from_json_schema(schema).compile(vocabulary)
        except Exception as error:
            raise RefusedError(str(error)) from None
        return partial(begin, constraint)

    return build


class _GridTokenizer:
    """What grid-guardrail asks of a tokenizer."""

    eos_token_id = EOS

    def __init__(self, setting: Setting) -> None:
        vocabulary = setting.vocabulary
        ids = range(vocabulary.size)
        self.vocabulary = {str(token): token for token in ids}
        self.special_token_ids = frozenset(i for i in ids if i in vocabulary.special_ids)
        self._bytes = [vocabulary.token(token) or b"" for token in ids]
        self.token_bytes = self._bytes.__getitem__


def _grid(setting: Setting) -> Build:
    import_module("grid_core")
    warnings.filterwarnings("ignore", module="grid")
    spec = import_module("grid.jsonschema")
    projection = import_module("grid.grammar.projection").RoleProjection
    lalr, scanner = import_module("grid.lalr.compile"), import_module("grid.lexer.dfa")
    guide = import_module("grid.guide").GridGuide
    session = import_module("grid.models.vllm_structured").GridGrammarSession
    conflict = import_module("grid.errors").LALRConflictError
    tokenizer = _GridTokenizer(setting)
    trie = import_module("grid.trie.build").build_trie(tokenizer)
    bits = np.zeros((1, (setting.vocabulary.size + 31) // 32), np.int32)

    def compiled(schema: Any, unify: bool) -> Any:
        grammar, _ = spec.compile_json_schema_grammar(schema, unify_string_values=unify)
        tables = lalr.compile_tables(projection.full(grammar).build())
        dfa = scanner.build_scanner(grammar.terminals, grammar.terminal_order)
        return guide(tables=tables, dfa=dfa, trie=trie, adapter=tokenizer)

    def begin(template: Any) -> Session:
        request = session(template.copy())
        fill = partial(request.fill_bitmask, bits, 0)
        return _BitsSession(bits[0], fill, lambda token: request.accept_tokens("", [token]))

    def build(schema: Any) -> Callable[[], Session]:
        try:
            try:
                template = compiled(schema, False)
            except conflict:  # As its own benchmark does.
                template = compiled(schema, True)
        except Exception as error:
            raise RefusedError(str(error)) from None
        return partial(begin, template)

    return build


def _ours(setting: Setting) -> Build:
    _ = setting.vocabulary.trie
    # Masks are compared: numbers and dates are read as llguidance reads them.
    return ours(setting.vocabulary, Standard.LLGUIDANCE)


MAKERS: dict[str, Callable[[Setting], Build]] = {
    OURS: _ours,
    LLGUIDANCE: theirs,
    "glrmask": _glrmask,
    "xgrammar": _xgrammar,
    "grid-guardrail": _grid,
}


def make_builds(
    setting: Setting, wanted: Collection[str] = ()
) -> tuple[dict[str, Build], list[str]]:
    """Return the builders of the engines wanted that are installed, and the others' names.

    Without names all engines are wanted.
    """
    builds: dict[str, Build] = {}
    missing = []
    for name, make in MAKERS.items():
        if wanted and name not in wanted:
            continue
        try:
            builds[name] = make(setting)
        except ImportError:
            missing.append(name)
    return builds, missing
