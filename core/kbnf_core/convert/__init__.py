"""Conversions between KBNF and other grammar languages: text in, ``Conversion`` out.

Each raises ``GrammarError`` for a text with errors, and says of everything that it could not
keep what is lost; nothing changes silently.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from kbnf_core.convert.conversion import Conversion, Example, Loss

if TYPE_CHECKING:
    from kbnf_core.convert.bnf import from_bnf
    from kbnf_core.convert.gbnf import from_gbnf
    from kbnf_core.convert.json_schema import from_json_schema, json_schema_grammar
    from kbnf_core.convert.lark import from_lark, to_lark
    from kbnf_core.convert.to_gbnf import to_gbnf

_HOMES = {
    "from_bnf": "bnf",
    "from_gbnf": "gbnf",
    "from_json_schema": "json_schema",
    "json_schema_grammar": "json_schema",
    "from_lark": "lark",
    "to_lark": "lark",
    "to_gbnf": "to_gbnf",
}

__all__ = [
    "Conversion",
    "Example",
    "Loss",
    "from_bnf",
    "from_gbnf",
    "from_json_schema",
    "from_lark",
    "json_schema_grammar",
    "to_gbnf",
    "to_lark",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
