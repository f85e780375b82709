r"""The libraries that Lark grammars import, in both dialects, written for this project.

The languages are those of the originals; there is no look-behind in them, so they read the same
in both dialects. LLGuidance lets a line break into an ``ESCAPED_STRING``. Of the grammars of
Python and of Lark itself, which only Lark ships, there are the terminals.
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

_PYTHON = r"""
SLASH: "/"
ASYNC: "async"
AWAIT: "await"
NAME: /[^\W\d]\w*/
COMMENT: /#[^\n]*/
_NEWLINE: /(?:\r?\n[\t ]*|#[^\n]*)+/
STRING: /(?:[ubf]?r?|r[ubf])(?:"(?!"")(?:[^"\\\n]|\\.)*"|'(?!'')(?:[^'\\\n]|\\.)*')/i
LONG_STRING: /(?:[ubf]?r?|r[ubf])(?:"{3}(?:[^\\]|\\.)*?"{3}|'{3}(?:[^\\]|\\.)*?'{3})/is
_SPECIAL_DEC: /[0-9](?:_?[0-9])*/
DEC_NUMBER: /[1-9](?:_?[0-9])*|0(?:_?0)*(?![1-9])/
HEX_NUMBER.2: /0[xX](?:_?[0-9a-fA-F])+/
OCT_NUMBER.2: /0[oO](?:_?[0-7])+/
BIN_NUMBER.2: /0[bB](?:_?[01])+/
_EXP: /[eE][-+]?[0-9](?:_?[0-9])*/
DECIMAL: "." _SPECIAL_DEC | _SPECIAL_DEC "." _SPECIAL_DEC?
FLOAT_NUMBER.2: _SPECIAL_DEC _EXP | DECIMAL _EXP?
IMAG_NUMBER.2: (_SPECIAL_DEC | FLOAT_NUMBER) /[jJ]/
"""

_LARK = r"""
OP: /[+*]|\?(?![a-z])/
RULE: /!?[_?]?[a-z][_a-z0-9]*/
TOKEN: /_?[A-Z][_A-Z0-9]*/
STRING: /"(?:[^"\\\n]|\\.)*"i?/
REGEXP: /\/(?!\/)(?:\\\/|\\\\|[^\/])*?\/[imslux]*/
_NL: /(?:\r?\n)+\s*/
_VBAR: /(?:(?:\r?\n)+\s*)?\|/
COMMENT: /\s*(?:\/\/|#)[^\n]*/
"""

_SHARED = _NUMBERS + _NAMES + _BLANKS + _COMMENTS

LARK_LIBRARIES: Mapping[str, str] = {
    "common": _SHARED + _LARK_STRINGS,
    "unicode": _UNICODE,
    "python": _PYTHON,
    "lark": _LARK,
}

LLGUIDANCE_LIBRARIES: Mapping[str, str] = {"common": _SHARED + _LLGUIDANCE_STRINGS}
