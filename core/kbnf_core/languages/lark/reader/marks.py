"""The marks of an indenter in one grammar: its newline, and the terminals that are declared.

A grammar that declares ``_INDENT`` and ``_DEDENT`` is read with an indenter also where none is
given: with that of Lark's own Python grammar, whose newlines are called ``_NEWLINE`` or ``_NL``.

Tests: tests/unit/languages/lark/test_indenter.py
"""

from typing import NamedTuple

from kbnf_core.automata import operations
from kbnf_core.languages.lark.indenter import Indenter
from kbnf_core.languages.lark.lexer.lark_terminals import LarkFactory
from kbnf_core.languages.lark.lexer.lookahead import ANYTHING
from kbnf_core.languages.lark.reader.model import IndenterTerminals, LarkTerminal, Lexeme
from kbnf_core.languages.lark.reader.modules import Gathered
from kbnf_core.languages.lark.reader.report import INVALID, LarkRefusedError
from kbnf_core.languages.lark.reader.tree import Declare, LarkDocument
from kbnf_core.text.source import Span

_NEWLINES = ("_NEWLINE", "_NL")
_OPENING = frozenset({"LPAR", "LSQB", "LBRACE"})
_CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})
_USUAL_MARKS = frozenset({"_INDENT", "_DEDENT"})


def declares_blocks(document: LarkDocument) -> bool:
    """Return whether a file declares the usual marks of blocks, which LLGuidance never matches."""
    declared = (line.names for line in document.statements if isinstance(line, Declare))
    return {name.value for names in declared for name in names} >= _USUAL_MARKS


def usual_indenter(gathered: Gathered) -> Indenter | None:
    """Return the indenter that the names of a grammar ask for, if they do."""
    newline = next((name for name in _NEWLINES if name in gathered.entries), None)
    if newline is None or not gathered.declared >= _USUAL_MARKS:
        return None
    return Indenter(newline, "_INDENT", "_DEDENT", _OPENING, _CLOSING, tab=8)


class Marks(NamedTuple):
    """The terminals of an indenter in one grammar: two that no text matches, and the newline."""

    indenter: Indenter
    indent: LarkTerminal
    dedent: LarkTerminal

    @classmethod
    def of(cls, indenter: Indenter, span: Span) -> "Marks":
        """Return new terminals at the place of the declaration."""
        made = (_mark(name, span) for name in (indenter.indent, indenter.dedent))
        return cls(indenter, *made)

    def named(self, name: str) -> LarkTerminal | None:
        """Return the terminal with a name, or None unless it is the indent or the dedent."""
        by_name = {self.indent.key: self.indent, self.dedent.key: self.dedent}
        return by_name.get(name)

    def layout(self, factory: LarkFactory, gathered: Gathered, span: Span) -> IndenterTerminals:
        """Return what later passes ask for. Raises ``LarkRefusedError`` without a newline."""
        name = self.indenter.newline
        if gathered.entry(name) is None:
            raise LarkRefusedError(INVALID, f"the indenter's newline, `{name}`, is not defined")
        newline = factory.named(name, span)
        if not isinstance(newline, Lexeme):
            raise LarkRefusedError(INVALID, f"the indenter's newline, `{name}`, matches nothing")
        indenter = self.indenter
        return IndenterTerminals(
            newline.terminal,
            self.indent,
            self.dedent,
            indenter.opening,
            indenter.closing,
            indenter.tab,
        )


def _mark(name: str, span: Span) -> LarkTerminal:
    # Analyses want words: this one is in no rule once the marks are gone.
    dfa = operations.literal(b"\0")
    return LarkTerminal(name, name, dfa, span, (ANYTHING,) * dfa.state_count)
