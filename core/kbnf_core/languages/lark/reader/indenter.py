"""Lark's ``Indenter`` as a value: the names of its terminals, and the width of a tab.

Lark calls it between lexer and parser. Outside brackets a newline is followed by ``INDENT_type`` if
the next line is further in, and by ``DEDENT_type`` for each block that it ends; inside brackets
newlines are dropped. ``lexer.layout`` and ``lexer.indentation`` make rules of that.

A grammar that declares ``_INDENT`` and ``_DEDENT`` is read with an indenter also where none is
given: with that of Lark's own Python grammar, whose newlines are called ``_NEWLINE`` or ``_NL``.

Tests: tests/unit/languages/lark/test_indenter.py
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from kbnf_core.languages.lark.lexer.lark_terminals import LarkFactory
from kbnf_core.languages.lark.reader.model import Layout, Lexeme, Terminal
from kbnf_core.languages.lark.reader.modules import Gathered
from kbnf_core.languages.lark.reader.report import INVALID, RefusedError
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.source import Span

ATTRIBUTES = (
    "NL_type",
    "INDENT_type",
    "DEDENT_type",
    "OPEN_PAREN_types",
    "CLOSE_PAREN_types",
    "tab_len",
)
"""What Lark's class has."""

_NEWLINES = ("_NEWLINE", "_NL")
_USUAL = {
    "INDENT_type": "_INDENT",
    "DEDENT_type": "_DEDENT",
    "OPEN_PAREN_types": ["LPAR", "LSQB", "LBRACE"],
    "CLOSE_PAREN_types": ["RPAR", "RSQB", "RBRACE"],
    "tab_len": 8,
}


@dataclass(frozen=True, slots=True)
class Indenter:
    """The attributes of Lark's class under names of our own; ``tab`` is in columns."""

    newline: str
    indent: str
    dedent: str
    opening: frozenset[str]
    closing: frozenset[str]
    tab: int


def attributes_of(postlex: Any) -> dict[str, Any]:
    """Return the attributes of an ``Indenter`` of Lark, an object or a class, by their names.

    Raises ``ConfigError`` for anything else.
    """
    missing = [name for name in ATTRIBUTES if not hasattr(postlex, name)]
    if missing:
        raise ConfigError(f"postlex must be an Indenter of Lark; it has no `{missing[0]}`")
    found = {name: getattr(postlex, name) for name in ATTRIBUTES}
    brackets = {name: list(value) for name, value in found.items() if name.endswith("PAREN_types")}
    indenter_of({**found, **brackets})
    return {**found, **brackets}


def indenter_of(attributes: Mapping[str, Any] | None) -> Indenter | None:
    """Return the indenter with these attributes; None for None. Raises ``ConfigError``."""
    if attributes is None:
        return None
    missing = [name for name in ATTRIBUTES if name not in attributes]
    if missing or set(attributes) - set(ATTRIBUTES):
        raise ConfigError(f"an indenter has the attributes {', '.join(ATTRIBUTES)}")
    *names, opening, closing, tab = (attributes[name] for name in ATTRIBUTES)
    if not all(isinstance(name, str) for name in (*names, *opening, *closing)):
        raise ConfigError("an indenter has the names of terminals, and `tab_len`")
    if not isinstance(tab, int) or tab < 1:
        raise ConfigError(f"`tab_len` must be a number of columns, not {tab!r}")
    return Indenter(*names, frozenset(opening), frozenset(closing), tab)


def usual_indenter(gathered: Gathered) -> Indenter | None:
    """Return the indenter that the names of a grammar ask for, if they do."""
    newline = next((name for name in _NEWLINES if name in gathered.entries), None)
    if newline is None or not {"_INDENT", "_DEDENT"} <= gathered.declared:
        return None
    return indenter_of({"NL_type": newline, **_USUAL})


class Marks(NamedTuple):
    """The terminals of an indenter in one grammar: two that no text matches, and the newline."""

    indenter: Indenter
    indent: Terminal
    dedent: Terminal

    @classmethod
    def of(cls, indenter: Indenter, span: Span) -> "Marks":
        """Return new terminals at the place of the declaration."""
        made = (_mark(name, span) for name in (indenter.indent, indenter.dedent))
        return cls(indenter, *made)

    def named(self, name: str) -> Terminal | None:
        """Return the terminal of this name, if it is one of the two that are declared."""
        by_name = {self.indent.key: self.indent, self.dedent.key: self.dedent}
        return by_name.get(name)

    def layout(self, factory: LarkFactory, gathered: Gathered, span: Span) -> Layout:
        """Return what later passes ask for. Raises ``RefusedError`` where the newline is missing."""
        name = self.indenter.newline
        if gathered.entry(name) is None:
            raise RefusedError(INVALID, f"the indenter's newline, `{name}`, is not defined")
        found = factory.named(name, span)
        if not isinstance(found, Lexeme):
            raise RefusedError(INVALID, f"the indenter's newline, `{name}`, matches nothing")
        indenter = self.indenter
        return Layout(
            found.terminal,
            self.indent,
            self.dedent,
            indenter.opening,
            indenter.closing,
            indenter.tab,
        )


def _mark(name: str, span: Span) -> Terminal:
    from kbnf_core.automata import operations
    from kbnf_core.languages.lark.lexer.lookahead import ANYTHING

    # Analyses want words: this one is in no rule once the marks are gone.
    dfa = operations.literal(b"\0")
    return Terminal(name, name, dfa, span, (ANYTHING,) * dfa.state_count)
