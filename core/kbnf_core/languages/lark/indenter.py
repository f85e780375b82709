"""Lark's ``Indenter`` as a value: the names of its terminals, and the width of a tab.

Lark calls it between lexer and parser. Outside brackets a newline is followed by ``INDENT_type`` if
the next line is further in, and by ``DEDENT_type`` for each block that it ends; inside brackets
newlines are dropped. ``lexer.layout`` and ``lexer.indentation`` make rules of that.

Tests: tests/unit/languages/lark/test_indenter.py
"""

from dataclasses import dataclass
from typing import Any

from kbnf_core.text.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Indenter:
    """The attributes of Lark's class under names of our own; ``tab`` is in columns."""

    newline: str
    indent: str
    dedent: str
    opening: frozenset[str]
    closing: frozenset[str]
    tab: int


_ATTRIBUTES = (
    "NL_type",
    "INDENT_type",
    "DEDENT_type",
    "OPEN_PAREN_types",
    "CLOSE_PAREN_types",
    "tab_len",
)
"""The attributes of Lark's class, in the order of the fields of ``Indenter``."""


def indenter_of(postlex: Any) -> Indenter:
    """Return the value of an ``Indenter`` of Lark, an object or a class, or of one of ours.

    Raises ``ConfigError`` for anything else.
    """
    if isinstance(postlex, Indenter):
        return postlex
    missing = [name for name in _ATTRIBUTES if not hasattr(postlex, name)]
    if missing:
        raise ConfigError(f"postlex must be an Indenter of Lark; it has no `{missing[0]}`")
    newline, indent, dedent, opening, closing, tab = (getattr(postlex, x) for x in _ATTRIBUTES)
    names = (newline, indent, dedent, *opening, *closing)
    if not all(isinstance(name, str) for name in names):
        raise ConfigError("an indenter has the names of terminals, and `tab_len`")
    if not isinstance(tab, int) or tab < 1:
        raise ConfigError(f"`tab_len` must be a number of columns, not {tab!r}")
    return Indenter(newline, indent, dedent, frozenset(opening), frozenset(closing), tab)
