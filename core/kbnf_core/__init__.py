"""Grammar toolkit for constrained decoding: parse, check, and mask with KBNF grammars."""

__version__ = "0.1.0"
