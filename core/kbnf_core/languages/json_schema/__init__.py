"""JSON Schema to KBNF.

A schema is read into a document (``document``), its positions are named by expressions
(``expressions``), these are brought into a normal form by type (``normal_form``, from ``schemas``),
and that is written as rules (``writer``). Everything that a grammar cannot keep is a problem with
the JSON Pointer of its keyword.
"""

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
