"""Lark and LLGuidance's Lark dialect, to KBNF and back.

A file is parsed (``syntax.lark_dialect_parse``) and gathered with what it imports (``modules``);
its terminals become automata (``llguidance_terminals``, ``lark_terminals``, ``leftmost``), its
rules rules over lexemes (``rules``, ``model``). Ignored text is put in (``skipping``), what may be
expected together is worked out (``positions``), so is where lexemes end (``cuts``), and the rules
are multiplied with the lexer (``product``). ``read`` does all of this in order.
"""

from kbnf_core.convert.lark.from_lark import from_lark
from kbnf_core.convert.lark.model import Lexing
from kbnf_core.convert.lark.to_lark import to_lark

__all__ = ["Lexing", "from_lark", "to_lark"]
