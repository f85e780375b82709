"""Recognises files that are written in another grammar language.

Asked only about texts that are no KBNF. To mistake KBNF with a few errors for another language
would hide those errors, so each answer needs a sign of the other language and the absence of
what nearly every KBNF file has: a line that ends with ``;``.
"""

import re
from typing import NamedTuple

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.source import Source, Span


class _Language(NamedTuple):
    name: str
    command: str
    sign: re.Pattern[str]
    """Something that the language has and KBNF has not."""


_BNF = _Language(
    "bnf_sampler's BNF",
    "kbnf convert-bnf",
    re.compile(r"^[ \t]*<[^<>\s]+>[ \t]*::=", re.MULTILINE),
)
_LARK = _Language(
    "Lark",
    "kbnf convert-lark",
    re.compile(
        r"^%(?:import|ignore|declare|override|extend|llguidance)\b"
        r"|^[?!]?[A-Za-z_]\w*+(?:\.-?\d++)?(?:\{[^}\n]*\})?(?:\[[^\]\n]*\])?[ \t]*:(?![:=])",
        re.MULTILINE,
    ),
)
# Character classes, `#` comments, names with hyphens, and `root` in the place of `start`.
_GBNF = _Language(
    "GBNF",
    "kbnf convert-gbnf",
    re.compile(
        r"\[\^|\[[^\]\n'\"(){}|]*(?:[^\]\n]-[^\]\n]|\\.)[^\]\n]*\]"
        r"|^[ \t]*(?:\#(?:[ \t]|$)|root[ \t]*::=|[A-Za-z]\w*+-[\w-]*+[ \t]*::=)",
        re.MULTILINE,
    ),
)

_DEFINITION = re.compile(r"^[ \t]*[A-Za-z_][\w-]*+[ \t]*::=", re.MULTILINE)
_END = re.compile(r";[ \t]*(?:\(\*[^\n]*\*\)[ \t]*)?\r?$", re.MULTILINE)
_SINGLE_QUOTED = re.compile(r"::=[ \t]*'|[|(][ \t]*'")


def other_language(source: Source) -> Diagnostic | None:
    """Return the finding (E008) that names the language of ``source``, if it is known."""
    text = source.text
    if _END.search(text):
        return None
    if not _DEFINITION.search(text):
        return _finding(source, _BNF) or _finding(source, _LARK)
    return None if _SINGLE_QUOTED.search(text) else _finding(source, _GBNF)


def _finding(source: Source, language: _Language) -> Diagnostic | None:
    sign = language.sign.search(source.text)
    if sign is None:
        return None
    message = f"this file is written in {language.name}, not in KBNF"
    help_ = f"convert it: `{language.command} {source.path or 'FILE'}`"
    span = Span(*sign.span())
    return Diagnostic("E008", message, source, span, "not KBNF", helps=(help_,))
