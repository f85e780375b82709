"""JSON Schema to KBNF.

A schema is read into a document (``document``), its positions are named by expressions
(``expressions``), these are brought into a normal form by type (``normal_form``, from ``schemas``),
and that is written as rules (``writer``). Everything that a grammar cannot keep is a problem with
the JSON Pointer of its keyword.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.parse import embed_json_schema, parse_json_schema
    from kbnf_core.languages.json_schema.sources import schema_text

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

# The reader of schemas has forty modules, which a text in another language does without.
_HOMES = {"embed_json_schema": "parse", "parse_json_schema": "parse", "schema_text": "sources"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
