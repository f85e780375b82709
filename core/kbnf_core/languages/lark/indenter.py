"""Lark's ``Indenter`` as a value: the names of its terminals, and the width of a tab.

Lark calls it between lexer and parser. Outside brackets a newline is followed by ``INDENT_type`` if
the next line is further in, and by ``DEDENT_type`` for each block that it ends; inside brackets
newlines are dropped. ``lexer.layout`` and ``lexer.indentation`` make rules of that.

Tests: tests/unit/languages/lark/test_indenter.py
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kbnf_core.text.errors import ConfigError

ATTRIBUTES = (
    "NL_type",
    "INDENT_type",
    "DEDENT_type",
    "OPEN_PAREN_types",
    "CLOSE_PAREN_types",
    "tab_len",
)
"""What Lark's class has."""


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
    values = {name: getattr(postlex, name) for name in ATTRIBUTES}
    brackets = {name: list(value) for name, value in values.items() if name.endswith("PAREN_types")}
    indenter_of({**values, **brackets})
    return {**values, **brackets}


def indenter_of(attributes: Mapping[str, Any] | None) -> Indenter | None:
    """Return the indenter with these attributes; None for None. Raises ``ConfigError``."""
    if attributes is None:
        return None
    missing = [name for name in ATTRIBUTES if name not in attributes]
    if missing or set(attributes) - set(ATTRIBUTES):
        raise ConfigError(f"an indenter has the attributes {', '.join(ATTRIBUTES)}")
    newline, indent, dedent, opening, closing, tab = (attributes[name] for name in ATTRIBUTES)
    names = (newline, indent, dedent, *opening, *closing)
    if not all(isinstance(name, str) for name in names):
        raise ConfigError("an indenter has the names of terminals, and `tab_len`")
    if not isinstance(tab, int) or tab < 1:
        raise ConfigError(f"`tab_len` must be a number of columns, not {tab!r}")
    return Indenter(newline, indent, dedent, frozenset(opening), frozenset(closing), tab)
