"""Conversions between KBNF and other grammar languages: text in, ``Conversion`` out.

Each raises ``GrammarError`` for a text with errors, and says of everything that it could not
keep what is lost; nothing changes silently.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from kbnf_core.syntax.conversion import Conversion, Example, Loss

if TYPE_CHECKING:
    from kbnf_core.languages.abnf.to_kbnf import from_abnf
    from kbnf_core.languages.bnf.to_kbnf import from_bnf
    from kbnf_core.languages.gbnf.to_kbnf import from_gbnf
    from kbnf_core.languages.gbnf.writer.from_kbnf import to_gbnf
    from kbnf_core.languages.json_schema import from_json_schema, json_schema_grammar
    from kbnf_core.languages.lark.to_kbnf import from_lark
    from kbnf_core.languages.lark.writer.from_kbnf import to_lark

_HOMES = {
    "from_abnf": "kbnf_core.languages.abnf.to_kbnf",
    "from_bnf": "kbnf_core.languages.bnf.to_kbnf",
    "from_gbnf": "kbnf_core.languages.gbnf.to_kbnf",
    "from_json_schema": "kbnf_core.languages.json_schema",
    "json_schema_grammar": "kbnf_core.languages.json_schema",
    "from_lark": "kbnf_core.languages.lark.to_kbnf",
    "to_lark": "kbnf_core.languages.lark.writer.from_kbnf",
    "to_gbnf": "kbnf_core.languages.gbnf.writer.from_kbnf",
}

__all__ = [
    "Conversion",
    "Example",
    "Loss",
    "from_abnf",
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
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
