"""Converted Lark grammars, run by our own engine over single bytes."""

import copy
from collections.abc import Callable

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import Conversion, from_lark
from kbnf_core.text.errors import EngineError, GrammarError

LEXING = {"earley+dynamic": "earley", "lalr+contextual": "lalr"}
"""How the modes of the example files are called here; everything else is LLGuidance's."""


def accepts_of(kbnf: str) -> Callable[[str], bool]:
    """Return our engine's verdict on whole texts; the empty one is decided by the start alone."""
    fresh = Engine(Grammar(kbnf), Vocabulary.bytes())

    def accepts(text: str) -> bool:
        engine = copy.copy(fresh)
        try:
            for byte in text.encode():
                engine.try_accept_new_token(byte)
        except EngineError:
            return False
        return engine.can_finish()

    return accepts


def converted(
    grammar: str, lexing: str | None, path: str | None = None, start: str | None = None
) -> Conversion | set[str]:
    """Return the conversion of a Lark grammar; for one with errors, their codes."""
    try:
        return from_lark(grammar, lexing=lexing, path=path, start=start)
    except GrammarError as error:
        return {finding.code for finding in error.diagnostics}
