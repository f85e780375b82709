"""The core rules, which a text may use without defining them (RFC 5234, appendix B.1)."""

from kbnf_core.languages.abnf.values import LAST_OCTET, pattern, range_leaf
from kbnf_core.source import Span
from kbnf_core.syntax.tree import Definition, Name

_PATTERNS = {
    "ALPHA": "[A-Za-z]",
    "BIT": "[01]",
    "CHAR": r"[\x{1}-\x{7F}]",
    "CR": r"\r",
    "CRLF": r"\r\n",
    "CTL": r"[\x{0}-\x{1F}\x{7F}]",
    "DIGIT": "[0-9]",
    "DQUOTE": '"',
    "HEXDIG": "[0-9A-Fa-f]",
    "HTAB": r"\t",
    "LF": r"\n",
    "LWSP": r"(?:[ \t]|\r\n[ \t])*",
    "SP": " ",
    "VCHAR": "[!-~]",
    "WSP": r"[ \t]",
}

_OCTET = "OCTET"

NAMES = {name.lower(): name for name in (*_PATTERNS, _OCTET)}
"""The core rules by their names in lower case."""


def core_rule(name: str, span: Span) -> Definition:
    """Return a core rule, with the place of its first use."""
    is_octet = name == _OCTET
    body = range_leaf(0, LAST_OCTET, True, span) if is_octet else pattern(_PATTERNS[name], span)
    return Definition(Name(name, span), body, span)
