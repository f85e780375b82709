"""JSON Schema to KBNF.

A schema is read into a document (``document``), its positions are named by expressions
(``expressions``), these are brought into a normal form by type (``normal_form``, from ``schemas``),
and that is written as rules of the IR (``writer``). A tree that people read is made of these rules
(``readable``). Everything that a grammar cannot keep is a problem with
the JSON Pointer of its keyword.

Names are imported when they are first used: every command knows the language, few read a schema.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.language import schema_text
    from kbnf_core.languages.json_schema.options import (
        VALIDATOR,
        Digits,
        Escapes,
        Formats,
        Integers,
        Options,
        Order,
        SchemaLimits,
        Service,
        Standard,
        Whitespace,
        schema_options,
    )
    from kbnf_core.languages.json_schema.parse import embed_json_schema, parse_json_schema

_HOMES = {
    "embed_json_schema": "parse",
    "parse_json_schema": "parse",
    "schema_text": "language",
}
"""The modules of names; those of all others are in ``options``."""

__all__ = [
    "VALIDATOR",
    "Digits",
    "Escapes",
    "Formats",
    "Integers",
    "Options",
    "Order",
    "SchemaLimits",
    "Service",
    "Standard",
    "Whitespace",
    "embed_json_schema",
    "parse_json_schema",
    "schema_options",
    "schema_text",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"{__name__}.{_HOMES.get(name, 'options')}")
    return getattr(home, name)
