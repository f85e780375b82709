"""Engines that take JSON Schemas, all with the same face; a missing one is left out.

The builders of this library and llguidance are those of ``maskbench``. ``grid-guardrail`` has no
adapter: what it publishes lacks the compiled kernel its own figures are of, and needs torch.
"""

import json
from collections.abc import Callable
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
        complete: Callable[[], bool],
    ) -> None:
        self.bits = bits
        self.mask = fill
        self.accept = accept
        self.complete = complete

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
        return _BitsSession(bits.numpy()[0], fill, matcher.accept_token, matcher.is_terminated)

    def build(schema: Any) -> Callable[[], Session]:
        compiler = xgrammar.GrammarCompiler(information, cache_enabled=False)
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


def make_builds(setting: Setting) -> tuple[dict[str, Build], list[str]]:
    """Return the builders of the engines that are installed, and the names of the others."""
    _ = setting.vocabulary.trie
    # Masks are compared: numbers and dates are read as llguidance reads them.
    builds = {OURS: ours(setting.vocabulary, Standard.LLGUIDANCE)}
    missing = []
    makers: dict[str, Callable[[Setting], Build]] = {
        LLGUIDANCE: theirs,
        "glrmask": _glrmask,
        "xgrammar": _xgrammar,
    }
    for name, make in makers.items():
        try:
            builds[name] = make(setting)
        except ImportError:
            missing.append(name)
    return builds, missing
