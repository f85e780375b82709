"""JSON Schema to KBNF.

A schema is read into a document (``document``), its positions are named by expressions
(``expressions``), these are brought into a normal form by type (``normal_form``, from ``schemas``),
and that is written as rules of the IR (``writer``). A tree that people read is made of these rules
(``readable``). Everything that a grammar cannot keep is a problem with the JSON Pointer of its
keyword.
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

__all__ = [
    "VALIDATOR", "Digits", "Escapes", "Formats", "Integers", "Options", "Order", "SchemaLimits",
    "Service", "Standard", "Whitespace", "schema_options",
]  # fmt: skip
