r"""The libraries that Lark grammars import, in both dialects, written for this project.

The languages are those of the originals; there is no look-behind in them, so they read the same
in both dialects. LLGuidance lets a line break into an ``ESCAPED_STRING``.
"""

from collections.abc import Mapping

_NUMBERS = r"""
DIGIT: /[0-9]/
HEXDIGIT: /[0-9a-fA-F]/
INT: /[0-9]+/
SIGNED_INT: /[+-]?[0-9]+/
DECIMAL: /[0-9]+\.[0-9]*|\.[0-9]+/
_EXP: /[eE][+-]?[0-9]+/
FLOAT: /[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/
SIGNED_FLOAT: /[+-]?(?:[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)/
NUMBER: /[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?/
SIGNED_NUMBER: /[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)/
"""

_NAMES = r"""
LCASE_LETTER: /[a-z]/
UCASE_LETTER: /[A-Z]/
LETTER: /[A-Za-z]/
WORD: /[A-Za-z]+/
CNAME: /[_A-Za-z][_A-Za-z0-9]*/
"""

_BLANKS = r"""
WS_INLINE: /[ \t]+/
WS: /[ \t\f\r\n]+/
CR: /\r/
LF: /\n/
NEWLINE: /(?:\r?\n)+/
"""

_COMMENTS = r"""
SH_COMMENT: /#[^\n]*/
CPP_COMMENT: /\/\/[^\n]*/
SQL_COMMENT: /--[^\n]*/
C_COMMENT: /\/\*[^*]*\*+(?:[^\/*][^*]*\*+)*\//
"""

_LARK_STRINGS = r"""
_STRING_INNER: /.*?/
_STRING_ESC_INNER: /.*?(?<!\\)(?:\\\\)*?/
ESCAPED_STRING: /"(?:[^"\\\n]|\\[^\n])*"/
"""

_LLGUIDANCE_STRINGS = r"""
ESCAPED_STRING: /"(?:[^"\\]|\\[^\n])*"/
"""

_UNICODE = r"""
WS_INLINE: /[ \t\xa0]+/
WS: /[ \t\xa0\f\r\n]+/
"""

_SHARED = _NUMBERS + _NAMES + _BLANKS + _COMMENTS

LARK_LIBRARIES: Mapping[str, str] = {
    "common": _SHARED + _LARK_STRINGS,
    "unicode": _UNICODE,
}

LLGUIDANCE_LIBRARIES: Mapping[str, str] = {"common": _SHARED + _LLGUIDANCE_STRINGS}
