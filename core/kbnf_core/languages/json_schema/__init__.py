"""JSON Schema to rules of the IR, and to KBNF that people read.

```
                 text or value
                       |  language, python_types
                       v
  checks        document  <---- keywords (one visit); services, tags, targets, %json ask it
  lint, services       |
                       v  type_keywords, formats (patterns, formats.kbnf)
  algebra       expressions --schemas--> normal_form, value_sets
                       |                     |
                       v                     v
  writer        writer: members as read | write_nested, write_scalars, write_counts
                       |
                       v
                rules: one set, with notations of members and values
                  |                        |
                  v                        v
         run: parse, lower       people: readable (Outline, Trees)
```

An expression names a position of the document or combines others (``expressions``); a normal form
is a union of parts by type (``normal_form``), of strings and numbers as sets (``value_sets``). Most
objects need no normal form: the writer writes members as they are read. What people read is a view
of the rules that run. ``lint`` says what is likely a mistake, ``services`` what a hosted service
refuses. Everything that a grammar cannot keep is a problem with the JSON Pointer of its keyword
(``keywords``).
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
