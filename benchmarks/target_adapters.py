"""Engines as ``benchmarks.engines_on_tools`` asks them, beside those of ``kbnf_core.targets``.

They are in a module of their own because each engine runs in a process that imports it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kbnf_core.grammar import Grammar
from kbnf_core.targets.engines import ENGINES, Adapter, EngineReader, RefusedError
from kbnf_core.targets.judges import GrammarTexts
from kbnf_core.text.errors import KbnfError

STRICTEST: Mapping[str, Mapping[str, Any]] = {
    "xgrammar": {"any_whitespace": False, "strict_mode": True},
    "llguidance": {"overrides": {"whitespace_flexible": False, "lenient": False}},
    "outlines-core": {"whitespace_pattern": ""},
}
"""The options of each engine that allow least; llama.cpp has none."""


class Ours:
    """kbnf, asked as the others are."""

    def compile(self, language: str, text: str, options: Mapping[str, Any]) -> EngineReader:
        """Compile a schema. Raises ``RefusedError``."""
        del language, options
        try:
            texts = GrammarTexts(Grammar.from_json_schema(text))
            texts.start  # noqa: B018 - the first mask's tables are part of the cost
        except KbnfError as error:
            raise RefusedError(str(error)) from None
        return texts


@dataclass(frozen=True, slots=True)
class Strictest:
    """Loads an engine with its strictest options, in the process that asks it."""

    name: str

    def __call__(self) -> Adapter:
        """Return the engine."""
        return _WithOptions(ENGINES[self.name].load(), STRICTEST[self.name])


@dataclass(frozen=True, slots=True)
class _WithOptions:
    adapter: Adapter
    options: Mapping[str, Any]

    def compile(self, language: str, text: str, options: Mapping[str, Any]) -> EngineReader:
        return self.adapter.compile(language, text, {**self.options, **options})
