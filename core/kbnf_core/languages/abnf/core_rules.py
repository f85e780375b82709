"""The core rules, which a text may use without defining them (RFC 5234, appendix B.1)."""

from dataclasses import replace

from kbnf_core.languages.abnf.values import OCTETS, octet_rule, pattern
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


def made_rule(name: str, span: Span) -> Definition | None:
    """Return a predefined core rule, with the span of its first use.

    That is a core rule, or a range of octets; None for any other.
    """
    if name.startswith(OCTETS):
        return octet_rule(name, span)
    if name == _OCTET:
        return replace(octet_rule(f"{OCTETS}00-FF", span), name=Name(name, span))
    if name not in _PATTERNS:
        return None
    return Definition(Name(name, span), pattern(_PATTERNS[name], span), span)
