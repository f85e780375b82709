"""JSON Schema to rules of the IR, and to KBNF that people read.

```
text -- document: read_json, bundled --> value -- keywords: review --> problems, or facts
                                                |
document: places, $ref --> schemas: Reader --> expressions --> schemas, normal_form: by type
                                                |                       |
                        writer: members as they are read        writer: by the normal form
                                                |                       |
                                    rules (write_nested, write_scalars, write_counts)
                                                |                       |
                               run: prelude, lower           people: readable, formats.kbnf
```

An expression names a position of the document or combines others (``expressions``); a normal form
is a union of parts by type (``normal_form``), of strings and numbers as sets (``value_sets``).
``lint`` says what is likely a mistake, ``services`` what a hosted service refuses. Everything that
a grammar cannot keep is a problem with the JSON Pointer of its keyword (``problems``).
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
