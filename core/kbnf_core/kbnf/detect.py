"""Recognises files that are written in another grammar language.

Called only for texts that are not KBNF. To take KBNF with a few errors for another language would
hide those errors, so each answer needs a sign of the other language and the absence of what nearly
every KBNF file has: lines that end with ``;``.

Tests: tests/unit/kbnf
"""

import re
from pathlib import PurePath
from typing import NamedTuple

from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.source import Source, Span


class _Language(NamedTuple):
    """Another language; ``sign`` is something that it has and KBNF has not."""

    name: str
    option: str
    sign: re.Pattern[str]


# LLGuidance's JSON form.
_LIST = _Language("Lark", "lark", re.compile(r'\A\s*+\{\s*+"grammars"\s*+:'))
# No rule begins with a bracket.
_JSON = _Language("JSON Schema", "json-schema", re.compile(r"\A\s*+\{"))
_BNF = _Language(
    "bnf_sampler's BNF",
    "bnf",
    re.compile(r"^[ \t]*<[^<>\s]++>[ \t]*::=", re.MULTILINE),
)
_DIALECT = re.compile(r"<[^<>\n]*>|\"[^\"]*\"|'[^']*'|::=|[|;\s]")
# Rules with numbers, as W3C has them.
_EBNF = _Language("EBNF", "ebnf", re.compile(r"^[ \t]*\[\d+\w?\][ \t]+\w+[ \t]*::=", re.MULTILINE))
# `name = ... ;` and another one, with commas between items, as ISO/IEC 14977 has them.
_ISO = _Language(
    "EBNF",
    "ebnf",
    re.compile(
        r"\A(?:\s|\(\*(?s:.*?)\*\))*+([A-Za-z][\w \-]*?[ \t]*=)(?!=)"
        r"""(?=(?s:.*?)["'\w)}\]]\s*+,\s*+["'\w({\[?])"""
        r"""(?:[^"';:%]|"[^"\n]*+"|'[^'\n]*+')*+;\s*+(?:\Z|\(\*|[A-Za-z][\w \-]*=(?!=))"""
    ),
)
# A directive, or a rule: its mark, name, priority, parameters, and a colon.
_LARK = _Language(
    "Lark",
    "lark",
    re.compile(
        r"^[ \t]*(?:%(?:import|ignore|declare|override|extend|llguidance)\b"
        r"|[?!]?[A-Za-z_]\w*+(?:\.-?\d++)?(?:\{[^}\n]*+\})?(?:\[[^\]\n]*+\])?[ \t]*:(?![:=]))",
        re.MULTILINE,
    ),
)
# `=/`, a name with hyphens, or a value such as `%x41`.
_ABNF = _Language(
    "ABNF",
    "abnf",
    re.compile(
        r"^[ \t]*(?:[A-Za-z][\w-]*+[ \t]*=/|[A-Za-z]\w*+-[\w-]*+[ \t]*=(?!=)"
        r"|[A-Za-z][\w-]*+[ \t]*=[^;\n]*%[xXdDbB][0-9A-Fa-f])",
        re.MULTILINE,
    ),
)
# A character class, a `#` comment, a name with hyphens, or `root` in the place of `start`.
_GBNF = _Language(
    "GBNF",
    "gbnf",
    re.compile(
        r"\[\^|\[(?=[^\[\]\n]*+[\\-])[^\[\]\n'(){}|]++\]"
        r"|^[ \t]*(?:\#(?:[ \t]|$)|root[ \t]*::=|[A-Za-z]\w*+-[\w-]*+[ \t]*::=)",
        re.MULTILINE,
    ),
)

_ANTLR = _Language(
    "ANTLR",
    "antlr",
    re.compile(r"\A(?:\s|//[^\n]*+|/\*(?s:.*?)\*/)*+((?:lexer\s+|parser\s+)?grammar\s+\w++\s*;)"),
)
# A definition, in a text with a choice or a predicate of PEG.
_PEG = _Language(
    "PEG",
    "",
    re.compile(
        r"^[ \t]*[A-Za-z_]\w*+[ \t]*(?:<-|\u2190)(?=(?s:.*)(?:[ \t]/[ \t]|[!&][A-Za-z(.\"']))", re.M
    ),
)
_TREE_SITTER = _Language(
    "tree-sitter's form",
    "tree-sitter",
    re.compile(
        r"""\A\s*+\{(?=(?s:.*)"rules"\s*:)(?=(?s:.*)"type"\s*:\s*"(?:BLANK|SEQ|CHOICE|STRING|SYMBOL"""
        r"""|PATTERN|REPEAT1?|PREC\w*|TOKEN|FIELD|ALIAS|IMMEDIATE_TOKEN)")""",
    ),
)
_GRAMMAR_JS = _Language(
    "tree-sitter's grammar.js", "", re.compile(r"^[^\n]*\bgrammar\(\{", re.MULTILINE)
)
_FOREIGN = (_ANTLR, _PEG, _TREE_SITTER, _GRAMMAR_JS, _ISO)
"""Languages whose texts may have the signs that end rules of KBNF."""

_FOREIGN_EXTENSIONS = {".g4": _ANTLR, ".g": _ANTLR} | dict.fromkeys(
    (".peg", ".pegjs", ".peggy", ".pest"), _PEG
)

_DEFINITION = re.compile(r"^[ \t]*[A-Za-z_][\w-]*+[ \t]*::=", re.MULTILINE)
_DOUBLE_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*+"?')
_SINGLE_QUOTED = re.compile(r"(?:::=|[|(])[ \t]*'")


def other_language(source: Source) -> Diagnostic | None:
    """Return the finding (E008) that names the language of ``source``, if it is known."""
    recognised = _recognise(source)
    if recognised is None:
        return None
    language, span = recognised
    message = f"this looks like {language.name}, not KBNF"
    file = source.path or "FILE"
    helps: tuple[str, ...] = (
        f"--from reads it in its language: `kbnf check --from {language.option} {file}`",
        f"or convert it: `kbnf convert --from {language.option} {file}`",
    )
    if language is _GRAMMAR_JS:
        helps = ("`tree-sitter generate` writes `src/grammar.json`, which is read here",)
    elif not language.option:
        helps = (
            f"{language.name} is not read here: write the grammar in KBNF, each rule as"
            " `name ::= ... ;`, or in GBNF, Lark or ABNF (`kbnf help language`)",
        )
    return Diagnostic("E008", message, source, span, helps=helps)


def other_name(source: Source) -> str | None:
    """Return the name, as in ``languages``, of the other language of ``source``, if it is known."""
    result = _recognise(source)
    return None if result is None else result[0].option or result[0].name


def _recognise(source: Source) -> tuple[_Language, Span] | None:
    if of_list := _LIST.sign.search(source.text):
        return _LIST, Span(*of_list.span())
    foreign = _FOREIGN_EXTENSIONS.get(PurePath(source.path or "").suffix.lower())
    if foreign is not None:
        return foreign, Span(0, 0)
    for candidate in _FOREIGN:
        if sign := candidate.sign.search(source.text):
            return candidate, Span(*sign.span(sign.lastindex or 0))
    # Of the same length, so that places stay what they are.
    text = _DOUBLE_QUOTED.sub(lambda match: " " * len(match[0]), source.text)
    if any(map(_ends_rule, text.split("\n"))):
        return None
    if not _DEFINITION.search(text):
        candidates = [_JSON, _EBNF, _BNF, _LARK, _ABNF]
    else:
        candidates = [] if _SINGLE_QUOTED.search(text) else [_EBNF, _GBNF]
    signs = ((language, language.sign.search(text)) for language in candidates)
    result = next(((language, Span(*sign.span())) for language, sign in signs if sign), None)
    if result is not None and result[0] is _BNF and is_standard(source.text):
        return _EBNF, result[1]
    return result


def is_standard(text: str) -> bool:
    """Return whether a text of BNF has more than bnf_sampler's dialect: bare words, operators."""
    return re.search(r"[\w\[{(*+?]", _DIALECT.sub("", text)) is not None


def _ends_rule(line: str) -> bool:
    """Return whether ``line`` ends with ``;`` and is not a comment of another language."""
    code = _COMMENT.split(line, maxsplit=1)[0].strip()
    return code.endswith(";")


_COMMENT = re.compile(r"\(\*|//|#(?=[ \t!]|$)")
