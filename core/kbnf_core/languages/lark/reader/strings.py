r"""Decodes strings of either dialect.

Lark decodes like Python, but leaves escapes that it does not know as two characters;
LLGuidance reads JSON strings and, in addition, ``\xHH``.
"""

import json
import re

from kbnf_core.languages.lark.reader.dialect import Dialect

_HEX = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)


class InvalidStringError(Exception):
    """A string that its dialect refuses; the message says why."""


def decode(raw: str, dialect: Dialect) -> str:
    """Return the text that stands for itself in a string."""
    text = _decode_lark(raw) if dialect is Dialect.LARK else _decode_llguidance(raw)
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise InvalidStringError("half of a surrogate pair is no character")
    return text


def _decode_lark(raw: str) -> str:
    return unescape(raw).replace("\\\\", "\\")


def unescape(raw: str) -> str:
    """Return ``raw`` as Lark's loader sees it, for strings and regular expressions alike."""
    from lark.exceptions import GrammarError
    from lark.load_grammar import eval_escaping

    try:
        return str(eval_escaping(raw))  # type: ignore[no-untyped-call]
    except (GrammarError, SyntaxError, ValueError) as error:
        raise InvalidStringError(f"Lark cannot read this: {error}") from None


def _decode_llguidance(raw: str) -> str:
    spelt = _HEX.sub(lambda m: f"\\u00{m[1]}" if m[1] else m[0], raw)
    try:
        return str(json.loads(f'"{spelt}"'))
    except json.JSONDecodeError as error:
        raise InvalidStringError(f"LLGuidance reads strings as JSON: {error.msg}") from None
